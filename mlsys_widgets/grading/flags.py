"""What a TA should look at, as data: a doubtful ledger, two verdicts, a run that did not end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mlsys_widgets.sandbox.remarks import Note, NoteKind


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
    TWO_VERDICTS = (
        "two verdicts",
        "{about}: {detail}",
        "stock nbgrader would give other points",
    )
    FOREIGN_LEDGER = "foreign ledger", "ledger: {detail}", "the ledger is somebody else's"
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
    def from_data(cls, data: Mapping[str, Any] | str) -> Flag:
        """Read what `as_data` wrote; earlier versions wrote sentences, which are kept as such.

        Examples
        --------
        >>> Flag.from_data({"kind": "missing cell", "about": "limit", "detail": ""}).sentence
        'the graded cell limit is missing'
        >>> Flag.from_data("the graded cell limit is missing").kind.summary
        'something else'
        """
        if isinstance(data, str):
            return cls(FlagKind.OTHER, detail=data)
        try:
            return cls(FlagKind(data["kind"]), str(data["about"]), str(data["detail"]))
        except (KeyError, ValueError):  # as a later version may write it
            return cls(FlagKind.OTHER, detail=str(data.get("sentence", "")))
