"""How long each act of a lab takes, counted over its cells from top to bottom.

A section, which begins at a heading of the second level, belongs to the act of the items in it. A
heading that says *a break*, such as “Time for a break”, begins another sitting of the same act.
Whatever stands in a deeper section is counted apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mlsys_widgets.authoring.text import LabCell
from mlsys_widgets.labs import Item
from mlsys_widgets.labs.lab_minutes import RATES, LabMinutes, Sitting, item_minutes, reading

_TEMPLATE: Final = re.compile(r"\{\{.+?\}\}", re.S)
_HEADING: Final = re.compile(r"^(#+)\s+(.*)$", re.M)
#: Not “break-even” and not the “graph breaks” of compilers.
_BREAK: Final = re.compile(r"\ba break\b(?!-)", re.I)
#: A rest of fewer minutes, such as a paragraph on what comes next, is part of the last act.
_SHORT: Final = 2.5
#: Kinds of cells that are only read.
_TEXT: Final = ("prose", "deeper")
#: What is done at a kind of cell, beyond the item that it names.
_ALSO: Final[Mapping[str, tuple[str, ...]]] = {
    "setup": ("cover",),
    "show": ("shown",),
    "instrument": ("instrument",),
    "reveal": ("reveal", "own words"),
    "design": ("design",),
}
#: Kinds of cells that show the item that they name.
_SHOWS: Final = ("card", "answer", "essay", "record")


@dataclass
class _Part:
    """Cells that are done in one go: a section, or a piece of one with a break in it."""

    act: int = 0
    minutes: float = 0.0
    is_continued: bool = False  # whether it follows a break


def lab_minutes(items: Mapping[str, Item], cells: Sequence[LabCell]) -> LabMinutes:
    """Count how long the acts of a lab take."""
    parts = [_Part()]
    for cell, deeper in with_deeper(cells):
        if deeper:
            continue
        level, title = _heading(cell)
        if _BREAK.search(title):
            parts.append(_Part(act=parts[-1].act, is_continued=True))
        elif level in (1, 2):
            parts.append(_Part())
        parts[-1].minutes += _cell_minutes(cell, items)
        parts[-1].act = max(parts[-1].act, _act_of(cell, items))
    sittings = list(_sittings(parts))
    if len(sittings) > 1 and not sittings[-1].act and sittings[-1].minutes < _SHORT:
        rest = sittings.pop()
        sittings[-1] = Sitting(sittings[-1].act, sittings[-1].minutes + rest.minutes)
    beyond = (section_minutes(items, each) for each in deeper_sections(cells))
    return LabMinutes(tuple(sittings), tuple(beyond))


def section_minutes(items: Mapping[str, Item], section: Sequence[LabCell]) -> Sitting:
    """Count how long a deeper section takes, and say to which act it belongs."""
    act = max(_act_of(cell, items) for cell in section)
    return Sitting(act, sum(_cell_minutes(cell, items) for cell in section))


def with_deeper(cells: Sequence[LabCell]) -> Iterator[tuple[LabCell, bool]]:
    """Every cell, and whether it stands in a deeper section.

    Such a section lasts until the next heading of its level, or of a higher one.
    """
    below = 0  # the level of the heading whose section this is; 0 outside of all
    for cell in cells:
        level, _ = _heading(cell)
        if level and level <= below:
            below = 0
        if cell.kind == "deeper":
            below = level
        yield cell, bool(below)


def deeper_sections(cells: Sequence[LabCell]) -> list[list[LabCell]]:
    """The cells of each deeper section, its heading first."""
    found: list[list[LabCell]] = []
    for cell, deeper in with_deeper(cells):
        if cell.kind == "deeper":
            found.append([])
        if deeper:
            found[-1].append(cell)
    return found


def _sittings(parts: Sequence[_Part]) -> Iterator[Sitting]:
    """Join the sections of an act: what comes before the first act is part of that act."""
    acts = [part.act for part in parts]
    first = next((act for act in acts if act), 0)
    last = max((k for k, act in enumerate(acts) if act), default=-1)
    open_act, open_minutes = first, 0.0
    for k, part in enumerate(parts):
        act = part.act or (open_act if k < last else 0)
        if act != open_act or part.is_continued:
            if open_minutes:
                yield Sitting(open_act, open_minutes)
            open_act, open_minutes = act, 0.0
        open_minutes += part.minutes
    if open_minutes:
        yield Sitting(open_act, open_minutes)


def _act_of(cell: LabCell, items: Mapping[str, Item]) -> int:
    return items[cell.name].act if cell.kind in _SHOWS and cell.name in items else 0


def _cell_minutes(cell: LabCell, items: Mapping[str, Item]) -> float:
    if cell.kind in _TEXT:
        return reading(_TEMPLATE.sub("number", cell.body))
    also = sum(RATES[step] for step in _ALSO.get(cell.kind, ()))
    shown = items.get(cell.name) if cell.kind in _SHOWS else None
    return also + (item_minutes(shown) if shown is not None else 0.0)


def _heading(cell: LabCell) -> tuple[int, str]:
    """The level and title of the first heading in a cell; 0 and nothing if there is none."""
    found = _HEADING.search(cell.body) if cell.kind in _TEXT else None
    return (len(found[1]), found[2]) if found else (0, "")
