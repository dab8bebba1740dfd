"""A pinned state: the picture and the numbers of then, shown behind those of now."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mlsys_widgets.drawing.scene import (
    AnyMark,
    Axis,
    Blocks,
    Line,
    Points,
    Scene,
    Strokes,
    Words,
)
from mlsys_widgets.wording.units import format_quantity

_NUMBER = re.compile(r"^[−-]?\d[\d,]*(\.\d+)?")
#: What a ghost is drawn in.
_TONE = "gray"


@dataclass(frozen=True)
class Pin:
    """The state of an instrument when it was pinned."""

    inputs: Mapping[str, Any]
    scenes: tuple[Scene, ...]
    #: The values of the cards, by label.
    cards: Mapping[str, str]

    def compared(self, label: str, now: str) -> str:
        """Compare a card with its pinned value; empty if it had none or has the same."""
        before = self.cards.get(label)
        if before is None or before == now:
            return ""
        return f"was {before}{_ratio(before, now)}"

    def entry(self, place: int, now: Scene) -> str:
        """Return its entry in the legend of a plot; a bar or point of then may be cut off now."""
        cut = _is_cut(self.scenes[place], now)
        return "Pinned (partly beyond the chart)" if cut else "Pinned"


def ghost(scene: Scene) -> tuple[AnyMark, ...]:
    """The marks of a pinned picture: pale, without words, and under names of their own."""
    return tuple(_pale(mark) for mark in scene.marks if not isinstance(mark, Words))


def _is_cut(then: Scene, now: Scene) -> bool:
    """Whether a bar or a point of a picture ends beyond the axes of another one."""
    across, up = list[float](), list[float]()
    for mark in then.marks:
        match mark:
            case Blocks(blocks=blocks):
                across += [x for left, _, right, _, _ in blocks for x in (left, right)]
                up += [y for _, low, _, high, _ in blocks for y in (low, high)]
            case Points(x=x, y=y):
                across += x
                up += y
    return _leaves(across, then.across, now.across) or _leaves(up, then.up, now.up)


def _leaves(values: Sequence[float], then: Axis, now: Axis) -> bool:
    """Whether a value within an axis lies outside of another; what fills the first has no end."""
    return any(then.low < v < then.high and not now.low <= v <= now.high for v in values)


def _pale(mark: Line | Strokes | Points | Blocks) -> AnyMark:
    name = f"pinned {mark.name}"
    match mark:
        case Blocks(blocks=blocks):
            pale = tuple((left, low, right, high, _TONE) for left, low, right, high, _ in blocks)
            return Blocks(name, pale, 0.35 * mark.opacity)
        case Line() | Strokes():
            return replace(mark, name=name, tone=_TONE, dash="dotted")
    return replace(mark, name=name, tone=_TONE)


def _ratio(before: str, now: str) -> str:
    """How many times larger the new value is, where both are numbers in one unit.

    Examples
    --------
    >>> _ratio("20.0 µs", "30.0 µs"), _ratio("20 µs", "1 ms"), _ratio("33.3%", "66.6%")
    (', now 1.5×', '', ', now 2×')
    """
    values, units = [], []
    for text in (before, now):
        found = _NUMBER.match(text)
        if not found:
            return ""
        values.append(float(found[0].replace(",", "").replace("−", "-")))
        units.append(text[found.end() :].strip().removesuffix("s"))
    if units[0] != units[1] or values[0] <= 0 or values[1] <= 0:
        return ""
    return f", now {format_quantity(values[1] / values[0], '×')}"


def values_of(cards: Sequence[tuple[str, str, str]]) -> dict[str, str]:
    """The values of cards, by label."""
    return {label: value for label, value, _ in cards}
