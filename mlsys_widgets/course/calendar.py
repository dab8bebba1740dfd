"""The calendar of a course: when labs open, are due and close, what late costs, who has longer.

It is a part of ``course.toml``. Times without a zone are in the course's own; in here, every time
has one. What is written there is checked whole, and what is wrong is named with what is allowed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mlsys_widgets.course.course_settings import EXTENSION, LAB, LATE, SECTION
from mlsys_widgets.course.settings_tables import as_table, with_only

_DAY: Final = timedelta(days=1)


@dataclass(frozen=True)
class LatePolicy:
    """What handing in late costs.

    Parameters
    ----------
    per_day
        Percent of what was earned, for each day begun.
    grace_minutes
        Minutes that cost nothing; whoever takes longer is late from the due time on.
    at_most
        Percent that is never exceeded.

    Examples
    --------
    >>> policy = LatePolicy(per_day=10, grace_minutes=15, at_most=50)
    >>> policy.penalty(80, 14 * 60), policy.penalty(80, 16 * 60), policy.penalty(80, 25 * 3600)
    (0.0, 8.0, 16.0)
    >>> policy.penalty(80, 30 * 24 * 3600)
    40.0
    """

    per_day: float = 0.0
    grace_minutes: float = 0.0
    at_most: float = 100.0

    def percent(self, seconds_late: float) -> float:
        """The part of what was earned that is lost, in percent."""
        if seconds_late <= 60 * self.grace_minutes:
            return 0.0
        days = math.ceil(seconds_late / _DAY.total_seconds())
        return min(self.per_day * days, self.at_most)

    def penalty(self, score: float, seconds_late: float) -> float:
        """The points that are lost, of those that were earned."""
        return round(score * self.percent(seconds_late) / 100, 2)

    def __str__(self) -> str:
        if not self.per_day:
            return "costs nothing"
        said = f"{self.per_day:g}% per day"
        said += f", at most {self.at_most:g}%" if self.at_most < 100 else ""
        return said + (f", {self.grace_minutes:g} min of grace" if self.grace_minutes else "")


@dataclass(frozen=True)
class LabDates:
    """When a lab can be fetched and must be handed in, what late costs, and what it counts.

    Parameters
    ----------
    release, due
        `None` where the calendar says nothing.
    late
        What handing in late costs.
    weight
        Its share of the grade, against that of other labs.
    close
        From when on nothing is handed in; `None` if never.
    """

    release: datetime | None = None
    due: datetime | None = None
    late: LatePolicy = field(default_factory=LatePolicy)
    weight: float = 1.0
    close: datetime | None = None

    def is_released(self, at: datetime) -> bool:
        """Whether its time has come; a lab without one is always there."""
        return self.release is None or at >= self.release

    def is_closed(self, at: datetime) -> bool:
        """Whether nothing is handed in any more."""
        return self.close is not None and at >= self.close


@dataclass(frozen=True)
class Extension:
    """More time for one student, and why."""

    student: str
    lab: str
    reason: str
    due: datetime | None = None
    days: float | None = None

    def applies_to(self, lab: str, student: str) -> bool:
        """Whether it is about this lab, or all labs, of this student."""
        return self.student == student and self.lab in (lab, "*")

    def after(self, due: datetime) -> datetime:
        """When the lab is due with it."""
        return self.due or due + timedelta(days=self.days or 0)


@dataclass(frozen=True)
class Calendar:
    """The dates of a course.

    Parameters
    ----------
    zone
        Of times that name none.
    labs
        The dates of each lab, by name.
    sections
        Who is in each section.
    of_sections
        What differs for a section: its name, then a lab's.
    extensions
        Who has longer.
    """

    zone: tzinfo = UTC
    labs: Mapping[str, LabDates] = field(default_factory=dict)
    sections: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    of_sections: Mapping[str, Mapping[str, LabDates]] = field(default_factory=dict)
    extensions: tuple[Extension, ...] = ()

    def section(self, student: str) -> str | None:
        """The section of a student."""
        return next((name for name, those in self.sections.items() if student in those), None)

    def _without_extension(self, lab: str, student: str) -> LabDates:
        section = self.section(student) or ""
        return self.of_sections.get(section, {}).get(lab) or self.labs.get(lab, LabDates())

    def due_without_extension(self, lab: str, student: str) -> datetime | None:
        """When a lab is due for the others in a student's section."""
        return self._without_extension(lab, student).due

    def dates(self, lab: str, student: str = "") -> LabDates:
        """The dates of a lab, as they hold for a student."""
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
        """When a lab opens for the first of those who have it; `None` if it always was open."""
        times = [each.release for each in self._of_anybody(lab)]
        return None if None in times else min(each for each in times if each)

    def next_release(self, after: datetime) -> datetime | None:
        """When the next lab opens, for anybody."""
        labs = {*self.labs, *(lab for of in self.of_sections.values() for lab in of)}
        times = (each.release for lab in labs for each in self._of_anybody(lab))
        return min((time for time in times if time and time > after), default=None)

    def _of_anybody(self, lab: str) -> list[LabDates]:
        """The dates of a lab for whoever is in no section, and for each section."""
        own = [of[lab] for of in self.of_sections.values() if lab in of]
        # A lab that only sections have opens with the first of them.
        return own if own and lab not in self.labs else [self.labs.get(lab, LabDates()), *own]


# Reading it.


