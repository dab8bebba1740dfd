"""How long each act of a lab takes, counted over its cells from top to bottom.

A section, which begins at a heading of the second level, belongs to the act of the items in it. A
heading that says *a break*, such as “Time for a break”, begins another sitting of the same act.
Whatever stands below a heading that says *optional*, or whose text begins with that word, is
counted apart.
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
#: In the heading itself, or as the first word below it.
_OPTIONAL: Final = re.compile(r"^#.*\boptional\b|^#.*\s+optional\b", re.I | re.M)
#: Not “break-even” and not the “graph breaks” of compilers.
_BREAK: Final = re.compile(r"\ba break\b(?!-)", re.I)
#: A rest of fewer minutes, such as a paragraph on what comes next, is part of the last act.
_SHORT: Final = 2.5
#: Kinds of cells that take time beyond the items that they name.
_ALSO: Final = ("instrument", "reveal", "design")
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
    extra = 0.0
    for cell, optional in with_optional(cells):
        if optional:
            extra += _cell_minutes(cell, items)
            continue
        level, title = _heading(cell)
        if _BREAK.search(title):
            parts.append(_Part(act=parts[-1].act, is_continued=True))
        elif level in (1, 2):
            parts.append(_Part())
        parts[-1].minutes += _cell_minutes(cell, items)
        if cell.kind in _SHOWS and cell.name in items:
            parts[-1].act = max(parts[-1].act, items[cell.name].act)
    sittings = list(_sittings(parts))
    if len(sittings) > 1 and not sittings[-1].act and sittings[-1].minutes < _SHORT:
        rest = sittings.pop()
        sittings[-1] = Sitting(sittings[-1].act, sittings[-1].minutes + rest.minutes)
    return LabMinutes(tuple(sittings), extra)


def with_optional(cells: Sequence[LabCell]) -> Iterator[tuple[LabCell, bool]]:
    """Every cell, and whether it stands below a heading that says *optional*."""
    below = 0  # the level of that heading; 0 if there is none
    for cell in cells:
        level, _ = _heading(cell)
        if level and level <= below:
            below = 0
        if level and not below and _OPTIONAL.search(cell.body):
            below = level
        yield cell, bool(below)


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


def _cell_minutes(cell: LabCell, items: Mapping[str, Item]) -> float:
    if cell.kind == "prose":
        return reading(_TEMPLATE.sub("number", cell.body))
    also = RATES[cell.kind] if cell.kind in _ALSO else 0.0
    shown = items.get(cell.name) if cell.kind in _SHOWS else None
    return also + (item_minutes(shown) if shown is not None else 0.0)


def _heading(cell: LabCell) -> tuple[int, str]:
    """The level and title of the first heading in a cell; 0 and nothing if there is none."""
    found = _HEADING.search(cell.body) if cell.kind == "prose" else None
    return (len(found[1]), found[2]) if found else (0, "")
