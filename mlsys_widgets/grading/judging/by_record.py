"""Submissions whose record says everything: judged from the ledger alone, with nothing run.

Where a test cell only reads what the ledger has, running the notebook to get there adds nothing but
risk. A submission is judged by its record if the lab grades no code, the ledger verifies and is
this student's, the test cells are as they were released, and every answer is recorded; an answer
that is missing is allowed where no code of the student's could still compute it. A function that
the student wrote is in the record, too; it is called in the sandbox, and nothing else runs there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Final

import nbformat

from mlsys_widgets.grading.reading.ledger_record import LedgerRecord
from mlsys_widgets.grading.reading.recorded_answers import answers_in
from mlsys_widgets.labs import Item, Record
from mlsys_widgets.labs.answers import sentence_in_lines
from mlsys_widgets.labs.asked import Checked, is_usable
from mlsys_widgets.notebooks.blueprint import Blueprint, SourceCell
from mlsys_widgets.notebooks.cell_metadata import grade_id
from mlsys_widgets.notebooks.remarks import RemarkKind
from mlsys_widgets.sandbox.answer_data import to_data
from mlsys_widgets.sandbox.outputs import read_output, shortened
from mlsys_widgets.sandbox.worker import RunnableNotebook, RunResult

#: Remarks about a name that stands in other cells too; the graded cell itself is as it was.
_HARMLESS: Final = (RemarkKind.STRAY_ANSWER, RemarkKind.STRAY_ESSAY)


def grades_no_code(blueprint: Blueprint, judged: Set[str], items: Mapping[str, Item]) -> bool:
    """Whether every graded cell of a lab only reads the record, or waits for a person."""
    return all(
        blueprint.cells[name].kind == "markdown"
        or (name in judged and blueprint.cells[name].visible == _reads(name, items[name]))
        for name in blueprint.graded
    )


def _reads(name: str, item: Item) -> str | None:
    """Return the visible part of a test cell that reads the record and does nothing else."""
    if isinstance(item, Checked):
        return f'{name} = lab.answered("{name}")'
    return f'lab.record("{name}")' if isinstance(item, Record) else None


@dataclass(frozen=True)
class SavedCell:
    """A cell as the student saved it: of what type, under which name, with which text."""

    kind: str
    name: str | None
    source: str
    outputs: Sequence[Any] = ()
    count: Any = None


def saved_cells(content: bytes) -> dict[str, SavedCell]:
    """Return the cells of a notebook by their ids, as they were saved; empty without such ids."""
    try:
        cells = json.loads(content)["cells"]
        found = {cell["id"]: _saved(cell) for cell in cells}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}
    return found if len(found) == len(cells) else {}


def _saved(cell: Mapping[str, Any]) -> SavedCell:
    source, outputs = cell["source"], cell.get("outputs", ())
    return SavedCell(
        str(cell["cell_type"]),
        cell["metadata"].get("nbgrader", {}).get("grade_id"),
        source if isinstance(source, str) else "".join(source),
        outputs if isinstance(outputs, list) else (),
        cell.get("execution_count"),
    )


def why_run(
    items: Mapping[str, Item],
    blueprint: Blueprint,
    saved: Mapping[str, SavedCell],
    runnable: RunnableNotebook,
    ledger: LedgerRecord,
) -> str | None:
    """Say why the record of a submission is not enough; `None` if it is."""
    named: dict[str, list[SavedCell]] = {}
    for each in saved.values():
        if isinstance(each.name, str):  # it is what a student's file says
            named.setdefault(each.name, []).append(each)
    touched = [
        name for name in blueprint.graded
        if not _is_untouched(blueprint.cells[name], named.get(name, ()))
    ]  # fmt: skip
    touched += [
        remark.about for remark in runnable.remarks
        if remark.about in blueprint.graded and remark.kind not in _HARMLESS
    ]  # fmt: skip
    if touched or runnable.missing:
        return f"graded cells were changed: {', '.join(dict.fromkeys(touched))}"
    if ledger.head is not None and not ledger.verification.ok:
        return str(ledger.verification.first_problem)
    answers = answers_in(ledger)
    open_ = [name for name in _asked(items) if not _has(items[name], answers.get(name))]
    if open_ and any(_is_changed(cell, blueprint) for cell in saved.values()):
        return f"code may compute what is not recorded: {', '.join(open_)}"
    return None


def _is_untouched(cell: SourceCell, found: Sequence[SavedCell]) -> bool:
    if len(found) != 1 or found[0].kind != cell.kind:
        return False
    return not cell.locked or found[0].source.strip() == cell.visible


def _is_changed(cell: SavedCell, blueprint: Blueprint) -> bool:
    """Whether a cell holds code that was not released like this."""
    if cell.kind != "code" or not cell.source.strip():
        return False
    released = blueprint.cells.get(cell.name or "")
    return released is None or cell.source.strip() != released.visible


def _asked(items: Mapping[str, Item]) -> Iterator[str]:
    return (name for name, item in items.items() if isinstance(item, Checked))


def _has(item: Item, value: Any) -> bool:
    return value is not None and isinstance(item, Checked) and is_usable(item, value)


def result_by_record(
    student: str,
    items: Mapping[str, Item],
    saved: Mapping[str, SavedCell],
    runnable: RunnableNotebook,
    ledger: LedgerRecord,
) -> RunResult:
    """Return what a run would have told, from the record; saved outputs stay in the notebook."""
    known = answers_in(ledger)
    answers = {name: known[name] for name in _asked(items) if _has(items[name], known.get(name))}
    count = 0
    for number, cell in enumerate(runnable.book.cells):
        if cell.cell_type != "code":
            continue
        count += bool(cell.source.strip())
        name = grade_id(cell)
        if number in runnable.watched and name is not None:
            # As stock nbgrader would number it, which runs every cell once.
            cell.execution_count = count
            cell.outputs = list(_printed(name, items[name], answers))
        elif cell.id in saved:
            was = saved[cell.id]
            cell.outputs = [nbformat.from_dict(each) for each in _shown(was.outputs)]
            cell.execution_count = was.count if _is_count(was.count) else None
    data = {name: to_data(value) for name, value in answers.items()}
    return replace(RunResult(student, answers=data), remarks=runnable.remarks)


def _printed(name: str, item: Item, answers: Mapping[str, Any]) -> Iterator[Any]:
    """Yield what the visible part of a test cell prints."""
    if isinstance(item, Checked) and name in answers:
        words = f"{name}: {item.in_words(answers[name])} is recorded."
        text = f"{sentence_in_lines(words)}\n"
        yield nbformat.from_dict({"output_type": "stream", "name": "stdout", "text": text})


def _shown(outputs: Sequence[Any]) -> list[dict[str, Any]]:
    """Return outputs as a notebook may have them; the others are left out."""
    shown = []
    for each in outputs:
        try:
            shown.append(read_output(_joined(each)))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
    return shortened(shown)


def _joined(output: Any) -> Any:
    """Return an output whose stream is whole; a file may have it in lines."""
    match output:
        case {"output_type": "stream", "text": [*lines]} if all(isinstance(x, str) for x in lines):
            return {**output, "text": "".join(lines)}
    return output


def _is_count(number: Any) -> bool:
    return type(number) is int and 0 <= number < 1_000_000_000
