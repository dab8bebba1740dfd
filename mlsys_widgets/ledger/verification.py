"""Does a ledger tell an unbroken story? Names the first event that does not fit, and why.

Every event carries the hash of the one before, so a line that was edited, taken out, moved or put
in no longer fits its neighbors, and the way it does not fit shows which of these happened. On top
of the chain come rules that hold even for a chain that was recomputed: time does not run backwards,
a prediction is committed once and before its instrument is used, and the ledger belongs to this
student and this lab.

A ledger alone can never show that the whole chain was recomputed, or that its very end was cut off.
`Head` is the remedy: the number and hash of an event, noted elsewhere while the student worked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple

from mlsys_widgets.ledger import migrations
from mlsys_widgets.ledger.errors import NewerSchema
from mlsys_widgets.ledger.events import (
    GENESIS,
    Event,
    Malformed,
    digest,
    from_line,
    repeats_a_key,
    timestamp,
    to_line,
)
from mlsys_widgets.ledger.kinds import misfit

Kind = Literal[
    "edited",
    "removed",
    "reordered",
    "inserted",
    "duplicated",
    "forged time",
    "other student",
    "other lab",
    "second commit",
    "late prediction",
    "wrong schema",
    "unreadable",
    "torn",
    "rewritten",
    "missing",
]

#: Clocks of honest machines differ by less than this.
CLOCK_TOLERANCE: Final = timedelta(minutes=5)
#: How many removed or inserted events are looked for when later ones were renumbered.
_RENUMBERED: Final = 100
#: How often that is looked for in one ledger, and in lines of how many bytes: it hashes the event
#: two hundred times.
_MOST_LOOKS: Final = 20
_LONGEST_LOOK: Final = 10_000
#: How many problems are named. A file with more of them is not a ledger with a flaw.
MOST_PROBLEMS: Final = 1_000


class Head(NamedTuple):
    """The last event at some moment. Noted elsewhere, it seals everything up to it.

    Parameters
    ----------
    seq : int
        The number of that event.
    hash : str
        Its hash, 64 digits.

    Examples
    --------
    The last lines of a file are cut off. The chain alone cannot show that; a noted head can.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from mlsys_widgets.ledger import Ledger
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "ledger.jsonl"
    ...     ledger = Ledger.open(path, lab="lab_11_roofline", student="ann")
    ...     for side in (128, 256):
    ...         _ = ledger.record_answer(f"intensity_{side}", side / 3)
    ...     noted = ledger.head
    ...     kept = path.read_bytes().splitlines(keepends=True)[:-1]
    ...     _ = path.write_bytes(b"".join(kept))
    ...     cut = Ledger.open(path)
    ...     cut.verify().ok, str(cut.verify(heads=[noted]).first_problem)
    (True, 'Event 2 was noted elsewhere and is not in the file: its end was cut off.')
    """

    seq: int
    hash: str


@dataclass(frozen=True)
class Problem:
    """An event that does not fit. Printed, it is its sentence.

    Parameters
    ----------
    seq : int
        The number of the event.
    kind : str
        In what way it does not fit: ``edited``, ``removed``, ``forged time`` and the like.
    sentence : str
        The same, for a person to read.

    Examples
    --------
    A student changes a prediction with a text editor:

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from mlsys_widgets.ledger import Ledger
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "ledger.jsonl"
    ...     ledger = Ledger.open(path, lab="lab_11_roofline", student="ann")
    ...     _ = ledger.commit_prediction("act1_bound", "compute")
    ...     _ = path.write_text(path.read_text().replace("compute", "memory"))
    ...     problem = Ledger.open(path).verify().first_problem
    >>> problem.seq, problem.kind
    (1, 'edited')
    >>> print(problem)
    Event 1 (prediction act1_bound) was edited: its hash does not match its content.
    """

    seq: int
    kind: Kind
    sentence: str

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Verification:
    """The verdict on a ledger.

    Parameters
    ----------
    problems : tuple of Problem
        Everything that does not fit, the first `MOST_PROBLEMS` of it.
    events : int
        How many lines there are.
    unlike_noted : tuple of Problem
        Those of the problems that a head noted elsewhere shows, and nothing else does.

    Examples
    --------
    A friend's ledger is unbroken, and still not the one that was asked for:

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from mlsys_widgets.ledger import Ledger
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "ledger.jsonl"
    ...     ledger = Ledger.open(path, lab="lab_11_roofline", student="ann")
    ...     _ = ledger.record_answer("ridge", 295)
    ...     hers, his = ledger.verify(student="ann"), ledger.verify(student="ben")
    >>> hers.ok, hers.events, hers.first_problem
    (True, 2, None)
    >>> his.ok, [str(problem) for problem in his.problems]
    (False, ["This is the ledger of 'ann', not of 'ben'."])
    """

    problems: tuple[Problem, ...]
    events: int
    unlike_noted: tuple[Problem, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything fits."""
        return not self.problems

    @property
    def first_problem(self) -> Problem | None:
        """The first event that does not fit, or `None`."""
        return self.problems[0] if self.problems else None


