"""A student's own words in the notebook of another version: what carries over, and what does not.

A cell is found again by nbgrader's name for it. The lab's own cells are those of the new version;
what the student wrote in cells that are for writing, and every cell that the student added, is
carried over. What has no place in the new version is kept at the end of the notebook, as text that
nothing runs.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from mlsys_widgets.handin.work import steps_in
from mlsys_widgets.labs.student_steps import StudentStep, progress

Cell = dict[str, Any]
Book = dict[str, Any]

_KEPT: Final = "Kept from the version before"


class CannotTakeOver(ValueError):
    """A version that cannot be taken over as things are, and what to do about it."""


@dataclass(frozen=True)
class CarryOverResult:
    """The notebook of another version with a student's words in it."""

    book: Book
    #: How many cells of the student's are in it.
    cells: int
    #: What did not carry over as it was, a sentence each.
    remarks: tuple[str, ...]


def read_book(content: bytes, name: str) -> dict[str, Any]:
    """Read a notebook as JSON has it; `CannotTakeOver` if it is none."""
    try:
        book = json.loads(content)
        cells = book["cells"]
        if all(isinstance(each, dict) for each in cells) and isinstance(cells, list):
            return dict(book)
    except (ValueError, LookupError, TypeError, RecursionError):
        pass
    raise CannotTakeOver(f"{name} is not a notebook that can be read; nothing was changed")


def carry_over(old: Mapping[str, Any], new: Mapping[str, Any]) -> CarryOverResult:
    """Put what a student wrote into the notebook of another version; neither is changed."""
    made: Book = copy.deepcopy(dict(new))
    targets = {_grade_id(cell): cell for cell in made["cells"] if _grade_id(cell)}
    written = [cell for cell in old["cells"] if _is_written(cell)]
    count, remarks, left = 0, [], []
    for cell in written:
        name = _grade_id(cell)
        target = targets.get(name)
        if target is not None and _is_for_writing(target) and _type(target) == _type(cell):
            if _source(target) != _source(cell):
                _fill(target, cell)
                if _stub(cell) not in (None, _stub(target)):
                    remarks.append(
                        f"The text that {name} starts with has changed, and yours was kept: compare"
                        " it with the question."
                    )
            count += 1
        else:
            left.append(cell)
            remarks.append(
                f"What you wrote for {name} has no place in this version; it is at the end of the"
                " notebook."
            )
    count += _place_own(old["cells"], made["cells"])
    _append_left(left, made["cells"])
    if isinstance(spec := _metadata(old).get("kernelspec"), Mapping):
        # The student may have chosen another kernel.
        made.setdefault("metadata", {})["kernelspec"] = dict(spec)
    return CarryOverResult(made, count + len(left), tuple(remarks))


def _metadata(node: Mapping[str, Any]) -> Mapping[str, Any]:
    found = node.get("metadata")
    return found if isinstance(found, Mapping) else {}


