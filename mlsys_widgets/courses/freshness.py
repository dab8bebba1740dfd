"""Which labs of a course are not built from what their text says now.

Nothing runs: the cells that the text produces are compared with those of ``source/``, and what
nbgrader's own steps make of those with ``release/``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat

from mlsys_widgets.authoring import Course, labs_of
from mlsys_widgets.authoring.hidden_tests import CheckSource
from mlsys_widgets.authoring.notebook import Notebook
from mlsys_widgets.authoring.practice_copies import handed_out, handed_out_files
from mlsys_widgets.authoring.release import as_gradebook_has_it
from mlsys_widgets.authoring.start_page import start_page
from mlsys_widgets.authoring.text import read
from mlsys_widgets.authoring.traveling_files import traveling
from mlsys_widgets.course.lab_versions import stamp_in, version_in
from mlsys_widgets.course.page_dates import EMPTY, with_page_dates
from mlsys_widgets.files import CHECKS, LAB_TEXT, START_PAGE
from mlsys_widgets.labs import load


def stale_labs(course: Course) -> dict[str, str]:
    """Return the labs that need to be built again, each with the reason; empty if none does.

    Examples
    --------
    >>> from mlsys_widgets.authoring import new_lab
    >>> _ = new_lab(folder, "lab_02_caches")
    >>> stale_labs(Course.at(folder))
    {'lab_02_caches': 'source/lab_02_caches is not built'}
    """
    found = {}
    for lab in labs_of(course):
        reason = why_stale(course, lab)
        if reason:
            found[lab] = reason
    return found


def start_page_is_stale(course: Course) -> bool:
    """Whether the page where students start lists other labs than the course has."""
    page = course.root / "release" / START_PAGE
    if not page.is_file():
        return True
    # Its dates follow the calendar with `mlsys course calendar`; nothing is built for that.
    there, made = page.read_text("utf-8"), start_page(course.root / "release")
    return with_page_dates(there, EMPTY) != with_page_dates(made, EMPTY)


def checksums(course: Course, lab: str) -> dict[str, str]:
    """Return the checksum of each cell as the gradebook would hold it, had it seen it today."""
    book = _read(course.folder("source", lab) / f"{lab}.ipynb")
    if book is None:
        return {}
    cells = as_gradebook_has_it(course, lab, book).cells
    marks = [cell.metadata.get("nbgrader", {}) for cell in cells]
    return {each["grade_id"]: each["checksum"] for each in marks if "checksum" in each}


def why_stale(course: Course, lab: str) -> str | None:
    """Say why a lab has to be built again; `None` if it need not be."""
    home = course.folder("assignments", lab)
    source, release = (course.folder(step, lab) for step in ("source", "release"))
    notebook = f"{lab}.ipynb"
    for folder in (source, release):
        if not (folder / notebook).is_file():
            return f"{folder.parent.name}/{lab} is not built"
    for folder, files in (
        (source, traveling(home, lab)),
        (release, handed_out_files(course, lab)),
    ):
        for name, code in files.items():
            there = folder / name
            if not there.is_file() or there.read_text("utf-8") != code:
                return f"{folder.parent.name}/{lab}/{name} is not made from the one in assignments/"
    try:
        made = Notebook(load(home), CheckSource(home / CHECKS), course).make(read(home / LAB_TEXT))
    except Exception as problem:  # whatever an author's files may raise
        return f"its text cannot be built: {type(problem).__name__}: {problem}"
    built = _read(source / notebook)
    if built is None or _cells(made) != _cells(built):
        return f"source/{lab} is not what its text produces"
    released = _read(release / notebook)
    if released is None or _cells(handed_out(course, lab, built)) != _cells(released):
        return f"release/{lab} is not what nbgrader makes from source/{lab}"
    stamp = stamp_in((release / notebook).read_bytes())
    if stamp != version_in(release, lab):
        words = "does not say which version it is" if stamp is None else f"calls itself {stamp}"
        return f"release/{lab} {words}"
    return None


def _read(path: Path) -> nbformat.NotebookNode | None:
    try:
        return nbformat.read(path, 4)
    except Exception:  # not JSON or not a notebook, so not what was built
        return None


def _cells(book: nbformat.NotebookNode) -> list[Mapping[str, Any]]:
    """Return what a notebook contains, without what running it adds."""
    return [
        {"id": c.get("id"), "type": c.cell_type, "source": c.source, "metadata": dict(c.metadata)}
        for c in book.cells
    ]
