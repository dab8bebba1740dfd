"""Is a ledger intact? If not: from which event on, and what else does not fit.

Every event carries the hash of the one before, so a line that was edited, taken out, moved or put
in breaks the chain there. What exactly was done cannot be known: whoever has the file can compute
every hash again. So the chain says where it breaks first, and no more. On top of it come rules that
hold even for a chain that was recomputed: time does not run backwards, a prediction is committed
once and before its instrument is used, and the ledger belongs to this student and this lab.

A ledger alone can never show that the whole chain was recomputed, or that its very end was cut off.
`Head` is the remedy: the number and hash of an event, noted elsewhere while the student worked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple

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
from mlsys_widgets.ledger.kinds import misfit, refuse_newer

Kind = Literal[
    "broken",
    "forged time",
    "other student",
    "other lab",
    "second commit",
    "late prediction",
    "wrong schema",
    "torn",
    "cut off",
    "rewritten",
    "missing",
]

#: Clocks of honest machines differ by less than this.
CLOCK_TOLERANCE: Final = timedelta(minutes=5)
#: How many problems are named. A file with more of them is not a ledger with a flaw.
MOST_PROBLEMS: Final = 1_000


class Head(NamedTuple):
    """The last event at some moment. Noted elsewhere, it seals everything up to it.

    Examples
    --------
    The last lines of a file are cut off. The chain alone cannot show that; a noted head can.

    >>> from mlsys_widgets.ledger import Ledger
    >>> path = folder / "ledger.jsonl"
    >>> ledger = Ledger.open(path, lab="lab_11_roofline", student="ann")
    >>> for side in (128, 256):
    ...     _ = ledger.record_answer(f"intensity_{side}", side / 3)
    >>> noted = ledger.head
    >>> _ = path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    >>> cut = Ledger.open(path)
    >>> cut.verify().ok, str(cut.verify(heads=[noted]).first_problem)
    (True, 'Event 2 was noted elsewhere and is not in the file: its end was cut off.')
    """

    seq: int
    hash: str


@dataclass(frozen=True)
class Problem:
    """Something that does not fit. Printed, it is its sentence.

    Examples
    --------
    A student changes a prediction with a text editor:

    >>> from mlsys_widgets.ledger import Ledger
    >>> path = folder / "ledger.jsonl"
    >>> ledger = Ledger.open(path, lab="lab_11_roofline", student="ann")
    >>> _ = ledger.commit_prediction("act1_bound", "compute")
    >>> _ = path.write_text(path.read_text().replace("compute", "memory"))
    >>> problem = Ledger.open(path).verify().first_problem
    >>> problem.seq, problem.kind
    (1, 'broken')
    >>> print(problem)
    The ledger is not intact from event 1 (prediction act1_bound) on: the hash in line 2 does not
    match its content.
    """

    seq: int  #: The number of the event; for a broken chain, of the first that is not intact.
    kind: Kind  #: In what way it does not fit: ``broken``, ``forged time`` and the like.
    sentence: str  #: The same, for a person to read.

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Verification:
    """The verdict on a ledger.

    Examples
    --------
    A friend's ledger is intact, and still not the one that was asked for:

    >>> from mlsys_widgets.ledger import Ledger
    >>> ledger = Ledger.open(folder / "ledger.jsonl", lab="lab_11_roofline", student="ann")
    >>> _ = ledger.record_answer("ridge", 295)
    >>> hers, his = ledger.verify(student="ann"), ledger.verify(student="ben")
    >>> hers.ok, hers.events, hers.first_problem
    (True, 2, None)
    >>> his.ok, [str(problem) for problem in his.problems]
    (False, ["This is the ledger of 'ann', not of 'ben'."])
    """

    problems: tuple[Problem, ...]  #: Everything that does not fit, the first `MOST_PROBLEMS` of it.
    events: int  #: How many lines there are.
    #: Those of the problems that a head noted elsewhere shows, and nothing else does.
    unlike_noted: tuple[Problem, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything fits."""
        return not self.problems

    @property
    def first_problem(self) -> Problem | None:
        """The first event that does not fit, or `None`."""
        return self.problems[0] if self.problems else None


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
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    # A last line without its line end is complete if it is an event; an editor removed the end.
    if tail.strip() and is_whole(tail):
        numbered.append((len(lines) + 1, tail))
        tail = b""
    chain = _Chain()
    rules = _Rules(student, lab, timestamp(now + CLOCK_TOLERANCE), locks or {})
    problems: list[Problem] = []
    for number, line in numbered:
        event, wrong = chain.follow(number, line)
        problems.extend(wrong)
        if event is not None:
            problems.extend(rules.judge(event, intact=not chain.broken))
        del problems[MOST_PROBLEMS:]
    unlike = tuple(_unlike_noted(chain.events, heads))
    problems.extend(unlike)
    if tail.strip():
        sentence = (
            f"The last line of the file breaks off where event {chain.expected} would be: the"
            " program or the machine stopped while writing it, or the file was cut. Unless the file"
            " was cut, this event was never reported as saved."
        )
        problems.append(Problem(chain.expected, "torn", sentence))
    return Verification(tuple(problems), events=len(numbered), unlike_noted=unlike)


