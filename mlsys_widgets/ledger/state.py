"""What a ledger says, taken together: the fold of its events.

The first commit of a prediction stands, and so does the last answer and the last design; every
attempt is kept. A state never changes; ask the ledger again after something was added.

A prediction that somehow stands twice in a file counts the first time here, and `verify` names the
second.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from mlsys_widgets.ledger.events import Event
from mlsys_widgets.ledger.values import frozen


class Prediction(NamedTuple):
    """A committed prediction."""

    value: Any
    confidence: int | None
    time: str
    seq: int


class Attempt(NamedTuple):
    """One attempt at a reflection; ``correct`` is none where nobody judged it."""

    value: Any
    correct: bool | None
    time: str
    seq: int


@dataclass(frozen=True)
class Reflection:
    """All attempts at a reflection."""

    attempts: tuple[Attempt, ...]

    @property
    def value(self) -> Any:
        """What was said last."""
        return self.attempts[-1].value

    @property
    def correct(self) -> bool | None:
        """Whether what was said last is right."""
        return self.attempts[-1].correct


class Answer(NamedTuple):
    """The answer that stands, and those before it."""

    value: Any
    unit: str | None
    confidence: int | None
    time: str
    seq: int
    earlier: tuple[Answer, ...] = ()

    @property
    def attempts(self) -> int:
        """How often it was answered."""
        return len(self.earlier) + 1


@dataclass(frozen=True)
class Design(Mapping[str, Any]):
    """The design entry of a lab: read its fields as of a mapping."""

    lab: str
    fields: Mapping[str, Any]
    time: str
    seq: int

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def __iter__(self) -> Any:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)


@dataclass(frozen=True)
class Use:
    """How an instrument was used: when first, when last, and how often that was recorded."""

    needs: tuple[str, ...]
    inputs: Mapping[str, Any]
    first: str
    last: str
    first_seq: int
    count: int


@dataclass(frozen=True)
class State:
    """Everything a ledger says, by the id of what it is about."""

    ledger_id: str | None
    student: str | None
    lab: str | None
    predictions: Mapping[str, Prediction]
    reflections: Mapping[str, Reflection]
    answers: Mapping[str, Answer]
    designs: Mapping[str, Design]
    uses: Mapping[str, Use]


class Fold:
    """A state in the making: takes one event after the other."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.ledger_id: str | None = None
        self.student: str | None = None
        self.lab: str | None = None
        self.predictions: dict[str, Prediction] = {}
        self.attempts: dict[str, list[Attempt]] = {}
        self.answers: dict[str, list[Answer]] = {}
        self.designs: dict[str, Design] = {}
        self.uses: dict[str, Use] = {}
        for event in events:
            self.add(event)

    def add(self, event: Event) -> None:
        """Take one more event, whose value fits its kind."""
        value, at = event.value, (event.time, event.seq)
        if event.kind == "opened":
            if self.ledger_id is None:
                self.ledger_id, self.lab, self.student = event.id, event.lab, value["student"]
        elif event.kind == "prediction":
            said = Prediction(frozen(value["value"]), value["confidence"], *at)
            self.predictions.setdefault(event.id, said)
        elif event.kind == "reflection":
            attempt = Attempt(frozen(value["value"]), value["correct"], *at)
            self.attempts.setdefault(event.id, []).append(attempt)
        elif event.kind == "answer":
            answer = Answer(frozen(value["value"]), value["unit"], value["confidence"], *at)
            self.answers.setdefault(event.id, []).append(answer)
        elif event.kind == "design":
            self.designs[event.id] = Design(event.id, frozen(value), *at)
        elif event.kind == "use":
            self._use(event)

    def _use(self, event: Event) -> None:
        needs, inputs = tuple(event.value["needs"]), frozen(event.value["inputs"])
        before = self.uses.get(event.id)
        if before is None:
            use = Use(needs, inputs, event.time, event.time, event.seq, 1)
        else:
            if needs != before.needs:
                needs = tuple(dict.fromkeys((*before.needs, *needs)))
            use = Use(needs, inputs, before.first, event.time, before.first_seq, before.count + 1)
        self.uses[event.id] = use

    def state(self) -> State:
        """The state as it is now; what is added later does not show in it."""
        answers = {
            name: last._replace(earlier=tuple(earlier))
            for name, (*earlier, last) in self.answers.items()
        }
        reflections = {name: Reflection(tuple(said)) for name, said in self.attempts.items()}
        return State(
            ledger_id=self.ledger_id,
            student=self.student,
            lab=self.lab,
            predictions=MappingProxyType(dict(self.predictions)),
            reflections=MappingProxyType(reflections),
            answers=MappingProxyType(answers),
            designs=MappingProxyType(dict(self.designs)),
            uses=MappingProxyType(dict(self.uses)),
        )
