"""The common plot: curves, thresholds and dots over two axes, all of them named in its legend.

Each part brings its data, its words and its looks together; `curve_scene` makes marks, legend and
handles from them. A part without data keeps its mark, which is then empty, and is not named.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final, Literal, cast

import numpy as np

from mlsys_widgets.drawing.scene import (
    AnyMark,
    Array,
    Axis,
    Handle,
    Line,
    Points,
    Scene,
    decades,
)
from mlsys_widgets.wording.units import format_quantity

#: Numbers, one number, none, or the name of a quantity where an instrument declares its plot.
Values = Sequence[float] | Array | float | str | None


@dataclass(frozen=True)
class Curve:
    """A quantity against another, as a line."""

    #: The values; in a `CurveInstrument`, the names of a control and of an output of its result.
    x: Values
    y: Values
    words: str  # what the legend calls it
    tone: str = "ink"
    dash: str = "solid"
    width: float = 3.0
    name: str = ""  # the name of its mark, where its words change


@dataclass(frozen=True)
class Threshold:
    """A line across the whole plot at a value of ``x`` or of ``y``, if it lies on that axis."""

    words: str
    x: Values = None
    y: Values = None
    tone: str = "red"
    dash: str = "dashed"
    width: float = 2.5
    name: str = ""


@dataclass(frozen=True)
class Dots:
    """Single values, such as measured ones; with ``moves``, one that drags an input along x."""

    x: Values
    y: Values
    words: str
    tone: str = "ink"
    symbol: str = "circle"
    size: float = 110.0
    name: str = ""
    moves: str = ""


Part = Curve | Threshold | Dots
#: What is drawn behind what.
_LAYERS: Final[tuple[type[Part], ...]] = (Threshold, Curve, Dots)


def prediction(
    value: float | None, unit: str = "", *, axis: Literal["x", "y"] = "y", before: str = ""
) -> Threshold:
    """A prediction as every instrument draws it; ``before`` are words before its number."""
    shown = "" if value is None else format_quantity(value, unit)
    x, y = (value, None) if axis == "x" else (None, value)
    return Threshold(f"Your prediction, {before}{shown}", x, y, "prediction", name="prediction")


def curve_scene(
    across: Axis,
    up: Axis,
    parts: Sequence[Part],
    *,
    height: int = 300,
    behind: tuple[AnyMark, ...] = (),
) -> Scene:
    """Draw the parts of a plot in their order, and name them in it.

    Thresholds are behind all curves, curves behind all dots, and ``behind`` is behind everything.
    """
    drawn: list[tuple[int, AnyMark]] = []
    legend, handles = [], []
    for part in parts:
        name = part.name or part.words
        mark: AnyMark
        if isinstance(part, Threshold):
            x, y = _ends(part, across, up)
        else:
            x, y = numbers(part.x), numbers(part.y)
        if isinstance(part, Dots):
            sign, mark = part.symbol, Points(name, x, y, part.tone, part.symbol, part.size)
            if part.moves and x:
                handles.append(Handle(part.moves, part.moves, x[0], y[0]))
        else:
            sign, mark = part.dash, Line(name, x, y, part.tone, part.dash, part.width)
        drawn.append((_LAYERS.index(type(part)), mark))
        if x:
            legend.append((part.words, part.tone, sign))
    marks = (*behind, *(mark for _, mark in sorted(drawn, key=itemgetter(0))))
    return Scene(across, up, marks, height, tuple(legend), tuple(handles))


_Places = tuple[tuple[float, ...], tuple[float, ...]]


def _ends(line: Threshold, across: Axis, up: Axis) -> _Places:
    """Both ends of a line across a plot; none if it would lie beside it."""
    at, axis = (line.x, across) if line.x is not None else (line.y, up)
    place = numbers(at)
    if not place or not axis.low <= place[0] <= axis.high:
        return (), ()
    twice = (place[0], place[0])
    return (twice, (up.low, up.high)) if axis is across else ((across.low, across.high), twice)


def numbers(values: Values) -> tuple[float, ...]:
    """Return values as numbers.

    Examples
    --------
    >>> numbers(3), numbers((1, 2)), numbers(None)
    ((3.0,), (1.0, 2.0), ())
    """
    if values is None:
        return ()
    return tuple(np.atleast_1d(np.asarray(cast(Array, values), np.float64)).tolist())


def decade_axis(label: str, low: float, high: float, unit: str) -> Axis:
    """A logarithmic axis of whole decades, as many as it takes to hold ``low`` to ``high``."""
    start, end = 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))
    ticks = decades(start, end)
    return Axis(label, start, end, True, ticks, tuple(format_quantity(t, unit) for t in ticks))
