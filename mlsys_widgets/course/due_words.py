"""When a lab is due, in words: how much time is left, what late costs now, whether it is closed.

The one place that says it: the Lab panel, the start page and the hand-in show these sentences.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Any, Final, Literal

from mlsys_widgets.course.calendar import LabDates
from mlsys_widgets.course.own_dates import OwnDates
from mlsys_widgets.wording.plurals import counted

DueState = Literal["waiting", "open", "soon", "grace", "late", "closed"]

_DAY: Final = timedelta(days=1)
#: When this is left, it is time to hurry.
_SOON: Final = timedelta(days=1)
# Written out, because the names of the standard library follow the machine's language.
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


@dataclass(frozen=True)
class DueWords:
    """Where a lab stands for a student."""

    #: Not open yet, open, due within a day, in its grace time, late, or closed, as a lab is that
    #: was withdrawn.
    state: DueState
    headline: str
    more: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All of it."""
        return " ".join((self.headline, *self.more))


def due_words(dates: OwnDates, lab: str, now: datetime) -> DueWords | None:
    """Say when a lab is due; `None` where no date says anything about it."""
    if lab in dates.withdrawn:
        return DueWords(
            "closed",
            "Withdrawn by your course: it can be neither fetched nor handed in.",
            ("Your work stays as it is.",),
        )
    of = dates.labs.get(lab)
    if of is None or not (of.due or of.close or (of.release and now < of.release)):
        return None

    def when(moment: datetime) -> str:
        return long_time(moment, dates.zone, now)

    if of.release and now < of.release:
        opens = f"Opens {when(of.release)} (in {span(of.release - now)})."
        return DueWords("waiting", opens, (f"Due {when(of.due)}.",) if of.due else ())
    if of.close and now >= of.close:
        return DueWords(
            "closed",
            f"Closed since {when(of.close)}; nothing can be handed in any more.",
            ("Your work stays as it is; if you need more time, ask your instructor.",),
        )
    closes = f"It closes {when(of.close)}; nothing can be handed in after that." if of.close else ""
    if of.due is None:
        return DueWords("open", f"Open until {when(of.close)}." if of.close else "Open.")
    usual = dates.usual.get(lab)
    extended = f"That is your extension; for others it is due {when(usual)}." if usual else ""
    if now <= of.due:
        left = of.due - now
        headline = f"Due {when(of.due)} (in {span(left)})."
        cost = _cost_to_come(of)
        more = tuple(each for each in (extended, cost if left <= _SOON else "", closes) if each)
        return DueWords("soon" if left <= _SOON else "open", headline, more)
    headline = f"Was due {when(of.due)} ({span(now - of.due)} ago)."
    state, cost = _cost_now(of, of.due, now, dates.zone)
    return DueWords(state, headline, tuple(each for each in (cost, extended, closes) if each))


def lateness_words(dates: OwnDates, lab: str, at: datetime) -> str | None:
    """Say of something that was handed in whether it was late; `None` without a due time.

    Examples
    --------
    >>> from datetime import UTC
    >>> from mlsys_widgets.course.calendar import LatePolicy
    >>> due = datetime(2026, 10, 26, 23, 59, tzinfo=UTC)
    >>> own = OwnDates({"lab_01": LabDates(due=due, late=LatePolicy(10, 15, 50))})
    >>> for minutes in (-1, 10, 1560):
    ...     lateness_words(own, "lab_01", due + timedelta(minutes=minutes))
    'On time.'
    '10 minutes late, within the grace time: it costs nothing.'
    '1 day 2 hours late: it costs 20% of what you earn.'
    """
    of = dates.labs.get(lab)
    if of is None or of.due is None:
        return None
    if at <= of.due:
        return "On time."
    seconds = (at - of.due).total_seconds()
    late, percent = in_words(seconds).capitalize(), of.late.percent(seconds)
    if percent:
        return f"{late} late: it costs {percent:g}% of what you earn."
    within = ", within the grace time" if of.late.per_day else ""
    return f"{late} late{within}: it costs nothing."


def as_data(dates: OwnDates, lab: str, now: datetime) -> dict[str, Any] | None:
    """Return what `due_words` says, as the panel reads it."""
    words = due_words(dates, lab, now)
    if words is None:
        return None
    due = dates.labs[lab].due
    local = due.astimezone(dates.zone) if due else None
    return {
        "state": words.state,
        "headline": words.headline,
        "more": list(words.more),
        "due": local.isoformat(timespec="seconds") if local else None,
    }


def long_time(moment: datetime, zone: tzinfo, now: datetime | None = None) -> str:
    """Return a time in full, with its zone; with the year unless it is that of `now`."""
    at = moment.astimezone(zone)
    year = "" if now and at.year == now.astimezone(zone).year else f", {at.year}"
    day = f"{_DAYS[at.weekday()]}, {_MONTHS[at.month - 1]} {at.day}{year}"
    return f"{day}, {at:%H:%M} {at.tzname()}"


def span(time: timedelta) -> str:
    """Return a time in its largest unit, rounded down.

    Examples
    --------
    >>> span(timedelta(days=2, hours=3)), span(timedelta(minutes=61)), span(timedelta(seconds=5))
    ('2 days', '1 hour', 'less than a minute')
    """
    minutes = int(time.total_seconds() // 60)
    for size, unit in ((1440, "day"), (60, "hour"), (1, "minute")):
        if minutes >= size:
            return counted(minutes // size, unit)
    return "less than a minute"


def in_words(seconds: float) -> str:
    """Return a time in its two largest units, rounded down.

    Examples
    --------
    >>> in_words(86_400), in_words(7_380), in_words(59)
    ('1 day', '2 hours 3 minutes', 'less than a minute')
    """
    minutes = int(seconds // 60)
    parts = ((minutes // 1440, "day"), (minutes // 60 % 24, "hour"), (minutes % 60, "minute"))
    first = next((k for k, (number, _) in enumerate(parts) if number), None)
    if first is None:
        return "less than a minute"
    shown = (counted(number, unit) for number, unit in parts[first : first + 2] if number)
    return " ".join(shown)


def _cost_to_come(of: LabDates) -> str:
    late = of.late
    if not late.per_day:
        return "Handing in later costs nothing."
    most = f", at most {late.at_most:g}%" if late.at_most < 100 else ""
    grace = f"; the first {late.grace_minutes:g} minutes are free" if late.grace_minutes else ""
    return f"After that, each day begun costs {late.per_day:g}% of what you earn{most}{grace}."


def _cost_now(
    of: LabDates, due: datetime, now: datetime, zone: tzinfo
) -> tuple[Literal["grace", "late"], str]:
    late = (now - due).total_seconds()
    if not of.late.per_day:
        return "late", "Handing in late costs nothing."
    percent = of.late.percent(late)
    if not percent:
        until = due + timedelta(minutes=of.late.grace_minutes)
        return "grace", f"Handing in until {until.astimezone(zone):%H:%M} still costs nothing."
    then = due + math.ceil(late / _DAY.total_seconds()) * _DAY
    rise, at = of.late.percent((then - due).total_seconds() + 1), then.astimezone(zone)
    more = f", and {rise:g}% after {_DAYS[at.weekday()]}, {at:%H:%M}" if rise > percent else ""
    return "late", f"Handing in now costs {percent:g}% of what you earn{more}."
