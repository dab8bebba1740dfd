"""A copy of a lab for practice, made from the notebook that students of an assignment get.

It carries its checks, so it must be of no use anywhere else: it has no graded cells and nothing of
nbgrader's, its numbers are those of an edition of its own, and no secret of a course is in it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat

from mlsys_widgets.authoring.release import as_released
from mlsys_widgets.authoring.start_page import write_start_page
from mlsys_widgets.authoring.student_source import student_checks
from mlsys_widgets.authoring.text import TextError, open_lab_with
from mlsys_widgets.authoring.traveling_files import traveling
from mlsys_widgets.course.course import Course
from mlsys_widgets.course.lab_versions import STAMP, files_beside, lab_version
from mlsys_widgets.course.student_codes import BY_CODE
from mlsys_widgets.files import CHECKS
from mlsys_widgets.labs.practice import EDITION, PRACTICE, WAY


def as_practice(book: nbformat.NotebookNode, lab: str) -> nbformat.NotebookNode:
    """Return a released notebook as a copy for practice."""
    made = deepcopy(book)
    made.cells = [cell for cell in made.cells if not _is_graded(cell)]
    for cell in made.cells:
        if cell.metadata.pop("nbgrader", {}).get("locked"):
            # As prose is: locked against slips, whoever opens it.
            cell.metadata.update(deletable=False, editable=False)
        if cell.cell_type == "code":
            cell.source = open_lab_with(
                cell.source, lab, f", edition={EDITION!r}", f', way="{PRACTICE}"'
            )
    about = made.metadata.setdefault("mlsys", {})
    about.pop(STAMP, None)
    about[WAY] = PRACTICE
    return made


def _is_graded(cell: Mapping[str, Any]) -> bool:
    return bool(cell["metadata"].get("nbgrader", {}).get("grade"))


def handed_out(course: Course, lab: str, book: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return what students get of a notebook of ``source/``: an assignment, or practice."""
    released = as_released(course, lab, book)
    return as_practice(released, lab) if course.is_practice(lab) else released


def handed_out_files(course: Course, lab: str) -> dict[str, str]:
    """Return the files that students get beside it."""
    home = course.folder("assignments", lab)
    files = traveling(home, lab)
    return {**files, **_checks(home, lab)} if course.is_practice(lab) else files


def _checks(home: Path, lab: str) -> dict[str, str]:
    return {CHECKS: student_checks((home / CHECKS).read_text("utf-8"), lab)}


def turn_into_practice(course: Course, lab: str, folder: Path) -> None:
    """Turn the released lab in a folder into a copy for practice."""
    path = folder / f"{lab}.ipynb"
    made = as_practice(nbformat.read(path, 4), lab)
    for name, text in _checks(course.folder("assignments", lab), lab).items():
        (folder / name).write_text(text, "utf-8")
    plain = json.loads(nbformat.writes(made))
    made.metadata["mlsys"][STAMP] = lab_version(plain, files_beside(folder, lab))
    nbformat.validate(made)
    path.write_text(nbformat.writes(made) + "\n", "utf-8")


def practice_copies(course: Course, into: Path) -> list[str]:
    """Make copies for practice of all labs that are built, each in a folder; return their names.

    Raises `TextError` when a lab is not built.
    """
    made = _copied(course, into)
    for lab in made:
        if not course.is_practice(lab):
            turn_into_practice(course, lab, into / lab)
    write_start_page(into)
    return made


def assignment_copies(course: Course, into: Path) -> list[str]:
    """Copy all labs that are built as they are released, for everybody to read; return their names.

    No secret of the course is in them: where it has one, each student draws with a code instead.
    `TextError` where a lab is not built, or the course has a secret and no codes.
    """
    if course.secret and not course.draws_by_code:
        raise TextError(
            "numbers of this course are drawn from its secret, which must not be published; write"
            " student_codes = true at the top of assignments/course.toml (everybody's numbers"
            " change with it), and run: mlsys build"
        )
    made = _copied(course, into)
    for lab in made if course.draws_by_code else ():
        path = into / lab / f"{lab}.ipynb"
        book = nbformat.read(path, 4)
        for cell in book.cells:
            if cell.cell_type == "code":
                cell.source = cell.source.replace(repr(course.edition), repr(BY_CODE))
        path.write_text(nbformat.writes(book) + "\n", "utf-8")
    write_start_page(into)
    _refuse_secret(course, into)
    return made


def _refuse_secret(course: Course, folder: Path) -> None:
    """Look for the secret in everything that would be published."""
    for path in folder.rglob("*"):
        if course.secret and path.is_file() and course.secret.encode() in path.read_bytes():
            raise TextError(
                f"{path.relative_to(folder)} holds the secret of the course, so nothing is"
                " published; run: mlsys build"
            )


def _copied(course: Course, into: Path) -> list[str]:
    made = []
    for home in sorted(course.root.glob("assignments/*/lab.py")):
        lab = home.parent.name
        released = course.folder("release", lab)
        if not (released / f"{lab}.ipynb").is_file():
            raise TextError(f"release/{lab} is not built; run: mlsys build {lab}")
        folder = into / lab
        folder.mkdir(parents=True, exist_ok=True)
        for name in (f"{lab}.ipynb", *files_beside(released, lab)):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((released / name).read_bytes())
        made.append(lab)
    return made
