"""Writes docs/instructors/labs-at-a-glance.md: what is in each lab, act by act.

Everything is read from the notebooks in source/ and from what the labs ask, so the page cannot
promise more than there is. ``make docs`` runs this, and a test fails if the page is stale.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.labs import (
    Choice,
    Code,
    Essay,
    Item,
    Lab,
    Message,
    Number,
    Prediction,
    Record,
    Takeaways,
    load,
)
from mlsys_widgets.labs.lab_minutes import LabMinutes, Sitting

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "instructors" / "labs-at-a-glance.md"

_OPENING: Final = """\
# The labs at a glance

What each lab teaches, asks and grades, and how long it takes. What is *deeper* is optional unless a
course requires it (`deeper` in [course.toml](../reference/course_toml.md)). This page is made from
the labs themselves; [how long a lab takes](../authors/time_on_a_lab.md) explains the minutes.
[What to read](reading.md) beside them.
"""

Row = Sequence[str]
Graded = Number | Choice | Code | Record | Essay


@dataclass(frozen=True)
class CodeCell:
    """A code cell: its id, its title if it has one, the section it stands in, and its code."""

    id: str
    title: str
    section: str
    tree: ast.Module

    @property
    def is_instrument(self) -> bool:
        """Whether it draws an instrument of the lab."""
        return self.id.startswith("instrument_")

    def calls(self, *names: str) -> Iterator[ast.Call]:
        """Calls of functions or methods with these names, in order."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and _name(node.func) in names:
                yield node


@dataclass(frozen=True)
class BuiltLab:
    """A lab with the notebook that was built from it."""

    lab: Lab
    items: Mapping[str, Item]
    cells: Sequence[CodeCell]
    minutes: LabMinutes


def labs(source: Path) -> list[BuiltLab]:
    """Return every lab that is built, in order."""
    return [_read(path.parent) for path in sorted(source.glob("*/asks.py"))]


def page(found: Sequence[BuiltLab]) -> str:
    """Return the page, as Markdown."""
    overview = table(
        ("lab", "acts", "minutes", "points", "predictions", "instruments"),
        [_summary(each) for each in found],
    )
    return "\n".join([_OPENING, *overview, *(line for each in found for line in _section(each))])


def _read(folder: Path) -> BuiltLab:
    lab = load(folder)
    book = json.loads((folder / f"{folder.name}.ipynb").read_text("utf-8"))
    cells, section = [], ""
    for cell in book["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            title = cell["metadata"].get("mlsys", {}).get("title", "")
            cells.append(CodeCell(cell["id"], title, section, ast.parse(source)))
            continue
        titles = [line[3:] for line in source.splitlines() if line.startswith("## ")]
        section = titles[-1] if titles else section
    items = lab.items(lab.draw("", variants=False))
    minutes = LabMinutes.from_plain(book["metadata"]["mlsys"].get("minutes", {"sittings": []}))
    return BuiltLab(lab, items, cells, minutes)


def _summary(of: BuiltLab) -> Row:
    predictions = sum(isinstance(item, Prediction) for item in of.items.values())
    instruments = sum(cell.is_instrument for cell in of.cells)
    return (
        f"[{of.lab.title}](#{anchor(of.lab.title)})",
        str(len(of.lab.acts)),
        of.lab.minutes or _and_deeper(of.minutes.total, of.minutes.total_deeper),
        _and_deeper(*(sum(each.points for each in graded(of, deeper)) for deeper in (False, True))),
        str(predictions),
        str(instruments),
    )


def _and_deeper(core: float, deeper: float) -> str:
    return f"{core:g}, {deeper:g} deeper" if deeper else f"{core:g}"


def _section(of: BuiltLab) -> Iterator[str]:
    yield from ("", f"## {of.lab.title}", "")
    for item in of.items.values():
        if isinstance(item, Takeaways):
            yield from (f"- {headline}." for headline, _ in item.points)
    yield from ("", *table(("act", "minutes", "task", "predicts", "looks at"), _acts(of)))
    for words, deeper in (("Graded", False), ("Graded where a course requires it", True)):
        if items := graded(of, deeper):
            told = "; ".join(f"{each.title} ({each.points:g})" for each in items)
            yield from ("", f"**{words}**, with points: {told}.")


def _acts(of: BuiltLab) -> list[Row]:
    """List the acts: how long, what for, what is predicted, and on which instruments."""
    rows = [_act(of, number, title) for number, title in enumerate(of.lab.acts, start=1)]
    beyond: dict[str, list[str]] = {}
    for cell in of.cells:
        if cell.is_instrument and "Act " not in cell.section:
            beyond.setdefault(cell.section, []).append(cell.title)
    return rows + [(section, "", "", "", ", ".join(seen)) for section, seen in beyond.items()]


def _act(of: BuiltLab, number: int, title: str) -> Row:
    items = [item for item in of.items.values() if item.act == number]
    core, deeper = (_minutes(each, number) for each in (of.minutes.sittings, of.minutes.deeper))
    seen = (cell for cell in of.cells if cell.is_instrument and f"Act {number}" in cell.section)
    return (
        f"{number}: {title}",
        _and_deeper(core, deeper),
        " ".join(item.task for item in items if isinstance(item, Message)),
        " ".join(item.title for item in items if isinstance(item, Prediction)),
        ", ".join(cell.title for cell in seen),
    )


def _minutes(sittings: Sequence[Sitting], act: int) -> int:
    return round(sum(each.minutes for each in sittings if each.act == act))


def graded(of: BuiltLab, deeper: bool) -> list[Graded]:
    """List what is graded in the core, or in the deeper parts."""
    return [
        item for item in of.items.values() if isinstance(item, Graded) and item.deeper == deeper
    ]


def _name(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def anchor(title: str) -> str:
    """Return the anchor that the builder of the pages gives to a heading."""
    kept = (c for c in title.lower() if c.isalnum() or c in " -_")
    return "".join(kept).replace(" ", "-")


def table(head: Row, rows: Sequence[Row]) -> list[str]:
    """Return the lines of a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(_plain(cell) for cell in line)} |" for line in lines]


def _plain(cell: Any) -> str:
    return " ".join(str(cell).split()).replace("|", "\\|").replace("$", "\\$")


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(labs(ROOT / "source")), "utf-8")
    print(f"Wrote {PAGE.relative_to(ROOT)}.")


if __name__ == "__main__":
    main()
