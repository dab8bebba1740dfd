"""A lab as it was released: what there is to do in it, read from its notebook."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mlsys_widgets.judging.keys import Checks
from mlsys_widgets.labs import (
    Checklist,
    Essay,
    Item,
    Lab,
    Myths,
    Prediction,
    Quiz,
    ReflectionPrompt,
)
from mlsys_widgets.labs.asked import Checked
from mlsys_widgets.labs.items import DESIGN

#: A notebook as JSON.
Book = dict[str, Any]

_SOLUTION: Final = re.compile(r"### BEGIN SOLUTION\n(.*)\n### END SOLUTION", re.S)
_LOCKED: Final = re.compile(r"\b([A-Z]\w+)\([^()]*lock=lab\.card\(\"(\w+)\"\)")


@dataclass(frozen=True)
class LabStep:
    """Something to do in a lab: its kind, and the name of the item.

    An instrument also names the prediction that it ``needs``.
    """

    kind: str
    name: str
    needs: str = ""


@dataclass(frozen=True)
class ReleasedLab:
    """A released lab, with everything that is needed to work on it."""

    #: What the lab asks, and its answer keys.
    lab: Lab
    checks: Checks
    notebook: str
    #: How the instructor computes each answer, by its name.
    solutions: Mapping[str, str]
    beside: Mapping[str, bytes]
    #: What there is to do, in the order of the notebook.
    steps: tuple[LabStep, ...]
    variants: bool
    edition: str


def steps_of(book: Book, items: Mapping[str, Item]) -> tuple[LabStep, ...]:
    """List what there is to do in a notebook, in order; what is deeper comes after the core."""
    core: list[LabStep] = []
    deeper: list[LabStep] = []
    for cell in book["cells"]:
        kind, _, name = cell.get("id", "").partition("_")
        source, item = text_of(cell), items.get(name)
        found = deeper if cell.get("metadata", {}).get("mlsys", {}).get("deeper") else core
        if kind == "card" and isinstance(
            item, Prediction | ReflectionPrompt | Quiz | Myths | Checklist
        ):
            found.append(LabStep("card", name))
        elif kind == "answer" and isinstance(item, Checked):
            found.append(LabStep("answer", name))
        elif kind == "answer" and isinstance(item, Essay):
            found.append(LabStep("essay", name))
        elif kind == "instrument" and (locked := _LOCKED.search(source)):
            found.append(LabStep("use", locked[1], locked[2]))
        elif kind == DESIGN:
            found.append(LabStep("design", DESIGN))
    return (*core, *deeper)


def solutions_of(book: Book) -> dict[str, str]:
    """Find the solutions in an instructor's notebook, by the name of the answer.

    A solution that uses what another one computed is left out, because a student who is right
    here may have been wrong there, or may have typed a number.
    """
    found = {
        cell["id"].removeprefix("answer_"): code[1]
        for cell in book["cells"]
        if cell["cell_type"] == "code" and (code := _SOLUTION.search(text_of(cell)))
    }
    read, made = (
        {name: _names(code, kind) for name, code in found.items()} for kind in (ast.Load, ast.Store)
    )
    return {
        name: code
        for name, code in found.items()
        if not any((read[name] - made[name]) & made[other] for other in made if other != name)
    }


def _names(code: str, kind: type[ast.expr_context]) -> set[str]:
    nodes = ast.walk(ast.parse(code))
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, kind)}


def text_of(cell: Mapping[str, Any]) -> str:
    """Return the source of a cell, which a notebook may keep as a list of lines."""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)
