"""Whose lab this is: on a hub, on a laptop, and where nbgrader grades. The one place that knows.

A student's numbers are drawn from this name, so it must be the same where the student works and
where the work is graded: the name under which nbgrader files the submission. An instructor's
notebook has a name of its own, so that it shows the same numbers whoever runs it.

Examples
--------
>>> from typing import get_args
>>> get_args(Execution)  # what `execution` can say
('student', 'validate', 'autograde')
"""

from __future__ import annotations

import getpass
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from mlsys_widgets.course.student_codes import drawn_from
from mlsys_widgets.files import COURSE_SETTINGS, LEDGER, NBGRADER_CONFIG

#: Who runs the notebook: a student who works in it, or nbgrader, to validate or to grade it.
Execution = Literal["student", "validate", "autograde"]

#: Names a student for this process, for a TA who wants to see what somebody else saw.
VARIABLE: Final = "MLSYS_STUDENT"
#: Whose numbers the notebooks in ``source/`` show.
INSTRUCTOR: Final = "instructor"
_LONGEST: Final = 200


@dataclass(frozen=True)
class Student:
    """A name, and where it was found, in words.

    Parameters
    ----------
    name
        The name under which the course knows the student.
    known_from
        Where it was found, for people to read.
    uncertain
        Whether the course may know the student under another name, as with a laptop's login.
    code
        The code that a course gave to the student, where numbers are drawn from one.

    Examples
    --------
    A TA looks at the numbers that ann sees:

    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, {"MLSYS_STUDENT": "ann"}):
    ...     found = student()
    >>> found.name, found.known_from, found.uncertain
    ('ann', 'the environment variable MLSYS_STUDENT', False)
    """

    name: str
    known_from: str
    uncertain: bool = False
    code: str = field(default="", repr=False)

    def draws_from(self, edition: str) -> str:
        """Return the edition that this student's numbers are drawn from, which may be a code."""
        return drawn_from(edition, self.name, self.code)


def execution() -> Execution:
    """Who runs the notebook, as nbgrader tells its kernels.

    Returns
    -------
    Execution
        ``"student"``; ``"validate"`` while the Validate button runs it; ``"autograde"`` while it
        is graded.

    Examples
    --------
    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, {"NBGRADER_EXECUTION": "autograde"}):
    ...     execution()
    'autograde'
    >>> with patch.dict(os.environ):
    ...     _ = os.environ.pop("NBGRADER_EXECUTION", None)
    ...     execution()
    'student'
    """
    match os.environ.get("NBGRADER_EXECUTION"):
        case "autograde":
            return "autograde"
        case "validate":
            return "validate"
    return "student"


def is_instructors(folder: str | os.PathLike[str]) -> bool:
    """Whether a notebook is an instructor's: in a folder of its own in ``source/`` of a course.

    The place decides, and not a file or a mark in the notebook: nbgrader would copy those to
    students. While nbgrader grades, every notebook is a student's.
    """
    if execution() == "autograde":
        return False
    source = Path(folder).resolve().parent
    return source.name == "source" and (source.parent / NBGRADER_CONFIG).is_file()


def student(folder: str | os.PathLike[str] = ".") -> Student:
    """Whose lab is in a folder.

    While nbgrader grades, only the submission's folder counts: a TA's own name or environment must
    never decide which numbers somebody has. An instructor's notebook has the numbers of
    `INSTRUCTOR`, unless the variable names somebody.

    Parameters
    ----------
    folder : path
        Where the notebook is.

    Returns
    -------
    Student
        Whose it is, and how that is known.

    Examples
    --------
    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, {"NBGRADER_EXECUTION": "autograde", "MLSYS_STUDENT": "mia"}):
    ...     student("course/autograded/ann/lab_11_roofline")
    Student(name='ann', known_from='the folder of the submission', uncertain=False)
    """
    if execution() == "autograde":
        # autograded/<student>/<lab>
        login = Path(folder).resolve().parent.name
        return Student(worked_as(login, folder), "the folder of the submission")
    if found := _named(VARIABLE, f"the environment variable {VARIABLE}"):
        return found
    if is_instructors(folder):
        return Student(INSTRUCTOR, "its place in source/")
    if found := _named("JUPYTERHUB_USER", "your login at the hub"):
        return found
    kept = settings_file()
    if kept.is_file() and (name := kept.read_text("utf-8").strip()):
        told = _code_file()
        code = told.read_text("utf-8").strip() if told.is_file() else ""
        return Student(_checked(name, str(kept)), "what you set with mlsys whoami", code=code)
    return Student(_login(), "your login on this computer", uncertain=True)


def worked_as(login: str, folder: str | os.PathLike[str]) -> str:
    """The name that a submission's numbers are drawn from: renamed students keep their numbers.

    Parameters
    ----------
    login
        The name under which nbgrader files the submission.
    folder
        The submission, in ``autograded/<student>/<lab>`` of a course.
    """
    work = Path(folder).resolve()
    settings = work.parents[min(2, len(work.parents) - 1)] / "assignments" / COURSE_SETTINGS
    try:
        text = settings.read_text("utf-8")
    except OSError:  # in a sandbox the folder has the right name already
        return login
    # Only where nbgrader grades: a student's notebook never pays for these.
    import tomllib

    from mlsys_widgets.course.staff import read_people

    people = read_people({"names": tomllib.loads(text).get("names", {})}, {})
    record = work / LEDGER
    return people.worked_as(login, record.read_bytes() if record.is_file() else None)


def remember(name: str, code: str = "") -> Path:
    """Keep the name under which a course knows the person at this computer.

    Parameters
    ----------
    code
        The code that the course gave to that person, where there is no other way to the numbers.

    Raises
    ------
    ValueError
        When this cannot be a student's name.
    """
    kept = settings_file()
    checked = _checked(name.strip(), "what you entered")
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(f"{checked}\n", "utf-8")
    if code:
        _code_file().write_text(f"{code}\n", "utf-8")
    else:
        _code_file().unlink(missing_ok=True)
    return kept


def forget() -> None:
    """Forget the remembered name: the computer's login counts again."""
    settings_file().unlink(missing_ok=True)
    _code_file().unlink(missing_ok=True)


def settings_file() -> Path:
    """Where `remember` keeps the name."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "mlsys_widgets" / "student.txt"


def _code_file() -> Path:
    return settings_file().with_name("code.txt")


def _named(variable: str, words: str) -> Student | None:
    name = os.environ.get(variable, "").strip()
    return Student(_checked(name, words), words) if name else None


def _checked(name: str, where: str) -> str:
    if not name or len(name) > _LONGEST or any(c in "/\\" or not c.isprintable() for c in name):
        raise ValueError(
            f"{where} gives the student name {name[:40]!r}; it must be 1 to {_LONGEST} printable"
            " characters without slashes, as your course writes it"
        )
    return name


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return f"user-{os.getuid()}" if hasattr(os, "getuid") else "student"
