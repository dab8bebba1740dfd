"""A class in a lab, as plain data. Page, tables and widget all start here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from mlsys_widgets.classes.neighbor_keys import NeighborKeys
from mlsys_widgets.classes.question_statistics import QuestionStatistics
from mlsys_widgets.wording.plurals import counted

#: From a guess to certain.
CONFIDENCES: Final = (1, 2, 3, 4, 5)

QuestionKind = Literal["number", "choice", "record", "essay", "code", "other"]
MemberState = Literal["graded", "not graded", "missing", "has time"]


@dataclass(frozen=True)
class BeliefCount:
    """A misconception, the sentence that explains it, and how many students hold it."""

    belief: str
    explanation: str
    count: int


@dataclass(frozen=True)
class QuestionSummary:
    """How the class did on one question."""

    name: str
    title: str
    kind: QuestionKind
    most: float
    #: The item of the lab that asks it of some students, if it is one of a pool of questions: their
    #: answers are told apart, and each has a summary of its own.
    item: str = ""
    #: The mean of what counts, as a fraction of its points, second chances and decisions of TAs
    #: included, of those who answered it; ``None`` if nobody did, or if some still wait.
    mean_earned: float | None = None
    #: How well it separates strong students from weak ones: among those who answered it, the
    #: correlation of its points with what they earned of everything else that they answered, from
    #: -1 to 1. ``None`` if the scores are all the same or too few.
    discrimination: float | None = None
    #: How many students earned all, some or none of its points, left it blank, or wait for a person
    #: to grade it.
    right: int = 0
    partly: int = 0
    wrong: int = 0
    blank: int = 0
    waiting: int = 0
    #: The misconceptions that were recognized, the most frequent first.
    beliefs: tuple[BeliefCount, ...] = ()
    #: Wrong answers that several students typed and no belief explains, as multiples of the key.
    unexplained: tuple[tuple[str, int], ...] = ()
    #: What else its answers tell, with intervals.
    statistics: QuestionStatistics = field(default_factory=QuestionStatistics)

    @property
    def count(self) -> int:
        return self.answered + self.blank + self.waiting

    @property
    def answered(self) -> int:
        """How many answers are graded, without those that were left blank."""
        return self.right + self.partly + self.wrong


@dataclass(frozen=True)
class PredictedOption:
    """One thing that could be predicted, how many students chose it, and how many were right."""

    label: str
    count: int
    right: int


@dataclass(frozen=True)
class OwnWordsLine:
    """A sentence that a student wrote about a prediction, and what was predicted."""

    predicted: str
    right: bool
    words: str


@dataclass(frozen=True)
class PredictionSummary:
    """Predictions of the class, and what was true."""

    name: str
    title: str
    question: str
    #: Every option; for a number, how far off the predictions were.
    options: tuple[PredictedOption, ...]
    judged: bool
    #: What students said about it afterward; those who were off come first.
    words: tuple[OwnWordsLine, ...] = ()
    #: What those believed who were off, the most frequent first, with the lab's answer to it.
    beliefs: tuple[BeliefCount, ...] = ()

    @property
    def count(self) -> int:
        return sum(option.count for option in self.options)

    @property
    def right(self) -> int:
        return sum(option.right for option in self.options)


@dataclass(frozen=True)
class Calibration:
    """For each confidence, how many answers were given with it and how many of them are right."""

    counts: Mapping[int, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, judged: Sequence[tuple[int, bool]]) -> Calibration:
        """Count pairs of a confidence and whether the answer was right."""
        found = {sure: [good for s, good in judged if s == sure] for sure in CONFIDENCES}
        return cls({sure: (len(good), sum(good)) for sure, good in found.items()})

    def among(self, *sure: int) -> tuple[int, int]:
        """Count and right answers of several confidences together."""
        found = [self.counts.get(each, (0, 0)) for each in sure]
        return sum(n for n, _ in found), sum(right for _, right in found)

    @property
    def count(self) -> int:
        return self.among(*CONFIDENCES)[0]


@dataclass(frozen=True)
class SubmissionRow:
    """One submission."""

    #: Whose it is; empty unless names were asked for.
    student: str
    #: The points as they count, and the late penalty that was subtracted.
    total: float
    penalty: float
    #: Time on task; ``None`` without a ledger.
    minutes: float | None
    #: How many predictions were committed, and how many of them were right.
    predicted: int
    predicted_right: int
    #: Whether something waits for a person to grade it.
    waiting: bool
    flags: tuple[str, ...]
    #: Points and recognized misconceptions, by the name of the question.
    points: Mapping[str, float]
    beliefs: Mapping[str, str]
    seconds_late: float = 0.0
    #: What is waiting and has no points yet is worth so much.
    open_points: float = 0.0
    #: How long before their due time a student began, and had half of what they answered, in
    #: hours; negative after it, and ``None`` without a ledger or a due time.
    began: float | None = None
    half_done: float | None = None
    #: Ideas that labs share: whether the student held each before and after, where it was asked.
    ideas: Mapping[str, tuple[bool, bool]] = field(default_factory=dict)
    #: What second answers earn by themselves, as fractions of the points, by question.
    second_credits: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ClassMember:
    """Somebody in the course, and how they stand in this lab."""

    #: Login and name; empty unless names were asked for.
    student: str
    name: str
    section: str
    #: Who grades their work; empty likewise.
    ta: str
    #: Whether there is a graded submission, one that is not graded yet, or nothing, before or after
    #: the due time of this student.
    state: MemberState
    #: Why they are at risk; empty if they are not.
    signs: tuple[str, ...] = ()
    #: What they handed in, if it is graded.
    row: SubmissionRow | None = None


@dataclass(frozen=True)
class ClassSummary:
    """A class in one lab.

    Parameters
    ----------
    rows
        A row for each submission, the best first.
    questions, predictions
        What the lab asked, in its order.
    prediction_calibration, quiz_calibration
        How confidence and correctness agree, in predictions and in quizzes.
    flags
        What a TA should look at, and in how many submissions.
    unjudged
        How many submissions ``mlsys grade`` did not see, so that their beliefs are unknown.
    neighbors
        Students whose wrong answers are right for a classmate, the least likely first.
    members
        Everybody in the course, whether they handed in or not.

    Examples
    --------
    Two submissions, the second of which waits for a person:

    >>> def row(total, waiting):
    ...     return SubmissionRow("", total, 0.0, 40.0, 3, 2, waiting, (), {}, {})
    >>> summary = ClassSummary("lab_02_caches", "Caches", 100, (row(92, False), row(71.5, True)))
    >>> summary.scores, summary.minutes, summary.waiting
    ((92, 71.5), (40.0, 40.0), 1)
    """

    lab: str
    title: str
    most: float
    rows: tuple[SubmissionRow, ...] = ()
    questions: tuple[QuestionSummary, ...] = ()
    predictions: tuple[PredictionSummary, ...] = ()
    prediction_calibration: Calibration = field(default_factory=Calibration)
    quiz_calibration: Calibration = field(default_factory=Calibration)
    flags: tuple[tuple[str, int], ...] = ()
    late: int = 0
    unjudged: int = 0
    neighbors: tuple[NeighborKeys, ...] = ()
    members: tuple[ClassMember, ...] = ()

    @property
    def scores(self) -> tuple[float, ...]:
        """All totals, the best first. What waits for a person counts 0."""
        return tuple(row.total for row in self.rows)

    @property
    def graded_percents(self) -> tuple[float, ...]:
        """What each submission earned of what is graded in it: without ungraded essays."""
        return graded_percents(self.rows, self.most)

    @property
    def missing(self) -> tuple[ClassMember, ...]:
        """Who handed in nothing by their due time."""
        return tuple(each for each in self.members if each.state == "missing")

    @property
    def at_risk(self) -> tuple[ClassMember, ...]:
        """Who shows signs of falling behind."""
        return tuple(each for each in self.members if each.signs)

    @property
    def penalty(self) -> float:
        """All points that late penalties took off."""
        return round(sum(row.penalty for row in self.rows), 2)

    @property
    def minutes(self) -> tuple[float, ...]:
        """Time on task of everybody who left a ledger."""
        return tuple(row.minutes for row in self.rows if row.minutes is not None)

    @property
    def waiting(self) -> int:
        """How many submissions wait for a person to grade something."""
        return sum(row.waiting for row in self.rows)

    @property
    def flagged(self) -> int:
        """How many submissions a TA should look at."""
        return sum(bool(row.flags) for row in self.rows)

    def __repr__(self) -> str:
        return f"<ClassSummary of {self.lab}: {counted(len(self.rows), 'submission')}>"


def graded_percents(rows: Iterable[SubmissionRow], most: float) -> tuple[float, ...]:
    """Return what each submission earned of what is graded in it, in percent.

    Examples
    --------
    An essay for 20 of 100 points waits, and 60 of the others are earned:

    >>> waits = SubmissionRow("", 60.0, 0.0, None, 0, 0, True, (), {}, {}, open_points=20.0)
    >>> graded_percents([waits], 100.0)
    (75.0,)
    """
    return tuple(
        100 * row.total / (most - row.open_points) for row in rows if most > row.open_points
    )
