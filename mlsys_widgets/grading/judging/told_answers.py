"""Answers that students were told about: they count, whatever is handed in later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self, TypeVar

from mlsys_widgets.grading.judging.own_measurement import SubmittedGiven
from mlsys_widgets.judging.code_keys import kept_replies
from mlsys_widgets.judging.judge_answer import judge_answer
from mlsys_widgets.judging.keys import Checks, CodeKey, Given, Key
from mlsys_widgets.judging.verdicts import Verdict, judge
from mlsys_widgets.labs import Parameters, UnusableAnswer
from mlsys_widgets.sandbox.answer_data import from_data, to_data

_Answer = TypeVar("_Answer", bound="JudgedAnswer")


@dataclass(frozen=True)
class JudgedAnswer:
    """An answer as it was judged when it was handed in."""

    data: Sequence[str]  # as in a `Score`: exact, and in words
    answer: str
    credit: float
    says: str
    belief: str | None = None
    time: str = ""  # when it was handed in, in UTC; empty if nothing says so

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


class NotKept(Exception):
    """A check asks for something that was not kept, or may be another one by now."""


class GivenWithoutFiles(SubmittedGiven):
    """What a student was given when an answer was told: files may have been changed since."""

    def __getattribute__(self, name: str) -> Any:
        if name == "folder":
            raise NotKept("its check looks at a file, and its answer was judged at the hand-in")
        return super().__getattribute__(name)


def judged_now(
    name: str, checks: Checks, given: Given, data: Sequence[str] | None
) -> Verdict | str:
    """Judge a kept answer by the checks of now; words say why that cannot be, and it stays."""
    if name not in checks:
        return "checks.py has no check of that name any more"
    try:
        answer = from_data((data or ())[:2])
    except (UnusableAnswer, ValueError, OverflowError) as reason:
        return Verdict(0.0, f"Not usable: {reason}.")

    def replies(key: CodeKey) -> Sequence[Any]:
        found = kept_replies(key, (data or ())[2])
        if found is None:
            raise NotKept("its cases have changed, so it must be called again: mlsys grade --force")
        return found

    try:
        return judge_answer(checks[name], given, answer, replies)
    except NotKept as why:
        return str(why)
    except MemoryError:
        raise
    except Exception as problem:
        # Whatever is wrong with a check, it must not cost a class its points.
        return f"its check fails: {type(problem).__name__}: {problem}"[:200]


def judged_again(
    known: _Answer, name: str, checks: Checks, parameters: Mapping[str, Any], folder: Path
) -> _Answer:
    """Return an answer that was told with what the checks of now say; as it was if they cannot."""
    given = GivenWithoutFiles(Parameters(parameters), folder)
    found = judged_now(name, checks, given, known.data)
    if isinstance(found, str):
        return known
    return replace(known, credit=found.credit, says=found.says, belief=found.belief)
