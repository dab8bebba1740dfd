"""The calendar of a course: when labs open, are due and close, what late costs, who has longer.

It is a part of ``course.toml``. Times without a zone are in the course's own; in here, every time
has one. What is written there is checked whole, and what is wrong is named with what is allowed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mlsys_widgets.course.deeper_parts import DEEPER, DeeperParts
from mlsys_widgets.course.settings_tables import (
    LOGINS,
    NO_LOGIN,
    TABLE,
    TEXT,
    TIME,
    as_table,
    number,
    read_table,
    setting,
)
from mlsys_widgets.course.telling import CHANCE, FEEDBACK, WAY, Feedback, SecondChance, Way

_DAY: Final = timedelta(days=1)
_FOR_ALL: Final = "to be set for a section, whose students have the same notebook"
#: What holds for all students of a lab.
_SHARED: Final = ("deeper", "way", "feedback", "second_chance")


@dataclass(frozen=True)
class LatePolicy:
    """The cost of handing in late.

    A lab may have its own in `labs.<lab>.late`; what that leaves out is taken from here.
    """

    per_day: float = setting(
        0.0, number("percent", high=100), "10", "What each day begun costs, of what was earned."
    )
    grace_minutes: float = setting(
        0.0, number(), "15", "Minutes that cost nothing; whoever takes longer is late from the due"
        " time on.")  # fmt: skip
    at_most: float = setting(100.0, number("percent", high=100), "50", "What is never exceeded.")

    def percent(self, seconds_late: float) -> float:
        """Return the part of what was earned that is lost, in percent."""
        if seconds_late <= 60 * self.grace_minutes:
            return 0.0
        days = math.ceil(seconds_late / _DAY.total_seconds())
        return min(self.per_day * days, self.at_most)

    def penalty(self, score: float, seconds_late: float) -> float:
        """Return the points that are lost, of those that were earned."""
        return round(score * self.percent(seconds_late) / 100, 2)

    def __str__(self) -> str:
        if not self.per_day:
            return "costs nothing"
        words = f"{self.per_day:g}% per day"
        words += f", at most {self.at_most:g}%" if self.at_most < 100 else ""
        return words + (f", {self.grace_minutes:g} min of grace" if self.grace_minutes else "")


@dataclass(frozen=True)
class LabDates:
    """The dates of one lab. The name must be that of a folder in `assignments/`."""

    release: datetime | None = setting(
        None, TIME, "2026-10-19T08:00:00", "When students can fetch it; a hub releases it then.",
        without="always open")  # fmt: skip
    due: datetime | None = setting(
        None, TIME, "2026-10-26T23:59:00", "When it must be handed in.",
        without="never due", refused="a time that is not after `release`")  # fmt: skip
    late: LatePolicy = setting(
        LatePolicy(), TABLE, "{ per_day = 5 }",
        "What late costs for this lab, with the names of `[late]`.",
        without="as in `[late]`")  # fmt: skip
    weight: float = setting(
        1.0, number(), "2", "What the lab counts in the course's total, against others."
    )
    close: datetime | None = setting(
        None, TIME, "2026-11-02T23:59:00", "From when on nothing is handed in.",
        without="never", refused="a time before `due`")  # fmt: skip
    deeper: DeeperParts | None = setting(
        None, DEEPER, '"required"', "Whether what lies beyond the core of this lab counts.",
        without="as in the line before the first table",
        refused=_FOR_ALL)  # fmt: skip
    way: Way = setting(
        "assignment", WAY, '"practice"', "Whether it is graded, or practice: then each answer is"
        " judged at once, on new numbers as often as wanted, and nothing counts.",
        without='`"assignment"`', refused=_FOR_ALL)  # fmt: skip
    feedback: Feedback = setting(
        "at hand-in", FEEDBACK, '"after due"', "When a hub tells students what their answers"
        " earned, and why. `\"by hand\"`, and everywhere without a hub: when staff release"
        " feedback.",
        without='`"at hand-in"`', refused=_FOR_ALL)  # fmt: skip
    second_chance: SecondChance | None = setting(
        None, CHANCE, '{ share = 0.9, until = "2 days after due" }',
        "Whether missed questions can be taken again on new numbers, once the explanation was read,"
        " and handed in until then, counted from each student's own due time. The better answer"
        " counts, the second at its `share`, from 0 to 1.",
        without="no", refused=_FOR_ALL)  # fmt: skip

    def is_released(self, at: datetime) -> bool:
        """Whether its time has come; a lab without one is always there."""
        return self.release is None or at >= self.release

    def is_closed(self, at: datetime) -> bool:
        """Whether nothing is handed in any more."""
        return self.close is not None and at >= self.close

    def tells_at_once(self, at: datetime) -> bool:
        """Whether what is handed in at that time is judged and told at once."""
        if self.feedback == "after due":
            return self.due is None or at >= self.due
        return self.feedback == "at hand-in"


@dataclass(frozen=True)
class Section:
    """Students who have their own dates, or their own TA. A student can be in one section."""

    students: tuple[str, ...] = setting(
        (), LOGINS, '["ann", "ben"]', "Who is in it.", without="nobody", refused=f"{NO_LOGIN};"
        " a student who is in another section, too, or who teaches")  # fmt: skip
    labs: Mapping[str, Any] = setting(
        {}, TABLE, "{ lab_01_magnitude = { due = 2026-10-28T23:59:00 } }",
        "What differs for a lab: `[sections.<section>.labs.<lab>]`, with the names of"
        " `[labs.<lab>]`.", without="as for everybody")  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Extension:
    """More time for one student; begin each with `[[extensions]]`, at the end of the file.

    `mlsys course extend` writes them.
    """

    student: str = setting(..., TEXT, '"ben"', "Whose; the login.")
    lab: str = setting(
        "*", TEXT, '"lab_01_magnitude"', "For which lab.",
        without='`"*"`, all labs', refused="a lab that the course does not have")  # fmt: skip
    reason: str = setting(..., TEXT, '"illness"', "Why. Only those who read this file see it.")
    due: datetime | None = setting(
        None, TIME, "2026-10-30T23:59:00", "Until when.",
        without="see `days`", refused="both `due` and `days`, and neither")  # fmt: skip
    days: float | None = setting(
        None, number(high=366), "2", "How many days more.", without="see `due`"
    )

    def applies_to(self, lab: str, student: str) -> bool:
        """Whether it is about this lab, or all labs, of this student."""
        return self.student == student and self.lab in (lab, "*")

    def after(self, due: datetime) -> datetime:
        """Return when the lab is due with it."""
        return self.due or due + timedelta(days=self.days or 0)


@dataclass(frozen=True)
class Calendar:
    """The dates of a course."""

    zone: tzinfo = UTC  # of times that name none
    labs: Mapping[str, LabDates] = field(default_factory=dict)  # the dates of each lab, by name
    sections: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: What differs for a section: its name, then a lab's.
    of_sections: Mapping[str, Mapping[str, LabDates]] = field(default_factory=dict)
    extensions: tuple[Extension, ...] = ()

    def section(self, student: str) -> str | None:
        """Return the section of a student."""
        return next((name for name, those in self.sections.items() if student in those), None)

    def _without_extension(self, lab: str, student: str) -> LabDates:
        section = self.section(student) or ""
        return self.of_sections.get(section, {}).get(lab) or self.labs.get(lab, LabDates())

    def due_without_extension(self, lab: str, student: str) -> datetime | None:
        """Return when a lab is due for the others in a student's section."""
        return self._without_extension(lab, student).due

    def dates(self, lab: str, student: str = "") -> LabDates:
        """Return the dates of a lab, as they hold for a student."""
        found = self._without_extension(lab, student)
        due = found.due
        if due is not None:
            longer = [e.after(due) for e in self.extensions if e.applies_to(lab, student)]
            due = max([due, *longer])
        # Whoever has longer can hand in as long as that lasts.
        close = max(found.close, due) if found.close and due else found.close
        return replace(found, due=due, close=close)

    def is_open(self, lab: str, at: datetime) -> bool:
        """Whether anybody can have a lab; one without a date everybody always can."""
        return any(each.is_released(at) for each in self._of_anybody(lab))

    def opens(self, lab: str) -> datetime | None:
        """Return when a lab opens for the first who have it; `None` if it always was open."""
        times = [each.release for each in self._of_anybody(lab)]
        return None if None in times else min(each for each in times if each)

    def next_release(self, after: datetime) -> datetime | None:
        """Return when the next lab opens, for anybody."""
        labs = {*self.labs, *(lab for of in self.of_sections.values() for lab in of)}
        times = (each.release for lab in labs for each in self._of_anybody(lab))
        return min((time for time in times if time and time > after), default=None)

    def _of_anybody(self, lab: str) -> list[LabDates]:
        """Return the dates of a lab for whoever is in no section, and for each section."""
        own = [of[lab] for of in self.of_sections.values() if lab in of]
        # A lab that only sections have opens with the first of them.
        return own if own and lab not in self.labs else [self.labs.get(lab, LabDates()), *own]


