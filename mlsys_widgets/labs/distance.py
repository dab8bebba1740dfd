"""How far a prediction is from a value, in the terms of the question."""

from __future__ import annotations

import math
from typing import Final, Literal

from mlsys_widgets.physics import format_quantity

Distance = Literal["points", "times", "orders", "difference"]
DISTANCES: Final[tuple[Distance, ...]] = ("points", "times", "orders", "difference")

SAME: Final = "the same, to the digits shown, as"

#: Up to here a number is close: in points, as a ratio, in orders of magnitude, as a fraction.
_CLOSE: Final = {"points": 0.05, "times": 1.25, "orders": 0.3, "difference": 0.1}


def distance_in_words(predicted: float, actual: float, kind: Distance, unit: str = "") -> str:
    """How far a prediction is from a value, in words.

    Examples
    --------
    >>> distance_in_words(0.55, 0.33, "points", "%")
    '22 percentage points above'
    >>> distance_in_words(1000, 134_000, "times", "images")
    '134× below'
    >>> distance_in_words(1e9, 1e6, "orders")
    '3 orders of magnitude above'
    >>> distance_in_words(5, 3.5, "difference", "s")
    '1.5 s above'
    >>> distance_in_words(1000, float("inf"), "times")
    'below by more than any number'
    """
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
        shown = format_quantity(max(predicted / actual, actual / predicted), "×")
        return SAME if shown == "1×" else f"{shown} {side}"
    else:
        far = format_quantity(abs(predicted - actual), unit)
        return SAME if predicted == actual else f"{far} {side}"
    shown = f"{size:.1f}".removesuffix(".0")
    return SAME if shown == "0" else f"{shown} {one if shown == '1' else many} {side}"


def how_close(predicted: float, actual: float, kind: Distance) -> Literal["low", "close", "high"]:
    """Whether a number is close to a value, below it or above it.

    Examples
    --------
    >>> how_close(0.30, 0.33, "points"), how_close(1e3, 1.3e5, "times")
    ('close', 'low')
    """
    side: Literal["low", "high"] = "high" if predicted > actual else "low"
    if not math.isfinite(actual):
        return side
    if kind == "points":
        near = abs(predicted - actual) <= _CLOSE[kind]
    elif kind == "difference" or predicted <= 0 or actual <= 0:
        near = abs(predicted - actual) <= _CLOSE["difference"] * abs(actual)
    else:
        apart = abs(math.log10(predicted / actual))
        near = apart <= (_CLOSE["orders"] if kind == "orders" else math.log10(_CLOSE["times"]))
    return "close" if near else side
