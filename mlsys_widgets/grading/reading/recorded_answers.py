"""What a student recorded in the ledger beside a notebook: answers and essays.

An essay is written in its card; the cell that a person grades is filled here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mlsys_widgets.grading.feedback.inert import inert_markdown
from mlsys_widgets.grading.reading.entry_rules import usual_rules
from mlsys_widgets.grading.reading.ledger_record import LedgerRecord
from mlsys_widgets.labs import Essay, Lab
from mlsys_widgets.ledger import LedgerError
from mlsys_widgets.notebooks.cell_metadata import cell_metadata, checksum, grade_id


def recorded_answers(
    folder: Path, lab: Lab, student: str, *, ledger: LedgerRecord | None = None
) -> dict[str, Any]:
    """The answers in the ledger of a folder, by name; an empty mapping if it is somebody else's.

    What no card would have taken is left out, as the card itself asks again.

    Parameters
    ----------
    folder
        Where the ledger lies.
    lab, student
        Of what, and whose it must be.
    ledger
        The ledger, if it was read already.
    """
    try:
        return answers_in(ledger or LedgerRecord(lab, folder, student))
    except LedgerError:
        return {}


def answers_in(ledger: LedgerRecord) -> dict[str, Any]:
    """The answers in a ledger that was read already, as for `recorded_answers`."""
    if ledger.somebody_else is not None:
        return {}
    return {name: answer.value for name, answer in ledger.state.answers.items()}


def recorded_essays(
    folder: Path, lab: Lab, student: str, *, ledger: LedgerRecord | None = None
) -> dict[str, str]:
    """The essays among the answers, by name; parameters as for `recorded_answers`."""
    items = usual_rules(lab).items
    return {
        name: value
        for name, value in recorded_answers(folder, lab, student, ledger=ledger).items()
        if isinstance(items.get(name), Essay) and isinstance(value, str)
    }


def place_essays(cells: Iterable[Any], essays: Mapping[str, str]) -> None:
    """Put essays into the cells that a person grades.

    JupyterLab has done so already where the Lab panel was open. In notebooks of the first edition
    students write into the cell itself: what stands there stays, and comes first.
    """
    for cell in cells:
        essay = essays.get(grade_id(cell) or "")
        if essay is None or cell.cell_type != "markdown" or essay in cell.source:
            continue
        essay = inert_markdown(essay)  # a page that may change grades shows it
        untouched = cell_metadata(cell).get("checksum") == checksum(cell)
        cell.source = essay if untouched else f"{cell.source}\n\n{essay}"
