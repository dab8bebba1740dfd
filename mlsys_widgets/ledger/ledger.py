"""The ledger of one student in one lab: what was committed stays committed.

Opening reads and never writes; the first event creates the file. When a method returns, its event
is on the disk; when it raises, the file is as it was.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

from mlsys_widgets.ledger.designs import DesignForm
from mlsys_widgets.ledger.errors import (
    AlreadyCommitted,
    LedgerError,
    NewerSchema,
    NotYours,
    Replaced,
    Unreadable,
    ValueRefused,
)
from mlsys_widgets.ledger.events import GENESIS, LAB, Event, chained, timestamp, to_line
from mlsys_widgets.ledger.history import History
from mlsys_widgets.ledger.journal import PATIENCE, News, Writer, beside, journal_at, move_beside
from mlsys_widgets.ledger.kinds import VERSION
from mlsys_widgets.ledger.state import Answer, Attempt, CommittedPrediction, Design, State, Use
from mlsys_widgets.ledger.values import called, confident, json_data
from mlsys_widgets.ledger.verification import Head, Problem, Verification, verify_lines

#: Seconds during which further uses of the same instrument are not recorded.
USE_INTERVAL: Final = 60.0


class Ledger:
    """A student's record of a lab; `Ledger.open` gives you one.

    Examples
    --------
    >>> path = folder / "ledger.jsonl"
    >>> led = Ledger.open(path, lab="lab_07_kernel_fusion", student="student-01")
    >>> led.commit_prediction("act1_utilization", "C", confidence=4).value
    'C'
    >>> led.state().predictions["act1_utilization"].confidence
    4
    >>> led.commit_prediction("act1_utilization", "B")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    mlsys_widgets.ledger.errors.AlreadyCommitted: act1_utilization was committed as 'C' at ...
    >>> led.verify().ok, led.verify().first_problem
    (True, None)
    """

    def __init__(
        self,
        path: Path,
        lab: str | None,
        student: str | None,
        clock: Callable[[], datetime],
        patience: float,
        new_id: Callable[[], str],
    ) -> None:
        self.path = path
        self._lab = lab
        self._student = student
        self._clock = clock
        self._new_id = new_id
        self._journal = journal_at(path, patience)
        self._notices: list[str] = []
        self._lost: str | None = None
        self._used_at: dict[str, float] = {}
        self._history = History()
        self._look()

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        lab: str | None = None,
        student: str | None = None,
        *,
        clock: Callable[[], datetime] | None = None,
        patience: float = PATIENCE,
        new_id: Callable[[], str] | None = None,
    ) -> Self:
        """Open the ledger of a lab, whether its file exists yet or not.

        Parameters
        ----------
        path : path
            The file, usually ``ledger.jsonl`` beside the notebook.
        lab, student : str, optional
            Whose it is. An existing ledger knows; a new one needs both before its first event.
            Opening somebody else's ledger works and `verify` names it; adding to it is refused.
        clock : callable, optional
            Returns the present moment.
        patience : float
            Seconds to wait for another kernel that is writing.
        new_id : callable, optional
            Returns the id of a new ledger; a random one if omitted.

        Raises
        ------
        LedgerError
            When the file cannot be read, or was written by a newer version of this package.
        """
        if lab is not None and not LAB.fullmatch(called("lab", lab)):
            raise ValueRefused(
                f"lab is {lab!r}; it must be a name of letters, digits, dots, dashes and underlines"
            )
        if student is not None:
            called("student", student)
        where = Path(path).absolute()
        now, named = clock or (lambda: datetime.now(UTC)), new_id or (lambda: secrets.token_hex(16))
        return cls(where, lab, student, now, patience, named)

    # ---- reading

    @property
    def lab(self) -> str | None:
        """The lab this ledger is about."""
        return self._history.fold.lab or self._lab

    @property
    def student(self) -> str | None:
        """The student this ledger belongs to, as its first event says."""
        return self._history.fold.student or self._student

    @property
    def head(self) -> Head | None:
        """The last event, to be noted elsewhere and passed to `verify` later."""
        self._look()
        last = self._history.last
        return Head(last.seq, last.hash) if last else None

    @property
    def notices(self) -> tuple[str, ...]:
        """Sentences about the file that a student or a grader should read."""
        hindrance = self._journal.hindrance
        return (*self._notices, *([hindrance] if hindrance else []))

    @property
    def torn(self) -> tuple[Path, ...]:
        """Files beside the ledger that hold unfinished lines."""
        return beside(self.path, "torn")

    @property
    def earlier(self) -> tuple[Path, ...]:
        """Earlier ledgers beside this one, from before the lab was restarted."""
        return beside(self.path, "old")

    def events(self) -> tuple[Event, ...]:
        """Return all events, in the order of the file."""
        self._look()
        return tuple(self._history.events)

    def state(self) -> State:
        """Return what all events add up to, including those that other kernels have added."""
        self._look()
        return self._history.state()

    def verify(
        self,
        *,
        student: str | None = None,
        lab: str | None = None,
        now: datetime | None = None,
        locks: Mapping[str, Iterable[str]] | None = None,
        heads: Iterable[Head] = (),
    ) -> Verification:
        """Read the whole file again and judge it.

        Without ``student`` and ``lab`` it should be theirs for whom it was opened; no event can be
        later than ``now``, when the file was collected. ``locks`` are the predictions that each
        instrument waits for, as the course knows it; what the events themselves say about that
        always counts. ``heads`` are last events that were noted elsewhere while the student worked.
        """
        journal = journal_at(self.path)
        news = journal.news()
        if news is None:
            missing = Problem(0, "missing", f"{self.path} is gone, and it held events before.")
            return Verification((missing,) if self._history.events else (), events=0)
        return verify_lines(
            news.lines,
            journal.tail,
            student=student or self._student,
            lab=lab or self._lab,
            now=now or self._clock(),
            locks=locks,
            heads=heads,
        )

    # ---- adding

    def commit_prediction(
        self,
        prediction_id: str,
        value: Any,
        confidence: int | None = None,
        *,
        words: str | None = None,
    ) -> CommittedPrediction:
        """Commit a prediction, once and for all.

        ``words`` are the value as the student read it, for whoever shows the prediction without the
        lab. `AlreadyCommitted`, here or in another kernel, carries what stands.
        """
        name = called("prediction_id", prediction_id)
        if value is None:
            raise ValueRefused(f"{name} is None; it must be what was predicted")
        content = {"value": json_data(name, value), "confidence": confident(confidence)}
        if words is not None:
            content["words"] = called("words", words)

        def refuse_second() -> None:
            if standing := self._history.fold.predictions.get(name):
                raise AlreadyCommitted(
                    f"{name} was committed as {standing.value!r} at {standing.time};"
                    " a prediction is committed once, so that one stands",
                    standing,
                )

        self._append("prediction", name, content, check=refuse_second)
        return self._history.fold.predictions[name]

    def record_reflection(
        self, reflection_id: str, value: Any, *, correct: bool | None = None
    ) -> Attempt:
        """Record one attempt at a reflection, and whether it was right if that is known."""
        name = called("reflection_id", reflection_id)
        if correct is not None and not isinstance(correct, bool):
            raise ValueRefused(f"correct is {correct!r}; it must be True, False or None")
        self._append("reflection", name, {"value": json_data(name, value), "correct": correct})
        return self._history.fold.attempts[name][-1]

    def record_answer(
        self,
        answer_id: str,
        value: Any,
        *,
        unit: str | None = None,
        confidence: int | None = None,
    ) -> Answer:
        """Record an answer. The last one stands; repeating it writes nothing."""
        name = called("answer_id", answer_id)
        if unit is not None:
            unit = called("unit", unit)
        content = {
            "value": json_data(name, value),
            "unit": unit,
            "confidence": confident(confidence),
        }
        self._append_if_new("answer", name, content)
        return self._history.fold.answers[name][-1]

    def save_design(self, design: Mapping[str, Any], form: DesignForm) -> Design:
        """Record the lab's design entry, checked field by field against the lab's form.

        The last one stands; repeating it writes nothing.
        """
        lab = self._known("lab", self.lab)
        if form.lab != lab:
            raise ValueRefused(f"form is that of {form.lab}; it must be that of {lab}")
        self._append_if_new("design", lab, form.check(design))
        return self._history.fold.designs[lab]

    def record_use(
        self,
        instrument_id: str,
        *,
        needs: str | Iterable[str] = (),
        inputs: Mapping[str, Any] | None = None,
        every: float = USE_INTERVAL,
    ) -> Use:
        """Record that an instrument was used; cheap enough to call on every move of a slider.

        ``needs`` names the predictions that it waits for; `verify` names one that is committed
        later. For ``every`` seconds after a recorded use nothing is written, nor the disk touched.
        """
        name = called("instrument_id", instrument_id)
        wanted = [called("needs", need) for need in ([needs] if isinstance(needs, str) else needs)]
        before = self._history.fold.use(name)
        moment = time.monotonic()
        if before is not None and set(wanted) <= set(before.needs):
            last = self._used_at.get(name)
            if last is not None and moment - last < every:
                return before
        settings = json_data("inputs", {} if inputs is None else inputs)
        if not isinstance(settings, dict):
            raise ValueRefused(f"inputs is {inputs!r}; it must be a mapping of names to values")
        self._append("use", name, {"needs": wanted, "inputs": settings})
        self._used_at[name] = moment
        use = self._history.fold.use(name)
        assert use is not None
        return use

    def begin_again(self) -> Path | None:
        """Rename the file to ``<name>.old-<n>``; the next event starts a new ledger.

        Returns where the old one is now; `None` if there was none.
        """
        if not self.path.exists():
            return None
        with self._journal.writing(create=False):
            aside = move_beside(self.path, "old")
            self._history = History()
        return aside

    # ---- internals

    def _look(self) -> None:
        """Read what other kernels have added. A missing file is noticed when we write."""
        with self._journal.thread, self._in_step():
            news = self._journal.news()
            if news is not None:
                self._take_in(news)
                if self._journal.tail:
                    self._notice(
                        f"The last line of {self.path.name} was never finished, so it was never"
                        " reported as saved. The next save sets it aside."
                    )

    def _take_in(self, news: News) -> None:
        before = self._history
        if news.from_start:
            self._history = History()
        for line in news.lines:
            self._history.take_line(line)
        # A last line that lacks only its line end is complete: an editor removed the end.
        if self._journal.tail and self._history.would_follow(self._journal.tail):
            self._history.take_line(self._journal.take_tail())
        if self._history.unreadable:
            self._notice(
                f"{self.path.name} holds lines that are not events; verify() says which ones."
            )
        if not self._history.contains(before):
            self._lost = (
                f"{self.path.name} was replaced, and the new file lacks events that were saved"
                " before"
            )
            self._notice(f"{self._lost}.")

    @contextlib.contextmanager
    def _in_step(self) -> Iterator[None]:
        """If we stop between file and memory, the next look reads the whole file again."""
        try:
            yield
        except NewerSchema:
            self._journal.forget()
            raise
        except LedgerError:
            raise
        except BaseException:
            self._journal.forget()
            raise

    def _append_if_new(self, kind: str, name: str, value: Any) -> None:
        """Append unless this very value stands already, as when all cells are run again."""
        self._look()
        if not self._history.stands(kind, name, value):
            self._append(kind, name, value)

    def _append(
        self, kind: str, name: str, value: Any, check: Callable[[], None] | None = None
    ) -> None:
        # A file that held events and is gone is not silently replaced by a new one.
        create = not self._history.events
        if create:
            self._known("lab", self.lab)
            self._known("student", self.student)
        with self._in_step(), self._journal.writing(create=create) as writer:
            self._take_in(writer.news)
            self._refuse_foreign()
            if check is not None:
                check()
            events = self._next(kind, name, value)
            lines = b"".join(map(to_line, events))
            self._clear_tail(writer)
            writer.append(lines)
            for event in events:
                self._history.take(event)
        if not self._journal.locks:
            self._notice(
                f"{self.path.parent} cannot lock files, so open this lab in one kernel only."
            )

    def _next(self, kind: str, name: str, value: Any) -> list[Event]:
        """Make the event to be written, after those that must come before it."""
        lab = self._known("lab", self.lab)
        moment = timestamp(self._clock())
        last = self._history.last
        drafts: list[tuple[str, str, Any]] = [(kind, name, value)]
        if last is None:
            student = self._known("student", self.student)
            whose = {"schema": VERSION, "student": student}
            drafts.insert(0, ("opened", self._new_id(), whose))
        events: list[Event] = []
        for draft in drafts:
            # A clock that was set back must not make an honest ledger look forged.
            at = max(moment, last.time) if last else moment
            seq, prev = (last.seq + 1, last.hash) if last else (0, GENESIS)
            last = chained(prev, seq, at, lab, *draft)
            events.append(last)
        return events

    def _refuse_foreign(self) -> None:
        if self._lost:
            sentence, self._lost = self._lost, None
            raise Replaced(
                f"Nothing was saved: {sentence}. Try again to continue from what is there."
            )
        if self._history.unreadable and not self._history.events:
            raise Unreadable(
                f"Nothing was saved: {self.path} is not a ledger."
                " Move it away, or give the ledger another name."
            )
        for what, mine, theirs in (
            ("student", self._student, self._history.fold.student),
            ("lab", self._lab, self._history.fold.lab),
        ):
            if mine is not None and theirs is not None and mine != theirs:
                raise NotYours(
                    f"Nothing was saved: {self.path.name} is the ledger of the {what} {theirs!r},"
                    f" not of {mine!r}. Move it away to start one of your own."
                )

    def _clear_tail(self, writer: Writer) -> None:
        if self._journal.tail:
            size = len(self._journal.tail)
            if aside := writer.set_tail_aside():
                self._notice(
                    f"An unfinished last line ({size:,} bytes) was set aside in {aside.name}."
                    " Everything that was reported as saved is still there."
                )

    def _known(self, what: str, value: str | None) -> str:
        if value is None:
            raise ValueRefused(
                f"{what} is not known; pass it to Ledger.open, because a new ledger starts here"
            )
        return value

    def _notice(self, sentence: str) -> None:
        if sentence not in self._notices:
            self._notices.append(sentence)

    def __repr__(self) -> str:
        count = len(self._history.events)
        return f"<Ledger {self.path.name}: {self.lab}, {self.student}, {count} events>"
