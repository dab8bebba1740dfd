"""Rosters: who is in the class, from the CSV that a learning system exports.

All of it is read and checked before anybody is entered. A row that cannot be used is reported by
line number, with what is wrong and what is allowed.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

#: What columns are called, in lower case with spaces. The first that is present counts.
_LOGIN: Final = (
    "username", "user name", "login", "login id", "sis login id", "user", "netid", "net id",
    "login name", "account", "student id",
)  # fmt: skip
_OWN: Final = ("id",)  # nbgrader's name for the login, and Canvas's for its own number
_FIRST: Final = ("first name", "firstname", "given name", "givenname", "forename")
_LAST: Final = ("last name", "lastname", "surname", "family name", "familyname")
_FULL: Final = ("student", "name", "student name", "full name")  # "Lee, Ann" or "Ann Lee"
_EMAIL: Final = ("email", "e-mail", "email address", "e-mail address", "mail")
_LMS: Final = (
    "lms user id", "lms id", "id number", "sis user id", "sis id", "sid", "org id",
)  # fmt: skip
#: Rows of a Canvas export that stand for nobody.
_NOBODY: Final = frozenset({"points possible", "student, test"})

_UNFIT: Final = re.compile(r"[\s/\\+*?\[\]:;,{}'\"<>|&$!`\x00-\x1f\x7f]")
#: What Debian's useradd accepts by default.
_SYSTEM_USER: Final = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
_LONGEST: Final = 128  # as in nbgrader's columns


@dataclass(frozen=True)
class RosterEntry:
    """Somebody in the class, as nbgrader's gradebook knows people.

    Examples
    --------
    >>> ann = RosterEntry("ann", "Ann", "Lee", lms_user_id="10482")
    >>> ann.id, f"{ann.last_name}, {ann.first_name}", ann.email
    ('ann', 'Lee, Ann', '')
    """

    id: str  #: The login: what nbgrader files submissions under.
    #: ``first_name``, ``last_name``, ``email``, ``lms_user_id``: what grades are exported with;
    #: empty where the roster says nothing.
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""


class RosterError(ValueError):
    """A roster that cannot be used: a line for each thing to fix."""


def read_roster(path: Path) -> list[RosterEntry]:
    r"""Read who is in the class.

    It is a CSV file with a line of headings, in UTF-8, with commas, semicolons or tabs. A
    `RosterError` has a sentence for each row that cannot be used.

    Examples
    --------
    >>> path = folder / "roster.csv"
    >>> _ = path.write_text("Username;First name;Surname\nann;Ann;Lee\n")
    >>> read_roster(path)
    [RosterEntry(id='ann', first_name='Ann', last_name='Lee', email='', lms_user_id='')]
    """
    headings, rows = _table(path)
    columns = _columns(path, headings)
    students, wrong = [], []
    seen: dict[str, int] = {}
    for line, row in rows:
        cells = {name: row[at].strip() if at < len(row) else "" for name, at in columns.items()}
        if cells.get("full_name", "").lower() in _NOBODY:
            continue
        student = _student(cells)
        complaint = _complaint(student, seen)
        if complaint:
            wrong.append(f"line {line}: {complaint}")
        else:
            seen[student.id] = line
            students.append(student)
    if wrong:
        many = "1 row" if len(wrong) == 1 else f"{len(wrong)} rows"
        raise RosterError("\n".join([f"{path} has {many} to fix, so nobody was entered:", *wrong]))
    if not students:
        raise RosterError(f"{path} has headings and no students")
    return students


def hub_remarks(students: Sequence[RosterEntry]) -> list[str]:
    """Say what a JupyterHub with system users cannot handle, although nbgrader can."""
    unfit = [each.id for each in students if not _SYSTEM_USER.fullmatch(each.id)]
    remarks = []
    if unfit:
        remarks.append(
            f"{listed(unfit)}: not a valid user name for a JupyterHub on one machine, which takes"
            " up to 32 lowercase letters, digits, - and _, not beginning with a digit"
        )
    lower: dict[str, list[str]] = {}
    for each in students:
        lower.setdefault(each.id.lower(), []).append(each.id)
    for same in lower.values():
        if len(same) > 1:
            remarks.append(f"{listed(same)}: a JupyterHub takes these for the same user")
    return remarks


def login_problem(name: str) -> str | None:
    """Why something cannot be a login, and what is allowed; `None` if it can.

    Examples
    --------
    >>> login_problem("ada"), login_problem("ada/../ben")[:33]
    (None, "the id 'ada/../ben' contains '/',")
    """
    return _complaint(RosterEntry(name), {})


def listed(names: Sequence[str], most: int = 5) -> str:
    """Some names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _table(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Headings, and rows with the number of the line on which each ends."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RosterError(
            f"{path} is not UTF-8; export it as CSV UTF-8, or save it that way from a spreadsheet"
        ) from None
    start = text.lstrip("\r\n").split("\n", 1)[0]
    delimiter = max(",;\t", key=start.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as problem:
        raise RosterError(f"{path}, line {reader.line_num}: not CSV: {problem}") from None
    if not rows:
        raise RosterError(f"{path} is empty; it needs a line of headings and one for each student")
    return rows[0][1], rows[1:]


def _columns(path: Path, headings: Sequence[str]) -> dict[str, int]:
    """Return which column holds what."""
    known = [" ".join(each.lower().replace("_", " ").split()) for each in headings]

    def place(*names: str) -> Iterator[int]:
        return (known.index(name) for name in names if name in known)

    found: dict[str, int | None] = {
        "first_name": next(place(*_FIRST), None),
        "last_name": next(place(*_LAST), None),
        "full_name": next(place(*_FULL), None),
        "email": next(place(*_EMAIL), None),
    }
    login = next(place(*_LOGIN), None)
    if login is not None:
        # With a login beside it, a column ID is the number of the learning system.
        found |= {"id": login, "lms_user_id": next(place(*_OWN, *_LMS), None)}
    else:
        found |= {"id": next(place(*_OWN), None), "lms_user_id": next(place(*_LMS), None)}
    if found["id"] is None:
        raise RosterError(
            f"{path} has no column of logins; it has: {', '.join(headings)}. Call the column with"
            " the name under which each student works username, login or id"
        )
    return {name: at for name, at in found.items() if at is not None}


def _student(cells: Mapping[str, str]) -> RosterEntry:
    first, last = cells.get("first_name", ""), cells.get("last_name", "")
    full = cells.get("full_name", "")
    if full and not (first or last):
        if "," in full:
            last, _, first = (part.strip() for part in full.partition(","))
        else:
            first, _, last = (part.strip() for part in full.rpartition(" "))
    return RosterEntry(
        cells["id"], first, last, cells.get("email", ""), cells.get("lms_user_id", "")
    )


def _complaint(student: RosterEntry, seen: Mapping[str, int]) -> str | None:
    """Say what is wrong with a row; `None` if it is fine."""
    name = student.id
    if not name:
        return "the id is empty; give everybody a login"
    if name in seen:
        return f"{name!r} is already in line {seen[name]}; remove one of them"
    if name.startswith(("-", ".")):
        return f"the id {name!r} begins with {name[0]!r}; it must begin with a letter or a digit"
    if bad := _UNFIT.search(name):
        found = "a space" if bad[0].isspace() else repr(bad[0])
        return (
            f"the id {name!r} contains {found}, and folders are named after it; letters, digits,"
            " dots, -, _ and @ are allowed"
        )
    for field, value in vars(student).items():
        if len(value) > _LONGEST:
            words = field.replace("_", " ")
            return f"the {words} of {name[:20]!r} is longer than {_LONGEST} characters"
        if any(ord(letter) < 32 for letter in value):
            return f"the {field.replace('_', ' ')} of {name!r} contains a control character"
    return None
