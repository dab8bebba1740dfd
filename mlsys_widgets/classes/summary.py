"""What is known about a class, as plain data. Whatever is shown of it is drawn from here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

from mlsys_widgets.classes.charts import Group, pictures

#: From a guess to certain.
CONFIDENCES: Final = (1, 2, 3, 4, 5)

QuestionKind = Literal["number", "choice", "record", "essay", "other"]


@dataclass(frozen=True)
class Held:
    """A belief that some of the class hold: in a few words, in a sentence, and how many."""

    belief: str
    says: str
    count: int


@dataclass(frozen=True)
class Question:
    """How the class did in one question.

    Parameters
    ----------
    name, title, kind
        Which one.
    most
        What it is worth.
    mean
        The share of its points that the class earned; none if nobody was graded.
    discrimination
        How it goes with the rest of the lab: the correlation of its points with all others, from
        -1 to 1. None where everybody, or nearly nobody, has the same.
    right, partly, wrong, blank, waiting
        How many earned all, some or none of it, left it out, or wait for a person.
    held
        Beliefs that were recognised, the most frequent first.
    unexplained
        Wrong answers that several typed and no belief explains, as multiples of the key.
    """

    name: str
    title: str
    kind: QuestionKind
    most: float
    mean: float | None = None
    discrimination: float | None = None
    right: int = 0
    partly: int = 0
    wrong: int = 0
    blank: int = 0
    waiting: int = 0
    held: tuple[Held, ...] = ()
    unexplained: tuple[tuple[str, int], ...] = ()

    @property
    def count(self) -> int:
        """How many submissions there are."""
        return self.right + self.partly + self.wrong + self.blank + self.waiting


@dataclass(frozen=True)
class Said:
    """One thing that could be predicted: what, how many did, and for how many it is right."""

    words: str
    count: int
    right: int


@dataclass(frozen=True)
class Guess:
    """What the class predicted, and what was true.

    Parameters
    ----------
    name, title, question
        Which prediction.
    said
        Every option; for a number, how far off the prediction was.
    judged
        Whether it is known what is true.
    """

    name: str
    title: str
    question: str
    said: tuple[Said, ...]
    judged: bool

    @property
    def count(self) -> int:
        """How many predicted something."""
        return sum(each.count for each in self.said)

    @property
    def right(self) -> int:
        """How many were right."""
        return sum(each.right for each in self.said)


@dataclass(frozen=True)
class Calibration:
    """How often those were right who were so sure: count and right, for each confidence."""

    counts: Mapping[int, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, judged: Sequence[tuple[int, bool]]) -> Calibration:
        """From how sure somebody was, and whether that was right."""
        found = {sure: [good for s, good in judged if s == sure] for sure in CONFIDENCES}
        return cls({sure: (len(good), sum(good)) for sure, good in found.items()})

    def among(self, *sure: int) -> tuple[int, int]:
        """Count and right of some confidences together."""
        found = [self.counts.get(each, (0, 0)) for each in sure]
        return sum(n for n, _ in found), sum(right for _, right in found)

    @property
    def count(self) -> int:
        """How many there are."""
        return self.among(*CONFIDENCES)[0]


@dataclass(frozen=True)
class Row:
    """One submission. ``student`` is empty unless names were asked for.

    Parameters
    ----------
    total, penalty
        Points as they count, and what being late took off.
    minutes
        Time on task; none without a ledger.
    predicted, foreseen
        How many predictions were committed, and how many of them were right.
    waiting
        Whether something waits for a person.
    flags
        What a TA should look at.
    points, beliefs
        Of every question, by its name.
    """

    student: str
    total: float
    penalty: float
    minutes: float | None
    predicted: int
    foreseen: int
    waiting: bool
    flags: tuple[str, ...]
    points: Mapping[str, float]
    beliefs: Mapping[str, str]


@dataclass(frozen=True)
class ClassSummary:
    """A class in one lab.

    Parameters
    ----------
    lab, title
        Which lab.
    most
        What it is worth.
    rows
        A row for each submission, the best first.
    questions, guesses
        What was asked, in the order of the lab.
    predictions, quizzes
        How sure the class was and how right, in predictions and in quizzes.
    flags
        What a TA should look at, and for how many submissions.
    late
        How many handed in late.
    unjudged
        How many submissions ``mlsys grade`` did not see: their beliefs are not known.
    """

    lab: str
    title: str
    most: float
    rows: tuple[Row, ...] = ()
    questions: tuple[Question, ...] = ()
    guesses: tuple[Guess, ...] = ()
    predictions: Calibration = field(default_factory=Calibration)
    quizzes: Calibration = field(default_factory=Calibration)
    flags: tuple[tuple[str, int], ...] = ()
    late: int = 0
    unjudged: int = 0

    @property
    def scores(self) -> tuple[float, ...]:
        """All totals, the best first."""
        return tuple(row.total for row in self.rows)

    @property
    def minutes(self) -> tuple[float, ...]:
        """Time on task of everybody who left a ledger."""
        return tuple(row.minutes for row in self.rows if row.minutes is not None)

    @property
    def waiting(self) -> int:
        """How many submissions have something that waits for a person."""
        return sum(row.waiting for row in self.rows)

    @property
    def flagged(self) -> int:
        """How many submissions a TA should look at."""
        return sum(bool(row.flags) for row in self.rows)

    @cached_property
    def pictures(self) -> tuple[Group, ...]:
        """Everything there is to see, described as bars."""
        return pictures(self)

    def __repr__(self) -> str:
        return f"<ClassSummary of {self.lab}: {len(self.rows)} submissions>"
