"""Several ledgers of one student's work on one lab, as the single one that they would have been.

Somebody who works on two machines has two ledgers. Their entries are put into the order of their
times and chained as one. The rules are those of a single ledger: of a prediction the first commit
counts, of an answer and a design the latest, and every attempt is kept. So whoever keeps a second
ledger gains nothing that a single one would not have given.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mlsys_widgets.ledger.carried_record import whole_lines
from mlsys_widgets.ledger.events import GENESIS, Event, Malformed, chained, from_line, to_line


class MergedLedger(NamedTuple):
    """One ledger made of several."""

    #: As its file would have it.
    content: bytes
    #: What the parts disagree about, by name, in order.
    disputed: tuple[str, ...]


def events_in(content: bytes) -> list[Event]:
    """Return the events in the file of a ledger; other lines are left out."""
    events = []
    for line in whole_lines(content):
        try:
            events.append(from_line(line))
        except Malformed:
            continue
    return events


def merge(parts: Sequence[bytes]) -> MergedLedger:
    """Merge ledgers that are unbroken, and of one student and one lab.

    Where two entries have one time, that of the earlier part comes first.
    """
    read = [events_in(each) for each in parts]
    every = sorted((each for events in read for each in events), key=lambda event: event.time)
    opened = next(event for event in every if event.kind == "opened")
    kept: list[Event] = []
    seen: set[str] = set()
    for event in (opened, *(event for event in every if event.kind != "opened")):
        # One prediction is committed once, and the parts have in common what was copied.
        name = event.id if event.kind == "prediction" else [event.time, event.id, event.value]
        key = json.dumps([event.kind, name], sort_keys=True)
        if key not in seen:
            seen.add(key)
            prev = kept[-1].hash if kept else GENESIS
            kept.append(chained(prev, len(kept), *event[1:6]))
    return MergedLedger(b"".join(map(to_line, kept)), _disputed(read))


def _disputed(parts: Iterable[Sequence[Event]]) -> tuple[str, ...]:
    """Name what has one value at the end of one part and another at the end of another."""
    found: dict[tuple[str, str], set[str]] = {}
    for events in parts:
        last = {(e.kind, e.id): e.value for e in events if e.kind not in ("opened", "use")}
        for name, value in last.items():
            found.setdefault(name, set()).add(json.dumps(value, sort_keys=True))
    return tuple(dict.fromkeys(name for (_, name), values in found.items() if len(values) > 1))
