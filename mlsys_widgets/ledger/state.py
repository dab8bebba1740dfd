"""What a ledger says, taken together: predictions, reflections, answers, designs, uses.

A state never changes; ask the ledger again after something was added. `fold` makes one from
events. Times are texts in UTC, such as ``2026-02-03T09:30:00.000Z``, and sort as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


class CommittedPrediction(NamedTuple):
    """A committed prediction.

    Parameters
    ----------
    value
        What was predicted: the key of an option, or a number in SI units.
    confidence : int or None
        From 1, a guess, to 5, certain; `None` if nobody asked.
    time : str
        When it was committed.
    seq : int
        The number of its event.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from mlsys_widgets.ledger import Ledger
    >>> with TemporaryDirectory() as folder:
    ...     ledger = Ledger.open(
    ...         Path(folder) / "ledger.jsonl",
    ...         lab="lab_11_roofline",
    ...         student="ann",
    ...         clock=lambda: datetime(2026, 2, 3, 9, 30, tzinfo=UTC),
    ...     )
    ...     ledger.commit_prediction("act1_bound", "memory", confidence=4)
    CommittedPrediction(value='memory', confidence=4, time='2026-02-03T09:30:00.000Z', seq=1)
    """

    value: Any
    confidence: int | None
    time: str
    seq: int


class Attempt(NamedTuple):
    """One attempt at a reflection.

    Parameters
    ----------
    value
        What was chosen or written; for gaps in a sentence, the choice for each gap.
    correct : bool or None
        Whether it was right; `None` if nobody judged it, as with words of one's own.
    time : str
        When.
    seq : int
        The number of its event.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from mlsys_widgets.ledger import Ledger
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "ledger.jsonl"
    ...     ledger = Ledger.open(path, lab="lab_11_roofline", student="ann")
    ...     attempt = ledger.record_reflection("act1_why", "faster memory", correct=False)
    >>> attempt.value, attempt.correct
    ('faster memory', False)
    """

    value: Any
    correct: bool | None
    time: str
    seq: int


@dataclass(frozen=True)
class ReflectionAttempts:
    """All attempts at a reflection.

    Parameters
    ----------
    attempts : tuple of Attempt
        In order, the first one first; there is at least one.

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

    Parameters
    ----------
    value
        What was answered.
    unit : str or None
        Its unit in words, for a number.
    confidence : int or None
        From 1 to 5, where a quiz asked for it.
    time : str
        When.
    seq : int
        The number of its event.
    earlier : tuple of Answer
        What was answered before, the first one first.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from mlsys_widgets.ledger import Ledger
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "ledger.jsonl"
    ...     ledger = Ledger.open(path, lab="lab_11_roofline", student="ann")
    ...     for ridge in (0.295, 295, 295):  # to repeat an answer writes nothing
    ...         _ = ledger.record_answer("ridge", ridge, unit="FLOP per byte")
    ...     answer = ledger.state().answers["ridge"]
    >>> answer.value, answer.attempts, [each.value for each in answer.earlier]
    (295, 2, [0.295])
    """

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
    """The design entry of a lab: a mapping of its fields.

    Parameters
    ----------
    lab : str
        The lab that handed it on.
    fields : mapping
        What was decided and found, by name.
    time : str
        When it was saved.
    seq : int
        The number of its event.

    Examples
    --------
    >>> at = "2026-02-03T09:30:00.000Z"
    >>> design = Design("lab_11_roofline", {"precision": "fp16", "batch": 8}, at, seq=7)
    >>> design["batch"], sorted(design), design.get("device", "any")
    (8, ['batch', 'precision'], 'any')
    """

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
    """How an instrument was used.

    Parameters
    ----------
    needs : tuple of str
        The predictions that had to be committed before.
    inputs : mapping
        How it was set when that was last recorded.
    first, last : str
        When it was first used, and when last.
    first_seq : int
        The number of the first event, to compare with that of a prediction.
    count : int
        How often a use was recorded: at most once a minute, however often a slider moves.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from mlsys_widgets.ledger import Ledger
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "ledger.jsonl"
    ...     ledger = Ledger.open(path, lab="lab_11_roofline", student="ann")
    ...     for n in (512, 1024, 2048):
    ...         use = ledger.record_use("roofline", needs="act1_bound", inputs={"n": n})
    >>> use.count, use.needs, dict(use.inputs)
    (1, ('act1_bound',), {'n': 512})
    """

    needs: tuple[str, ...]
    inputs: Mapping[str, Any]
    first: str
    last: str
    first_seq: int
    count: int


@dataclass(frozen=True)
class State:
    """Everything a ledger says, by the id of the item it is about.

    Parameters
    ----------
    ledger_id, student, lab : str or None
        The random id of the ledger, and whose it is; `None` as long as nothing was written.
    predictions : mapping of str to CommittedPrediction
        Predictions.
    reflections : mapping of str to ReflectionAttempts
        Reflections, each with its attempts.
    answers : mapping of str to Answer
        Everything else that was answered.
    designs : mapping of str to Design
        The design entry, by the name of its lab.
    uses : mapping of str to Use
        Instruments, by their id.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from mlsys_widgets.ledger import Ledger
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "ledger.jsonl"
    ...     ledger = Ledger.open(path, lab="lab_11_roofline", student="ann")
    ...     before = ledger.state()
    ...     _ = ledger.commit_prediction("act1_bound", "memory")
    ...     _ = ledger.record_answer("ridge", 295)
    ...     after = ledger.state()
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