class LedgerLine:
    """A line of the file, and the event in it if there is one."""

    __slots__ = ("event", "line", "number", "own", "why")

    def __init__(self, number: int, line: bytes) -> None:
        self.number = number
        self.line = line
        self.why = ""
        self.event: Event | None = None
        #: Whether the hash is the one this content must have.
        self.own = False
        try:
            self.event = event = from_line(line)
            if to_line(event).rstrip(b"\n") != line.rstrip(b"\r") and repeats_a_key(line):
                raise Malformed("has the same key twice")
            self.own = digest(event) == event.hash
        except Malformed as error:
            self.event, self.why = None, str(error)
        except (ValueError, RecursionError):
            self.event, self.why = None, "cannot be read"


def verify_lines(
    lines: Sequence[bytes],
    tail: bytes = b"",
    *,
    student: str | None = None,
    lab: str | None = None,
    now: datetime,
    locks: Mapping[str, Iterable[str]] | None = None,
    heads: Iterable[Head] = (),
) -> Verification:
    """Judge the lines of a ledger; see `Ledger.verify` for the meaning of the arguments."""
    entries = [LedgerLine(i, line) for i, line in enumerate(lines, start=1) if line.strip()]
    if tail.strip():
        entries.append(LedgerLine(len(lines) + 1, tail))
        # A last line without its line end is complete if it is an event; an editor removed the end.
        if entries[-1].own:
            tail = b""
        else:
            entries.pop()
    latest = timestamp(now + CLOCK_TOLERANCE)
    chain = _Chain(entries, latest)
    rules = _Rules(student, lab, latest, locks or {})
    problems: list[Problem] = []
    for found in chain.walk():
        if isinstance(found, Problem):
            problems.append(found)
        else:
            problems.extend(rules.judge(found))
        if len(problems) >= MOST_PROBLEMS:
            del problems[MOST_PROBLEMS:]
    unlike = tuple(_unlike_noted(chain.accepted, heads))
    problems.extend(unlike)
    if tail.strip():
        seq = chain.expected
        sentence = (
            f"The last line of the file breaks off where event {seq} would be: the program or the"
            " machine stopped while writing it, or the file was cut. Unless the file was cut, this"
            " event was never reported as saved."
        )
        problems.append(Problem(seq, "torn", sentence))
    return Verification(tuple(problems), events=len(entries), unlike_noted=unlike)


