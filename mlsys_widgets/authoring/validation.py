"""Finds what is wrong with a lab before it is built: unknown names, points out of reach."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from mlsys_widgets.authoring.deeper_rules import deeper_problems
from mlsys_widgets.authoring.text import LabCell, TextError
from mlsys_widgets.labs import Choice, Code, Essay, Item, Number, Prediction, Record
from mlsys_widgets.labs.items import DESIGN

#: Which items a cell can name, by its kind.
_NAMES: Final[Mapping[str, tuple[type[Item], ...]]] = {
    "answer": (Number, Choice, Code),
    "card": (Item,),
    "essay": (Essay,),
    "record": (Record,),
    "reveal": (Prediction,),
}
_GRADED: Final = (Number, Choice, Code, Essay, Record)


def validate(lab: str, items: Mapping[str, Item], cells: Sequence[LabCell]) -> None:
    """Refuse a lab that asks what it never shows, or shows what it never asks."""
    for problem in _problems(lab, items, cells):
        raise TextError(problem)


def _problems(lab: str, items: Mapping[str, Item], cells: Sequence[LabCell]) -> Iterator[str]:
    if [each.kind for each in cells].count("setup") != 1:
        yield f"{lab}: lab.py must have exactly one cell with setup=true"
    for each in cells:
        yield from _of_cell(each, items)
    placed = [each.name for each in cells if each.kind in ("answer", "essay", "record")]
    shown = {each.name for each in cells if each.kind == "card"}
    shown |= {DESIGN} if any(each.kind == "design" for each in cells) else set()
    yield from deeper_problems(lab, items, cells)
    for name, item in items.items():
        if isinstance(item, _GRADED) and placed.count(name) != 1:
            yield (
                f"{lab}: asks.py gives points for {name}, which lab.py places {placed.count(name)}"
                " times; it must be placed once"
            )
        for earlier in item.after:
            if earlier not in items:
                yield f"{lab}: in asks.py {name} comes after {earlier!r}, which the lab never asks"
        if isinstance(item, Record):
            for wanted in item.of:
                if wanted not in shown:
                    yield (
                        f"{lab}: in asks.py the record {name} gives points for {wanted!r}, which"
                        " lab.py never shows; nobody could earn them"
                    )


def _of_cell(cell: LabCell, items: Mapping[str, Item]) -> Iterator[str]:
    kinds = _NAMES.get(cell.kind)
    if kinds and not isinstance(items.get(cell.name), kinds):
        wanted = "item" if kinds == (Item,) else " or ".join(kind.__name__ for kind in kinds)
        yield f"{cell.where}: {cell.kind}={cell.name!r}, and asks.py has no such {wanted}"
    if cell.kind == "answer" and cell.name not in _assigned(cell):
        yield f"{cell.where}: the solution must end with a line {cell.name} = …"


def _assigned(cell: LabCell) -> set[str]:
    try:
        tree = ast.parse(cell.body)
    except SyntaxError as problem:
        raise TextError(f"{cell.where}: {problem.msg}, in its line {problem.lineno}") from None
    stored = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {node.id for node in stored if isinstance(node.ctx, ast.Store)}
