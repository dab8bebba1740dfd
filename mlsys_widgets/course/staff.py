"""The people of a course, as ``course.toml`` has them: who teaches, who left, who was renamed.

Students themselves are in the gradebook. What is written here is checked whole, like the calendar,
and what is wrong is named with what is allowed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from mlsys_widgets.course.course_settings import NAMES, PEOPLE, STAFF
from mlsys_widgets.course.settings_tables import as_table, with_only

StaffRole = Literal["instructor", "ta"]

#: The tables of ``course.toml`` that are read here.
TABLES: Final = ("staff", "people", "names")
_LONGEST: Final = 128


@dataclass(frozen=True)
class StaffMember:
    """Somebody who teaches.

    Parameters
    ----------
    name
        The login.
    role
        An instructor may do everything; a TA grades.
    sections
        Whose work a TA grades first; everybody's if empty.
    """

    name: str
    role: StaffRole
    sections: tuple[str, ...] = ()


@dataclass(frozen=True)
class OtherNames:
    """The names under which a student worked before.

    Parameters
    ----------
    numbers
        Whose numbers they have: the login before they were renamed; empty for their own.
    also
        Logins whose work was merged into theirs.
    """

    numbers: str = ""
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class CoursePeople:
    """The people of a course.

    Parameters
    ----------
    staff
        Who teaches, by login.
    added
        Students who joined after the first day, for a hub to make accounts for.
    locked, dropped
        Students who cannot log in, and students who left. Their work is kept.
    names
        Who worked under another name.
    """

    staff: Mapping[str, StaffMember] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    locked: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    names: Mapping[str, OtherNames] = field(default_factory=dict)

    def tas(self) -> tuple[StaffMember, ...]:
        """The TAs, by name."""
        return tuple(self.staff[name] for name in sorted(self.staff)
                     if self.staff[name].role == "ta")  # fmt: skip

    def worked_as(self, student: str, ledger: bytes | None) -> str:
        """The name that a student's numbers are drawn from.

        It is the login, unless the student was renamed, or two accounts were merged. Then the
        ledger decides, if it belongs to one of this student's own names.

        Parameters
        ----------
        student
            The login.
        ledger
            The ledger beside the work, if there is one.

        Examples
        --------
        >>> people = CoursePeople(names={"ada-l": OtherNames("ada", ("lovelace",))})
        >>> people.worked_as("ada-l", None), people.worked_as("ben", None)
        ('ada', 'ben')
        >>> people.worked_as("ada-l", b'{"value": {"student": "lovelace"}}')
        'lovelace'
        >>> people.worked_as("ada-l", b'{"value": {"student": "ben"}}')
        'ada'
        """
        known = self.names.get(student)
        if known is None:
            return student
        usual = known.numbers or student
        owner = _owner(ledger)
        return owner if owner in (student, *known.also) else usual

    def login_of(self, name: str) -> str:
        """The login that somebody has now, by any of their names.

        Examples
        --------
        >>> CoursePeople(names={"ada-l": OtherNames("ada")}).login_of("ada")
        'ada-l'
        """
        for login, known in self.names.items():
            if name in (known.numbers, *known.also):
                return login
        return name


def read_people(said: Mapping[str, Any], sections: Mapping[str, Iterable[str]]) -> CoursePeople:
    """Read the people in the settings of a course.

    Parameters
    ----------
    said
        The tables ``staff``, ``people`` and ``names``, as TOML.
    sections
        The sections that there are, and who is in each.

    Raises
    ------
    ValueError
        With what is wrong, and what is allowed.
    """
    staff = {
        name: _member(name, of, sections)
        for name, of in as_table("staff", said.get("staff", {})).items()
    }
    for section, students in sections.items():
        if both := sorted(set(students) & staff.keys()):
            raise ValueError(
                f"{both[0]} is in [staff] and in the section {section}; somebody who teaches needs"
                " another login to work as a student"
            )
    of = with_only("people", as_table("people", said.get("people", {})), PEOPLE.names)
    lists = {name: _names(f"people.{name}", of.get(name, [])) for name in of}
    names = {
        _name("names", name): _other_names(name, one)
        for name, one in as_table("names", said.get("names", {})).items()
    }
    taken: dict[str, str] = {}
    for login, known in names.items():
        for each in filter(None, (known.numbers, *known.also)):
            if taken.setdefault(each, login) != login:
                raise ValueError(
                    f"names says that {each} is {taken[each]} and {login}; it can be one of them"
                )
    return CoursePeople(staff, **lists, names=names)


def _member(name: str, said: Any, sections: Mapping[str, Iterable[str]]) -> StaffMember:
    where = f"staff.{_name('staff', name)}"
    of = with_only(where, as_table(where, said), STAFF.names)
    role: Any = of.get("role")
    if role not in get_args(StaffRole):
        raise ValueError(f'{where}.role is {role!r}; it must be "instructor" or "ta"')
    mine = _names(f"{where}.sections", of.get("sections", []))
    for each in mine:
        if each not in sections:
            known = ", ".join(sections) or "none yet"
            raise ValueError(f"{where} names the section {each}; the sections are: {known}")
    return StaffMember(name, role, mine)


def _other_names(login: str, said: Any) -> OtherNames:
    where = f"names.{login}"
    of = with_only(where, as_table(where, said), NAMES.names)
    numbers = _name(f"{where}.numbers", of["numbers"]) if "numbers" in of else ""
    return OtherNames(numbers, _names(f"{where}.also", of.get("also", [])))


def _owner(ledger: bytes | None) -> str | None:
    """Whose a ledger says it is, by its first line; whether that is true is for grading to say."""
    try:
        said: Any = json.loads((ledger or b"").split(b"\n", 1)[0])
        owner = said["value"]["student"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return owner if isinstance(owner, str) else None


def _name(where: str, said: Any) -> str:
    fits = isinstance(said, str) and 0 < len(said) <= _LONGEST and said.isprintable()
    if not fits or not said.strip() or set(said) & set("/\\") or said.startswith("."):
        raise ValueError(
            f"{where} names {said!r}; a login has 1 to {_LONGEST} printable characters without"
            " slashes, and does not begin with a dot"
        )
    return str(said)


def _names(where: str, said: Any) -> tuple[str, ...]:
    if not isinstance(said, list):
        raise ValueError(f'{where} is {said!r}; it must be a list of names: ["ada", "ben"]')
    return tuple(_name(where, each) for each in said)
