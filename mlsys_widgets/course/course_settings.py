"""Every table of ``course.toml``, in the order in which a file may have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from mlsys_widgets.course.calendar import Extension, LabDates, LatePolicy, Section
from mlsys_widgets.course.deeper_parts import DEEPER, DeeperParts
from mlsys_widgets.course.settings_tables import (
    SWITCH,
    TABLE,
    TEXT,
    Kind,
    must_be,
    setting,
)
from mlsys_widgets.course.staff import CoursePeople, OtherNames, StaffMember

_HTTPS: Final = (
    "addresses that do not begin with `https://` (this machine's own may have `http://`), or have a"
    " user name, a password or a `#`"
)


def _read_line(where: str, value: Any) -> str:
    if value is None:
        raise ValueError(f"{where} is missing; the LMS's administrator knows it")
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ValueError(f"{where} is {value!r}; it must be a text in quotes, on one line")
    return value


_LINE: Final = Kind("a text", _read_line)
_ADDRESS: Final = Kind("an address", _read_line)
_TABLES: Final = Kind("tables", lambda where, value: value)


@dataclass(frozen=True)
class LmsSettings:
    """Where `mlsys push` sends grades.

    The administrator of the learning system knows these values.
    """

    client_id: str = setting(
        ..., _LINE, '"10000000000001"', "What the learning system calls the tool."
    )
    token_url: str = setting(
        ..., _ADDRESS, '"https://lms.example.edu/login/oauth2/token"',
        "Where a signed request is exchanged for a token.", refused=_HTTPS)  # fmt: skip
    lineitems_url: str = setting(
        ..., _ADDRESS, '"https://lms.example.edu/api/lti/courses/42/line_items"',
        "Where the columns of its gradebook are listed.", refused=_HTTPS)  # fmt: skip
    memberships_url: str = setting(
        "", _ADDRESS, '"https://lms.example.edu/api/lti/courses/42/names_and_roles"',
        "Where it lists the people of the course.",
        without="it does not", refused=_HTTPS)  # fmt: skip
    deployment_id: str = setting(
        "", _LINE, '"1:abc"', "Which installation of the tool is meant.", without="not asked for"
    )
    audience: str = setting(
        "", _LINE, '"https://lms.example.edu"', "Whom a signed request names as its reader.",
        without="`token_url`")  # fmt: skip
    issuer: str = setting(
        "", _LINE, '"https://lms.example.edu"',
        "What the learning system calls itself; only shown.", without="its host name")  # fmt: skip

    @property
    def name(self) -> str:
        """The learning system in a sentence."""
        return self.issuer or urlsplit(self.lineitems_url).netloc


@dataclass(frozen=True)
class CourseFile:
    """Lines before the first table."""

    variants: bool = setting(
        True, SWITCH, "true", "Whether everyone has their own numbers, drawn from their login."
        " Without, everyone has those of the lab's text.", without="true")  # fmt: skip
    edition: str = setting(
        "", must_be("a text", "a text in quotes", lambda value: isinstance(value, str)), '"2027"',
        "Part of every draw: change it, say every year, and everyone's numbers change.",
        without="empty")  # fmt: skip
    secret: str = setting(
        "", must_be("a text", "a text in quotes", lambda value: isinstance(value, str)),
        '"5f0c9a…"', "Part of every draw, too, and known to this course alone: nobody outside can"
        " tell who has which numbers. `mlsys course init` generates it.",
        without="none")  # fmt: skip
    student_codes: bool = setting(
        False, SWITCH, "true", "Whether numbers are drawn from a code for each student, which the"
        " secret makes: for labs on a page without a server. `mlsys course codes` lists them."
        " Everyone's numbers change with it.", without="false")  # fmt: skip
    deeper: DeeperParts = setting(
        "optional", DEEPER, '"required"', "Whether what lies beyond the core of a lab counts. Where"
        " it is optional, it is judged and explained, but gives no points.",
        without='`"optional"`', refused='all but `"optional"` and `"required"`')  # fmt: skip
    timezone: str = setting(
        "UTC", TEXT, '"Europe/Berlin"', "The zone of times that name none.",
        without="UTC", refused="names that are not in the list of time zones")  # fmt: skip
    late: Mapping[str, Any] = setting({}, TABLE, "", "What handing in late costs, for all labs.")
    labs: Mapping[str, Any] = setting({}, TABLE, "", "The dates of each lab.")
    sections: Mapping[str, Any] = setting(
        {}, TABLE, "", "Who is in which section, and which dates differ for it."
    )
    extensions: Any = setting((), _TABLES, "", "Who has longer, and why.")
    staff: Mapping[str, Any] = setting({}, TABLE, "", "Who teaches.")
    people: Mapping[str, Any] = setting({}, TABLE, "", "Who joined late, is locked out, or left.")
    names: Mapping[str, Any] = setting({}, TABLE, "", "Who worked under another login before.")
    lms: Mapping[str, Any] = setting({}, TABLE, "", "The learning system that grades are sent to.")


class SettingsTable(NamedTuple):
    """A table of the file: its name, its settings, and the line that begins it in an example.

    What stands in angle brackets is a name that the course chooses.
    """

    path: str
    declared: type
    example: str


TABLES: Final = (
    SettingsTable("", CourseFile, ""),
    SettingsTable("late", LatePolicy, "[late]"),
    SettingsTable("labs.<lab>", LabDates, "[labs.lab_01_magnitude]"),
    SettingsTable("sections.<section>", Section, "[sections.evening]"),
    SettingsTable("staff.<login>", StaffMember, "[staff.mia]"),
    SettingsTable("people", CoursePeople, "[people]"),
    SettingsTable("names.<login>", OtherNames, "[names.ann]"),
    SettingsTable("lms", LmsSettings, "[lms]"),
    SettingsTable("extensions", Extension, "[[extensions]]"),
)
