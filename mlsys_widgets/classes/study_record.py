"""What a student's own ledger tells about their work on a lab."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Final

from mlsys_widgets.files import LEDGER
from mlsys_widgets.ledger import Event, Ledger, LedgerError, State

#: A pause longer than this, in minutes, is not work.
LONGEST_PAUSE: Final = 10.0


@dataclass(frozen=True)
class StudyRecord:
    """The state of a student's ledger, and the minutes that they worked."""

    state: State
    minutes: float


def read_study_record(folder: Path, student: str) -> StudyRecord | None:
    """Read the ledger in a folder; ``None`` if there is none, or if it is not this student's."""
    path = folder / LEDGER
    if path.is_symlink() or not path.is_file():
        return None
    try:
        ledger = Ledger.open(path)
        state, events = ledger.state(), list(ledger.events())
        if state.student != student:
            return None
        minutes = time_on_task(events)
        for earlier in ledger.earlier:
            if not earlier.is_symlink():
                minutes += time_on_task(Ledger.open(earlier).events())
    except LedgerError:
        return None
    return StudyRecord(state, minutes)


def time_on_task(events: Sequence[Event]) -> float:
    """Add up the minutes between events, without the pauses."""
    times = [datetime.fromisoformat(event.time) for event in events]
    gaps = ((after - before).total_seconds() / 60 for before, after in pairwise(times))
    return sum(gap for gap in gaps if 0 <= gap <= LONGEST_PAUSE)
