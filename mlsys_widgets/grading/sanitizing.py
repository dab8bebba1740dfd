"""A submitted notebook made fit to run, as nbgrader does it, and what was wrong with it.

Pure: a notebook and a blueprint come in, a notebook and remarks go out. The steps are those of
nbgrader's own sanitizing, in its order: outputs cleared, duplicates disarmed, the kernel and every
locked cell put back as they were released. They are written out here because a worker would spend
seconds on importing nbgrader; a test holds them against nbgrader's own.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import nbformat

from mlsys_widgets.grading.blueprint import Blueprint, SourceCell

Notebook = nbformat.NotebookNode


class Unreadable(ValueError):
    """A submitted file that is no notebook."""


@dataclass(frozen=True)
class Sane:
    """A notebook that can be run.

    Parameters
    ----------
    notebook
        The notebook.
    remarks
        What a TA should know: cells that are missing, doubled or of another type.
    missing
        Graded cells that are not there.
    """

    notebook: Notebook
    remarks: tuple[str, ...]
    missing: tuple[str, ...]


def read(content: bytes) -> Notebook:
    """A submitted notebook, upgraded to today's format."""
    try:
        raw = json.loads(content.decode("utf-8-sig"))
        version = raw["nbformat"] if isinstance(raw, dict) else None
        if not isinstance(version, int):
            raise Unreadable("the file is no notebook")
        book = nbformat.reads(json.dumps(raw), as_version=4)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise Unreadable(f"the notebook cannot be read: {str(problem)[:200]}") from None
    return book


def sanitize(book: Notebook, blueprint: Blueprint) -> Sane:
    """Make a notebook fit to run.

    Parameters
    ----------
    book
        As it was submitted; it is changed.
    blueprint
        As it was released.
    """
    remarks: list[str] = []
    language = book.metadata.get("kernelspec", {}).get("name")
    if blueprint.kernelspec:
        if language not in (None, blueprint.kernelspec.get("name")):
            remarks.append(f"it was saved with the kernel {language!r}")
        book.metadata["kernelspec"] = dict(blueprint.kernelspec)
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs = []
            cell.execution_count = None
            cell.metadata.pop("collapsed", None)
    _disarm_duplicates(book, remarks)
    for cell in book.cells:
        _put_back(cell, blueprint, remarks)
    present = {_grade_id(cell) for cell in book.cells}
    missing = tuple(name for name in blueprint.graded if name not in present)
    remarks += [f"the graded cell {name} is missing" for name in missing]
    return Sane(book, tuple(remarks), missing)


def flags(cell: Any) -> dict[str, Any]:
    """What nbgrader keeps in a cell; nothing if that is no mapping."""
    found = cell.metadata.get("nbgrader", {})
    return found if isinstance(found, dict) else {}


def is_locked(cell: Any) -> bool:
    """Whether a cell is put back as it was released."""
    said = flags(cell)
    if said.get("solution", False):
        return False
    return bool(said.get("grade", False) or said.get("locked", False))


def checksum(cell: Any) -> str:
    """As nbgrader computes it."""
    said, digest = flags(cell), hashlib.md5(usedforsecurity=False)
    graded = bool(said.get("grade", False))
    parts = [cell.source, cell.cell_type, graded, bool(said.get("solution", False))]
    parts += [is_locked(cell), said["grade_id"]]
    parts += [float(said["points"])] if graded else []
    for part in parts:
        digest.update(str(part).encode())
    return digest.hexdigest()


def _grade_id(cell: Any) -> str | None:
    name = flags(cell).get("grade_id")
    return name if isinstance(name, str) else None


def _disarm_duplicates(book: Notebook, remarks: list[str]) -> None:
    """Of cells with the same id the last one counts."""
    seen: set[str] = set()
    for cell in reversed(book.cells):
        if "nbgrader" in cell.metadata and not flags(cell):
            del cell.metadata["nbgrader"]
        name = _grade_id(cell)
        if name is None or not (flags(cell).get("solution", False) or is_locked(cell)):
            continue
        if name in seen:
            remarks.append(f"the cell {name} is there more than once; the last one counts")
            cell.metadata["nbgrader"] = {}
        else:
            seen.add(name)


def _put_back(cell: Any, blueprint: Blueprint, remarks: list[str]) -> None:
    name = _grade_id(cell)
    if name is None:
        return
    source = blueprint.cells.get(name)
    if source is None:
        remarks.append(f"the cell {name!r} is not of this lab")
        del cell.metadata.nbgrader["grade_id"]
        return
    if cell.cell_type != source.kind:
        remarks.append(f"the cell {name} was turned from {source.kind} into {cell.cell_type}")
        _turn_into(cell, source.kind)
    if is_locked(cell) != source.locked:
        cell.metadata.nbgrader["locked"] = source.locked
    if flags(cell).get("grade", False) and source.points is not None:
        cell.metadata.nbgrader["points"] = source.points
    cell.metadata.nbgrader["checksum"] = source.checksum
    if source.locked and _differs(cell, source):
        cell.source = source.source
        _restore_flags(cell, source, remarks)


def _differs(cell: Any, source: SourceCell) -> bool:
    try:
        return checksum(cell) != source.checksum
    except (KeyError, TypeError, ValueError):  # points that are no number, for example
        return True


def _restore_flags(cell: Any, source: SourceCell, remarks: list[str]) -> None:
    """A cell whose flags were edited still has another checksum once its text is put back."""
    if not _differs(cell, source):
        return
    name = cell.metadata.nbgrader["grade_id"]
    remarks.append(f"the cell {name} has other nbgrader metadata than it was released with")
    cell.metadata.nbgrader.update(
        grade=source.points is not None, locked=True, solution=False, task=False
    )
    if source.points is not None:
        cell.metadata.nbgrader["points"] = source.points


def _turn_into(cell: Any, kind: str) -> None:
    cell.cell_type = kind
    if kind == "code":
        cell.outputs, cell.execution_count = [], None
    else:
        cell.pop("outputs", None)
        cell.pop("execution_count", None)
