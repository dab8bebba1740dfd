"""What the deeper parts of a lab must keep to: the core stands alone.

Whoever leaves out everything deeper must be able to go on, and to earn every point of the core.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from mlsys_widgets.authoring.act_minutes import with_deeper
from mlsys_widgets.authoring.text import LabCell
from mlsys_widgets.labs import Item, Record

#: Kinds of cells that name an item.
_PLACES: Final = ("card", "answer", "essay", "record", "reveal")


def deeper_problems(lab: str, items: Mapping[str, Item], cells: Sequence[LabCell]) -> Iterator[str]:
    """Say what is wrong with the deeper parts of a lab, in a sentence each."""
    for cell, deeper in with_deeper(cells):
        name, item = cell.name, items.get(cell.name) if cell.kind in _PLACES else None
        if cell.kind == "design" and deeper:
            yield f"{cell.where}: the design is part of the core; move it out of the deeper section"
        if item is not None and item.deeper != deeper:
            place, listed = (
                ("stands in a deeper section", "and asks.py does not list it")
                if deeper
                else ("stands in the core", "but asks.py lists it")
            )
            yield f"{cell.where}: {name} {place}, {listed} in deeper=(…) of its Lab"
        for needed in () if deeper else _waits_for(cell):
            if needed in items and items[needed].deeper:
                yield (
                    f"{cell.where}: this is part of the core and waits for {needed}, which is"
                    " deeper; whoever leaves that out could not go on"
                )
    for name, item in items.items():
        named = item.of if isinstance(item, Record) else item.after
        others = [each for each in named if each in items and items[each].deeper]
        if others and not item.deeper:
            verb = "gives points for" if isinstance(item, Record) else "comes after"
            yield (
                f"{lab}: in asks.py {name} is part of the core and {verb} {others[0]}, which is"
                " deeper; whoever leaves that out could not go on"
            )
        elif isinstance(item, Record) and item.deeper and len(others) < len(named):
            yield (
                f"{lab}: in asks.py the record {name} is deeper and also gives points for parts of"
                " the core; make it two records"
            )


def _waits_for(cell: LabCell) -> Iterator[str]:
    """Find the items that something in a cell of code waits for: a lock, or what comes before."""
    if cell.kind in ("prose", "deeper", "essay"):
        return
    try:
        tree = ast.parse(cell.body)
    except SyntaxError:
        return  # running it says what is wrong
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "lock":
            yield from _texts(node.value)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "design"
        ):
            yield from (t for k in node.keywords if k.arg == "after" for t in _texts(k.value))


def _texts(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value
