"""When a submission was handed in, as its ``timestamp.txt`` says; and what if it does not.

nbgrader writes the time with the name of a zone, by default UTC. A file that is missing or garbled
makes nobody's work punctual: it is mentioned, and the latest moment at which the work is known to
have been worked on or seen counts instead.

Zones are read like this:

- a name of the time zone database, as ``Europe/Berlin`` or ``CET``, with its summer time;
- an abbreviation that the zone of the course (``c.Exchange.timezone``) has at that moment;
- another common abbreviation, as ``PST`` or ``CEST``. If several parts of the world use it (`CST`,
  `IST`), the reading is the usual one, and it is mentioned that it may be wrong;
- a difference to UTC, as ``+0200`` or ``+02:00``.

Without a zone it is UTC, as in nbgrader. With one that nobody knows it is not a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final

#: Bytes; a timestamp has about 30.
_LONGEST: Final = 100
#: Clocks of honest machines differ by less than this.
_TOLERANCE: Final = timedelta(minutes=5)
_ZONE: Final = re.compile(r"(?P<time>.*\d)\s*(?P<zone>[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*)")
#: Years in which nothing is handed in.
_FIRST_YEAR, _LAST_YEAR = 1900, 9000
_DOTS: Final = re.compile(r"\s*\d{1,2}\.\s*\d{1,2}\.\s*\d{4}")
_SLASHES: Final = re.compile(r"\s*(\d{1,2})/(\d{1,2})/\d{4}")
_WEEKDAY_OR_HALF: Final = re.compile(r"(?i:am|pm|mon|tue|wed|thu|fri|sat|sun)[a-z]*")

#: Hours from UTC of abbreviations that are no names of the time zone database.
_HOURS: Final = {
    "Z": 0, "WEST": 1, "BST": 1, "WAT": 1, "CEST": 2, "CAT": 2, "SAST": 2, "EEST": 3, "EAT": 3,
    "MSK": 3, "TRT": 3, "GST": 4, "PKT": 5, "IST": 5.5, "NPT": 5.75, "ICT": 7, "WIB": 7, "AWST": 8,
    "HKT": 8, "SGT": 8, "MYT": 8, "PHT": 8, "JST": 9, "KST": 9, "ACST": 9.5, "AEST": 10,
    "ACDT": 10.5, "AEDT": 11, "NZST": 12, "NZDT": 13, "NDT": -2.5, "ADT": -3, "ART": -3, "BRT": -3,
    "NST": -3.5, "AST": -4, "CLT": -4, "EDT": -4, "CDT": -5, "COT": -5, "PET": -5, "CST": -6,
    "MDT": -6, "PDT": -7, "AKDT": -8, "PST": -8, "AKST": -9,
}  # fmt: skip
#: Those that several parts of the world use today, each with another difference.
_AMBIGUOUS: Final = frozenset({"AST", "BST", "CST", "GST", "IST"})
#: The zone database has these, too; a machine must not answer with its own local zone instead.
_UNIVERSAL: Final = frozenset({"UTC", "GMT", "UCT", "ZULU"})


@dataclass(frozen=True)
class HandInTime:
    """When something was handed in."""

    #: When, in UTC without a zone; `None` if nothing says so.
    moment: datetime | None
    #: Why a person should look at it, as a sentence; empty if nothing is amiss.
    doubt: str = ""


def hand_in_time(
    content: bytes | None,
    *,
    zone: str = "",
    known: Iterable[datetime] = (),
    due: bool = True,
    now: datetime | None = None,
) -> HandInTime:
    """Read when something was handed in, and say what is amiss.

    ``content`` is that of ``timestamp.txt``. Where it says nothing, those ``known`` moments count
    at which the work was certainly not handed in yet, or just then: its last entry in the ledger, a
    note of the hub. Nothing counts where no due date makes the time matter.
    """
    present = _naive(now or datetime.now(UTC))
    least = max(map(_naive, known), default=None) if due else None
    instead = (
        f"; what is known is that it was handed in {least:%Y-%m-%d %H:%M} UTC or later"
        if least
        else "; whether it is late is for you to decide"
    )
    if content is None or not content.strip():
        missing = "timestamp.txt is missing" if content is None else "timestamp.txt is empty"
        return HandInTime(least, f"{missing}{instead}." if due else "")
    words = content[:_LONGEST].decode("utf-8", "replace").strip()
    moment = read_time(words, zone)
    if moment is None:
        return HandInTime(
            least, f"timestamp.txt says {words[:40]!r}, which is not a time{instead}."
        )
    if moment > present + _TOLERANCE:
        return HandInTime(
            least, f"timestamp.txt says {words[:40]!r}, which is yet to come{instead}."
        )
    doubt = ""
    if (name := _zone_in(words)) in _AMBIGUOUS and not _in_zone(words, zone):
        doubt = (
            f"timestamp.txt says {words[:40]!r}, and {name} is the name of several zones; it is"
            f" read as {moment:%Y-%m-%d %H:%M} UTC."
        )
    return HandInTime(moment, doubt)


def read_time(words: str, zone: str = "") -> datetime | None:
    """Read a timestamp of nbgrader's exchange, as UTC without a zone; `None` if it is not one.

    The ``zone`` of the course settles what an abbreviation means.
    """
    try:
        found = _read(words, zone)
    except Exception:  # the words are a student's, and the parser raises what it likes
        return None
    # Whoever adds a day to the last one there is gets an error, not a time.
    return found if found and _FIRST_YEAR < found.year < _LAST_YEAR else None


def _read(words: str, zone: str) -> datetime | None:
    name = _zone_in(words)
    if not name:
        moment = _complete(words)
        return _naive(moment) if moment and moment.tzinfo else moment
    moment = _in_zone(words, zone)
    if moment is None:
        found = _zone(name)
        local = _complete(_time_in(words))
        if found is None or local is None or local.tzinfo is not None:
            return None
        moment = local.replace(tzinfo=found)
    return _naive(moment)


def _in_zone(words: str, zone: str) -> datetime | None:
    """Return the time in the course's zone, if that zone has this name at that moment."""
    own = _zone(zone) if zone else None
    local = _complete(_time_in(words))
    if own is None or local is None or local.tzinfo is not None:
        return None
    moment = local.replace(tzinfo=own)
    return moment if moment.tzname() == _zone_in(words) else None