# Reading it.


def read_calendar(settings: Mapping[str, Any], labs: Iterable[str]) -> Calendar:
    """Read the calendar in the settings of a course.

    ``settings`` are the tables ``timezone``, ``late``, ``labs``, ``sections`` and ``extensions``.
    `ValueError` says what is wrong, and what is allowed.
    """
    known = sorted(labs)
    zone = _zone(settings.get("timezone", "UTC"))
    late = LatePolicy(**read_table(LatePolicy, "late", settings.get("late", {})))
    plain = LabDates(late=late)
    dates = _dates_by_lab("labs", settings.get("labs", {}), known, zone, lambda lab: plain)
    sections, of_sections = {}, {}
    for name, table in as_table("sections", settings.get("sections", {})).items():
        section = Section(**read_table(Section, f"sections.{name}", table))
        sections[name] = section.students
        where = f"sections.{name}.labs"
        of_sections[name] = _dates_by_lab(
            where, section.labs, known, zone, lambda lab: dates.get(lab, plain)
        )
        _refuse_shared(where, section.labs)
    _refuse_two_sections(sections)
    longer = settings.get("extensions", [])
    if not isinstance(longer, list):
        raise ValueError("extensions must be tables, each under a line [[extensions]]")
    extensions = tuple(_extension(each, zone, known) for each in longer)
    return Calendar(zone, dates, sections, of_sections, extensions)


