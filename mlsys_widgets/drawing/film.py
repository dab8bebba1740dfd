"""A short film: blocks that move over a stage, described once and played in the browser.

A film has its own time, in seconds on the screen at normal speed. Python describes where each
block is at which moment; the browser draws what is between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlsys_widgets.drawing.scene import Axis, Blocks, Scene
from mlsys_widgets.drawing.theme import color

_STAGE = Axis("", 0, 1)

#: Where a block is: (time, left, bottom, width, height), on a stage one wide and one high.
Place = tuple[float, float, float, float, float]


@dataclass(frozen=True)
class Actor:
    """A block that moves."""

    label: str
    tone: str
    #: With rising times. It appears at the first and stays where the last puts it.
    path: tuple[Place, ...]
    #: When it disappears; `None` if it stays.
    leaves: float | None = None

    def at(self, time: float) -> tuple[float, ...] | None:
        """Left, bottom, width and height at a time; `None` while it is not there."""
        if time < self.path[0][0] or (self.leaves is not None and time >= self.leaves):
            return None
        before = [place for place in self.path if place[0] <= time][-1]
        after = next((place for place in self.path if place[0] > time), before)
        part = (time - before[0]) / (after[0] - before[0]) if after is not before else 0.0
        return tuple(a + part * (b - a) for a, b in zip(before[1:], after[1:], strict=True))


@dataclass(frozen=True)
class Film:
    """Blocks, the rows they move in, and the moments worth stopping at."""

    title: str  # what is shown
    seconds: float  # how long it runs at normal speed
    actors: tuple[Actor, ...]  # the blocks, drawn in this order
    #: ``(height, words)`` of each row that is named at the left edge.
    rows: tuple[tuple[float, str], ...] = ()
    #: ``(time, sentence)``: where a step stops, and what has happened by then. The first is at 0,
    #: the last at the end.
    moments: tuple[tuple[float, str], ...] = ()
    height: int = 150  # pixels of the stage

    def __post_init__(self) -> None:
        if not self.moments or self.moments[0][0] != 0 or self.moments[-1][0] != self.seconds:
            raise ValueError(f"the film {self.title!r} needs a moment at 0 and one at its end")
        for actor in self.actors:
            times = [place[0] for place in actor.path]
            if not times or times != sorted(times):
                raise ValueError(f"the block {actor.label!r} of {self.title!r} moves back in time")

    def at(self, time: float) -> Scene:
        """Return the stage at a time, without words."""
        marks = []
        for k, actor in enumerate(self.actors):
            left, low, wide, high = actor.at(time) or (0.0,) * 4
            block = (left, low, left + wide, low + high, actor.tone)
            marks.append(Blocks(str(k), (block,) if wide else ()))
        return Scene(_STAGE, _STAGE, tuple(marks), self.height)

    def to_json(self) -> dict[str, Any]:
        """Return what the browser needs, with numbers short enough to travel."""
        return {
            "title": self.title,
            "seconds": self.seconds,
            "height": self.height,
            "rows": [[_short(height), words] for height, words in self.rows],
            "moments": [[_short(time), words] for time, words in self.moments],
            "actors": [
                [
                    actor.label,
                    color(actor.tone),
                    [[_short(value) for value in place] for place in actor.path],
                    None if actor.leaves is None else _short(actor.leaves),
                ]
                for actor in self.actors
            ],
        }


def _short(value: float) -> float:
    """A time or a place, to a millisecond or a thousandth of the stage."""
    return round(value, 3)
