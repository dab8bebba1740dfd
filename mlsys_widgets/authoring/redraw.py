"""Notebooks that are built already, made to draw with the settings of another course.

What a draw depends on is built into two kinds of cells: the one that opens the lab, and hidden
tests. Everything else stays as it was built, so nothing has to run. The outputs in ``source/`` are
those of the earlier draw until somebody runs the notebook or builds the lab.
"""

from __future__ import annotations

import re
from copy import deepcopy

import nbformat

from mlsys_widgets.authoring.builder import stamp
from mlsys_widgets.authoring.practice_copies import handed_out
from mlsys_widgets.authoring.text import open_lab_with
from mlsys_widgets.course.course import Course


def redraw(course: Course, lab: str) -> None:
    """Have both notebooks of a lab draw as the course says now."""
    path = course.folder("source", lab) / f"{lab}.ipynb"
    book = nbformat.read(path, 4)
    for cell in book.cells:
        cell.source = with_arguments(cell.source, lab, course.arguments)
    path.write_text(nbformat.writes(book) + "\n", "utf-8")
    released = handed_out(course, lab, deepcopy(book))
    (course.folder("release", lab) / path.name).write_text(
        nbformat.writes(released) + "\n", "utf-8"
    )
    stamp(lab, course.root)


def with_arguments(source: str, lab: str, arguments: str) -> str:
    r"""A cell's code with the arguments of a course (`Course.arguments`) in place of others.

    Examples
    --------
    >>> with_arguments('lab = open_lab("lab_02_caches")', "lab_02_caches", ", edition='2027'")
    'lab = open_lab("lab_02_caches", edition=\'2027\')'
    >>> with_arguments('lab = open_lab("lab_02", variants=False, deeper="required")', "lab_02", "")
    'lab = open_lab("lab_02", deeper="required")'
    >>> with_arguments("    return award(limit, globals(), points=5, edition='a')", "lab_02", "")
    '    return award(limit, globals(), points=5)'
    """
    source = open_lab_with(source, lab, arguments)
    awards = re.compile(r"^(    return award\(.+, globals\(\), points=[0-9.]+).*(\))$", re.M)
    return awards.sub(lambda found: f"{found[1]}{arguments}{found[2]}", source)
