"""The statistics of the report and their intervals. Each is a number or ``None``, never NaN."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import Final

#: With fewer students, a correlation means nothing.
FEWEST: Final = 5
#: The quantile of the normal distribution that leaves 95 % between its two sides.
NORMAL: Final = NormalDist().inv_cdf(0.975)


def mean(values: Sequence[float]) -> float | None:
    """Return the mean; ``None`` if empty."""
    return math.fsum(values) / len(values) if values else None


def median(values: Sequence[float]) -> float | None:
    """Return the value in the middle; ``None`` if empty.

    Examples
    --------
    >>> median([3, 1, 2]), median([1, 2]), median([])
    (2, 1.5, None)
    """
    if not values:
        return None
    ranked, half = sorted(values), len(values) // 2
    return ranked[half] if len(values) % 2 else (ranked[half - 1] + ranked[half]) / 2


def correlation(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Pearson's correlation; ``None`` for few pairs, or if the values of one side are equal."""
    if len(x) < FEWEST:
        return None
    (dx, wide), (dy, high) = _spread(x), _spread(y)
    if not wide or not high:
        return None
    together = math.fsum(a / wide * (b / high) for a, b in zip(dx, dy, strict=True))
    return min(max(together, -1.0), 1.0)


def discrimination(
    name: str, answered: Iterable[Mapping[str, tuple[float, float]]]
) -> float | None:
    """Correlate a question with everything else that its students answered.

    What was left blank says how far somebody came, and not what they understood. So it counts on
    neither side: `answered` has, for each student, the fraction that each answer earned and what it
    is worth, without blanks.
    """
    pairs = [
        (each[name][0], rest)
        for each in answered
        if name in each and (rest := rest_score(name, each)) is not None
    ]
    return correlation([x for x, _ in pairs], [y for _, y in pairs])


def rest_score(name: str, answered: Mapping[str, tuple[float, float]]) -> float | None:
    """Return what a student earned of everything else that they answered, as a fraction."""
    others = [found for other, found in answered.items() if other != name]
    worth = sum(most for _, most in others)
    return sum(part * most for part, most in others) / worth if worth else None


def _spread(values: Sequence[float]) -> tuple[list[float], float]:
    """Distances from the mean and their norm, which is 0 if all values are equal."""
    middle = math.fsum(values) / len(values)
    away = [value - middle for value in values]
    # Equal sums of points may still differ in their last digits.
    dust = 1e-9 * max(1.0, *map(abs, values))
    return away, math.hypot(*away) if max(map(abs, away)) > dust else 0.0


def histogram(values: Sequence[float], edges: Sequence[float]) -> tuple[int, ...]:
    """Count the values between each pair of edges; values beyond an end count in its bin."""
    counts = [0] * (len(edges) - 1)
    for value in values:
        place = sum(value >= low for low, _ in pairwise(edges)) - 1
        counts[max(place, 0)] += 1
    return tuple(counts)


# Intervals of 95 %. Each says which values the class would fit, were it drawn from a larger one.


@dataclass(frozen=True)
class Estimate:
    """A number that was estimated from some students, and the interval that it comes with."""

    value: float
    low: float
    high: float
    count: int


def share(right: int, count: int, z: float = NORMAL) -> Estimate | None:
    """Return a fraction with Wilson's interval, which holds for few students and near 0 and 1.

    Examples
    --------
    >>> found = share(4, 5)
    >>> found.value, round(found.low, 2), round(found.high, 2)
    (0.8, 0.38, 0.96)
    """
    if not count:
        return None
    part, spread = right / count, z * z / count
    middle = (part + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(part * (1 - part) / count + spread / (4 * count))
    return Estimate(part, max(middle - half, 0.0), min(middle + half, 1.0), count)


def shares_differ(one: Estimate, other: Estimate) -> bool:
    """Whether two fractions differ by more than chance, by Newcombe's interval.

    Their own intervals come from Wilson, for the level that is wanted.
    """
    high, low = (one, other) if one.value >= other.value else (other, one)
    reach = math.hypot(high.value - high.low, low.high - low.value)
    return high.value - low.value > reach


def average(values: Sequence[float]) -> Estimate | None:
    """Return a mean of fractions with its interval; `None` with fewer values than `FEWEST`.

    Credits are mostly 0 or 1, for which Student's interval is too narrow, and has no width where
    all are equal. Two values at each end, as Agresti and Coull add to shares, make it honest.
    """
    found = mean(values)
    if found is None or len(values) < FEWEST:
        return None
    more = [*values, 0.0, 0.0, 1.0, 1.0]
    half = _student(len(more) - 1) * (deviation(more) or 0.0) / math.sqrt(len(more))
    center = math.fsum(more) / len(more)
    return Estimate(found, max(center - half, 0.0), min(center + half, 1.0), len(values))


def deviation(values: Sequence[float]) -> float | None:
    """Return the standard deviation; `None` with fewer values than `FEWEST`."""
    if len(values) < FEWEST:
        return None
    return _spread(values)[1] / math.sqrt(len(values) - 1)


def middle(values: Sequence[float]) -> Estimate | None:
    """Return a median with the interval that its ranks give, whatever the distribution.

    Fewer than six values have no such interval.
    """
    found, count = median(values), len(values)
    if found is None or count < 6:
        return None
    # As many values are cut off on each side as leave 95 % of all 2^count ways between them.
    ranked, ways, below, rank = sorted(values), count, 1 + count, 0
    while 40 * below <= 2**count:
        rank += 1
        ways = ways * (count - rank) // (rank + 1)
        below += ways
    return Estimate(found, ranked[rank], ranked[count - 1 - rank], count)


def related(value: float, count: int) -> Estimate | None:
    """Return a correlation with Fisher's interval; `None` with fewer pairs than `FEWEST`."""
    if count < FEWEST:
        return None
    z, half = math.atanh(min(max(value, -0.999), 0.999)), NORMAL / math.sqrt(count - 3)
    return Estimate(value, math.tanh(z - half), math.tanh(z + half), count)


def fifths(values: Sequence[float]) -> list[int]:
    """Return the fifth that each value is in, from 0; equal values are in the same one.

    Examples
    --------
    >>> fifths([10, 20, 30, 40, 50]), fifths([1, 1, 1, 1, 2])
    ([0, 1, 2, 3, 4], [2, 2, 2, 2, 4])
    """
    ranked, count = sorted(values), len(values)
    # The middle rank of those with the same value.
    ranks = {
        value: (bisect_left(ranked, value) + bisect_right(ranked, value)) / 2 for value in ranked
    }
    return [min(int(5 * ranks[value] / count), 4) for value in values]


def at_level(comparisons: int) -> float:
    """Return the quantile at which all of so many comparisons together err in 5 % (Bonferroni)."""
    return NormalDist().inv_cdf(1 - 0.025 / max(comparisons, 1))


def _student(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's distribution, by the expansion around the normal.

    Examples
    --------
    >>> round(_student(4), 3), round(_student(30), 3)
    (2.776, 2.042)
    """
    z, f = NORMAL, freedom
    return (
        z
        + (z**3 + z) / (4 * f)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * f**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * f**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * f**4)
    )
