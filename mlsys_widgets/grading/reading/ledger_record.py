"""The ledger of a submission, read once: what in it counts, and what a person should look at.

Three things are asked of it. Is it unbroken (`mlsys_widgets.ledger.verification`)? Could the cards
of this lab have written its entries (`grading.reading.entry_rules`)? And are its times
possible: after the release, before the hand-in, and not faster than anybody reads?
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.files import LEDGER
from mlsys_widgets.grading.reading.entry_rules import EntryRules, SiftedEntries, usual_rules
from mlsys_widgets.labs import Item, Lab
from mlsys_widgets.labs.attempts import Attempts
from mlsys_widgets.labs.practice import NOT_GRADED, is_practice
from mlsys_widgets.ledger import Event, Head, Ledger, State, Verification
from mlsys_widgets.ledger.events import timestamp
from mlsys_widgets.ledger.fold import Fold
from mlsys_widgets.ledger.verification import CLOCK_TOLERANCE

#: The pace of fewer decisions than this says nothing.
_FEW: Final = 4
#: How much of a time tells one second from the next: 2026-02-03T09:30:00.
_TO_SECONDS: Final = 19


class LedgerRecord:
    """The ledger in the folder of a submission.

    See `EntryRules` for ``items``, ``attempts`` and ``also``. A `LedgerError` says why it cannot be
    read.
    """

    def __init__(
        self,
        lab: Lab,
        folder: Path,
        owner: str,
        *,
        items: Mapping[str, Item] | None = None,
        attempts: Attempts | None = None,
        also: Sequence[Lab] = (),
    ) -> None:
        self._lab, self._owner = lab.name, owner
        self.ledger = Ledger.open(folder / LEDGER, lab=lab.name, student=owner)
        self._events = self.ledger.events()
        self._rules = usual_rules(lab) if items is None else EntryRules(lab, items, attempts)
        self._sifted = (
            SiftedEntries(refused=[NOT_GRADED])
            if self.is_practice
            else self._rules.sift(self._events, [usual_rules(each) for each in also])
        )

    @cached_property
    def is_practice(self) -> bool:
        """Whether it is a ledger of practice, of which nothing counts."""
        return is_practice(event.id for event in self._events if event.kind == "answer")

    @property
    def somebody_else(self) -> str | None:
        """Whose ledger it says it is, if that is not the owner."""
        owner = self.ledger.student
        return None if owner == self._owner else owner

    @cached_property
    def state(self) -> State:
        """What the entries that count add up to."""
        return Fold(self._sifted.kept).state()

    @property
    def head(self) -> Head | None:
        """The last event."""
        last = self._events[-1] if self._events else None
        return Head(last.seq, last.hash) if last else None

    @property
    def last_time(self) -> str | None:
        """When something was last saved in it."""
        return self._events[-1].time if self._events else None

    @cached_property
    def origin(self) -> tuple[str, ...]:
        """What a copy of this ledger keeps: its id, and the moments of what was decided.

        Two people share an id only if one has the other's file, and two moments, to the
        millisecond, practically never.
        """
        opened = [event.id for event in self._events[:1] if event.kind == "opened"]
        return (*opened, *dict.fromkeys(event.time for event, _ in self._decisions()))

    @cached_property
    def verification(self) -> Verification:
        """Whether it is unbroken."""
        return self.ledger.verify(student=self._owner, lab=self._lab)

    def doubts(
        self, *, released: datetime | None = None, handed_in: datetime | None = None
    ) -> list[str]:
        """Everything that does not fit, a sentence each; the most certain things come first."""
        broken = [problem.sentence for problem in self.verification.problems]
        times = self._impossible_times(released, handed_in)
        return [*broken, *self._sifted.refused, *times, *self._sifted.odd]

    def _impossible_times(
        self, released: datetime | None, handed_in: datetime | None
    ) -> Iterator[str]:
        if released is not None:
            least = timestamp(_utc(released) - CLOCK_TOLERANCE)
            early = next((event for event in self._events if event.time < least), None)
            if early:
                yield (
                    f"Event {early.seq} says {early.time}, and the lab was released"
                    f" {timestamp(_utc(released))}."
                )
        if handed_in is not None:
            most = timestamp(_utc(handed_in) + CLOCK_TOLERANCE)
            late = next((event for event in self._events if event.time > most), None)
            if late:
                yield (
                    f"Event {late.seq} says {late.time}, and this was handed in"
                    f" {timestamp(_utc(handed_in))}."
                )
        decided = {name: event.time[:_TO_SECONDS] for event, name in self._decisions()}
        seconds = len(set(decided.values()))
        # Presses that wait for a busy kernel may arrive together, and a clock that is set back
        # stands still in the ledger until it has caught up. Half of them is beyond both.
        if len(decided) >= _FEW and 2 * seconds < len(decided):
            within = "1 second" if seconds == 1 else f"{seconds} different seconds"
            yield (
                f"{len(decided)} decisions were made within {within}: nobody reads that fast, so a"
                " program wrote them."
            )

    def _decisions(self) -> Iterator[tuple[Event, str]]:
        """Yield the entries that take a person who reads, and which decision each belongs to."""
        by_code: dict[str, Any] = {}
        for event in self._sifted.kept:
            answered = event.id.removeprefix("code.")
            if event.kind == "answer" and answered != event.id:
                by_code[answered] = event.value["value"]
            elif decision := self._rules.decision(event, by_code):
                yield event, decision


def _utc(moment: datetime) -> datetime:
    """Return a moment with its zone; nbgrader keeps UTC without one."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
