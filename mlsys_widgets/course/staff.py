"""The people of a course, as ``course.toml`` has them: who teaches, who left, who was renamed.

Students themselves are in the gradebook. What is written here is checked whole, like the calendar,
and what is wrong is named with what is allowed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from mlsys_widgets.course.settings_tables import (
    LOGIN,
    LOGINS,
    NO_LOGIN,
    as_table,
    one_of,
    read_login,
    read_table,
    setting,
)

StaffRole = Literal["instructor", "ta"]


@dataclass(frozen=True)
class StaffMember:
    """Somebody who teaches. `mlsys course staff` writes it."""

    name: str
    role: StaffRole = setting(
        ..., one_of(*get_args(StaffRole)), '"ta"', "An instructor may do everything; a TA grades."
    )
    sections: tuple[str, ...] = setting(
        (), replace(LOGINS, words="a list of texts"), '["evening"]',
        "Whose work a TA grades first.",
        without="everybody's", refused="a section that there is not")  # fmt: skip


@dataclass(frozen=True)
class OtherNames:
    """The other logins of a student, so that earlier work stays valid.

    `mlsys course rename` and `merge` write it.
    """

    numbers: str = setting(
        "", LOGIN, '"ann-b"', "Whose numbers the student has: the login before a change.",
        without="their own", refused=NO_LOGIN)  # fmt: skip
    also: tuple[str, ...] = setting(
        (), LOGINS, '["ann-test"]', "Logins whose work was merged into this one.",
        without="none", refused="a login that is somebody else's, too")  # fmt: skip


@dataclass(frozen=True)
class CoursePeople:
    """Students whose standing is not the usual one.

    `mlsys course add`, `lock`, `unlock` and `drop` write it.
    """

    staff: Mapping[str, StaffMember] = field(default_factory=dict)
    added: tuple[str, ...] = setting(
        (), LOGINS, '["cleo"]', "Joined after the first day; a hub makes accounts for them.",
        without="nobody", refused=NO_LOGIN)  # fmt: skip
    locked: tuple[str, ...] = setting(
        (), LOGINS, '["dan"]', "Cannot log in for now.", without="nobody", refused=NO_LOGIN
    )
    dropped: tuple[str, ...] = setting(
        (), LOGINS, '["eve"]', "Left the course; work and grades are kept.",
        without="nobody", refused=NO_LOGIN)  # fmt: skip
    names: Mapping[str, OtherNames] = field(default_factory=dict)

    def tas(self) -> tuple[StaffMember, ...]:
        """Return the TAs, by name."""
        return tuple(self.staff[name] for name in sorted(self.staff)
                     if self.staff[name].role == "ta")  # fmt: skip

    def worked_as(self, student: str, ledger: bytes | None) -> str:
        """Return the name that a student's numbers are drawn from.

        It is the login, unless the student was renamed, or two accounts were merged. Then the
        ledger decides, if it belongs to one of this student's own names.
        """
        known = self.names.get(student)
        if known is None:
            return student
        usual = known.numbers or student
        owner = _owner(ledger)
        return owner if owner in (student, *known.also) else usual

    def names_of(self, student: str) -> frozenset[str]:
        """Return all names under which a student may have worked.

        Examples
        --------
        >>> people = CoursePeople(names={"ada-l": OtherNames("ada", ("lovelace",))})
        >>> sorted(people.names_of("ada-l")), sorted(people.names_of("ben"))
        (['ada', 'ada-l', 'lovelace'], ['ben'])
        """
        known = self.names.get(student, OtherNames())
        return frozenset({student, known.numbers or student, *known.also})

    def login_of(self, name: str) -> str:
        """Return the login that somebody has now, by any of their names."""
        for login, known in self.names.items():
            if name in (known.numbers, *known.also):
                return login
        return name


def read_people(settings: Mapping[str, Any], sections: Mapping[str, Iterable[str]]) -> CoursePeople:
    """Read the people in the settings of a course.

    ``settings`` are the tables ``staff``, ``people`` and ``names``, and ``sections`` who is in
    each. `ValueError` says what is wrong, and what is allowed.
    """
    staff = {
        read_login("staff", name): StaffMember(
            name, **read_table(StaffMember, f"staff.{name}", table)
        )
        for name, table in as_table("staff", settings.get("staff", {})).items()
    }
    for name, member in staff.items():
        for section in member.sections:
            if section not in sections:
                known = ", ".join(sections) or "none yet"
                raise ValueError(
                    f"staff.{name} names the section {section}; the sections are: {known}"
                )
    for section, students in sections.items():
        if both := sorted(set(students) & staff.keys()):
            raise ValueError(
                f"{both[0]} is in [staff] and in the section {section}; somebody who teaches needs"
                " another login to work as a student"
            )
    names = {
        read_login("names", login): OtherNames(**read_table(OtherNames, f"names.{login}", table))
        for login, table in as_table("names", settings.get("names", {})).items()
    }
    taken: dict[str, str] = {}
    for login, other in names.items():
        for each in filter(None, (other.numbers, *other.also)):
            if taken.setdefault(each, login) != login:
                raise ValueError(
                    f"names says that {each} is {taken[each]} and {login}; it can be one of them"
                )
    lists = read_table(CoursePeople, "people", settings.get("people", {}))
    return CoursePeople(staff, **lists, names=names)


def _owner(ledger: bytes | None) -> str | None:
    """Return whose a ledger claims to be, by its first line; grading says whether that is true."""
    try:
        owner = json.loads((ledger or b"").split(b"\n", 1)[0])["value"]["student"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return owner if isinstance(owner, str) else None
