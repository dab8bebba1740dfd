"""What a student recorded in the ledger beside a notebook: answers and essays.

An essay is written in its card; the cell that a person grades is filled here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import nbformat

from mlsys_widgets.grading.reading.entry_rules import usual_rules
from mlsys_widgets.grading.reading.ledger_record import LedgerRecord
from mlsys_widgets.labs import Essay, Lab
from mlsys_widgets.ledger import LedgerError
from mlsys_widgets.notebooks.blueprint import Blueprint
from mlsys_widgets.notebooks.cell_metadata import cell_metadata, checksum, grade_id
from mlsys_widgets.notebooks.essay_cells import as_typed, typed_text
from mlsys_widgets.notebooks.lost_cells import flags_of
from mlsys_widgets.notebooks.new_cells import markdown_cell, notebook_of
from mlsys_widgets.notebooks.remarks import Remark


def recorded_answers(
    folder: Path, lab: Lab, student: str, *, ledger: LedgerRecord | None = None
) -> dict[str, Any]:
    """Return the answers in the ledger of a folder, by name; none if it is somebody else's.

    What no card would have taken is left out, as the card itself asks again.
    """
    try:
        return answers_in(ledger or LedgerRecord(lab, folder, student))
    except LedgerError:
        return {}


def answers_in(ledger: LedgerRecord) -> dict[str, Any]:
    """Return the answers in a ledger that was read already, as for `recorded_answers`."""
    if ledger.somebody_else is not None:
        return {}
    return {name: answer.value for name, answer in ledger.state.answers.items()}


def recorded_essays(
    folder: Path, lab: Lab, student: str, *, ledger: LedgerRecord | None = None
) -> dict[str, str]:
    """Return the essays among the answers, by name; parameters as for `recorded_answers`."""
    items = usual_rules(lab).items
    return {
        name: value
        for name, value in recorded_answers(folder, lab, student, ledger=ledger).items()
        if isinstance(items.get(name), Essay) and isinstance(value, str)
    }


def place_essays(cells: Iterable[Any], essays: Mapping[str, str]) -> None:
    """Put essays into the cells that a person grades.

    JupyterLab has done so already where the Lab panel was open; what it wrote before the essay was
    changed is replaced. What a student wrote into the cell itself stays, and comes first.
    """
    for cell in cells:
        essay = essays.get(grade_id(cell) or "")
        if essay is None or cell.cell_type != "markdown" or cell.source == as_typed(essay):
            continue
        untouched = cell_metadata(cell).get("checksum") == checksum(cell)
        ours = untouched or typed_text(cell.source) is not None
        cell.source = as_typed(essay if ours else f"{cell.source}\n\n{essay}")


def notebook_of_essays(
    blueprint: Blueprint, essays: Mapping[str, str], remarks: Iterable[Remark]
) -> nbformat.NotebookNode | None:
    """Make a notebook of recorded essays, in the cells that a person grades; `None` without any."""
    cells: list[nbformat.NotebookNode] = []
    for name, source in blueprint.cells.items():
        if name in essays and source.graded and source.kind == "markdown":
            notes = {**flags_of(name, source), **source.metadata, "checksum": source.checksum}
            text = as_typed(essays[name])
            cells.append(markdown_cell(text, f"essay-{len(cells)}", {"nbgrader": notes}))
    if not cells:
        return None
    why = "; ".join(remark.sentence for remark in remarks)
    words = f"**This notebook could not be graded**: {why}. What its ledger records was graded."
    return notebook_of([markdown_cell(words, "why"), *cells])
