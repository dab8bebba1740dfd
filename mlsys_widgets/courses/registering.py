"""Telling nbgrader's gradebook about labs, as ``nbgrader generate_assignment`` does."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from mlsys_widgets.courses.config import gradebook_url
from mlsys_widgets.courses.environment import tools_on_path
from mlsys_widgets.files import OWN_FOLDER
from mlsys_widgets.labs.course import Course


def register_labs(
    root: Path, labs: Sequence[str], *, say: Callable[[str], None] = lambda _: None
) -> None:
    """Enter labs and their cells into the gradebook of a course; ``release/`` stays as it is.

    Parameters
    ----------
    root
        The folder of the course.
    labs
        Which ones.
    say
        Told what is being done.
    """
    from nbgrader.converters import GenerateAssignment
    from nbgrader.coursedir import CourseDirectory

    for lab in labs:
        say(f"{lab} into the gradebook")
        course = Course(root)
        config = course.nbgrader
        # nbgrader writes what it releases, and that is there already.
        aside = course.home / OWN_FOLDER / "released"
        config.CourseDirectory.root = str(course.home)
        config.CourseDirectory.release_directory = str(aside.relative_to(course.home))
        config.CourseDirectory.assignment_id = lab
        config.CourseDirectory.db_url = gradebook_url(root)
        converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
        converter.log.setLevel(logging.ERROR)
        try:
            with tools_on_path():
                converter.start()
        finally:
            shutil.rmtree(aside, ignore_errors=True)
