"""What courses say in ``nbgrader_config.py``: their id, and where their gradebook is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from mlsys_widgets.files import NBGRADER_CONFIG
from mlsys_widgets.labs.course import Course

_SETS_ID: Final = re.compile(r"^c\.CourseDirectory\.course_id\s*=.*$", re.M)
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SQLITE: Final = "sqlite:///"


def checked_id(course_id: str) -> str:
    """A course's id, if folders and addresses can be named like that."""
    if not _ID.fullmatch(course_id):
        raise ValueError(
            f"the course's id is {course_id!r}; it must be up to 100 letters, digits, dots, -"
            " and _, beginning with a letter or a digit, as mlsys-2027"
        )
    return course_id


def name_course(root: Path, course_id: str) -> None:
    """Have ``nbgrader_config.py`` name the course; the file is made if there is none."""
    path = root / NBGRADER_CONFIG
    text = path.read_text("utf-8") if path.is_file() else "c = get_config()  # noqa: F821\n"
    line = f'c.CourseDirectory.course_id = "{checked_id(course_id)}"'
    named, found = _SETS_ID.subn(line, text)
    path.write_text(named if found else f"{text}\n{line}\n", "utf-8")
    if Course(root).course_id != course_id:
        raise ValueError(
            f"{path} gives the course's id in a way that cannot be changed from outside; set"
            f" c.CourseDirectory.course_id = {course_id!r} there"
        )


def own_gradebook(root: Path) -> Path | None:
    """The file of the gradebook if it lies in the course; none if it is elsewhere."""
    course = Course(root)
    url = course.db_url
    if not url.startswith(_SQLITE):
        return None
    # A relative path is where nbgrader is run: in the course.
    path = course.home / url.removeprefix(_SQLITE)
    return path if path.resolve().is_relative_to(course.home) else None


def gradebook_url(root: Path) -> str:
    """The address of the gradebook, wherever this is run."""
    own = own_gradebook(root)
    return Course(root).db_url if own is None else f"{_SQLITE}{own}"


def password_in(root: Path) -> bool:
    """Whether the file itself says a password of the gradebook."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import SQLAlchemyError

    if not (root / NBGRADER_CONFIG).is_file():
        return False
    try:
        password = make_url(Course(root).db_url).password
    except SQLAlchemyError:
        return False
    text = (root / NBGRADER_CONFIG).read_text("utf-8")
    return bool(password) and str(password) in text
