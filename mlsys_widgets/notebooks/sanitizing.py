"""A submitted notebook prepared to run, as nbgrader does it, and what was wrong with it.

Pure: a notebook and a blueprint come in, a notebook and remarks go out. The steps are those of
nbgrader's own sanitizing, in its order: outputs cleared, duplicates disarmed, the kernel and every
locked cell restored as they were released. They are written out here because a worker would spend
seconds on importing nbgrader; a test holds them against nbgrader's own.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

import nbformat

from mlsys_widgets.notebooks.blueprint import Blueprint, SourceCell
from mlsys_widgets.notebooks.cell_metadata import cell_metadata, grade_id, is_locked
from mlsys_widgets.notebooks.lost_cells import flags_of, recognize, restore_cells
from mlsys_widgets.notebooks.notebook_text import UnreadableNotebook, read_json
from mlsys_widgets.notebooks.remarks import Remark, RemarkKind
from mlsys_widgets.notebooks.stray_answers import stray_work
from mlsys_widgets.notebooks.valid_metadata import valid_cell_metadata, valid_notebook_metadata

Notebook = nbformat.NotebookNode

_TEXT_KEYS: Final = {"id", "cell_type", "metadata", "source", "attachments"}
_CELL_KEYS: Final = {
    "code": {"id", "cell_type", "metadata", "source", "outputs", "execution_count"},
    "markdown": _TEXT_KEYS,
    "raw": _TEXT_KEYS,
}
_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_FLAGS: Final = {
    "schema_version", "grade", "locked", "solution", "task", "grade_id", "points", "checksum",
    "cell_type",
}  # fmt: skip


#: Levels of lists and mappings; a notebook with widgets has about ten.
_DEEPEST: Final = 100


@dataclass(frozen=True)
class SanitizedNotebook:
    """A notebook that can be run."""

    #: The notebook.
    notebook: Notebook
    #: What a TA should know: cells that are missing, doubled or of another type.
    remarks: tuple[Remark, ...]
    #: Graded cells that are not there.
    missing: tuple[str, ...]


def read(content: bytes) -> Notebook:
    """Read a submitted notebook in today's format; what is not valid is repaired or left out."""
    try:
        raw, _ = read_json(content)
        if _deeper_than(raw, _DEEPEST):
            raise UnreadableNotebook(
                "the notebook is nested too deeply. Save it in JupyterLab and hand it in again"
            )
        if raw["nbformat"] < 4:
            raw = json.loads(json.dumps(nbformat.convert(nbformat.from_dict(raw), 4)))
        _repair(raw)
        if _may_have_halves(content):
            raw = json.loads(json.dumps(raw, ensure_ascii=False).encode("utf-8", "replace"))
        book = nbformat.v4.to_notebook_json(raw)
    except (UnreadableNotebook, MemoryError):
        raise
    except Exception as problem:  # of a file that may hold anything
        raise UnreadableNotebook(
            f"the notebook cannot be read ({type(problem).__name__}). Open and save it in"
            " JupyterLab, and hand it in again"
        ) from None
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return book


def _may_have_halves(content: bytes) -> bool:
    """Whether there may be halves of characters, which JSON can spell and no file can hold.

    They become question marks.
    """
    # In an encoding of which every ASCII letter has two bytes or four, they are spelled otherwise.
    return b"\\ud" in content.lower() or b"\0" in content


def _deeper_than(value: Any, most: int) -> bool:
    """Whether data is nested deeper than this; without recursion, whose limit Pythons differ in."""
    holders = (dict, list)
    level = [value] if isinstance(value, holders) else []
    for _ in range(most):
        level = [
            inner
            for each in level
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, holders)
        ]
        if not level:
            return False
    return bool(level)


def _repair(raw: dict[str, Any]) -> None:
    """Make a notebook of format 4 valid for every reader; its cells and texts stay."""
    if not isinstance(raw.get("cells"), list):
        raise UnreadableNotebook(
            "the notebook has no cells. Hand in the notebook that was given to you, with your work"
        )
    raw["metadata"] = valid_notebook_metadata(raw.get("metadata"))
    ids: set[str] = set()
    cells = [c for c in raw["cells"] if isinstance(c, dict) and c.get("cell_type") in _CELL_KEYS]
    for number, cell in enumerate(cells):
        for key in cell.keys() - _CELL_KEYS[cell["cell_type"]]:
            del cell[key]
        _repair_cell(cell)
        known = cell.get("id")
        if not isinstance(known, str) or not _ID.fullmatch(known) or known in ids:
            # By its place, so that a notebook that is graded again is the same again.
            cell["id"] = f"cell-{number}"
            while cell["id"] in ids:
                cell["id"] += "-"
        ids.add(cell["id"])
    kept = {"cells": cells, "metadata": raw["metadata"], "nbformat": 4, "nbformat_minor": 5}
    raw.clear()
    raw.update(kept)


