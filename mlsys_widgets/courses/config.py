"""What courses say in ``nbgrader_config.py``: their id, and where their gradebook is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from mlsys_widgets.grading.settings import Settings
from mlsys_widgets.labs.course import CONFIG

_SETS_ID: Final = re.compile(r"^c\.CourseDirectory\.course_id\s*=.*$", re.M)
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SQLITE: Final = "sqlite:///"


def settings_of(root: Path) -> Settings:
    """The settings of a course; a file that cannot be run is named in a sentence."""
    try:
        return Settings.of(root)
    except Exception as problem:  # whatever an instructor's file may raise
        raise ValueError(
            f"{root / CONFIG} cannot be read: {type(problem).__name__}: {problem}; mend that line"
        ) from None


def course_id_of(root: Path) -> str:
    """The id of a course; empty if it has none."""
    return str(settings_of(root).config.get("CourseDirectory", {}).get("course_id", ""))


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
    path = root / CONFIG
    text = path.read_text("utf-8") if path.is_file() else "c = get_config()  # noqa: F821\n"
    line = f'c.CourseDirectory.course_id = "{checked_id(course_id)}"'
    named, found = _SETS_ID.subn(line, text)
    path.write_text(named if found else f"{text}\n{line}\n", "utf-8")
    if course_id_of(root) != course_id:
        raise ValueError(
            f"{path} gives the course's id in a way that cannot be changed from outside; set"
            f" c.CourseDirectory.course_id = {course_id!r} there"
        )


def own_gradebook(root: Path) -> Path | None:
    """The file of the gradebook if it lies in the course; none if it is elsewhere."""
    settings = settings_of(root)
    url = settings.db_url
    if not url.startswith(_SQLITE):
        return None
    # A relative path is where nbgrader is run: in the course.
    path = settings.root / url.removeprefix(_SQLITE)
    return path if path.resolve().is_relative_to(settings.root) else None


def gradebook_url(root: Path) -> str:
    """The address of the gradebook, wherever this is run."""
    own = own_gradebook(root)
    return settings_of(root).db_url if own is None else f"{_SQLITE}{own}"


def password_in(root: Path) -> bool:
    """Whether the file itself says a password of the gradebook."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import SQLAlchemyError

    if not (root / CONFIG).is_file():
        return False
    try:
        password = make_url(settings_of(root).db_url).password
    except SQLAlchemyError:
        return False
    text = (root / CONFIG).read_text("utf-8")
    return bool(password) and str(password) in text
