"""Writes docs/instructors/labs-at-a-glance.md: what labs promise, and the cells that keep it.

Everything is read from the notebooks in source/ and from what the labs ask, so the page cannot
promise more than there is. ``make docs`` runs this, and a test fails if the page is stale.
"""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import mlsys_widgets as mw
from mlsys_widgets.instruments.instrument import Instrument
from mlsys_widgets.labs import Essay, Item, Lab, Message, Prediction, Takeaways, load
from mlsys_widgets.labs.items import AUTOGRADED
from mlsys_widgets.labs.lab_minutes import LabMinutes, Sitting
from mlsys_widgets.wording.plurals import counted

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "instructors" / "labs-at-a-glance.md"

_OPENING: Final = """\
# The labs at a glance

What each lab promises, and the cells of its notebook that keep the promise. This page is made from
the notebooks in `source/` by `tools/labs_at_a_glance.py`. A cell is named by its id, which stays
the same when cells are moved. [nbval](../authors/nbval.md) runs all of them, and
[how long a lab takes](../authors/time_on_a_lab.md) explains the minutes.
"""
_BOX: Final = "question_{}"
#: Colors in which an alert reports a failure; in gray, it only says that something is missing.
_FAILING: Final = ('"red"', '"orange"', '"dispatch"')

Row = Sequence[str]


@dataclass(frozen=True)
class CodeCell:
    """A code cell: its id, its title if it has one, the section it stands in, and its code."""

    id: str
    title: str
    section: str
    tree: ast.Module

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
    ids: frozenset[str]
    minutes: LabMinutes

    def cell(self, *ids: str) -> str:
        """Return the first of these cells that exists, as code; a dash if none does."""
        return next((f"`{each}`" for each in ids if each in self.ids), "–")


def labs(source: Path) -> list[BuiltLab]:
    """Return every lab that is built, in order."""
    return [_read(path.parent) for path in sorted(source.glob("*/asks.py"))]


