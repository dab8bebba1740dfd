"""A course's id: what nbgrader and its exchange call the course."""

from __future__ import annotations

import re
from typing import Final

from mlsys_widgets.course.course import Course
from mlsys_widgets.files import NBGRADER_CONFIG

_SETS_ID: Final = re.compile(r"^c\.CourseDirectory\.course_id\s*=.*$", re.M)
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def checked_id(course_id: str) -> str:
    """Return a course's id if it can name folders and addresses; `ValueError` if not."""
    if not _ID.fullmatch(course_id):
        raise ValueError(
            f"the course's id is {course_id!r}; it must be up to 100 letters, digits, dots, -"
            " and _, beginning with a letter or a digit, such as mlsys-2027"
        )
    return course_id


def name_course(course: Course, course_id: str) -> Course:
    """Write the id into ``nbgrader_config.py``, and return the course as it reads then.

    The file is created if there is none.
    """
    path = course.root / NBGRADER_CONFIG
    text = path.read_text("utf-8") if path.is_file() else "c = get_config()  # noqa: F821\n"
    line = f'c.CourseDirectory.course_id = "{checked_id(course_id)}"'
    named, found = _SETS_ID.subn(line, text)
    path.write_text(named if found else f"{text}\n{line}\n", "utf-8")
    renamed = Course(course.root, course.variants, course.edition)
    if renamed.course_id != course_id:
        raise ValueError(
            f"{path} sets the course's id in a way that cannot be changed from outside; set"
            f" c.CourseDirectory.course_id = {course_id!r} there"
        )
    return renamed
