"""Study records: what a student's own ledger tells about their work on a lab."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Final

from mlsys_widgets.files import LEDGER
from mlsys_widgets.ledger import Event, Ledger, LedgerError, State

#: A pause longer than this, in minutes, is not work.
LONGEST_PAUSE: Final = 10.0
#: Bytes of a ledger that are read for a report, 20 times what a lab writes; and how many ledgers
#: that were set aside.
LARGEST: Final = 4_000_000
MOST_EARLIER: Final = 20


@dataclass(frozen=True)
class StudyRecord:
    """The state of a student's ledger, and the minutes that they worked."""

    state: State
    minutes: float


def read_study_record(folder: Path, student: str) -> StudyRecord | None:
    """Read the ledger in a folder; ``None`` if there is none, or if it is not this student's.

    A ledger that cannot be read for whatever reason counts as none: students write these files, and
    the report is about everybody else too.
    """
    try:
        ledger = _opened(folder / LEDGER)
        if ledger is None or (state := ledger.state()).student != student:
            return None
        minutes = time_on_task(ledger.events())
        for path in ledger.earlier[-MOST_EARLIER:]:
            if earlier := _opened(path):
                minutes += time_on_task(earlier.events())
    except (LedgerError, OSError, ValueError, ArithmeticError, LookupError, TypeError,
            RecursionError, MemoryError):  # fmt: skip
        return None
    return StudyRecord(state, minutes)


def _opened(path: Path) -> Ledger | None:
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST:
        return None
    return Ledger.open(path)


def time_on_task(events: Iterable[Event]) -> float:
    """Add up the minutes between events, without the pauses and without impossible dates."""
    times = [moment for event in events if (moment := _moment(event.time))]
    gaps = ((after - before).total_seconds() / 60 for before, after in pairwise(times))
    return sum(gap for gap in gaps if 0 <= gap <= LONGEST_PAUSE)


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:  # the 31st of February
        return None