def _read(line: bytes) -> Event:
    """Read a line as an event that all readers understand alike."""
    try:
        event = from_line(line)
        if to_line(event).rstrip(b"\n") != line.rstrip(b"\r") and repeats_a_key(line):
            raise Malformed("has the same key twice")
    except Malformed:
        raise
    except (ValueError, RecursionError):
        raise Malformed("cannot be read") from None
    return event


def is_whole(line: bytes) -> bool:
    """Whether a line is an event with its own hash, whatever comes before it."""
    try:
        event = _read(line)
    except Malformed:
        return False
    return digest(event) == event.hash


class _Chain:
    """Follows the lines, and knows where they stop following from each other."""

    def __init__(self) -> None:
        #: The number of the next event, as long as nothing is broken.
        self.expected = 0
        self.broken = False
        #: By number, those that are intact before those that are not.
        self.events: dict[int, Event] = {}
        self._prev = GENESIS

    def follow(self, number: int, line: bytes) -> tuple[Event | None, list[Problem]]:
        """Return the event in a line if there is one, and the problem if the chain breaks here."""
        event, what, why = None, "", ""
        try:
            event = _read(line)
        except Malformed as error:
            why = f"line {number} {error}"
        else:
            if event.seq == self.expected:
                what = f" ({event.kind} {event.id})"
            if (event.seq, event.prev) != (self.expected, self._prev):
                before = "the line before it" if self.expected else "the beginning"
                why = f"line {number} does not follow {before}"
            elif digest(event) != event.hash:
                why = f"the hash in line {number} does not match its content"
            self.events.setdefault(event.seq, event)
        if self.broken:
            return event, []
        if not why and event is not None:
            self.expected, self._prev = event.seq + 1, event.hash
            return event, []
        self.broken = True
        sentence = f"The ledger is not intact from event {self.expected}{what} on: {why}."
        return event, [Problem(self.expected, "broken", sentence)]


class _Rules:
    """Rules about the events themselves, however well they are chained."""

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
        self.first = True
        self.time = ""
        self.committed: dict[str, int] = {}
        self.used: dict[str, Event] = {}

    def judge(self, event: Event, *, intact: bool) -> Iterator[Problem]:
        """Name what is wrong with the next event; ``intact`` if the chain reaches it unbroken."""
        seq = event.seq
        first, self.first = self.first, False
        # Where the chain broke, lines may be missing or in another order, and that was said.
        if intact and (event.kind == "opened") != first:
            words = "begins with" if first else "has, after its beginning,"
            wrong = f"The ledger {words} an event of kind {event.kind!r} (event {seq})."
            yield Problem(seq, "wrong schema", wrong)
        yield from self._time(event, intact)
        if wrong_value := _wrong_value(event):
            yield Problem(seq, "wrong schema", wrong_value)
            return
        yield from self._owner(event)
        yield from self._order(event)

    def _time(self, event: Event, intact: bool) -> Iterator[Problem]:
        when = f"Event {event.seq} says {event.time}"
        if intact and event.time < self.time:
            wrong = f"{when}, earlier than the event before it ({self.time}): a time was forged."
            yield Problem(event.seq, "forged time", wrong)
        elif event.time > self.latest:
            wrong = f"{when}, which is later than the moment the ledger was collected."
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


def _wrong_value(event: Event) -> str:
    """Say in a sentence why no ledger of this version holds such an event; empty if one does."""
    try:
        refuse_newer(event)
    except NewerSchema as error:
        return str(error)
    wrong = misfit(event)
    return f"Event {event.seq} {wrong}." if wrong else ""


def _unlike_noted(events: Mapping[int, Event], heads: Iterable[Head]) -> Iterator[Problem]:
    for seq, noted in sorted(heads):
        event = events.get(seq)
        if event is None:
            wrong = f"Event {seq} was noted elsewhere and is not in the file: its end was cut off."
            yield Problem(seq, "cut off", wrong)
            return
        if event.hash != noted:
            wrong = f"Event {seq} is not the one that was noted elsewhere: the chain was rewritten."
            yield Problem(seq, "rewritten", wrong)
            return
