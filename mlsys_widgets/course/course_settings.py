"""Every setting of ``course.toml``; what reads the file takes names and limits from here.

The page of settings is made from the same table, so the file, its errors and the page agree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Setting:
    """One setting.

    Parameters
    ----------
    name
        What it is called in its table.
    kind
        What it must be, for people to read.
    about
        What it does.
    default
        What holds without it, for people to read; empty if it must be given.
    example
        A value as it stands in the file; empty where a table of its own follows.
    refused
        What is refused beyond another type, for people to read.
    low, high
        Between which numbers it must be, both included.
    """

    name: str
    kind: str
    about: str
    default: str = ""
    example: str = ""
    refused: str = ""
    low: float = 0.0
    high: float = math.inf


@dataclass(frozen=True)
class SettingsTable:
    """A table of the file, or the lines before the first one.

    Parameters
    ----------
    path
        Its name; what stands in angle brackets is a name that the course chooses.
    about
        What it is for.
    settings
        What can be set in it.
    example
        The line that begins it in an example; empty for the lines before the first table.
    """

    path: str
    about: str
    settings: tuple[Setting, ...]
    example: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """What can be set in it."""
        return tuple(each.name for each in self.settings)

    def limits(self, name: str) -> tuple[float, float]:
        """Between which numbers a setting must be."""
        (found,) = (each for each in self.settings if each.name == name)
        return found.low, found.high


_TIME: Final = "a time without quotes; in the course's time zone unless it names one"
_NAMES: Final = "a list of logins"
_LOGIN: Final = "logins with slashes, with a leading dot, or of more than 128 characters"
_TABLE: Final = "a table"
_ADDRESS: Final = (
    "addresses that do not begin with `https://` (this machine's own may have `http://`), or have a"
    " user name, a password or a `#`"
)

TOP: Final = SettingsTable(
    "",
    "Lines before the first table.",
    (
        Setting("variants", "true or false", "Whether everyone has their own numbers, drawn from"
                " their login. Without, everyone has those of the lab's text.", "true", "true"),
        Setting("edition", "a text", "Part of every draw: change it, say every year, and everyone's"
                " numbers change.", "empty", '"2027"'),
        Setting("timezone", "a text", "The zone of times that name none.", "UTC",
                '"Europe/Berlin"', "names that are not in the list of time zones"),
        Setting("late", _TABLE, "What handing in late costs, for all labs."),
        Setting("labs", _TABLE, "The dates of each lab."),
        Setting("sections", _TABLE, "Who is in which section, and which dates differ for it."),
        Setting("extensions", "tables", "Who has longer, and why."),
        Setting("staff", _TABLE, "Who teaches."),
        Setting("people", _TABLE, "Who joined late, is locked out, or left."),
        Setting("names", _TABLE, "Who worked under another login before."),
        Setting("lms", _TABLE, "The learning system that grades are sent to."),
    ),
)  # fmt: skip

LATE: Final = SettingsTable(
    "late",
    "What handing in late costs. A lab may have its own in `labs.<lab>.late`; what that leaves out"
    " is taken from here.",
    (
        Setting("per_day", "a number, percent", "What each day begun costs, of what was earned.",
                "0", "10", high=100.0),
        Setting("grace_minutes", "a number", "Minutes that cost nothing; whoever takes longer is"
                " late from the due time on.", "0", "15"),
        Setting("at_most", "a number, percent", "What is never exceeded.", "100", "50", high=100.0),
    ),
    "[late]",
)  # fmt: skip

LAB: Final = SettingsTable(
    "labs.<lab>",
    "The dates of one lab. The name must be that of a folder in `assignments/`.",
    (
        Setting("release", _TIME, "When students can fetch it; a hub releases it then.",
                "always open", "2026-10-19T08:00:00"),
        Setting("due", _TIME, "When it must be handed in.", "never due", "2026-10-26T23:59:00",
                "a time that is not after `release`"),
        Setting("late", _TABLE, "What late costs for this lab, with the names of `[late]`.",
                "as in `[late]`", "{ per_day = 5 }"),
        Setting("weight", "a number", "What the lab counts in the course's total, against others.",
                "1", "2"),
        Setting("close", _TIME, "From when on nothing is handed in.", "never",
                "2026-11-02T23:59:00", "a time before `due`"),
    ),
    "[labs.lab_01_magnitude]",
)  # fmt: skip

SECTION: Final = SettingsTable(
    "sections.<section>",
    "Students who have their own dates, or their own TA. A student can be in one section.",
    (
        Setting("students", _NAMES, "Who is in it.", "nobody", '["ann", "ben"]',
                "a student who is in another section, too, or who teaches"),
        Setting("labs", _TABLE, "What differs for a lab: `[sections.<section>.labs.<lab>]`, with"
                " the names of `[labs.<lab>]`.", "as for everybody",
                "{ lab_01_magnitude = { due = 2026-10-28T23:59:00 } }"),
    ),
    "[sections.evening]",
)  # fmt: skip

EXTENSION: Final = SettingsTable(
    "extensions",
    "More time for one student; begin each with `[[extensions]]`, at the end of the file."
    " `mlsys course extend` writes them.",
    (
        Setting("student", "a text", "Whose; the login.", "", '"ben"'),
        Setting("lab", "a text", "For which lab.", "`\"*\"`, all labs", '"lab_01_magnitude"',
                "a lab that the course does not have"),
        Setting("reason", "a text", "Why. Only those who read this file see it.", "", '"illness"'),
        Setting("due", _TIME, "Until when.", "see `days`", "2026-10-30T23:59:00",
                "both `due` and `days`, and neither"),
        Setting("days", "a number", "How many days more.", "see `due`", "2", high=366.0),
    ),
    "[[extensions]]",
)  # fmt: skip

STAFF: Final = SettingsTable(
    "staff.<login>",
    "Somebody who teaches. `mlsys course staff` writes it.",
    (
        Setting("role", '`"instructor"` or `"ta"`', "An instructor may do everything; a TA grades.",
                "", '"ta"'),
        Setting("sections", "a list of texts", "Whose work a TA grades first.", "everybody's",
                '["evening"]', "a section that there is not"),
    ),
    "[staff.mia]",
)  # fmt: skip

PEOPLE: Final = SettingsTable(
    "people",
    "Students whose standing is not the usual one. `mlsys course add`, `lock`, `unlock` and `drop`"
    " write it.",
    (
        Setting("added", _NAMES, "Joined after the first day; a hub makes accounts for them.",
                "nobody", '["cleo"]', _LOGIN),
        Setting("locked", _NAMES, "Cannot log in for now.", "nobody", '["dan"]', _LOGIN),
        Setting("dropped", _NAMES, "Left the course; work and grades are kept.", "nobody",
                '["eve"]', _LOGIN),
    ),
    "[people]",
)  # fmt: skip

NAMES: Final = SettingsTable(
    "names.<login>",
    "The other logins of a student, so that earlier work stays valid. `mlsys course rename` and"
    " `merge` write it.",
    (
        Setting("numbers", "a text", "Whose numbers the student has: the login before a change.",
                "their own", '"ann-b"', _LOGIN),
        Setting("also", _NAMES, "Logins whose work was merged into this one.", "none",
                '["ann-test"]', "a login that is somebody else's, too"),
    ),
    "[names.ann]",
)  # fmt: skip

LMS: Final = SettingsTable(
    "lms",
    "Where `mlsys push` sends grades. The administrator of the learning system knows these values.",
    (
        Setting("client_id", "a text", "What the learning system calls the tool.", "",
                '"10000000000001"'),
        Setting("token_url", "an address", "Where a signed request is exchanged for a token.", "",
                '"https://lms.example.edu/login/oauth2/token"', _ADDRESS),
        Setting("lineitems_url", "an address", "Where the columns of its gradebook are listed.", "",
                '"https://lms.example.edu/api/lti/courses/42/line_items"', _ADDRESS),
        Setting("memberships_url", "an address", "Where it lists the people of the course.",
                "it does not", '"https://lms.example.edu/api/lti/courses/42/names_and_roles"',
                _ADDRESS),
        Setting("deployment_id", "a text", "Which installation of the tool is meant.",
                "not asked for", '"1:abc"'),
        Setting("audience", "a text", "Whom a signed request names as its reader.",
                "`token_url`", '"https://lms.example.edu"'),
        Setting("issuer", "a text", "What the learning system calls itself; only shown.",
                "its host name", '"https://lms.example.edu"'),
    ),
    "[lms]",
)  # fmt: skip

#: All tables, in the order in which a file may have them.
TABLES: Final = (TOP, LATE, LAB, SECTION, STAFF, PEOPLE, NAMES, LMS, EXTENSION)