def _zone_in(words: str) -> str:
    """Return the name of a zone at the end of a timestamp; empty if there is none."""
    found = _ZONE.fullmatch(words)
    if found is None or _WEEKDAY_OR_HALF.fullmatch(found["zone"]):
        return ""
    return found["zone"]


def _time_in(words: str) -> str:
    found = _ZONE.fullmatch(words)
    return found["time"] if found else words


def _zone(name: str) -> tzinfo | None:
    from dateutil import tz

    if name.upper() in _UNIVERSAL:
        return UTC
    if name in _HOURS:
        return timezone(timedelta(hours=_HOURS[name]), name)
    found = tz.gettz(name)
    # For a name that it does not know, dateutil gives the zone of this machine if that fits.
    return None if isinstance(found, tz.tzlocal) else found


def _complete(words: str) -> datetime | None:
    """Read a time that says year, month, day and hour; the parser would make up what is missing.

    With dots the day comes first. With slashes half of the world writes the month first, so a day
    that could be a month is nobody's guess.
    """
    from dateutil import parser

    slashes = _SLASHES.match(words)
    if slashes and slashes[1] != slashes[2] and max(int(slashes[1]), int(slashes[2])) <= 12:
        return None
    first, second = (
        parser.parse(
            words, default=datetime(year, month, day, hour), dayfirst=bool(_DOTS.match(words))
        )
        for year, month, day, hour in ((2001, 1, 1, 1), (2002, 2, 2, 2))
    )
    return first if first == second else None


def _naive(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