class _Chain:
    """Walks the lines in order, and separates events that fit from problems.

    Whatever is asked about other lines is looked up in tables that are made once, so that the time
    grows with the size of a file and not with what somebody wrote into it.
    """

    def __init__(self, entries: list[LedgerLine], latest: str) -> None:
        self.entries = entries
        self.latest = latest
        self.accepted: dict[int, Event] = {}
        self.expected = 0
        self.prev = GENESIS
        self.last: Event | None = None
        self._displaced: dict[int, Event] = {}
        self._looks = 0
        #: The first line with a hash, and which numbers the events with that hash have.
        self._first: dict[str, int] = {}
        self._numbered: set[tuple[str, int]] = set()
        #: The last line with a number.
        self._last_with: dict[int, int] = {}
        #: The last line that is chained to a hash; the last of those that is as it was written and
        #: has a certain number; and the last that is followed in turn.
        self._last_after: dict[str, int] = {}
        self._last_own_after: dict[tuple[str, int], int] = {}
        self._last_followed_after: dict[str, int] = {}
        events = [(i, entry.own, entry.event) for i, entry in enumerate(entries) if entry.event]
        for i, own, event in events:
            self._first.setdefault(event.hash, i)
            self._numbered.add((event.hash, event.seq))
            self._last_with[event.seq] = self._last_after[event.prev] = i
            if own:
                self._last_own_after[event.prev, event.seq] = i
        for i, _, event in events:
            if self._is_followed(event, i):
                self._last_followed_after[event.prev] = i

    def walk(self) -> Iterator[Problem | Event]:
        for i, entry in enumerate(self.entries):
            yield from self._catch_up_with_displaced()
            event = entry.event
            if event is None:
                yield Problem(
                    self.expected,
                    "unreadable",
                    f"Line {entry.number} {entry.why}, where event {self.expected} would be.",
                )
            elif entry.own and self._fits(event):
                if self._pushed_in(i):
                    yield self._inserted(event)
                else:
                    yield self._accept(event)
            else:
                yield from self._misfit(i, entry, event)

    def _fits(self, event: Event) -> bool:
        return event.seq == self.expected and event.prev == self.prev

    def _accept(self, event: Event) -> Event:
        self.expected, self.prev, self.last = event.seq + 1, event.hash, event
        self.accepted[event.seq] = event
        return event

    def _catch_up_with_displaced(self) -> Iterator[Event]:
        """Accept an event that came too early, now that its place is reached."""
        while (event := self._displaced.pop(self.expected, None)) and event.prev == self.prev:
            yield self._accept(event)

    def _pushed_in(self, i: int) -> bool:
        """Whether a later event claims the place of this one, and the chain continues from that."""
        event = self.entries[i].event
        assert event is not None
        if self._is_followed(event, i):
            return False
        return self._last_followed_after.get(event.prev, -1) > i

    def _is_followed(self, event: Event, i: int) -> bool:
        return self._last_after.get(event.hash, -1) > i

    def _misfit(self, i: int, entry: LedgerLine, event: Event) -> Iterator[Problem | Event]:
        """Name what was done to an event that does not fit; the most certain signs come first."""
        seq = event.seq
        if entry.own and self._first[event.hash] < i:
            yield Problem(seq, "duplicated", f"Event {seq} is in the file twice.")
            return
        if self._continues_after(i):
            # The chain is complete without this line, so this line does not belong here.
            if entry.own and (event.prev, seq - 1) in self._numbered:
                self._displaced[seq] = event
                yield self._reordered(seq)
            else:
                yield self._inserted(event)
            return
        if not entry.own:
            yield self._rewritten_line(i, entry, event)
        elif seq > self.expected:
            missing = range(self.expected, min(seq, self.expected + _RENUMBERED))
            if any(self._last_with.get(lost, -1) > i for lost in missing):
                yield self._reordered(seq)
            else:
                yield self._removed(seq - 1)
        elif seq == self.expected:
            before = self.last.seq if self.last else seq
            yield Problem(
                before,
                "edited",
                f"Event {before} is not the one that event {seq} was chained to: it was edited, and"
                " its hash was computed again.",
            )
        else:
            yield self._inserted(event)
            return
        yield self._accept(event)

    def _continues_after(self, i: int) -> bool:
        """Whether the event that is expected here comes further down, as it was written."""
        return self._last_own_after.get((self.prev, self.expected), -1) > i

    def _rewritten_line(self, i: int, entry: LedgerLine, event: Event) -> Problem:
        """Name what was done to an event whose hash does not match its content."""
        seq = event.seq
        short = len(entry.line) <= _LONGEST_LOOK and self._looks < _MOST_LOOKS
        if seq == self.expected and event.prev != self.prev and short:
            self._looks += 1
            shift = _renumbered(event)
            if shift > 0:
                return self._removed(seq + shift - 1, "; the events after it were renumbered")
            if shift < 0 and self.last is not None:
                return self._inserted(self.last, "; the events after it were renumbered")
        before = self.last.time if self.last else ""
        follower = self._last_after.get(event.hash, -1)
        next_one = self.entries[follower].event if follower > i else None
        after = next_one.time if next_one else self.latest
        if not before <= event.time <= min(after, self.latest):
            return Problem(
                seq,
                "forged time",
                f"Event {seq} says {event.time}, which is not between the events around it, and its"
                " hash does not match: its time was changed.",
            )
        what = f"Event {seq} ({event.kind} {event.id})"
        return Problem(seq, "edited", f"{what} was edited: its hash does not match its content.")

    def _removed(self, last: int, more: str = "") -> Problem:
        first = self.expected
        which = f"Event {first} was" if first >= last else f"Events {first} to {last} were"
        return Problem(first, "removed", f"{which} removed{more}.")

    def _reordered(self, seq: int) -> Problem:
        return Problem(
            seq,
            "reordered",
            f"Event {seq} is where event {self.expected} belongs: lines were reordered.",
        )

    def _inserted(self, event: Event, more: str = "") -> Problem:
        return Problem(
            event.seq,
            "inserted",
            f"An event that was not written here was inserted as event {event.seq}"
            f" ({event.kind} {event.id}){more}.",
        )


