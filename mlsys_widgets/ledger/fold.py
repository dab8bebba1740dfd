"""From events to the state that they add up to.

The first commit of a prediction stands, and so do the last answer and the last design; every
attempt is kept. If a file somehow holds two commits of one prediction, the first one counts here
and `verify` names the second.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType

from mlsys_widgets.ledger.events import Event
from mlsys_widgets.ledger.state import (
    Answer,
    Attempt,
    CommittedPrediction,
    Design,
    ReflectionAttempts,
    State,
    Use,
)
from mlsys_widgets.ledger.values import frozen


class Fold:
    """A state in the making, which takes one event after another."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.ledger_id: str | None = None
        self.student: str | None = None
        self.lab: str | None = None
        self.predictions: dict[str, CommittedPrediction] = {}
        self.attempts: dict[str, list[Attempt]] = {}
        self.answers: dict[str, list[Answer]] = {}
        self.designs: dict[str, Design] = {}
        self._uses: dict[str, Use] = {}
        # Apart from the uses: a tuple that grows with every event would take quadratic time.
        self._needs: dict[str, dict[str, None]] = {}
        for event in events:
            self.add(event)

    def add(self, event: Event) -> None:
        """Take one more event, whose value fits its kind."""
        value, at = event.value, (event.time, event.seq)
        if event.kind == "opened":
            if self.ledger_id is None:
                self.ledger_id, self.lab, self.student = event.id, event.lab, value["student"]
        elif event.kind == "prediction":
            said = (frozen(value["value"]), value["confidence"])
            prediction = CommittedPrediction(*said, *at, value.get("words"))
            self.predictions.setdefault(event.id, prediction)
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
        inputs, before = frozen(event.value["inputs"]), self._uses.get(event.id)
        if before is None:
            use = Use((), inputs, event.time, event.time, event.seq, 1)
        else:
            use = Use((), inputs, before.first, event.time, before.first_seq, before.count + 1)
        self._uses[event.id] = use
        self._needs.setdefault(event.id, {}).update(dict.fromkeys(event.value["needs"]))

    def use(self, name: str) -> Use | None:
        """Return how an instrument was used so far; `None` if it was not."""
        found = self._uses.get(name)
        return found and replace(found, needs=tuple(self._needs[name]))

    def state(self) -> State:
        """Return the state as it is now; what is added later does not show in it."""
        answers = {
            name: last._replace(earlier=tuple(earlier))
            for name, (*earlier, last) in self.answers.items()
        }
        reflections = {
            name: ReflectionAttempts(tuple(attempts)) for name, attempts in self.attempts.items()
        }
        return State(
            ledger_id=self.ledger_id,
            student=self.student,
            lab=self.lab,
            predictions=MappingProxyType(dict(self.predictions)),
            reflections=MappingProxyType(reflections),
            answers=MappingProxyType(answers),
            designs=MappingProxyType(dict(self.designs)),
            uses=MappingProxyType(
                {n: replace(u, needs=tuple(self._needs[n])) for n, u in self._uses.items()}
            ),
        )
