"""How far a prediction is from a value, in the terms of the question."""

from __future__ import annotations

import math
from typing import Final, Literal

from mlsys_widgets.wording.units import format_quantity

Distance = Literal["points", "times", "orders", "difference"]
DISTANCES: Final[tuple[Distance, ...]] = ("points", "times", "orders", "difference")

SAME: Final = "within rounding of"

#: How far is still right, close, and merely wrong: in points, as a ratio, in orders of magnitude,
#: and as a fraction of the value. Beyond the last it is far off.
_REACH: Final = {
    "points": (0.05, 0.15, 0.4),
    "times": (math.log10(1.25), math.log10(2), 1.0),
    "orders": (0.3, 1.0, 2.0),
    "difference": (0.1, 0.25, 1.0),
}


def distance_in_words(predicted: float, actual: float, kind: Distance, unit: str = "") -> str:
    """How far a prediction is from a value, in words."""
    if not math.isfinite(actual):
        return f"{'below' if actual > 0 else 'above'} by more than any number"
    side = "above" if predicted > actual else "below"
    # Ratios have no meaning around zero.
    if kind in {"times", "orders"} and (predicted <= 0 or actual <= 0):
        kind = "difference"
    if kind == "points":
        size, one, many = abs(predicted - actual) * 100, "percentage point", "percentage points"
    elif kind == "orders":
        size = abs(math.log10(predicted / actual))
        one, many = "order of magnitude", "orders of magnitude"
    elif kind == "times":
        shown = format_quantity(max(predicted / actual, actual / predicted), "×").removesuffix("×")
        return SAME if shown == "1" else f"a factor of {shown} {side}"
    else:
        far = format_quantity(abs(predicted - actual), unit)
        return SAME if predicted == actual else f"{far} {side}"
    shown = f"{size:.1f}".removesuffix(".0")
    return SAME if shown == "0" else f"{shown} {one if shown == '1' else many} {side}"


def how_close(predicted: float, actual: float, kind: Distance) -> Literal["low", "close", "high"]:
    """Whether a number is close to a value, below it or above it."""
    if _grade(predicted, actual, kind) == 0:
        return "close"
    return "high" if predicted > actual else "low"


def missed_by(predicted: float, actual: float, kind: Distance, unit: str = "") -> str:
    """By how much a prediction misses a value, and on which side; empty if by nothing to speak of.

    Examples
    --------
    >>> missed_by(5, 3, "times", "×"), missed_by(3, 3, "times", "×")
    ('a factor of 1.67 too high', '')
    """
    if not math.isfinite(actual):
        return "no number is large enough"
    far = distance_in_words(predicted, actual, kind, unit)
    if far == SAME:
        return ""
    return f"{far.rsplit(' ', 1)[0]} {'too high' if predicted > actual else 'too low'}"


def verdict(predicted: float, actual: float, kind: Distance, unit: str = "") -> str:
    """Judge a predicted number in words: right, close, wrong or far off, and by how much."""
    grade = _grade(predicted, actual, kind)
    if grade == 0:
        return "Right."
    judged = ("Close, but", "No:", "Far off:")[grade - 1]
    return f"{judged} {missed_by(predicted, actual, kind, unit)}."


def _grade(predicted: float, actual: float, kind: Distance) -> int:
    """0 for right, 1 for close, 2 for wrong, 3 for far off."""
    if not math.isfinite(actual):
        return 3
    if kind == "points":
        apart = abs(predicted - actual)
    elif kind == "difference" or predicted <= 0 or actual <= 0:
        kind = "difference"
        # Nothing is a fraction of zero: beside it, only zero is right.
        if not actual:
            return 3 if predicted else 0
        apart = abs(predicted - actual) / abs(actual)
    else:
        apart = abs(math.log10(predicted / actual))
    return sum(apart > reach for reach in _REACH[kind])
