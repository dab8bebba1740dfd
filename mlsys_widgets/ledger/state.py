"""The state of a ledger: predictions, reflections, answers, designs, uses.

A state never changes; ask the ledger again after something was added. `fold` makes one from
events. Times are texts in UTC, such as ``2026-02-03T09:30:00.000Z``, and sort as they are; ``seq``
is the number of an event.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


class CommittedPrediction(NamedTuple):
    """A committed prediction."""

    value: Any  #: What was predicted: the key of an option, or a number in SI units.
    confidence: int | None  #: From 1, a guess, to 5, certain; `None` if nobody asked.
    time: str
    seq: int
    #: The value as the student read it: keys of options are never shown, and their words may differ
    #: from student to student.
    words: str | None = None


class Attempt(NamedTuple):
    """One attempt at a reflection."""

    value: Any  #: What was chosen or written; for gaps in a sentence, the choice for each gap.
    #: Whether it was right; `None` if nobody judged it, as with words of one's own.
    correct: bool | None
    time: str
    seq: int


@dataclass(frozen=True)
class ReflectionAttempts:
    """All attempts at a reflection, the first one first; there is at least one.

    Examples
    --------
    Who was right only at the second try?

    >>> first = Attempt("more TFLOPS", False, "2026-02-03T09:30:00.000Z", seq=2)
    >>> second = Attempt("larger matrices", True, "2026-02-03T09:31:10.000Z", seq=3)
    >>> why = ReflectionAttempts((first, second))
    >>> why.value, why.correct, len(why.attempts)
    ('larger matrices', True, 2)
    """

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
    """The answer that stands, and those before it.

    Examples
    --------
    >>> from mlsys_widgets.ledger import Ledger
    >>> ledger = Ledger.open(folder / "ledger.jsonl", lab="lab_11_roofline", student="ann")
    >>> for ridge in (0.295, 295, 295):  # to repeat an answer writes nothing
    ...     _ = ledger.record_answer("ridge", ridge, unit="FLOP per byte")
    >>> answer = ledger.state().answers["ridge"]
    >>> answer.value, answer.attempts, [each.value for each in answer.earlier]
    (295, 2, [0.295])
    """

    value: Any
    unit: str | None  #: Its unit in words, for a number.
    confidence: int | None  #: From 1 to 5, where a quiz asked for it.
    time: str
    seq: int
    earlier: tuple[Answer, ...] = ()  #: What was answered before, the first one first.

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
    """How an instrument was used."""

    needs: tuple[str, ...]  #: The predictions that had to be committed before.
    inputs: Mapping[str, Any]  #: How it was set when that was last recorded.
    #: ``first``, ``last``: when it was first used, and when last.
    first: str
    last: str
    first_seq: int  #: The number of the first event, to compare with that of a prediction.
    #: How often a use was recorded: at most once a minute, however often a slider moves.
    count: int


@dataclass(frozen=True)
class State:
    """Everything a ledger says, by the id of the item it is about.

    As long as nothing was written, nobody knows whose ledger it is. Designs go by the name of their
    lab.

    Examples
    --------
    >>> from mlsys_widgets.ledger import Ledger
    >>> ledger = Ledger.open(folder / "ledger.jsonl", lab="lab_11_roofline", student="ann")
    >>> before = ledger.state()
    >>> _ = ledger.commit_prediction("act1_bound", "memory")
    >>> _ = ledger.record_answer("ridge", 295)
    >>> after = ledger.state()
    >>> after.student, list(after.predictions), list(after.answers)
    ('ann', ['act1_bound'], ['ridge'])
    >>> before.student, list(before.answers)  # a state never changes
    (None, [])
    """

    ledger_id: str | None
    student: str | None
    lab: str | None
    predictions: Mapping[str, CommittedPrediction]
    reflections: Mapping[str, ReflectionAttempts]
    answers: Mapping[str, Answer]
    designs: Mapping[str, Design]
    uses: Mapping[str, Use]
