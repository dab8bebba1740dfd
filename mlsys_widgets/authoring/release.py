"""nbgrader's own step from an instructor's notebook to a student's."""

from __future__ import annotations

import logging
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat

from mlsys_widgets.authoring.environment import tools_on_path
from mlsys_widgets.course.course import Course


def generate_release(
    course: Course, lab: str, *, root: Path, db_url: str, folder: str = "release"
) -> None:
    """Have nbgrader make a student version from ``source/`` below `root`, and a gradebook."""
    from nbgrader.converters import GenerateAssignment
    from nbgrader.coursedir import CourseDirectory

    config = deepcopy(course.nbgrader)
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.release_directory = folder
    config.CourseDirectory.assignment_id = lab
    config.CourseDirectory.db_url = db_url
    converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
    converter.log.setLevel(logging.ERROR)
    with tools_on_path():
        converter.start()


def as_gradebook_has_it(
    course: Course, lab: str, book: nbformat.NotebookNode
) -> nbformat.NotebookNode:
    """Return a notebook of ``source/`` as the gradebook keeps it: hidden tests, no solutions."""
    return _through(_steps()[0], course, lab, book)


def as_released(course: Course, lab: str, book: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return what nbgrader makes for students from a notebook, without touching a gradebook."""
    before, after = _steps()
    return _through(before + after, course, lab, book)


def _steps() -> tuple[list[Any], list[Any]]:
    """The steps of nbgrader to a release: those before it writes the gradebook, and those after."""
    from nbgrader.converters import GenerateAssignment
    from nbgrader.preprocessors import SaveCells

    steps = list(GenerateAssignment.preprocessors.default_args[0])
    writes = steps.index(SaveCells)
    return steps[:writes], steps[writes + 1 :]


def _through(
    steps: list[Any], course: Course, lab: str, book: nbformat.NotebookNode
) -> nbformat.NotebookNode:
    config = course.nbgrader
    resources: dict[str, Any] = {"metadata": {"path": str(course.folder("source", lab))}}
    for step in steps:
        book, resources = step(config=config).preprocess(book, resources)
    return book