def _renumbered(event: Event) -> int:
    """By how much the number of an event was changed, if nothing else was."""
    for shift in range(1, _RENUMBERED + 1):
        for signed in (shift, -shift):
            if digest(event._replace(seq=event.seq + signed)) == event.hash:
                return signed
    return 0


class _Rules:
    """What must be true of the events themselves, however well they are chained."""

    def __init__(
        self,
        student: str | None,
        lab: str | None,
        latest: str,
        locks: Mapping[str, Iterable[str]],
    ) -> None:
        self.student = student
        self.lab = lab
        self.latest = latest
        self.locks = {instrument: tuple(needs) for instrument, needs in locks.items()}
        self.version = migrations.VERSION
        self.beyond_us = False
        self.first = True
        self.time = ""
        self.committed: dict[str, int] = {}
        self.used: dict[str, Event] = {}

    def judge(self, event: Event) -> Iterator[Problem]:
        seq = event.seq
        first, self.first = self.first, False
        if (event.kind == "opened") != first:
            words = "begins with" if first else "has, after its beginning,"
            wrong = f"The ledger {words} an event of kind {event.kind!r} (event {seq})."
            yield Problem(seq, "wrong schema", wrong)
        self.version = migrations.announced(event, self.version)
        try:
            event = migrations.upgraded(event, self.version)
        except NewerSchema as error:
            if not self.beyond_us:
                yield Problem(seq, "wrong schema", str(error))
            self.beyond_us = True
            return
        yield from self._time(event)
        if wrong_value := misfit(event):
            yield Problem(seq, "wrong schema", f"Event {seq} {wrong_value}.")
            return
        yield from self._owner(event)
        yield from self._order(event)

    def _time(self, event: Event) -> Iterator[Problem]:
        said = f"Event {event.seq} says {event.time}"
        if event.time < self.time:
            wrong = f"{said}, earlier than the event before it ({self.time}): a time was forged."
            yield Problem(event.seq, "forged time", wrong)
        elif event.time > self.latest:
            wrong = f"{said}, which is later than the moment the ledger was collected."
            yield Problem(event.seq, "forged time", wrong)
        self.time = max(self.time, event.time)

    def _owner(self, event: Event) -> Iterator[Problem]:
        if event.kind == "opened":
            owner = event.value["student"]
            if self.student not in {None, owner}:
                wrong = f"This is the ledger of {owner!r}, not of {self.student!r}."
                yield Problem(event.seq, "other student", wrong)
            self.lab = self.lab or event.lab
        if self.lab not in {None, event.lab}:
            wrong = f"Event {event.seq} belongs to the lab {event.lab!r}, not to {self.lab!r}."
            yield Problem(event.seq, "other lab", wrong)

    def _order(self, event: Event) -> Iterator[Problem]:
        seq, name = event.seq, event.id
        if event.kind == "use":
            for needed in (*event.value["needs"], *self.locks.get(name, ())):
                self.used.setdefault(needed, event)
        if event.kind != "prediction":
            return
        if name in self.committed:
            wrong = f"The prediction {name} was committed as event {self.committed[name]} and again"
            yield Problem(seq, "second commit", f"{wrong} as event {seq}.")
            return
        self.committed[name] = seq
        if use := self.used.get(name):
            wrong = f"The prediction {name} (event {seq}) was committed after its instrument"
            yield Problem(seq, "late prediction", f"{wrong} {use.id} was used (event {use.seq}).")


def _unlike_noted(accepted: Mapping[int, Event], heads: Iterable[Head]) -> Iterator[Problem]:
    for seq, noted in sorted(heads):
        event = accepted.get(seq)
        if event is None:
            wrong = f"Event {seq} was noted elsewhere and is not in the file: its end was cut off."
            yield Problem(seq, "removed", wrong)
            return
        if event.hash != noted:
            wrong = f"Event {seq} is not the one that was noted elsewhere: the chain was rewritten."
            yield Problem(seq, "rewritten", wrong)
            return
