"""Boxes and arrows: how a diagram is laid out on a scene without axes.

Across, a diagram runs from 0 to 100 and stretches with the screen. Down, it is measured in pixels
from the top, so that lines of text keep their distance at every width.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mlsys_widgets.drawing.scene import BARE_MARGIN, AnyMark, Axis, Points, Scene, Words

_LINE = 16.0
#: From the middle of a line of text down to its anchor.
_TEXT_DROP = 8.0
#: How far above a box its arrows turn.
_TURN = 15.0
_HEAD = 6.0

Place = tuple[float, float]
Path = tuple[Place, ...]


@dataclass(frozen=True)
class Box:
    """A box by its middle: ``x`` of 100 across, ``y`` in pixels from the top."""

    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Diagram:
    """Named boxes on a sheet whose height is in pixels."""

    height: int
    boxes: Mapping[str, Box]

    @property
    def _top(self) -> float:
        return float(self.height - 2 * BARE_MARGIN)

    def scene(
        self, marks: Iterable[AnyMark], legend: tuple[tuple[str, str, str], ...] = ()
    ) -> Scene:
        """A scene in which one unit up is one pixel."""
        across, up = Axis("", 0.0, 100.0), Axis("", 0.0, self._top)
        return Scene(across, up, tuple(marks), self.height, legend)

    def block(self, name: str, tone: str) -> tuple[float, float, float, float, str]:
        """A box to fill."""
        left, bottom, right, top = self._edges(name)
        return left, bottom, right, top, tone

    def outline(self, name: str) -> Path:
        """A box to draw around."""
        left, bottom, right, top = self._edges(name)
        return (left, bottom), (left, top), (right, top), (right, bottom), (left, bottom)

    def arrow(self, start: str, end: str) -> Path:
        """From the bottom of one box to the top of another below it, turning above that."""
        above, below = self.boxes[start], self.boxes[end]
        first, last = self._edges(start)[1], self._edges(end)[3] + _HEAD
        if abs(above.x - below.x) < above.width / 2 - 1:
            return (below.x, first), (below.x, last)
        turn = self._edges(end)[3] + _TURN
        return (above.x, first), (above.x, turn), (below.x, turn), (below.x, last)

    def aside(self, start: str, end: str) -> Path:
        """From the side of one box to the top of another that stands lower beside it."""
        left, bottom, right, top = self._edges(start)
        target = self.boxes[end].x
        middle = (bottom + top) / 2
        near = left if target < left else right
        return (near, middle), (target, middle), (target, self._edges(end)[3] + _HEAD)

    def heads(self, name: str, ends: Iterable[str], tone: str) -> Points:
        """The heads of the arrows that end in these boxes."""
        tips = tuple(dict.fromkeys(ends))
        x = tuple(self.boxes[end].x for end in tips)
        y = tuple(self._edges(end)[3] + _HEAD for end in tips)
        return Points(name, x, y, tone, "triangle-down", 60)

    def captions(self, name: str, lines: Mapping[str, tuple[str, ...]] | None = None) -> Words:
        """The text of the boxes, each line in the middle; ``lines`` replace a box's own."""
        own = {key: box.lines for key, box in self.boxes.items()} | dict(lines or {})
        x, y, text = [], [], []
        for key, box in self.boxes.items():
            for k, line in enumerate(own[key]):
                drop = (k - (len(own[key]) - 1) / 2) * _LINE
                x.append(box.x)
                y.append(self._top - box.y - drop - _TEXT_DROP)
                text.append(line)
        return Words(name, tuple(x), tuple(y), tuple(text), "middle")

    def words(self, name: str, places: Iterable[tuple[float, float, str]], align: str) -> Words:
        """Text beside the boxes, placed by the middle of its line."""
        found = tuple(places)
        y = tuple(self._top - down - _TEXT_DROP for _, down, _ in found)
        text = tuple(word for *_, word in found)
        return Words(name, tuple(across for across, *_ in found), y, text, align)

    def _edges(self, name: str) -> tuple[float, float, float, float]:
        box = self.boxes[name]
        middle, half = self._top - box.y, box.height / 2
        return box.x - box.width / 2, middle - half, box.x + box.width / 2, middle + half
