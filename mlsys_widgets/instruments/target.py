"""Targets of a design: a limit that it has to keep, as a line on the picture and as a lamp.

An author states a target as data. The instrument says where a quantity stands on its axes and how
its units and verdicts read; everything else follows from both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from mlsys_widgets.drawing.scene import Axis, Blocks, Line, Scene, Strokes, notes
from mlsys_widgets.wording.choices import one_of
from mlsys_widgets.wording.plurals import in_unit
from mlsys_widgets.wording.units import in_one_unit

Direction = Literal["at most", "at least"]
_DIRECTIONS: Final[tuple[Direction, ...]] = ("at most", "at least")
#: Sums that are equal up to their last digits are equal.
_EQUAL: Final = 1e-12
#: Where the words of a line begin, as parts of the plot: beside an upright line, and above a level
#: one. Upright lines that are close to each other write on rows of their own.
_GAP, _TOP, _ROW = 0.012, 0.93, 0.1
#: How much of a plot a letter takes across and a line of words takes in pixels upward, its margins,
#: and how far words move down at a time, off the bars behind them.
_LETTER, _LINE, _MARGINS, _DOWN = 0.012, 15, 64, 0.01
#: The words of an upright line stand on its left if it is further right than this.
_RIGHT: Final = 0.55


@dataclass(frozen=True)
class LimitedQuantity:
    """A quantity of an instrument that a target may limit."""

    unit: str
    #: A word or two for a headline: ``"in time"``, ``"too late"``.
    met: str
    missed: str
    #: What to call the amount by which a limit is exceeded, or not reached.
    beyond: str
    #: Where it is drawn: the number of the plot, and ``"x"`` or ``"y"``.
    axes: tuple[tuple[int, Literal["x", "y"]], ...] = ()


@dataclass(frozen=True)
class Target:
    """A limit that a design has to keep.

    Parameters
    ----------
    quantity
        Which quantity of the instrument it limits, by name; see ``Instrument.quantities``.
    limit
        The limit, in SI units.
    words
        What the line and the lamp are called, such as ``"latency promise 40 ms"``. Name the limit
        in them unless a question of the lab asks for it.
    direction
        ``"at most"`` or ``"at least"``.
    spare
        Whether a lamp that is kept says by how much. Leave that out, too, where it would answer a
        question.

    Examples
    --------
    >>> promise = Target("total", 40e-3, "latency promise 40 ms")
    >>> time = LimitedQuantity("s", "in time", "too late", "too late")
    >>> print(promise.lamp(34e-3, time).sentence)
    Latency promise 40 ms: 34 ms, 6 ms to spare.
    >>> late = promise.lamp(52e-3, time)
    >>> late.kept, late.verdict
    (False, '52 ms, 12 ms too late')
    """

    quantity: str
    limit: float
    words: str
    direction: Direction = "at most"
    spare: bool = True

    def __post_init__(self) -> None:
        one_of("direction", self.direction, _DIRECTIONS)
        if not self.words.strip():
            raise ValueError(f"the target for {self.quantity} has no words; name what it promises")
        if not math.isfinite(self.limit):
            raise ValueError(f"the limit of “{self.words}” is {self.limit}; it must be a number")

    def lamp(self, value: float, quantity: LimitedQuantity) -> Lamp:
        """Whether a value keeps this target, and by how much."""
        over = value - self.limit if self.direction == "at most" else self.limit - value
        kept = over <= _EQUAL * abs(self.limit)
        shown, amount = _amounts(quantity.unit, value, abs(over))
        by = f"{amount} {'to spare' if kept else quantity.beyond}"
        if not (kept or self.limit) and math.isfinite(value):  # “1, 1 too many” says it twice
            return Lamp(self.words, kept, by, quantity.missed)
        if kept and not self.spare:
            by = quantity.met
        # What never happens is not late by any amount.
        verdict = f"{shown}, {by}" if math.isfinite(value) else shown
        return Lamp(self.words, kept, verdict, quantity.met if kept else quantity.missed)


def _amounts(unit: str, *values: float) -> tuple[str, ...]:
    """Values in one unit; one of what a noun counts is singular."""
    shown = in_one_unit(unit, *values)
    return tuple(in_unit(1, unit) if words == f"1 {unit}" else words for words in shown)


@dataclass(frozen=True)
class Lamp:
    """A target that is kept or missed: by how much, and a word for a headline."""

    words: str
    kept: bool
    verdict: str
    short: str

    @property
    def sign(self) -> str:
        """The lamp without its color."""
        return "✓" if self.kept else "✗"

    @property
    def name(self) -> str:
        """The words, as a sentence begins."""
        return f"{self.words[:1].upper()}{self.words[1:]}"

    @property
    def sentence(self) -> str:
        """All of it in words."""
        return f"{self.name}: {self.verdict}."


def with_lines(
    scenes: tuple[Scene, ...], targets: Iterable[Target], quantities: Mapping[str, LimitedQuantity]
) -> tuple[Scene, ...]:
    """Scenes with a labeled line for each target, on every axis that shows its quantity.

    The marks are there without targets too, and then empty: a plot keeps its marks.
    """
    wanted = tuple(targets)
    return tuple(_on(scene, k, wanted, quantities) for k, scene in enumerate(scenes))


def _on(
    scene: Scene,
    number: int,
    targets: tuple[Target, ...],
    quantities: Mapping[str, LimitedQuantity],
) -> Scene:
    sides = {side for each in quantities.values() for k, side in each.axes if k == number}
    if not sides:
        return scene
    paths: list[tuple[tuple[float, float], ...]] = []
    left: list[tuple[float, float, str]] = []
    right: list[tuple[float, float, str]] = []
    row = 0
    for target, side in _places(number, targets, quantities):
        axis, other = (scene.across, scene.up) if side == "x" else (scene.up, scene.across)
        at = _fraction(axis, target.limit)
        if not 0 <= at <= 1:
            continue  # beyond the axis; the lamp still tells
        ends = ((target.limit, other.low), (target.limit, other.high))
        if side == "x":
            paths.append(ends)
            beside = _at(axis, at - _GAP if at > _RIGHT else at + _GAP)
            ends_at = at + (-1 if at > _RIGHT else 1) * _LETTER * len(target.words)
            height = _at(other, _above_bars(scene, (at, ends_at), _TOP - _ROW * row))
            (left if at > _RIGHT else right).append((beside, height, target.words))
            row += 1
        else:
            paths.append(tuple((x, y) for y, x in ends))
            wide = _GAP + _LETTER * len(target.words)
            first, last = (_crossed(scene, span, at) for span in ((0, wide), (1 - wide, 1)))
            to_the_end = first and not last
            place = _at(other, 1 - _GAP if to_the_end else _GAP), target.limit, target.words
            (left if to_the_end else right).append(place)
    marks = (
        Strokes("target lines", tuple(paths), "text", "dash_dotted", 2.0),
        notes("target words on the left", left, "end"),
        notes("target words on the right", right),
    )
    return replace(scene, marks=(*scene.marks, *marks))


def _crossed(scene: Scene, span: tuple[float, float], at: float) -> bool:
    """Whether a curve runs through words that stand above a level line."""
    line = _LINE / (scene.height - _MARGINS)
    return any(
        span[0] <= _fraction(scene.across, x) <= span[1]
        and at <= _fraction(scene.up, y) <= at + line
        for mark in scene.marks
        if isinstance(mark, Line)
        for x, y in zip(mark.x, mark.y, strict=True)
    )


def _above_bars(scene: Scene, span: tuple[float, float], top: float) -> float:
    """The height nearest below the top at which words stand on no bar, or else the top.

    Only rows have bars that words could stand between: a wide tinted zone is no bar.
    """
    rows = [
        (_fraction(scene.up, low), _fraction(scene.up, high))
        for mark in scene.marks
        if isinstance(mark, Blocks) and mark.opacity > 0.5
        for begin, low, end, high, _ in mark.blocks
        if _fraction(scene.across, begin) < max(span) and _fraction(scene.across, end) > min(span)
    ]
    line = _LINE / (scene.height - _MARGINS)
    for k in range(round(top / _DOWN)):
        height = top - k * _DOWN
        # Words stand above their place, and may touch a bar below by a hair.
        if all(height + line <= low + _DOWN or height >= high - _DOWN for low, high in rows):
            return height
    return top


def _places(
    number: int, targets: tuple[Target, ...], quantities: Mapping[str, LimitedQuantity]
) -> Iterator[tuple[Target, Literal["x", "y"]]]:
    for target in targets:
        for k, side in quantities[target.quantity].axes:
            if k == number:
                yield target, side


def _fraction(axis: Axis, value: float) -> float:
    """How far along an axis a value lies; below zero where a logarithmic axis has no place."""
    if not axis.log:
        return (value - axis.low) / (axis.high - axis.low)
    return math.log(value / axis.low) / math.log(axis.high / axis.low) if value > 0 else -1.0


def _at(axis: Axis, fraction: float) -> float:
    if axis.log:
        return float(axis.low * (axis.high / axis.low) ** fraction)
    return axis.low + (axis.high - axis.low) * fraction
