"""What the coordinator asks of readers, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mlsys_widgets.grading.gradebook.gradebook_writer import GradebookEntry
from mlsys_widgets.grading.gradebook.graded_submission import GradedSubmission
from mlsys_widgets.grading.judging.told_answers import ToldAnswer
from mlsys_widgets.grading.reading.readers import ReaderMessage
from mlsys_widgets.ledger import Head
from mlsys_widgets.notebooks.remarks import Remark
from mlsys_widgets.sandbox.job import Ending


@dataclass(frozen=True)
class DigestRequest(ReaderMessage):
    """Compute the digest of what a student handed in."""

    student: str


@dataclass(frozen=True)
class DigestReply(ReaderMessage):
    """It tells one submission from another."""

    digest: str


@dataclass(frozen=True)
class JudgeByRecord(ReaderMessage):
    """Judge a submission by its record, if that is enough."""

    student: str
    #: The folder in which its autograded files are put together.
    fresh: Path
    #: Where the student's ledger ended at earlier gradings.
    heads: tuple[Head, ...]
    #: A folder for what a child gets, if something has to run: here the student's functions. It is
    #: made when it is needed.
    place: Path
    #: The answers that the student was told about, by question.
    told: Mapping[str, ToldAnswer] = field(default_factory=dict, kw_only=True)


@dataclass(frozen=True)
class JudgeHandIn(JudgeByRecord):
    """Judge by its record what lies in a folder of the exchange."""

    inbound: Path
    folder: str
    #: What a second answer counts, by question: those that had been told when this was handed in.
    shares: Mapping[str, float]


@dataclass(frozen=True)
class PrepareRun(JudgeByRecord):
    """Lay out what a child gets of a submission whose notebook runs."""


@dataclass(frozen=True)
class JudgeRun(PrepareRun):
    """Judge what a child has reported."""

    ending: Ending
    #: What there is to say about how it was run.
    remarks: tuple[Remark, ...]


@dataclass(frozen=True)
class MustRun(ReaderMessage):
    """The record of a submission is not enough."""

    why: str


@dataclass(frozen=True)
class ReadyToRun(ReaderMessage):
    """What a child gets is in its place; ``hidden`` are the cells it gets after its answers."""

    hidden: Mapping[int, str]


@dataclass(frozen=True)
class NotJudged(ReaderMessage):
    """A submission that could not be read, run or judged."""

    why: str


@dataclass(frozen=True)
class JudgedSubmission(ReaderMessage):
    """What a submission earned; its files lie in the folder that was asked for."""

    graded: GradedSubmission
    entry: GradebookEntry
    #: Where the ledger ends, and what tells it from the ledgers of others.
    head: Head | None
    origin: str
    digest: str
    #: The numbers that the student was given, so that answers can be judged again.
    parameters: Mapping[str, Any]
    #: What tells its measurement from those of others, if there is one.
    measurement: str = ""
    #: Inside its cells, as it says itself: for a benchmark, and nothing else.
    own_seconds: float = 0.0
