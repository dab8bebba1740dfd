"""What there is to say about a submission, as data; the sentence is made where people read it.

Whoever counts or sorts remarks looks at their kind. What students wrote can be in a remark, so it
is made printable on the way in: it moves no cursor and fits on a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

_LONGEST: Final = 300


class NoteKind(StrEnum):
    """The kind of a note: its name, its sentence, and what it is called where nobody is named."""

    template: str
    summary: str

    def __new__(cls, value: str, template: str = "", summary: str = "") -> Self:
        """Keep the words beside the name."""
        kind = str.__new__(cls, value)
        kind._value_ = value
        kind.template, kind.summary = template, summary
        return kind


@dataclass(frozen=True)
class Note:
    """One thing to say: its kind, what it is about, and the details."""

    kind: NoteKind
    about: str = ""
    detail: str = ""

    def __post_init__(self) -> None:
        for name in ("about", "detail"):
            object.__setattr__(self, name, printable(getattr(self, name)))

    @property
    def sentence(self) -> str:
        """The note in words, without a period."""
        return self.kind.template.format(about=self.about, detail=self.detail)[:_LONGEST]

    def as_data(self) -> dict[str, str]:
        """Return the note as JSON has it: the data, and the sentence for whoever only reads."""
        return {
            "kind": self.kind.value,
            "about": self.about,
            "detail": self.detail,
            "sentence": self.sentence,
        }


def printable(words: str) -> str:
    """Make words fit for a terminal, whoever wrote them."""
    shown = (c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in words[:_LONGEST])
    return "".join(shown)


def quoted(words: str, longest: int = 60) -> str:
    """Put what a student chose, such as the name of a file, into quotes, and not too much of it.

    Whatever it says, nobody takes it for words of ours.
    """
    plain = printable(words.replace("“", '"').replace("”", '"'))
    if len(plain) > longest:
        half = (longest - 1) // 2
        plain = f"{plain[:half]}…{plain[-half:]}"
    return f"“{plain}”"


class RemarkKind(NoteKind):
    """What can be remarked about a submission."""

    OTHER_KERNEL = "other kernel", "it was saved with the kernel {detail}"
    DUPLICATE_CELL = (
        "duplicate cell",
        "the cell {about} is there more than once; the last one counts",
    )
    UNKNOWN_CELL = "unknown cell", "the cell {about} does not belong to this lab"
    OTHER_TYPE = "other type", "the cell {about} was turned {detail}"
    OTHER_METADATA = (
        "other metadata",
        "the cell {about} has other nbgrader metadata than it was released with",
    )
    MISSING_CELL = "missing cell", "the graded cell {about} is missing"
    RESTORED_CELL = (
        "restored cell",
        "cells of the lab were missing ({about}). They were restored, and everything ran with them",
    )
    LOST_METADATA = (
        "lost metadata",
        "the notebook came without nbgrader's notes on its cells, as some editors save it; {detail}"
        " recognized by text and place",
    )
    EDITED_CELL = (
        "edited cell",
        "cells of the lab were edited ({about}). They ran as they were released, so what was typed"
        " there did not count; code goes into cells of your own",
    )
    STRAY_ANSWER = (
        "stray answer",
        "{about} has no recorded answer, but the notebook has {detail}. Record it in its card, or"
        ' with lab.answer("{about}", …) in the cell above its test',
    )
    STRAY_ESSAY = (
        "stray essay",
        "nothing is written where {about} is graded, but there is {detail}. Write it in its card",
    )
    TYPED_TEXT = (
        "typed text",
        "some answers are not recorded, and the notebook has text in {about}, such as {detail},"
        " which was not graded. Record answers in their cards",
    )
    CONFLICT_CELL = (
        "conflict in a cell",
        "the cell {about} still has the markers of a Git merge conflict, so it cannot run",
    )
    NO_NOTEBOOK = "no notebook", "there is no {about}{detail}"
    UNREADABLE = "unreadable", "{detail}"
    OTHER_ENCODING = (
        "other encoding",
        "the notebook was saved as {detail} and read all the same. JupyterLab saves UTF-8, which"
        " every system reads",
    )
    CONFLICT = (
        "merge conflict",
        "the notebook has the markers of a Git merge conflict. Both sides say the same in every"
        " cell, so it was graded; next time, resolve the conflict first",
    )
    OTHER_NAME = (
        "other name",
        "there is no {about}, so {detail} was graded in its place. Next time, keep the name and the"
        " place of the file",
    )
    OTHER_FILE = (
        "other file",
        "{about} is not a notebook, so {detail} was graded in its place. Next time, hand in one"
        " notebook, under the name that it was given to you with",
    )
    ZIPPED = (
        "zipped",
        "{about} is a zip archive; the one notebook in it was graded. Next time, hand in the"
        " notebook itself",
    )
    WORK_IN_COPY = (
        "work in a copy",
        "{about} is as it was released, and the work is in {detail}, so that was graded",
    )
    WORK_BESIDE = "work beside", "{about} was graded, but {detail}"
    LEDGER_ELSEWHERE = "ledger elsewhere", "{about}, so {detail} was graded in its place"
    LEDGER_RESAVED = (
        "ledger resaved",
        "{about} was saved {detail} and read all the same. Next time, hand it in as it is",
    )
    LEDGERS_MERGED = (
        "ledgers merged",
        "{about} were merged in the order of their times, as if they were one{detail}",
    )
    LEDGER_NOT_USED = "ledger not used", "{about} was not used: {detail}"
    NO_LEDGER = (
        "no ledger",
        "{detail} and the notebook carries no record, so nothing that was recorded could be graded."
        " Hand in the notebook and ledger.jsonl from the folder in which you worked",
    )
    RECORD_UNUSABLE = (
        "record unusable",
        "no ledger was handed in that can be read, and the record in the notebook {detail}. Hand in"
        " the notebook and ledger.jsonl",
    )
    LEDGER_ALONE = (
        "ledger alone",
        "there is no {about}, so what the ledger records was graded, in the notebook as it was"
        " released",
    )
    PRACTICE = "practice", "{detail}"
    LEFT_OUT = "left out", "“{about}” was left out: {detail}"
    FOLDER_NOT_READ = "folder not read", "its folder was not read: {detail}"
    MORE_LEFT_OUT = "more left out", "{detail} more files were left out: too many, or too large"
    MORE_CELLS = (
        "more cells",
        "the notebook has {about} cells, so of those that are not the lab's all but the first"
        " {detail} were left out",
    )
    TOO_DEEP = "too deep", "what lies more than {detail} folders deep was left out"
    NOT_STARTED = "not started", "it could not be started: {detail}"
    NOT_BELIEVED = "not believed", "something that it wrote about itself was left out"
    NOT_FINISHED = "not finished", "it did not run to its end: {detail}"
    RUN_AGAIN = "run again", "its process was lost, so it was run a second time from the start"
    GRADED_AGAIN = (
        "graded again",
        "its graded notebook was missing or cut short, as by a crash or a full disk, so it was"
        " graded again; make its feedback again, too",
    )
    RUN_LATER = (
        "run later",
        "it took long while others waited, so it was stopped and run from the start after them",
    )


@dataclass(frozen=True)
class Remark(Note):
    """What was wrong with a submission and could be dealt with."""

    kind: RemarkKind

    @classmethod
    def from_data(cls, data: dict[str, str]) -> Remark:
        """Read what `as_data` wrote."""
        return cls(RemarkKind(data["kind"]), data["about"], data["detail"])
