"""The line below the heading of a deeper section: what is in it, and how long it takes.

Counted, like the minutes on the cover, from the cells of the section.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mlsys_widgets.authoring.act_minutes import deeper_sections, section_minutes
from mlsys_widgets.authoring.text import LabCell
from mlsys_widgets.labs import Item
from mlsys_widgets.labs.lab import points_of
from mlsys_widgets.labs.lab_minutes import in_steps
from mlsys_widgets.labs.student_steps import kind_of
from mlsys_widgets.wording.plurals import counted
from mlsys_widgets.wording.units import format_quantity

#: What a section can hold, in the order in which it is named; equations and records go without.
_NAMED: Final[Mapping[str, tuple[str, str]]] = {
    "prediction": ("prediction", "predictions"),
    "instrument": ("instrument", "instruments"),
    "answer": ("question", "questions"),
    "reflection": ("reflection", "reflections"),
    "measurement": ("measurement", "measurements"),
    "quiz": ("quiz", "quizzes"),
    "myths": ("set of claims", "sets of claims"),
    "checklist": ("checklist", "checklists"),
    "essay": ("text to write", "texts to write"),
}


@dataclass(frozen=True)
class DeeperHeading:
    """A deeper section in a line."""

    act: int
    minutes: int
    holds: tuple[str, ...]  # what is in it, such as "2 questions"
    points: float  # what it is worth; 0 where it is optional

    @property
    def in_words(self) -> str:
        """The line below the heading."""
        *first, last = self.holds or ("reading",)
        listed = f"{', '.join(first)} and {last}" if first else last
        counts = (
            f"It counts: {format_quantity(self.points, 'points')}."
            if self.points
            else "Optional: it is explained like the rest, and gives no points."
        )
        return f"*About {self.minutes} minutes more: {listed}. {counts}*"


def deeper_headings(
    items: Mapping[str, Item], cells: Sequence[LabCell]
) -> dict[str, DeeperHeading]:
    """Sum up each deeper section of a lab, by where its heading stands."""
    sections = deeper_sections(cells)
    # As the cover has them.
    minutes = in_steps([section_minutes(items, each) for each in sections])
    return {
        each[0].where: _heading(items, each, said)
        for each, said in zip(sections, minutes, strict=True)
    }


def _heading(items: Mapping[str, Item], section: Sequence[LabCell], minutes: int) -> DeeperHeading:
    placed = {c.name: items[c.name] for c in section if c.name in items and c.kind != "reveal"}
    kinds = Counter(kind_of(item) for item in placed.values())
    kinds["instrument"] = sum(cell.kind == "instrument" for cell in section)
    holds = tuple(counted(kinds[k], *words) for k, words in _NAMED.items() if kinds[k])
    act = section_minutes(items, section).act
    return DeeperHeading(act, minutes, holds, sum(points_of(placed).values()))
