"""The dates of one student's labs, in a file of their own: where a student's server finds them.

A student's server must see neither the folder of the course nor anybody else's extension. On a hub,
root writes one file per student that only this student can read, and `VARIABLE` names it.
Elsewhere, a released lab brings its dates along, as they are for whoever has no extension.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from mlsys_widgets.course.calendar import Calendar, LabDates, LatePolicy

#: Names the file of a student's own dates.
VARIABLE: Final = "MLSYS_DATES"
#: Beside a released notebook: the dates of its lab, without anybody's name.
LAB_DATES: Final = "dates.json"

_FORMAT: Final = 1
#: Bytes of such a file that are read: a thousand labs.
_LONGEST: Final = 1 << 18


@dataclass(frozen=True)
class OwnDates:
    """The dates of labs as one student has them."""

    labs: Mapping[str, LabDates] = field(default_factory=dict)  # the dates of each lab, by name
    zone: tzinfo = UTC
    #: When labs are due for others, where this student has longer.
    usual: Mapping[str, datetime] = field(default_factory=dict)
    own: bool = False  # whether they are this student's own, not those of a class
    titles: Mapping[str, str] = field(default_factory=dict)  # what labs are called
    #: Labs that the course has taken back, whatever their dates.
    withdrawn: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        calendar: Calendar,
        titles: Mapping[str, str],
        student: str = "",
        withdrawn: Collection[str] = (),
    ) -> OwnDates:
        """Take the dates of labs from a calendar; without a student, those of the class."""
        dates = {lab: calendar.dates(lab, student) for lab in titles}
        usual = {}
        for lab, each in dates.items():
            before = calendar.due_without_extension(lab, student)
            if before is not None and before != each.due:
                usual[lab] = before
        kept = {
            lab: each
            for lab, each in dates.items()
            if each.release or each.due or each.close or lab in withdrawn
        }
        called = {lab: title for lab, title in titles.items() if title and lab in kept}
        return cls(
            kept, calendar.zone, usual, bool(student), called, frozenset(withdrawn) & kept.keys()
        )

    def as_text(self) -> str:
        """As it is written into a file."""
        labs = {
            lab: {
                **{name: _written(getattr(each, name)) for name in ("release", "due", "close")},
                "usual_due": _written(self.usual.get(lab)),
                "title": self.titles.get(lab, ""),
                "withdrawn": lab in self.withdrawn,
                "late": {
                    "per_day": each.late.per_day,
                    "grace_minutes": each.late.grace_minutes,
                    "at_most": each.late.at_most,
                },
            }
            for lab, each in sorted(self.labs.items())
        }
        zone = getattr(self.zone, "key", "UTC")
        document = {"format": _FORMAT, "timezone": zone, "own": self.own, "labs": labs}
        return json.dumps(document, indent=1) + "\n"

    @classmethod
    def from_text(cls, text: str) -> OwnDates:
        """Read what `as_text` wrote."""
        try:
            document = json.loads(text)
            if document["format"] != _FORMAT:
                raise ValueError("another format")
            zone = UTC if document["timezone"] == "UTC" else ZoneInfo(str(document["timezone"]))
            labs = {str(lab): _read(each) for lab, each in document["labs"].items()}
            usual = {
                str(lab): time
                for lab, each in document["labs"].items()
                if (time := _time(each.get("usual_due")))
            }
            written = document["labs"].items()
            titles = {str(lab): str(title) for lab, each in written if (title := each.get("title"))}
            withdrawn = frozenset(
                str(lab) for lab, each in written if each.get("withdrawn") is True
            )
            return cls(labs, zone, usual, document["own"] is True, titles, withdrawn)
        except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError) as why:
            raise ValueError(f"these are no dates of labs: {why}") from None


def dates_file(folder: Path) -> Path:
    """Return where the dates of the lab in a folder are, here; there may be no such file."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named and Path(named).is_file() else folder / LAB_DATES


def dates_here(folder: Path) -> OwnDates | None:
    """Return the dates that are known in the folder of a lab; `None` if none are."""
    return read_dates(dates_file(folder))


def read_dates(path: Path) -> OwnDates | None:
    """Read a file of dates; `None` if there is none, or it is something else."""
    try:
        with path.open("rb") as file:
            content = file.read(_LONGEST + 1)
        if len(content) > _LONGEST:
            return None
        return OwnDates.from_text(content.decode("utf-8"))
    except (OSError, ValueError):
        return None


def _read(dates: Mapping[str, Any]) -> LabDates:
    late = {name: float(value) for name, value in dates["late"].items()}
    release, due, close = (_time(dates[name]) for name in ("release", "due", "close"))
    return LabDates(release, due, LatePolicy(**late), close=close)


def _written(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _time(text: Any) -> datetime | None:
    if text is None:
        return None
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no zone")
    return moment
