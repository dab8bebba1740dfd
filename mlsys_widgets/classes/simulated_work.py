"""Simulated work on a lab: what a student types, commits and records, and when.

They follow the steps of the release notebook from top to bottom.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.classes.released_lab import Book, LabStep, ReleasedLab
from mlsys_widgets.classes.simulated_answers import (
    NONSENSE,
    Knowledge,
    SimulatedStudent,
    TypedAnswer,
)
from mlsys_widgets.classes.simulated_machine import other_machine
from mlsys_widgets.files import LEDGER, MEASUREMENT
from mlsys_widgets.judging.keys import Given, NumberKey
from mlsys_widgets.labs import (
    Checklist,
    Choice,
    Code,
    Essay,
    Myths,
    Number,
    Prediction,
    Question,
    Quiz,
    ReflectionPrompt,
    UnusableAnswer,
)
from mlsys_widgets.labs.asked import Checked
from mlsys_widgets.labs.own_words import own_words_name
from mlsys_widgets.ledger import DesignForm, Ledger
from mlsys_widgets.ledger.designs import Field

_ESSAYS: Final = (
    "I would measure before buying anything. What limits it is not what the message supposes, and"
    " the numbers above show by how much.",
    "It depends on what the hardware waits for. In my case that was clear from the first act, so I"
    " would change that first and leave the rest as it is.",
    "No. The time goes elsewhere, as the plot shows, and a faster part would only wait longer.",
    "i think both would help but the second one more because it is cheaper",
)
_OWN_WORDS: Final = (
    "I counted the operations and forgot what it takes to move the data.",
    "i took the number from the datasheet, but that is a peak nobody reaches",
    "I knew the direction and was wrong about the size; next time I write down both rates first.",
    "Lucky guess, to be honest.",
)
#: How many say something about a prediction.
_WRITES: Final = 0.4
#: Minutes that a step takes, in the median.
_MINUTES: Final = {
    "prediction": 1.1, "use": 0.8, "reflection": 0.8, "answer": 1.4, "again": 1.0, "quiz": 0.5,
    "list": 0.8, "design": 2.0, "essay": 4.0,
}  # fmt: skip


@dataclass
class SimulatedWork:
    """The work that a student hands in."""

    book: Book
    #: What they typed, by the name of the answer.
    answers: dict[str, TypedAnswer] = field(default_factory=dict)
    #: The ledger, the earlier one if the lab was restarted, and what lies beside the notebook.
    files: dict[str, bytes] = field(default_factory=dict)


#: Minutes since the previous entry of the ledger, and what writes this one.
_Event = tuple[float, Callable[[Ledger], object]]


#: Minutes; nobody who is in a hurry spends longer on one step, or leaves in between.
_HURRIED: Final = 5.0


def work(
    of: ReleasedLab,
    student: SimulatedStudent,
    end: datetime,
    scratch: Path,
    *,
    not_before: datetime | None = None,
) -> SimulatedWork:
    """Have a student work on a lab; the empty folder `scratch` holds the ledger afterward.

    They begin `not_before` a time. With too little time left, they hurry.
    """
    return _Worker(of, student, scratch).work(end, not_before)


class _Worker:
    """One student in one lab."""

    def __init__(self, of: ReleasedLab, student: SimulatedStudent, scratch: Path) -> None:
        self._of, self._student, self._folder = of, student, scratch
        self._chance = random.Random(f"{student.seed}/{student.name}")
        self._pace = self._chance.lognormvariate(0, 0.25)
        # Whether the student computes in the cell or types a number computed elsewhere.
        self._computes = self._chance.random() < 0.5
        p = of.lab.draw(student.name, variants=of.variants, edition=of.edition)
        self._items = of.lab.items(p)
        self._knowledge = Knowledge(student, of.checks, Given(p, scratch), self._chance)
        self._predicted: dict[str, Any] = {}

    def work(self, end: datetime, not_before: datetime | None) -> SimulatedWork:
        done = SimulatedWork(json.loads(self._of.notebook))
        for name, content in self._of.beside.items():
            own = other_machine(content, self._chance) if name == MEASUREMENT else content
            (self._folder / name).write_bytes(own)
            done.files[name] = own
        steps = self._of.steps[: math.ceil(len(self._of.steps) * self._student.does)]
        first = (
            self._events(steps[: len(steps) // 2], SimulatedWork(done.book))
            if self._student.again
            else []
        )
        events = self._events(steps, done)
        _type_in(done, self._of, computes=self._computes)
        if not_before:
            longest = (end - not_before) / timedelta(minutes=1)
            first, events = _within(longest * 0.4, first), _within(longest * 0.6, events)
        self._write(first, events, end)
        for path in sorted(self._folder.glob(f"{LEDGER}*")):
            done.files[path.name] = path.read_bytes()
        return done

    def _write(self, first: list[_Event], events: list[_Event], end: datetime) -> None:
        """Write the ledger so that its last event is at the end."""
        clock = _Clock(end - timedelta(minutes=sum(m for m, _ in [*first, *events])))
        led = Ledger.open(
            self._folder / LEDGER,
            lab=self._of.lab.name,
            student=self._student.name,
            clock=clock,
            new_id=lambda: f"{self._chance.getrandbits(128):032x}",
        )
        for minutes, write in first:
            clock.moment += timedelta(minutes=minutes)
            write(led)
        if first:
            led.begin_again()
        for minutes, write in events:
            clock.moment += timedelta(minutes=minutes)
            write(led)

    # The steps.

    def _events(self, steps: Sequence[LabStep], done: SimulatedWork) -> list[_Event]:
        events: list[_Event] = []
        for step in steps:
            # Now and then a student leaves and comes back an hour or a night later.
            pause = self._chance.expovariate(1 / 240) if self._chance.random() < 0.05 else 0.0
            new = list(self._do(step, done))
            if new and pause:
                new[0] = (new[0][0] + pause, new[0][1])
            events += new
        return events

    def _do(self, step: LabStep, done: SimulatedWork) -> Sequence[_Event]:
        name, item = step.name, self._items.get(step.name)
        match item:
            case Prediction():
                return [self._predict(name, item), *self._own_words(name)]
            case Number() | Choice() | Code():
                return self._answer(name, item, done)
            case ReflectionPrompt():
                return self._reflect(name, item)
            case Quiz():
                kept = item.ledger_names(name)
                return [self._quiz(*each) for each in zip(kept, item.questions, strict=True)]
            case Myths():
                return [self._myth(kept) for kept in item.ledger_names(name)]
            case Checklist():
                can = [
                    key
                    for key in item.skills
                    if self._chance.random() < self._knowledge.likelihood(key)
                ]
                return [self._event("list", lambda led: led.record_answer(name, can))]
        if isinstance(item, Essay):
            if self._chance.random() >= 0.9:
                return []
            essay = self._chance.choice(_ESSAYS)
            return [self._event("essay", lambda led: led.record_answer(name, essay))]
        if step.kind == "use":
            often = self._chance.randint(1, 4)
            return [
                self._event("use", lambda led: led.record_use(name, needs=step.needs, every=0))
                for _ in range(often)
            ]
        if step.kind == "design" and (fields := self._of.lab.design):
            form = DesignForm(self._of.lab.name, self._of.lab.chapter, fields)
            entry = {n: self._design(n, f) for n, f in fields.items() if f.required}
            return [self._event("design", lambda led: led.save_design(entry, form))]
        return []

    def _predict(self, name: str, item: Prediction) -> _Event:
        key, right = (
            self._knowledge.key(name),
            self._chance.random() < 0.7 * self._knowledge.likelihood(name),
        )
        value: Any
        if item.options:
            value = (
                key.value
                if right and key
                else self._knowledge.wrong_option(name, item.options, key)
            )
        else:
            truth = float(key.value) if isinstance(key, NumberKey) else 1.0
            spread = 0.02 if right else 0.7
            value = float(f"{truth * self._chance.lognormvariate(0, spread):.2g}")
            value = min(max(value, item.low), item.high)
        # A student who restarts the lab makes the same prediction again.
        value = self._predicted.setdefault(name, value)
        sure = self._knowledge.confidence(right=right)
        return self._event(
            "prediction", lambda led: led.commit_prediction(name, value, confidence=sure)
        )

    def _own_words(self, prediction: str) -> list[_Event]:
        """Some say in a sentence why they were off."""
        # By chance of its own, so that nothing else about the student depends on it.
        chance = random.Random(f"{self._student.seed}/{self._student.name}/{prediction}")
        if chance.random() >= _WRITES:
            return []
        words, name = chance.choice(_OWN_WORDS), own_words_name(prediction)
        return [(chance.uniform(0.2, 0.6), lambda led: led.record_answer(name, words))]

    def _answer(self, name: str, item: Checked, done: SimulatedWork) -> list[_Event]:
        typed = self._knowledge.answer(name, item)
        done.answers[name] = typed
        events = []
        # Some type a first answer, look at the plot again, and change it.
        if typed.credit == 1 and self._chance.random() < 0.2:
            first = self._knowledge.wrong_answer(name, item)
            events += self._recorded(name, item, first, "answer")
        return events + self._recorded(name, item, typed, "again" if events else "answer")

    def _recorded(self, name: str, item: Checked, typed: TypedAnswer, takes: str) -> list[_Event]:
        """Record an answer as its card does: only if it can be read."""
        try:
            value = item.read(typed.text)
        except UnusableAnswer:
            return []
        return [self._event(takes, lambda led: led.record_answer(name, value, unit=item.unit))]

    def _reflect(self, name: str, item: ReflectionPrompt) -> list[_Event]:
        right = self._chance.random() < self._knowledge.likelihood(name)
        tries: list[tuple[Any, bool | None]] = []
        if item.options:
            wrong = [key for key in item.options if key != item.right]
            if not (right or item.right is None) and wrong:
                tries.append((self._chance.choice(wrong), False))
            known = item.right is not None
            chosen = item.right if known else self._chance.choice(list(item.options))
            tries.append((chosen, True if known else None))
        elif item.blanks:
            rights = item.right if isinstance(item.right, Mapping) else {}
            words = {gap: list(options) for gap, options in item.blanks.items()}
            if not right and rights:
                guess = {gap: self._chance.choice(options) for gap, options in words.items()}
                tries.append((guess, all(rights.get(g, w) == w for g, w in guess.items())))
            tries.append(
                ({g: rights.get(g, o[0]) for g, o in words.items()}, True if rights else None)
            )
        else:
            tries.append((self._chance.choice(_ESSAYS), None))
        return [self._reflected(name, *each) for each in tries]

    def _reflected(self, name: str, value: Any, correct: bool | None) -> _Event:
        return self._event(
            "reflection", lambda led: led.record_reflection(name, value, correct=correct)
        )

    def _quiz(self, kept: str, question: Question) -> _Event:
        right = self._chance.random() < self._knowledge.likelihood(kept)
        others = [key for key in question.options if key != question.right]
        chosen = question.right if right or not others else self._chance.choice(others)
        sure = self._knowledge.confidence(right=right)
        return self._event("quiz", lambda led: led.record_answer(kept, chosen, confidence=sure))

    def _myth(self, kept: str) -> _Event:
        stance = "doubt" if self._chance.random() < self._knowledge.likelihood(kept) else "believe"
        return self._event("quiz", lambda led: led.record_answer(kept, stance))

    def _design(self, name: str, wanted: Field) -> Any:
        """A value that a field of the design accepts."""
        if name.endswith("_prediction") and self._predicted:
            value = next((v for k, v in self._predicted.items() if k[:4] == name[:4]), None)
            if wanted.accepts(value):
                return value
        low = wanted.schema.get("minimum", 0.0)
        number = self._chance.uniform(low, wanted.schema.get("maximum", low + 1000))
        tried = (
            self._chance.choice(wanted.schema.get("enum", [None])),
            self._chance.random() < 0.5,
            float(f"{number:.3g}"),
            "attention",
            None,
        )
        return next(value for value in tried if wanted.accepts(value))

    def _event(self, step: str, write: Callable[[Ledger], object]) -> _Event:
        """Return what writes an entry, after as long as this student takes for such a step."""
        minutes = self._pace * self._chance.lognormvariate(math.log(_MINUTES[step]), 0.5)
        return minutes, write


class _Clock:
    """A clock that shows the moment it is set to."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def __call__(self) -> datetime:
        return self.moment.astimezone(UTC)


def _within(longest: float, events: list[_Event]) -> list[_Event]:
    """Fit the same events into at most so many minutes.

    Examples
    --------
    >>> [minutes for minutes, _ in _within(3.0, [(1.0, print), (240.0, print)])]
    [0.5, 2.5]
    """
    if sum(minutes for minutes, _ in events) <= longest:
        return events
    hurried = [min(minutes, _HURRIED) for minutes, _ in events]
    pace = min(longest / sum(hurried), 1.0)
    return [(pace * minutes, write) for minutes, (_, write) in zip(hurried, events, strict=True)]


def _type_in(done: SimulatedWork, of: ReleasedLab, *, computes: bool) -> None:
    """Put code into scratch cells: what was computed, or what somebody tried."""
    for cell in done.book["cells"]:
        kind, _, name = cell.get("id", "").partition("_")
        typed = done.answers.get(name) if kind == "answer" else None
        if typed is None:
            continue
        if typed.credit == 1 and computes and name in of.solutions:
            cell["source"] = of.solutions[name]
        elif typed.text in NONSENSE:
            cell["source"] = typed.text
