"""Scenes: what is drawn, described once for the live plot and the still picture.

A scene is one pair of axes and named marks. Names are kept from one scene to the next, so that an
update changes the data of marks that are already on the screen and never makes new ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mlsys_widgets.wording.units import format_quantity, parse_quantity

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Axis:
    """A scale with its label; ``ticks`` are the values that are written, ``words`` their names.

    In a still picture, the words of an axis across may have several lines; three fit above the
    end of a scene whose axis has no label.
    """

    label: str
    low: float
    high: float
    log: bool = False
    ticks: tuple[float, ...] = ()
    words: tuple[str, ...] = ()
    #: Whether lines cross the plot at the ticks; rows of bars with text in them have no grid.
    grid: bool = True

    @property
    def bare(self) -> bool:
        """Whether it has neither label nor ticks: such an axis is not drawn, as in a diagram."""
        return not self.label and not self.ticks


def decades(low: float, high: float) -> tuple[float, ...]:
    """Powers of ten from low to high, thinned out so that at most eight are written."""
    first, last = (round(float(np.log10(limit))) for limit in (low, high))
    step = max(1, -(-(last - first) // 7))
    return tuple(float(10.0**power) for power in range(first, last + 1, step))


def even(high: float) -> tuple[float, ...]:
    """Round values from zero to the first at or above ``high``, four to six of them."""
    rough = high / 5
    power = 10.0 ** np.floor(np.log10(rough))
    step = float(power * next(size for size in (1.0, 2.0, 2.5, 5.0, 10.0) if rough <= size * power))
    return tuple(step * k for k in range(int(np.ceil(high / step)) + 1))


def from_zero(label: str, high: float, unit: str) -> Axis:
    """A linear axis from zero past ``high``, written in the unit that suits its end.

    Its end is a round number, so that the axis stands still while a slider moves a little.
    """
    word = format_quantity(high, unit).rpartition(" ")[2]
    one = parse_quantity(f"1 {word}", unit)
    steps = even(high / one)
    ticks = tuple(step * one for step in steps)
    words = tuple(f"{step:,g}" for step in steps)
    return Axis(f"{label} ({word})", 0.0, ticks[-1], ticks=ticks, words=words)


@dataclass(frozen=True)
class Mark:
    """Base of the marks. ``tone`` names a color of the theme."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    tone: str = "ink"


@dataclass(frozen=True)
class Line(Mark):
    """Points joined by straight lines."""

    dash: str = "solid"
    width: float = 2.0


@dataclass(frozen=True)
class Strokes:
    """Several lines of one style, such as the arrows of a diagram: the corners of each."""

    name: str
    paths: tuple[tuple[tuple[float, float], ...], ...]
    tone: str = "ink"
    dash: str = "solid"
    width: float = 2.0


@dataclass(frozen=True)
class Points(Mark):
    """Symbols, with a word beside each if ``words`` are given."""

    symbol: str = "circle"
    size: float = 70.0
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Blocks:
    """Filled rectangles: ``(left, bottom, right, top, tone)`` each."""

    name: str
    blocks: tuple[tuple[float, float, float, float, str], ...]
    opacity: float = 1.0


@dataclass(frozen=True)
class Words:
    """Text at places of the plot, in the tone of text: others have too little contrast to read."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    text: tuple[str, ...]
    align: str = "start"
    #: Whether it stands above its place, as over a line, or level with it, as beside one.
    above: bool = True


def note(name: str, place: tuple[float, float, str] | None, align: str = "start") -> Words:
    """One piece of text, ``(x, y, text)``, or an empty mark for ``None``."""
    return notes(name, () if place is None else (place,), align)


def notes(
    name: str,
    places: Sequence[tuple[float, float, str]],
    align: str = "start",
    *,
    above: bool = True,
) -> Words:
    """Several pieces of text, ``(x, y, text)`` each."""
    x, y, text = zip(*places, strict=True) if places else ((), (), ())
    return Words(name, x, y, text, align=align, above=above)


def upright(
    name: str,
    x: float | None,
    span: tuple[float, float],
    tone: str,
    dash: str = "solid",
    width: float = 2.0,
) -> Line:
    """A line straight up at a place, or an empty mark for ``None``."""
    if x is None:
        return Line(name, (), (), tone, dash, width)
    return Line(name, (x, x), span, tone, dash, width)


AnyMark = Line | Strokes | Points | Blocks | Words


@dataclass(frozen=True)
class Handle:
    """A place of the picture that can be taken and moved, which moves an input."""

    name: str  # its name among all handles of an instrument
    control: str  # the input that it moves; arrow keys step that input
    x: float  # where it is
    y: float
    along: str = "x"  # the direction in which it moves: ``"x"``, ``"y"`` or ``"xy"``
    #: Whether the input grows to the left or downward, so that arrow keys follow the picture.
    flip: bool = False


#: Pixels around a scene without axes.
BARE_MARGIN = 8


@dataclass(frozen=True)
class Scene:
    """Axes and marks, drawn in this order."""

    across: Axis
    up: Axis
    marks: tuple[AnyMark, ...] = ()
    height: int = 340
    #: (words, tone, sign) for each entry of the legend; a sign is a dash, a symbol, both with a
    #: space between them, or empty for a block.
    legend: tuple[tuple[str, str, str], ...] = field(default=())
    #: What can be dragged.
    handles: tuple[Handle, ...] = ()
    #: A sentence above the plot: what a point of it means, where its axes do not say that.
    title: str = ""

    @property
    def bare(self) -> bool:
        """Whether it has no axes, so that marks may use their room."""
        return self.across.bare and self.up.bare
