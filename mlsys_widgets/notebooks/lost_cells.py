"""Cells of a lab that a notebook has lost: recognized by their text, or restored as released.

Some editors drop what nbgrader notes in a cell, and students delete cells that they do not need. A
cell of the lab whose text is still there is recognized. The lab's own code that is gone, such as
the set-up, is restored, because everything below depends on it. A deleted test is not: its answer
is judged without it. A deleted cell for a written answer comes back so that a person can grade it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

import nbformat

from mlsys_widgets.notebooks.blueprint import Blueprint, SourceCell
from mlsys_widgets.notebooks.cell_metadata import HIDDEN, grade_id
from mlsys_widgets.notebooks.new_cells import code_cell, markdown_cell

_NO_ID: Final = re.compile(r"[^a-zA-Z0-9_-]")
#: In place of a written answer; being different from the release, it waits for a person.
NOT_THERE: Final = "*The cell for this answer was not in the notebook that was handed in.*"


def flags_of(name: str, source: SourceCell) -> dict[str, Any]:
    """Return what nbgrader notes in a cell as it was released, without points and checksum."""
    return {
        "grade": source.graded,
        "grade_id": name,
        "locked": source.locked,
        "schema_version": 3,
        "solution": source.solution,
        "task": source.task,
    }


def squeezed(text: str) -> str:
    """Return a text without its white space, to tell whether two say the same.

    Examples
    --------
    >>> squeezed("a = 1") == squeezed("a=1 ")
    True
    """
    return "".join(text.split())


def as_students_get_it(source: SourceCell) -> str:
    """Return the text of a cell without its hidden tests."""
    return _without_hidden_tests(source.source)


@lru_cache(maxsize=256)  # of the same few cells, for every notebook of a class
def _without_hidden_tests(text: str) -> str:
    return HIDDEN.sub("", text)


def recognize(book: Any, blueprint: Blueprint) -> tuple[str, ...]:
    """Give cells that lost what nbgrader notes in them their names back; which ones.

    Cells that students do not write in are recognized by their text. One that they do write in is
    recognized by its place, if only one can be meant.
    """
    present = {grade_id(cell) for cell in book.cells}
    absent = {name: cell for name, cell in blueprint.cells.items() if name not in present}
    if not absent:
        return ()
    found: list[str] = []
    nameless: dict[str, list[Any]] = {}
    for cell in book.cells:
        if grade_id(cell) is None:
            nameless.setdefault(squeezed(cell.source), []).append(cell)
    for name, source in absent.items():
        same = nameless.get(squeezed(as_students_get_it(source)), ())
        known = next((c for c in same if c.cell_type == source.kind and grade_id(c) is None), None)
        if known is not None:
            known.metadata["nbgrader"] = nbformat.from_dict(flags_of(name, source))
            found.append(name)
    for name, source in absent.items():
        if source.solution and name not in found:
            known = _by_place(book, blueprint, name, source)
            if known is not None:
                known.metadata["nbgrader"] = nbformat.from_dict(flags_of(name, source))
                found.append(name)
    return tuple(found)


def _by_place(book: Any, blueprint: Blueprint, name: str, source: SourceCell) -> Any:
    """Return the one cell of a kind between the neighbors of a cell that is missing; or `None`."""
    where = {grade_id(cell): n for n, cell in enumerate(book.cells)}
    names = list(blueprint.cells)
    at = names.index(name)
    before = next((where[n] for n in reversed(names[:at]) if n in where), None)
    after = next((where[n] for n in names[at + 1 :] if n in where), None)
    if before is None or after is None:
        return None
    between = [
        cell
        for cell in book.cells[before + 1 : after]
        if cell.cell_type == source.kind and grade_id(cell) is None and _is_own(cell)
    ]
    first = source.source.strip().split("\n")[0]
    begun = [cell for cell in between if first and cell.source.strip().startswith(first)]
    (only,) = begun if len(begun) == 1 else between if len(between) == 1 else (None,)
    return only


def _is_own(cell: Any) -> bool:
    """Whether a student may have written a cell: text of the lab says that it is not to be."""
    return cell.metadata.get("editable", True) is not False


def restore_cells(book: Any, blueprint: Blueprint) -> tuple[str, ...]:
    """Restore the lab's own code and the places of written answers; which ones.

    Each comes before the next cell of the lab that is there, so below all that a student wrote in
    its place.
    """
    present = {grade_id(cell) for cell in book.cells}
    ids = {cell.get("id") for cell in book.cells}
    names, restored = list(blueprint.cells), []
    for at in range(len(names) - 1, -1, -1):
        name, source = names[at], blueprint.cells[names[at]]
        if name in present or not _comes_back(source):
            continue
        following = next((n for n in names[at + 1 :] if n in present), None)
        places = (n for n, cell in enumerate(book.cells) if following == (grade_id(cell) or ""))
        book.cells.insert(next(places, len(book.cells)), _fresh(name, source, ids))
        present.add(name)
        restored.append(name)
    return tuple(reversed(restored))


def _comes_back(source: SourceCell) -> bool:
    is_own_code = source.locked and not source.graded and source.kind == "code"
    is_written = source.graded and source.solution and source.kind == "markdown"
    return is_own_code or is_written


def _fresh(name: str, source: SourceCell, ids: set[Any]) -> Any:
    known = _NO_ID.sub("-", name)[:50] or "cell"
    while known in ids:
        known += "-"
    ids.add(known)
    metadata = {"nbgrader": flags_of(name, source)}
    if source.kind == "code":
        return code_cell(source.source, known, metadata)
    return markdown_cell(NOT_THERE, known, metadata)
