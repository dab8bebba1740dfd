"""What is said about a submission, once all is known: remarks that need a person become flags.

Whether a misplaced answer matters is known only when everything is judged: an answer that is also
in the ledger counts, and there is nothing to say about a second one in a notebook.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from mlsys_widgets.grading.judging.flags import Flag, FlagKind
from mlsys_widgets.grading.judging.scoring import Score
from mlsys_widgets.notebooks.new_cells import markdown_cell
from mlsys_widgets.notebooks.remarks import Note, Remark, RemarkKind, quoted

_COPIES: Final[Mapping[RemarkKind, FlagKind]] = {
    RemarkKind.WORK_IN_COPY: FlagKind.WORK_IN_COPY,
    RemarkKind.WORK_BESIDE: FlagKind.WORK_BESIDE,
}
#: Remarks that a person always looks at.
_ALWAYS: Final[Mapping[RemarkKind, FlagKind]] = {
    **_COPIES,
    RemarkKind.LEDGERS_MERGED: FlagKind.LEDGERS_MERGED,
    RemarkKind.LEDGER_NOT_USED: FlagKind.LEDGER_NOT_USED,
    RemarkKind.RECORD_UNUSABLE: FlagKind.RECORD_UNUSABLE,
    RemarkKind.PRACTICE: FlagKind.PRACTICE,
}
_STRAYS: Final[Mapping[RemarkKind, FlagKind]] = {
    RemarkKind.STRAY_ANSWER: FlagKind.STRAY_ANSWER,
    RemarkKind.STRAY_ESSAY: FlagKind.STRAY_ESSAY,
}
#: Remarks about files that nobody will grade, though somebody handed them in.
_LEFT_OUT: Final = (
    RemarkKind.LEFT_OUT,
    RemarkKind.MORE_LEFT_OUT,
    RemarkKind.MORE_CELLS,
    RemarkKind.TOO_DEEP,
    RemarkKind.FOLDER_NOT_READ,
)
#: Files that one flag names; the others are counted.
_MOST_NAMES: Final = 3
_NO_NOTEBOOK: Final = (RemarkKind.NO_NOTEBOOK, RemarkKind.UNREADABLE)
#: Remarks that say what a flag of the same name says.
_SAID_BY_FLAGS: Final[Mapping[RemarkKind, FlagKind]] = {
    RemarkKind.MISSING_CELL: FlagKind.MISSING_CELL,
    RemarkKind.NOT_FINISHED: FlagKind.NOT_FINISHED,
}
#: What a student can do better next time, and reads above the graded notebook.
_FOR_STUDENTS: Final = frozenset(
    {
        *_COPIES.values(),
        *_STRAYS.values(),
        FlagKind.LEFT_OUT,
        FlagKind.PRACTICE,
        RemarkKind.OTHER_ENCODING,
        RemarkKind.CONFLICT,
        RemarkKind.CONFLICT_CELL,
        RemarkKind.OTHER_NAME,
        RemarkKind.OTHER_FILE,
        RemarkKind.ZIPPED,
        RemarkKind.LEDGER_ELSEWHERE,
        RemarkKind.LEDGER_RESAVED,
        FlagKind.LEDGERS_MERGED,
        FlagKind.LEDGER_NOT_USED,
        FlagKind.FOREIGN_LEDGER,
        FlagKind.NO_LEDGER,
        FlagKind.TYPED_TEXT,
        FlagKind.RECORD_UNUSABLE,
        RemarkKind.LEDGER_ALONE,
        RemarkKind.RESTORED_CELL,
        RemarkKind.EDITED_CELL,
    }
)


def raise_flags(
    flags: Iterable[Flag], remarks: Iterable[Remark], scores: Sequence[Score]
) -> tuple[tuple[Flag, ...], tuple[Remark, ...]]:
    """Turn remarks that a person should look at into flags, and say nothing twice.

    Whether a misplaced answer matters depends on what everything earned.
    """
    by_name = {score.name: score for score in scores}
    recorded = any(score.judged and score.auto for score in scores)
    remarks = dict.fromkeys(remarks)
    raised, kept = [*_left_out(each for each in remarks if each.kind in _LEFT_OUT)], []
    for remark in remarks:
        if remark.kind in _LEFT_OUT:
            continue
        if remark.kind in _ALWAYS:
            raised.append(Flag(_ALWAYS[remark.kind], remark.about, remark.detail))
        elif remark.kind in _STRAYS:
            if _matters(by_name.get(remark.about)):
                raised.append(Flag(_STRAYS[remark.kind], remark.about, remark.detail))
        elif remark.kind is RemarkKind.TYPED_TEXT:
            if any(score.judged and score.answer == "" for score in scores):
                raised.append(Flag(FlagKind.TYPED_TEXT, remark.about, remark.detail))
        elif remark.kind is RemarkKind.NO_LEDGER:
            # Where code has computed answers, there is nothing to miss.
            if not recorded and not any(score.judged and score.answer for score in scores):
                raised.append(Flag(FlagKind.NO_LEDGER, remark.about, remark.detail))
        elif remark.kind in _NO_NOTEBOOK:
            more = ". What its ledger records was graded" if recorded else ""
            raised.append(Flag(FlagKind.NO_NOTEBOOK, detail=f"{remark.sentence}{more}"))
        else:
            kept.append(remark)
    unusable = any(flag.kind is FlagKind.NO_NOTEBOOK for flag in raised)
    # A notebook that could not be read did not run to its end either.
    known = [f for f in flags if not (unusable and f.kind is FlagKind.NOT_FINISHED)]
    told = {flag.kind for flag in known} | ({FlagKind.NOT_FINISHED} if unusable else set())
    kept = [remark for remark in kept if _SAID_BY_FLAGS.get(remark.kind) not in told]
    return tuple(dict.fromkeys([*raised, *known])), tuple(kept)


def _left_out(remarks: Iterable[Remark]) -> Iterator[Flag]:
    """Flag what was left out, once for each reason."""
    files: dict[str, list[str]] = {}
    for remark in remarks:
        if remark.kind is RemarkKind.LEFT_OUT:
            files.setdefault(remark.detail, []).append(quoted(remark.about))
        else:
            yield Flag(FlagKind.LEFT_OUT, detail=remark.sentence)
    for why, names in files.items():
        more = len(names) - _MOST_NAMES
        named = names[:_MOST_NAMES] + ([f"{more} more"] if more > 0 else [])
        words = f"{', '.join(named[:-1])} and {named[-1]} were" if named[1:] else f"{named[0]} was"
        yield Flag(FlagKind.LEFT_OUT, detail=f"{words} left out: {why}")


def _matters(score: Score | None) -> bool:
    """Whether an answer is missing: nothing was typed or recorded, or nothing was written."""
    if score is None:
        return False
    return score.answer == "" if score.judged else score.auto == 0


def show_notes(book: Any, notes: Iterable[Note]) -> None:
    """Tell a student above the graded notebook what was found, and what to do next time.

    Those that a student can do nothing about are left out.
    """
    sentences = dict.fromkeys(note.sentence for note in notes if note.kind in _FOR_STUDENTS)
    if not sentences:
        return
    lines = [f"- {sentence[:1].upper()}{sentence[1:]}." for sentence in sentences]
    text = "\n".join(["**About what you handed in**", "", *lines])
    ids = {cell.get("id") for cell in book["cells"]}
    name = "about-this-submission"
    while name in ids:
        name += "-"
    book["cells"].insert(0, markdown_cell(text, name))