def _zone(name: Any) -> tzinfo:
    if name == "UTC":  # which needs no list of zones
        return UTC
    try:
        return ZoneInfo(TEXT.read("timezone", name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(
            f"timezone is {name!r}; it must be a name such as Europe/Berlin or America/New_York"
        ) from None


def _dates_by_lab(
    where: str,
    value: Any,
    known: Iterable[str],
    zone: tzinfo,
    default: Callable[[str], LabDates],
) -> dict[str, LabDates]:
    table = as_table(where, value)
    _check_labs(where, table, known)
    return {lab: _dates(f"{where}.{lab}", of, zone, default(lab)) for lab, of in table.items()}


def _check_labs(where: str, labs: Iterable[str], known: Iterable[str]) -> None:
    for lab in labs:
        if lab not in known:
            listed = ", ".join(known) or "none yet"
            raise ValueError(f"{where} names {lab}; the labs of this course are: {listed}")


def _dates(where: str, value: Any, zone: tzinfo, default: LabDates) -> LabDates:
    given = _in_zone(read_table(LabDates, where, value), zone)
    late = replace(default.late, **read_table(LatePolicy, f"{where}.late", given.get("late", {})))
    dates = replace(default, **given | {"late": late})
    release, due, close = dates.release, dates.due, dates.close
    if release and due and due <= release:
        raise ValueError(f"{where} is due before it is released; one of the two must change")
    first, what = (due, "due") if due else (release, "released")
    if close and first and close < first:
        raise ValueError(f"{where} closes before it is {what}; one of the two must change")
    return dates


def _extension(value: Any, zone: tzinfo, labs: Iterable[str]) -> Extension:
    extension = Extension(**_in_zone(read_table(Extension, "extensions", value), zone))
    if extension.lab != "*":
        _check_labs("extensions.lab", [extension.lab], labs)
    if (extension.due is None) == (extension.days is None):
        raise ValueError(
            f"the extension of {extension.student} must have either days or due, and one of them"
        )
    return extension


def _refuse_shared(where: str, labs: Mapping[str, Any]) -> None:
    for lab, of in labs.items():
        for name in _SHARED:
            if name in of:
                raise ValueError(
                    f"{where}.{lab} sets {name}; students of a section have the same notebook as"
                    f" all others, so set it in labs.{lab}"
                )


def _refuse_two_sections(sections: Mapping[str, tuple[str, ...]]) -> None:
    seen: dict[str, str] = {}
    for name, students in sections.items():
        for student in students:
            if seen.setdefault(student, name) != name:
                raise ValueError(f"{student} is in the sections {seen[student]} and {name}; choose")


def _in_zone(given: dict[str, Any], zone: tzinfo) -> dict[str, Any]:
    """Give times that name no zone that of the course."""
    return {
        name: value.replace(tzinfo=zone)
        if isinstance(value, datetime) and not value.tzinfo
        else value
        for name, value in given.items()
    }