def _repair_cell(cell: dict[str, Any]) -> None:
    source = cell.get("source")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    cell["source"] = source if isinstance(source, str) else ""
    cell["metadata"] = valid_cell_metadata(cell.get("metadata"))
    if cell["cell_type"] == "code":
        cell["outputs"], cell["execution_count"] = [], None
    elif not _are_attachments(cell.get("attachments", {})):
        del cell["attachments"]


def _are_attachments(attachments: Any) -> bool:
    return isinstance(attachments, dict) and all(
        isinstance(bundle, dict) and all(isinstance(data, str) for data in bundle.values())
        for bundle in attachments.values()
    )


def sanitize(book: Notebook, blueprint: Blueprint) -> SanitizedNotebook:
    """Prepare a notebook to run."""
    remarks: list[Remark] = []
    kernel = book.metadata.get("kernelspec", {}).get("name")
    if blueprint.kernelspec:
        if kernel not in (None, blueprint.kernelspec.get("name")):
            remarks.append(Remark(RemarkKind.OTHER_KERNEL, detail=f"{kernel!r:.60}"))
        book.metadata["kernelspec"] = dict(blueprint.kernelspec)
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.metadata.pop("collapsed", None)
            cell.metadata.pop("scrolled", None)
    _disarm_duplicates(book, remarks)
    recognized = recognize(book, blueprint)
    if recognized:
        count = f"{len(recognized)} of its cells were"
        remarks.append(Remark(RemarkKind.LOST_METADATA, detail=count))
    remarks += stray_work(book, blueprint, lost=bool(recognized))
    present = {grade_id(cell) for cell in book.cells}
    missing = tuple(name for name in blueprint.graded if name not in present)
    remarks += [Remark(RemarkKind.MISSING_CELL, name) for name in missing]
    restored = [name for name in restore_cells(book, blueprint) if name not in missing]
    if restored:
        more = f" and {len(restored) - 3} more" if restored[3:] else ""
        remarks.append(Remark(RemarkKind.RESTORED_CELL, ", ".join(restored[:3]) + more))
    for cell in book.cells:
        _restore(cell, blueprint, remarks)
    return SanitizedNotebook(book, tuple(dict.fromkeys(remarks)), missing)


def _disarm_duplicates(book: Notebook, remarks: list[Remark]) -> None:
    """Of cells with the same id, let the last one count."""
    seen: set[str] = set()
    for cell in reversed(book.cells):
        name = grade_id(cell)
        if name is None:
            # Empty or no name at all; nbgrader's own tools would stop at it later.
            cell.metadata.pop("nbgrader", None)
        elif name in seen:
            remarks.append(Remark(RemarkKind.DUPLICATE_CELL, f"{name!r:.60}"))
            del cell.metadata["nbgrader"]
        else:
            seen.add(name)


def _restore(cell: Any, blueprint: Blueprint, remarks: list[Remark]) -> None:
    name = grade_id(cell)
    if name is None:
        return
    source = blueprint.cells.get(name)
    if source is None:
        remarks.append(Remark(RemarkKind.UNKNOWN_CELL, f"{name!r:.60}"))
        del cell.metadata["nbgrader"]
        return
    if cell.cell_type != source.kind:
        turned = f"from {source.kind} into {cell.cell_type}"
        remarks.append(Remark(RemarkKind.OTHER_TYPE, name, turned))
        _turn_into(cell, source.kind)
    if _are_other_flags(cell, source):
        remarks.append(Remark(RemarkKind.OTHER_METADATA, name))
        cell.metadata["nbgrader"] = nbformat.from_dict(flags_of(name, source))
    metadata = cell.metadata.nbgrader
    for key, released in source.metadata.items():
        if not _is_same(metadata.get(key), released):
            metadata[key] = released
    metadata["checksum"] = source.checksum
    if source.locked:
        cell.source = source.source


def _are_other_flags(cell: Any, source: SourceCell) -> bool:
    metadata = cell_metadata(cell)
    meant = {
        "grade": source.graded, "solution": source.solution, "task": source.task,
    }  # fmt: skip
    return (
        is_locked(cell) != source.locked
        or any(metadata.get(name, False) is not value for name, value in meant.items())
        or not isinstance(metadata.get("locked"), bool)
        or metadata.get("schema_version") != 3
        or not metadata.keys() <= _FLAGS
    )


def _is_same(value: Any, released: Any) -> bool:
    # To Python, True is 1; in a notebook it is something else.
    return bool(value == released) and not isinstance(value, bool)


def _turn_into(cell: Any, kind: str) -> None:
    cell.cell_type = kind
    if kind == "code":
        cell.outputs, cell.execution_count = [], None
        cell.pop("attachments", None)
    else:
        cell.pop("outputs", None)
        cell.pop("execution_count", None)