def page(found: Sequence[BuiltLab]) -> str:
    """Return the page, as Markdown."""
    overview = _table(
        ("lab", "acts", "predictions", "instruments", "graded items", "points", "minutes"),
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
    return BuiltLab(lab, items, cells, frozenset(c["id"] for c in book["cells"]), minutes)


def _summary(of: BuiltLab) -> Row:
    graded = _graded(of)
    return (
        f"[{of.lab.title}](#{_anchor(of.lab.title)})",
        str(len(of.lab.acts)),
        str(sum(isinstance(item, Prediction) for item in of.items.values())),
        str(len(_instruments(of))),
        str(len(graded)),
        f"{sum(points for _, _, points in graded):g}",
        of.lab.minutes or _whole(of.minutes),
    )


def _section(of: BuiltLab) -> Iterator[str]:
    yield from ("", f"## {of.lab.title}", "")
    yield f"`source/{of.lab.name}/{of.lab.name}.ipynb`, {counted(len(of.cells), 'code cell')}."
    for title, head, rows in (
        ("Minutes", ("part", "minutes"), _minutes(of)),
        ("Goals", ("goal", "cell"), _goals(of)),
        (
            "Predictions",
            ("prediction", "act", "committed in", "compared in", "to try before"),
            _predictions(of),
        ),
        (
            "Instruments",
            ("instrument", "class", "section", "opens after", "cell"),
            _instruments(of),
        ),
        ("Failure states", ("what can fail", "shown by", "cell"), _failures(of)),
        ("Ledger fields", ("field", "what it holds", "cell"), _fields(of)),
        ("Points", ("graded", "act", "points", "question", "graded in"), _points(of)),
    ):
        if rows:
            yield from ("", f"**{title}**", "", *_table(head, rows))


def _minutes(of: BuiltLab) -> list[Row]:
    rows: list[Row] = []
    for k, each in enumerate(of.minutes.sittings):
        again = " (after a break)" if k and of.minutes.sittings[k - 1].act == each.act else ""
        rows.append((_part(of, each) + again, f"{each.minutes:.0f}"))
    rows += [(f"deeper, {_part(of, each)}", f"{each.minutes:.0f}") for each in of.minutes.deeper]
    return rows


def _whole(minutes: LabMinutes) -> str:
    more = f", {minutes.total_deeper} deeper" if minutes.deeper else ""
    return f"{minutes.total}{more}"


def _part(of: BuiltLab, sitting: Sitting) -> str:
    act = sitting.act
    return f"Act {act}: {of.lab.acts[act - 1]}" if act else "after the acts"


def _goals(of: BuiltLab) -> list[Row]:
    rows: list[Row] = []
    for name, item in of.items.items():
        if isinstance(item, Message) and item.task:
            rows.append((item.task, of.cell(f"card_{name}")))
        elif isinstance(item, Takeaways):
            rows += [
                (f"Remember: {headline}", of.cell(f"card_{name}")) for headline, _ in item.points
            ]
    return rows


def _predictions(of: BuiltLab) -> list[Row]:
    moves = {
        cell.id: "; ".join(_texts(cell.calls("Move")))
        for cell in of.cells
        if cell.id.startswith("reveal_")
    }
    return [
        (
            item.title,
            _act(item),
            of.cell(f"card_{name}"),
            of.cell(f"reveal_{name}"),
            moves.get(f"reveal_{name}") or "–",
        )
        for name, item in of.items.items()
        if isinstance(item, Prediction)
    ]


def _instruments(of: BuiltLab) -> list[Row]:
    rows: list[Row] = []
    for cell in of.cells:
        if not cell.id.startswith("instrument_"):
            continue
        made = list(dict.fromkeys(_name(call.func) for call in cell.calls(*_CLASSES)))
        opens = [
            _title(of, name)
            for call in cell.calls(*_CLASSES)
            for keyword in call.keywords
            if keyword.arg == "lock"
            for name in _cards(keyword.value)
        ]
        named = ", ".join(f"`{each}`" for each in made) or "–"
        after = ", ".join(dict.fromkeys(opens)) or "at once"
        rows.append((cell.title, named, cell.section, after, f"`{cell.id}`"))
    return rows


def _failures(of: BuiltLab) -> list[Row]:
    """List what the HUD watches, what a design is held to, and what instruments alert to."""
    rows: list[Row] = []
    for cell in of.cells:
        for call in cell.calls("hud"):
            rows += [(each, "HUD", f"`{cell.id}`") for each in _constraints(call)]
        limits = [f"`{each}`" for each in dict.fromkeys(_texts(cell.calls("Target")))]
        rows += [(f"target on {each}", "lamp of the design", f"`{cell.id}`") for each in limits]
        for name in dict.fromkeys(_name(call.func) for call in cell.calls(*_CLASSES)):
            alert = _alert(_CLASSES[name])
            if alert and cell.id.startswith("instrument_"):
                rows.append((alert, f"`{name}`", f"`{cell.id}`"))
    return rows


def _fields(of: BuiltLab) -> list[Row]:
    cell = of.cell("design")
    return [(f"`{name}`", each.about, cell) for name, each in of.lab.design.items()]


def _points(of: BuiltLab) -> list[Row]:
    rows: list[Row] = []
    for name, item, points in _graded(of):
        judged = of.cell(f"check_{name}", f"answer_{name}")
        graded_in = f"{judged} (by hand)" if isinstance(item, Essay) else judged
        title = getattr(item, "title", name)
        act = f"{_act(item)}, deeper" if item.deeper else _act(item)
        rows.append((title, act, f"{points:g}", of.cell(_BOX.format(name)), graded_in))
    return rows


def _graded(of: BuiltLab) -> list[tuple[str, Item, float]]:
    graded = (*AUTOGRADED, Essay)
    return [(n, item, item.points) for n, item in of.items.items() if isinstance(item, graded)]


# Reading code.


def _instrument_classes() -> dict[str, type[Instrument]]:
    """Return every public name of an instrument."""
    found = ((name, getattr(mw, name)) for name in dir(mw))
    return {n: c for n, c in found if inspect.isclass(c) and issubclass(c, Instrument)}


_CLASSES: Final = _instrument_classes()


def _name(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _texts(calls: Iterator[ast.Call]) -> list[str]:
    """Return the first arguments, as far as they are plain texts."""
    firsts = (call.args[0] for call in calls if call.args)
    return [each.value for each in firsts if _is_text(each)]  # type: ignore[attr-defined]


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _cards(node: ast.expr) -> Iterator[str]:
    """Yield the names in ``lab.card("name")``."""
    calls = (each for each in ast.walk(node) if isinstance(each, ast.Call))
    yield from _texts(each for each in calls if _name(each.func) == "card")


def _constraints(call: ast.Call) -> Iterator[str]:
    for keyword in call.keywords:
        if keyword.arg == "constraints" and isinstance(keyword.value, ast.Dict):
            keys = (key for key in keyword.value.keys if key is not None)
            yield from (key.value for key in keys if _is_text(key))  # type: ignore[attr-defined]


def _alert(kind: type[Instrument]) -> str:
    """Return the words of an instrument's docstring about its alert; empty if it has none."""
    if kind.alert is Instrument.alert or not any(
        color in inspect.getsource(kind.alert) for color in _FAILING
    ):
        return ""
    return (inspect.getdoc(kind.alert) or "").splitlines()[0].rstrip(".")


# Writing.


def _title(of: BuiltLab, name: str) -> str:
    return str(getattr(of.items.get(name), "title", name))


def _act(item: Item) -> str:
    return str(item.act or "–")


def _anchor(title: str) -> str:
    """Return the anchor that the builder of the pages gives to a heading."""
    kept = (c for c in title.lower() if c.isalnum() or c in " -_")
    return "".join(kept).replace(" ", "-")


def _table(head: Row, rows: Sequence[Row]) -> list[str]:
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
