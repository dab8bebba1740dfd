"""What an instrument draws, described once: the live plot and the still picture both follow it.

A scene is one pair of axes and named marks. Names are kept from one scene to the next, so that an
update changes the data of marks that are already on the screen and never makes new ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Axis:
    """A scale with its label; ``ticks`` are the values that are written, ``words`` their names."""

    label: str
    low: float
    high: float
    log: bool = False
    ticks: tuple[float, ...] = ()
    words: tuple[str, ...] = ()


def decades(low: float, high: float) -> tuple[float, ...]:
    """Powers of ten from low to high, thinned out so that at most eight are written.

    Examples
    --------
    >>> decades(0.1, 1000)
    (0.1, 1.0, 10.0, 100.0, 1000.0)
    """
    first, last = (round(float(np.log10(limit))) for limit in (low, high))
    step = max(1, -(-(last - first) // 7))
    return tuple(float(10.0**power) for power in range(first, last + 1, step))


@dataclass(frozen=True)
class Mark:
    """Base of the marks. ``tone`` names a colour of the theme."""

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
    """Text at places of the plot."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    text: tuple[str, ...]
    tone: str = "ink"
    align: str = "start"


AnyMark = Line | Points | Blocks | Words


@dataclass(frozen=True)
class Scene:
    """Axes and marks, drawn in this order."""

    across: Axis
    up: Axis
    marks: tuple[AnyMark, ...] = ()
    height: int = 340
    #: (words, tone, symbol or dash) for each entry of the legend.
    legend: tuple[tuple[str, str, str], ...] = field(default=())
