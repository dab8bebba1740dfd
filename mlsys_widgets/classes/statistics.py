"""The few statistics of the report. Each returns a number or ``None``, never NaN."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final

#: With fewer students, a correlation means nothing.
FEWEST: Final = 5


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
    pairs = []
    for each in answered:
        others = [found for other, found in each.items() if other != name]
        if name in each and (worth := sum(most for _, most in others)):
            pairs.append((each[name][0], sum(part * most for part, most in others) / worth))
    return correlation([x for x, _ in pairs], [y for _, y in pairs])


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