def _nbgrader(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    found = _metadata(cell).get("nbgrader")
    return found if isinstance(found, Mapping) else {}


def _grade_id(cell: Mapping[str, Any]) -> str:
    name = _nbgrader(cell).get("grade_id")
    return name if isinstance(name, str) else ""


def _type(cell: Mapping[str, Any]) -> str:
    return str(cell.get("cell_type"))


def _source(cell: Mapping[str, Any]) -> str:
    source = cell.get("source", "")
    if isinstance(source, list):
        return "".join(map(str, source))
    return source if isinstance(source, str) else ""


def _stub(cell: Mapping[str, Any]) -> Any:
    """Return the checksum of the cell as it was released."""
    return _nbgrader(cell).get("checksum")


def _is_for_writing(cell: Mapping[str, Any]) -> bool:
    return bool(_nbgrader(cell).get("solution", False))


def _is_written(cell: Mapping[str, Any]) -> bool:
    """Whether a student wrote something into a cell that is for it."""
    if not _grade_id(cell) or not _is_for_writing(cell) or not _source(cell).strip():
        return False
    return bool(_stub(cell) != released_checksum(cell))


def released_checksum(cell: Mapping[str, Any]) -> str:
    """Compute the checksum of a cell as nbgrader does, from plain JSON; a test compares the two."""
    about = _nbgrader(cell)
    graded, solution = bool(about.get("grade", False)), bool(about.get("solution", False))
    locked = not solution and (graded or bool(about.get("locked", False)))
    parts = [_source(cell), _type(cell), graded, solution, locked, about.get("grade_id")]
    if graded:
        try:
            parts.append(float(about["points"]))
        except (LookupError, TypeError, ValueError):
            return ""
    digest = hashlib.md5(usedforsecurity=False)
    for part in parts:
        digest.update(str(part).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _fill(target: Cell, written: Mapping[str, Any]) -> None:
    target["source"] = written["source"]
    if isinstance(pasted := written.get("attachments"), dict):
        target["attachments"] = copy.deepcopy(pasted)


# Cells that the student added.


def _is_own(cell: Mapping[str, Any]) -> bool:
    """Whether a student added a cell: the lab's own prose cannot be edited."""
    if _grade_id(cell) or _metadata(cell).get("editable") is False:
        return False
    return bool(_source(cell).strip())


def _place(cell: Mapping[str, Any]) -> str:
    """Return what a cell is found by in the other version."""
    return _grade_id(cell) or str(cell.get("id", ""))


def _place_own(old: list[Cell], made: list[Cell]) -> int:
    """Put cells that the student added below the cell that they stood below."""
    known = {_place(cell) for cell in made} | {str(cell.get("id", "")) for cell in made}
    texts = {(_type(cell), _source(cell)) for cell in made}
    there = {str(cell.get("id", "")): cell for cell in made if _is_own(cell)}
    below, count = "", 0
    after: dict[str, list[Cell]] = {}
    for cell in old:
        if not _is_own(cell):
            below = _place(cell) if _place(cell) in known else below
        elif (_type(cell), _source(cell)) in texts:
            continue
        elif (same := there.get(str(cell.get("id", "")))) and _type(same) == _type(cell):
            _fill(same, cell)  # it was carried over before, and written on since
            count += 1
        else:
            after.setdefault(below, []).append(_renamed(copy.deepcopy(cell), known))
            count += 1
    for number in range(len(made) - 1, -1, -1):
        made[number + 1 : number + 1] = after.pop(_place(made[number]), [])
    made[:0] = [cell for cells in after.values() for cell in cells]
    return count


def _renamed(cell: Cell, known: set[str]) -> Cell:
    name = fresh = str(cell.get("id", "")) or "mine"
    number = 1
    while fresh in known:
        number += 1
        fresh = f"{name[:50]}-{number}"
    cell["id"] = fresh
    known.add(fresh)
    return cell


def _append_left(left: list[Cell], made: list[Cell]) -> None:
    """Keep what has no place any more at the end; code stays as text, so that it does not run."""
    known = {str(cell.get("id", "")) for cell in made}
    for cell in left:
        text = f"*{_KEPT}: what you wrote for {_grade_id(cell)}, which is no longer asked.*"
        heading = {"cell_type": "markdown", "id": "kept", "metadata": {}, "source": text}
        kind = "markdown" if _type(cell) == "markdown" else "raw"
        words = {"cell_type": kind, "id": "kept", "metadata": {}, "source": cell["source"]}
        if kind == "markdown" and isinstance(cell.get("attachments"), dict):
            words["attachments"] = copy.deepcopy(cell["attachments"])
        made.extend(_renamed(each, known) for each in (heading, words))


# What the ledger has recorded.


def recorded_remarks(
    old: Mapping[str, Any], new: Mapping[str, Any], saved: Mapping[str, Any]
) -> Iterator[str]:
    """Say what becomes of what a ledger has saved where the other version asks it differently."""
    asked = {step.name: step for step in steps_in(new)}
    before = {step.name: step for step in steps_in(old)}
    for step in before.values():
        if progress(step, saved).state == "to_do":
            continue
        if step.name not in asked:
            yield (
                f"{_called(step)} is no longer asked. What you recorded stays in your ledger and is"
                " not counted."
            )
        elif asked[step.name].kind != step.kind:
            yield (
                f"{_called(step)} is asked in another way. What you recorded stays in your ledger"
                " and is not counted: answer it again."
            )
    for step in asked.values():
        if step.name not in before:
            yield f"{_called(step)} is new."


def _called(step: StudentStep) -> str:
    return f"“{step.title}”"
