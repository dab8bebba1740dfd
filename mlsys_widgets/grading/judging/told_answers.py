"""Answers that students were told about: they count, whatever is handed in later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from mlsys_widgets.grading.judging.own_measurement import SubmittedGiven
from mlsys_widgets.judging.keys import Key
from mlsys_widgets.judging.verdicts import judge
from mlsys_widgets.sandbox.answer_data import to_data


@dataclass(frozen=True)
class JudgedAnswer:
    """An answer as it was judged when it was handed in.

    Parameters
    ----------
    data, answer
        As in a `Score`: exact, and in words.
    time
        When it was handed in, in UTC; empty if nothing says so.
    """

    data: Sequence[str]
    answer: str
    credit: float
    says: str
    belief: str | None = None
    time: str = ""

    @classmethod
    def of(cls, key: Key, value: Any, **more: Any) -> Self:
        """Judge an answer by its key."""
        found = judge(key, value)
        data, words = to_data(value), repr(value)[:80]
        return cls(data, words, found.credit, found.says, found.belief, **more)


@dataclass(frozen=True)
class SecondAnswer(JudgedAnswer):
    """An answer to the same question on new numbers, and what part of it counts.

    Its words are those of its question, because nobody else knows what was asked.
    """

    share: float = 1.0
    attempt: int = 1
    #: The numbers of the attempt, so that it can be judged again.
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def worth(self) -> float:
        """The fraction of the points that it earns."""
        return self.credit * self.share


@dataclass(frozen=True)
class ToldAnswer:
    """What a student was told about a question."""

    first: JudgedAnswer
    second: SecondAnswer | None = None

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """Read what `as_data` returned."""
        second = data["second"]
        return cls(JudgedAnswer(**data["first"]), SecondAnswer(**second) if second else None)

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return asdict(self)


class LooksAtFile(Exception):
    """A check asks for a file that may be another one by now."""


class GivenWithoutFiles(SubmittedGiven):
    """What a student was given when an answer was told: files may have been changed since."""

    def __getattribute__(self, name: str) -> Any:
        if name == "folder":
            raise LooksAtFile("its check looks at a file, and its answer was judged at the hand-in")
        return super().__getattribute__(name)