def read_calendar(said: Mapping[str, Any], labs: Iterable[str]) -> Calendar:
    """Read the calendar in the settings of a course.

    Parameters
    ----------
    said
        The tables ``timezone``, ``late``, ``labs``, ``sections`` and ``extensions``, as TOML.
    labs
        The labs that there are.

    Raises
    ------
    ValueError
        With what is wrong, and what is allowed.
    """
    known = sorted(labs)
    zone = _zone(said.get("timezone", "UTC"))
    late = _policy("late", said.get("late", {}), LatePolicy())
    plain = LabDates(late=late)
    dates = {
        lab: _dates(f"labs.{lab}", of, zone, plain)
        for lab, of in _by_lab("labs", said.get("labs", {}), known).items()
    }
    sections, of_sections = {}, {}
    for name, of in as_table("sections", said.get("sections", {})).items():
        where = f"sections.{name}"
        with_only(where, as_table(where, of), SECTION.names)
        sections[name] = _names(f"{where}.students", of.get("students", []))
        of_sections[name] = {
            lab: _dates(f"{where}.labs.{lab}", one, zone, dates.get(lab, plain))
            for lab, one in _by_lab(f"{where}.labs", of.get("labs", {}), known).items()
        }
    _refuse_two_sections(sections)
    longer = said.get("extensions", [])
    if not isinstance(longer, list):
        raise ValueError("extensions must be tables, each under a line [[extensions]]")
    extensions = tuple(_extension(each, zone, known) for each in longer)
    return Calendar(zone, dates, sections, of_sections, extensions)


def _zone(name: Any) -> tzinfo:
    if name == "UTC":  # which needs no list of zones
        return UTC
    try:
        return ZoneInfo(_text("timezone", name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(
            f"timezone is {name!r}; it must be a name such as Europe/Berlin or America/New_York"
        ) from None


def _dates(where: str, said: Any, zone: tzinfo, default: LabDates) -> LabDates:
    of = with_only(where, as_table(where, said), LAB.names)
    release = _time(f"{where}.release", of.get("release"), zone) or default.release
    due = _time(f"{where}.due", of.get("due"), zone) or default.due
    if release and due and due <= release:
        raise ValueError(f"{where} is due before it is released; one of the two must change")
    close = _time(f"{where}.close", of.get("close"), zone) or default.close
    first, what = (due, "due") if due else (release, "released")
    if close and first and close < first:
        raise ValueError(f"{where} closes before it is {what}; one of the two must change")
    weight = _number(f"{where}.weight", of.get("weight", default.weight), *LAB.limits("weight"))
    late = _policy(f"{where}.late", of.get("late", {}), default.late)
    return LabDates(release, due, late, weight, close)


def _policy(where: str, said: Any, default: LatePolicy) -> LatePolicy:
    of = with_only(where, as_table(where, said), LATE.names)
    return LatePolicy(
        **{
            name: _number(
                f"{where}.{name}", of.get(name, getattr(default, name)), *LATE.limits(name)
            )
            for name in LATE.names
        }
    )


def _extension(said: Any, zone: tzinfo, labs: Iterable[str]) -> Extension:
    where = "extensions"
    of = with_only(where, as_table(where, said), EXTENSION.names)
    student, reason = (_text(f"{where}.{name}", of.get(name)) for name in ("student", "reason"))
    lab = _text(f"{where}.lab", of.get("lab", "*"))
    if lab != "*":
        _by_lab(f"{where}.lab", {lab: {}}, labs)
    due, days = _time(f"{where}.due", of.get("due"), zone), of.get("days")
    if (due is None) == (days is None):
        raise ValueError(
            f"the extension of {student} must have either days or due, and one of them"
        )
    if days is not None:
        days = _number(f"{where}.days", days, *EXTENSION.limits("days"))
    return Extension(student, lab, reason, due, days)


def _refuse_two_sections(sections: Mapping[str, tuple[str, ...]]) -> None:
    seen: dict[str, str] = {}
    for name, students in sections.items():
        for student in students:
            if seen.setdefault(student, name) != name:
                raise ValueError(f"{student} is in the sections {seen[student]} and {name}; choose")


def _by_lab(where: str, said: Any, known: Iterable[str]) -> Mapping[str, Any]:
    of = as_table(where, said)
    for lab in of:
        if lab not in known:
            listed = ", ".join(known) or "none yet"
            raise ValueError(f"{where} names {lab}; the labs of this course are: {listed}")
    return of


def _time(where: str, said: Any, zone: tzinfo) -> datetime | None:
    if said is None:
        return None
    if not isinstance(said, datetime):
        raise ValueError(
            f"{where} is {said!r}; it must be a time without quotes, such as 2026-11-09T23:59:00"
        )
    return said if said.tzinfo else said.replace(tzinfo=zone)


def _number(where: str, said: Any, least: float, most: float) -> float:
    if isinstance(said, bool) or not isinstance(said, int | float) or not least <= said <= most:
        allowed = f"between {least:g} and {most:g}" if math.isfinite(most) else f"{least:g} or more"
        raise ValueError(f"{where} is {said!r}; it must be a number, {allowed}")
    return float(said)


def _text(where: str, said: Any) -> str:
    if not isinstance(said, str) or not said.strip():
        raise ValueError(f"{where} is {said!r}; it must be a text in quotes")
    return said


def _names(where: str, said: Any) -> tuple[str, ...]:
    if not isinstance(said, list) or not all(isinstance(each, str) for each in said):
        raise ValueError(f'{where} is {said!r}; it must be a list of names: ["ada", "ben"]')
    return tuple(said)
