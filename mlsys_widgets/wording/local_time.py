"""Times as people read them: on their own clock, with the zone in words.

Everything is kept in UTC, as ``2026-02-03T09:30:12.000Z``. Whoever shows a text to a person passes
it through `with_local_times` at the very end; cards and panel do the same in the browser, whose
clock is the student's own.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo
from typing import Final

_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
# Written out, because the names of the standard library follow the machine's language.
_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = (
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
)  # fmt: skip


def local_time(time: str, zone: tzinfo | None = None, now: datetime | None = None) -> str:
    """A time of the ledger on the clock of this machine; with the year unless it is this one."""
    at = datetime.fromisoformat(time).astimezone(zone)
    this_year = (now or datetime.now(UTC)).astimezone(zone).year
    year = "" if at.year == this_year else f" {at.year}"
    day = f"{_DAYS[at.weekday()]} {at.day} {_MONTHS[at.month - 1]}{year}"
    return f"{day}, {at:%H:%M} {at.tzname()}"


def with_local_times(words: str) -> str:
    """A text in which every time is one that people read."""
    return _TIME.sub(_shown, words)


def _shown(found: re.Match[str]) -> str:
    try:
        return local_time(found[0])
    except (ValueError, OverflowError, OSError):  # no such day, or none that this machine knows
        return found[0]
