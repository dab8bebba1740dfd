"""A short film: blocks that move over a stage, described once and played in the browser.

A film has its own time, in seconds on the screen at normal speed. Python describes where each
block is at which moment; the browser draws what is between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlsys_widgets.drawing.theme import color

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


@dataclass(frozen=True)
class Film:
    """Blocks, the rows they move in, and the moments worth stopping at.

    Parameters
    ----------
    title
        What is shown.
    seconds
        How long it runs at normal speed.
    actors
        The blocks, drawn in this order.
    rows
        ``(height, words)`` of each row that is named at the left edge.
    moments
        ``(time, sentence)``: where a step stops, and what has happened by then. The first is at 0,
        the last at the end.
    height
        Pixels of the stage.
    """

    title: str
    seconds: float
    actors: tuple[Actor, ...]
    rows: tuple[tuple[float, str], ...] = ()
    moments: tuple[tuple[float, str], ...] = ()
    height: int = 150

    def __post_init__(self) -> None:
        if not self.moments or self.moments[0][0] != 0 or self.moments[-1][0] != self.seconds:
            raise ValueError(f"the film {self.title!r} needs a moment at 0 and one at its end")
        for actor in self.actors:
            times = [place[0] for place in actor.path]
            if not times or times != sorted(times):
                raise ValueError(f"the block {actor.label!r} of {self.title!r} moves back in time")

    def to_json(self) -> dict[str, Any]:
        """Return what the browser needs, with numbers short enough to travel."""
        return {
            "title": self.title,
            "seconds": self.seconds,
            "height": self.height,
            "rows": [[round(height, 4), words] for height, words in self.rows],
            "moments": [[round(time, 4), words] for time, words in self.moments],
            "actors": [
                [
                    actor.label,
                    color(actor.tone),
                    [[round(value, 4) for value in place] for place in actor.path],
                    actor.leaves,
                ]
                for actor in self.actors
            ],
        }
