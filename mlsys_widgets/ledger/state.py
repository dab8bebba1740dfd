"""What a ledger says, taken together.

A state never changes; ask the ledger again after something was added. `fold` makes one from
events.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


class CommittedPrediction(NamedTuple):
    """A committed prediction."""

    value: Any
    confidence: int | None
    time: str
    seq: int


class Attempt(NamedTuple):
    """One attempt at a reflection; ``correct`` is `None` if nobody judged it."""

    value: Any
    correct: bool | None
    time: str
    seq: int


@dataclass(frozen=True)
class ReflectionAttempts:
    """All attempts at a reflection."""

    attempts: tuple[Attempt, ...]

    @property
    def value(self) -> Any:
        """The last attempt."""
        return self.attempts[-1].value

    @property
    def correct(self) -> bool | None:
        """Whether the last attempt is right."""
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
    """The design entry of a lab: a mapping of its fields."""

    lab: str
    fields: Mapping[str, Any]
    time: str
    seq: int

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def __iter__(self) -> Iterator[str]:
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
    """Everything a ledger says, by the id of the item it is about."""

    ledger_id: str | None
    student: str | None
    lab: str | None
    predictions: Mapping[str, CommittedPrediction]
    reflections: Mapping[str, ReflectionAttempts]
    answers: Mapping[str, Answer]
    designs: Mapping[str, Design]
    uses: Mapping[str, Use]
