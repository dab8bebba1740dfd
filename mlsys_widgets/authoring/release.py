"""nbgrader's own step from an instructor's notebook to a student's."""

from __future__ import annotations

import logging
from copy import deepcopy
from pathlib import Path

from mlsys_widgets.authoring.environment import tools_on_path
from mlsys_widgets.labs.course import Course


def generate_release(
    course: Course, lab: str, *, root: Path, db_url: str, folder: str = "release"
) -> None:
    """Have nbgrader write a lab's student version, and its cells into a gradebook.

    Parameters
    ----------
    course
        The course, whose settings nbgrader follows.
    lab
        Which lab.
    root
        The folder that holds ``source/``.
    db_url
        The gradebook.
    folder
        Where the student version goes, below `root`.
    """
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
