"""Study records: what a student's own ledger tells about their work on a lab."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

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
    #: What was answered first to each question, also before the lab was begun again.
    first: Mapping[str, Any] = field(default_factory=dict)
    #: The minutes that led up to answers of each question; see `minutes_by_answer`.
    minutes_of: Mapping[str, float] = field(default_factory=dict)
    #: When each answer was first recorded, in order.
    answered: Sequence[datetime] = ()


def read_study_record(folder: Path, student: str) -> StudyRecord | None:
    """Read the ledger in a folder; ``None`` if there is none, or if it is not this student's.

    A ledger that cannot be read for whatever reason counts as none: students write these files, and
    the report is about everybody else too.
    """
    try:
        ledger = _opened(folder / LEDGER)
        if ledger is None or (state := ledger.state()).student != student:
            return None
        earlier = [_opened(path) for path in ledger.earlier[-MOST_EARLIER:]]
        runs = [each.events() for each in (*earlier, ledger) if each]
        minutes = sum(map(time_on_task, runs))
        minutes_of: Counter[str] = Counter()
        first: dict[str, Event] = {}
        for run in runs:
            minutes_of.update(minutes_by_answer(run))
            for event in run:
                if event.kind == "answer":
                    first.setdefault(event.id, event)
        answers = {name: event.value["value"] for name, event in first.items()}
        answered = sorted(filter(None, (_moment(event.time) for event in first.values())))
    except (LedgerError, OSError, ValueError, ArithmeticError, LookupError, TypeError,
            RecursionError, MemoryError):  # fmt: skip
        return None
    return StudyRecord(state, minutes, answers, minutes_of, answered)


def _opened(path: Path) -> Ledger | None:
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST:
        return None
    return Ledger.open(path)


def time_on_task(events: Iterable[Event]) -> float:
    """Add up the minutes between events, without the pauses and without impossible dates."""
    return sum(minutes for minutes, _ in _work(events))


def minutes_by_answer(events: Iterable[Event]) -> dict[str, float]:
    """Add up, for each question, the minutes between its answers and the entry before each.

    That is the time after whatever was recorded last. Reading ahead counts for the question that is
    answered next, and turning an instrument, which leaves entries of its own, for none.
    """
    found: dict[str, float] = {}
    for minutes, event in _work(events):
        if event.kind == "answer":
            found[event.id] = found.get(event.id, 0.0) + minutes
    return found


def _work(events: Iterable[Event]) -> Iterator[tuple[float, Event]]:
    """Yield the minutes before each event that are neither a pause nor an impossible date."""
    times = [(moment, event) for event in events if (moment := _moment(event.time))]
    for (before, _), (after, event) in pairwise(times):
        minutes = (after - before).total_seconds() / 60
        if 0 <= minutes <= LONGEST_PAUSE:
            yield minutes, event


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:  # the 31st of February
        return None
