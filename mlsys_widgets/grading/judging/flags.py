"""What a TA should look at, as data: a doubtful ledger, two verdicts, a run that did not end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mlsys_widgets.notebooks.remarks import Note, NoteKind


class FlagKind(NoteKind):
    """What can be flagged: its name, its sentence, and what the report on a class calls it."""

    NOT_GRADED = "not graded", "not graded: {detail}", "it was not graded"
    NOT_FINISHED = (
        "not finished",
        "did not run to its end: {detail}",
        "the notebook did not run to its end",
    )
    MISSING_CELL = (
        "missing cell",
        "the graded cell {about} is missing",
        "a graded cell is missing",
    )
    NO_NOTEBOOK = "no notebook", "{detail}", "no notebook could be graded"
    LEFT_OUT = "left out", "{detail}", "some of what was handed in was left out"
    WORK_IN_COPY = (
        "work in a copy",
        "{about} is as it was released, and the work is in {detail}, so that was graded",
        "the work was in a copy beside a blank notebook",
    )
    WORK_BESIDE = (
        "work beside",
        "{about} was graded, but {detail}",
        "a second notebook has more work in it",
    )
    STRAY_ANSWER = (
        "stray answer",
        "no answer is recorded for {about}, but the notebook has {detail}, which was not counted",
        "an answer is written where it does not count",
    )
    STRAY_ESSAY = (
        "stray essay",
        "nothing is written where {about} is graded, but there is {detail}",
        "a text is written where it does not count",
    )
    TYPED_TEXT = (
        "typed text",
        "some answers are not recorded, and the notebook has text in {about}, such as {detail},"
        " which was not graded. Record answers in their cards",
        "answers may be typed as text into cells",
    )
    TWO_VERDICTS = (
        "two verdicts",
        "{about}: {detail}",
        "stock nbgrader would give other points",
    )
    FOREIGN_LEDGER = (
        "foreign ledger",
        "the ledger is of {detail}, so nothing in it counts",
        "the ledger is somebody else's",
    )
    PRACTICE = "practice", "{detail}", "practice was handed in instead of the lab"
    DOUBTFUL_LEDGER = "doubtful ledger", "ledger: {detail}", "the ledger does not fit together"
    CHANGED_LEDGER = (
        "changed ledger",
        "ledger: it is not the one that was handed in before. {detail}",
        "the ledger is not the one that was handed in before",
    )
    BAD_RECEIPT = (
        "bad receipt",
        "ledger: it does not match its receipt. {detail}",
        "the ledger does not match its receipt",
    )
    RECORD_UNUSABLE = (
        "record unusable",
        "no ledger was handed in that can be read, and the record in the notebook {detail}. Hand in"
        " the notebook and ledger.jsonl",
        "neither a ledger nor a record can be read",
    )
    NO_LEDGER = (
        "no ledger",
        "{detail} and the notebook carries no record, so nothing that was recorded could be graded."
        " Hand in the notebook and ledger.jsonl from the folder in which you worked",
        "nothing was handed in that records answers",
    )
    LEDGERS_MERGED = (
        "ledgers merged",
        "ledger: {about} were merged in the order of their times, as if they were one{detail}",
        "several ledgers were merged",
    )
    LEDGER_NOT_USED = (
        "ledger not used",
        "ledger: {about} was not used: {detail}",
        "a ledger was handed in and not used",
    )
    SHARED_LEDGER = (
        "shared ledger",
        "ledger: it has one origin with that of {about}. {detail}",
        "two ledgers have one origin",
    )
    SHIPPED_MEASUREMENT = (
        "shipped measurement",
        "{about} is {detail}, which comes with the package, so the answers about it earned nothing;"
        " ask for a measurement of the student's own machine",
        "the measurement is one that comes with the package",
    )
    SHARED_MEASUREMENT = (
        "shared measurement",
        "{detail} has the same timings as that of {about}, and no two runs do; ask whether they"
        " worked at one computer",
        "two students handed in one measurement",
    )
    OTHER_VERSION = (
        "other version",
        "version: {detail}",
        "it is not certain which version of the lab it is",
    )
    UNCERTAIN_TIME = (
        "uncertain time",
        "handed in: {detail}",
        "it is not certain when it was handed in",
    )
    AFTER_CLOSE = (
        "after close",
        "handed in after the lab had closed: {detail}",
        "it was handed in after the lab had closed",
    )
    STRANGER = (
        "stranger",
        "{detail} Two logins of one person: mlsys course merge {about} LOGIN. Somebody new: mlsys"
        " course add {about}",
        "somebody is not in the class",
    )
    AUDIT = (
        "audit",
        "audit: {about} by its record, and then by running it: {detail}",
        "its record and a run give different points",
    )
    OTHER = "other", "{detail}", "something else"


@dataclass(frozen=True)
class Flag(Note):
    """One thing that a TA should look at."""

    kind: FlagKind

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Flag:
        """Read what `as_data` wrote."""
        try:
            return cls(FlagKind(data["kind"]), str(data["about"]), str(data["detail"]))
        except (KeyError, ValueError):  # as a later version may write it
            return cls(FlagKind.OTHER, detail=str(data.get("sentence", "")))
