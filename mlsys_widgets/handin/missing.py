"""Gaps in a lab that is about to be handed in, in sentences. None of them stops the hand-in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from textwrap import shorten
from typing import Any, Final, Literal

from mlsys_widgets.files import MEASUREMENT
from mlsys_widgets.handin.boxes import is_out_of_date
from mlsys_widgets.handin.work import LabWork
from mlsys_widgets.labs.identity import Student
from mlsys_widgets.labs.items import DESIGN
from mlsys_widgets.labs.student_steps import (
    DESIGN_MISSES,
    StudentStep,
    not_done,
    progress,
    saved_progress,
)
from mlsys_widgets.ledger import Ledger, LedgerError, State
from mlsys_widgets.ledger.carried_record import BadRecord, record_in
from mlsys_widgets.ledger.drafts import Drafts
from mlsys_widgets.ledger.events import timestamp

#: A notebook may be saved this many seconds before the last event without anything being amiss.
_SAME_MOMENT = 2.0
#: How many characters of a draft are quoted.
LONGEST_QUOTE: Final = 60


@dataclass(frozen=True)
class Missing:
    """Something to know before handing in."""

    #: What it is about: a step that is not done, or one of the files.
    kind: Literal["step", "draft", "design", "ledger", "notebook", "measurement", "name"]
    words: str
    #: The item it is about, if it is about one.
    item: str = ""


def what_is_missing(work: LabWork, student: Student) -> list[Missing]:
    """List everything that a student should know before the work is handed in."""
    return list(_missing(work, student))


def _missing(work: LabWork, student: Student) -> Iterator[Missing]:
    if student.uncertain:
        yield Missing(
            "name",
            f"You would hand in as {student.name}, which is your login on this computer. If your"
            " course knows you under another name, set it before you answer, because your numbers"
            " come with it: mlsys whoami NAME. If you have answered already, ask your TA first.",
        )
    if not work.ledger.exists():
        yield Missing("ledger", _without_ledger(work))
        yield from _of_drafts(work, None)
        return
    try:
        ledger = Ledger.open(work.ledger)
        state, verdict = ledger.state(), ledger.verify(student=student.name, lab=work.lab)
        events = ledger.events()
    except LedgerError as problem:
        yield Missing("ledger", f"Your ledger cannot be read. {problem}")
        return
    if verdict.first_problem is not None:
        yield Missing("ledger", f"Your ledger does not fit. {verdict.first_problem.sentence}")
    yield from _of_steps(work, state)
    yield from _of_drafts(work, state)
    yield from _of_measurement(work, state)
    if events:
        yield from _of_saving(work, events[-1].time)


def _without_ledger(work: LabWork) -> str:
    gone = f"There is no {work.ledger.name} beside the notebook"
    try:
        record = record_in(work.notebook)
    except (BadRecord, OSError):
        record = None
    if record is None:
        return (
            f"{gone}, so nothing that you did in the cards would be handed in. Is this the folder"
            " in which you worked?"
        )
    return (
        f"{gone}. The notebook carries what was recorded when it was last saved, and only that"
        " would be handed in. Open the lab and press Start to get the file back."
    )


def _of_steps(work: LabWork, state: State) -> Iterator[Missing]:
    saved = saved_progress(state, work.lab)
    for step in not_done(work.steps, saved):
        how = progress(step, saved)
        if step.kind == DESIGN and how.state == "tried":
            misses = state.answers.get(DESIGN_MISSES)
            words = " ".join(map(str, misses.value)) if misses is not None else ""
            yield Missing("design", f"Your design does not fit. {words}".strip())
        else:
            yield Missing("step", f"{_called(step)}: {how.words}.")


def _of_drafts(work: LabWork, state: State | None) -> Iterator[Missing]:
    """What stands in boxes and was never recorded; only what is recorded is handed in.

    A kernel that ended while it recorded something left its draft behind, which is out of date.
    """
    drafts = Drafts(work.ledger).read()
    for step in work.steps:
        for box, (draft, *_) in drafts.get(step.name, {}).items():
            if is_out_of_date(draft, step.name, box, state):
                continue
            typed = shorten(_typed(draft.value), LONGEST_QUOTE, placeholder=" …")
            quoted = f"“{typed}”" if typed else "something else"
            yield Missing(
                "draft",
                f"{_called(step)}: you entered {quoted} and have not recorded it, so it would not"
                " be handed in.",
                step.name,
            )
            break


def _typed(value: Any) -> str:
    """Write what stands in a box as text."""
    match value:
        case str():
            return value
        case list():
            return ", ".join(map(_typed, value))
        case Mapping():
            return ", ".join(map(_typed, filter(None, value.values())))
    return "" if value is None else str(value)


def _called(step: StudentStep) -> str:
    where = f"Act {step.act}, {step.kind}" if step.act else step.kind.capitalize()
    return f"{where} “{step.title}”"


def _of_measurement(work: LabWork, state: State) -> Iterator[Missing]:
    """Whether the file that is handed in is the one that was measured."""
    for step in work.steps:
        kept = state.answers.get(step.name) if step.kind == "measurement" else None
        if kept is None or not isinstance(kept.value, Mapping):
            continue
        recorded: Any = kept.value.get("digest")
        path = work.folder / MEASUREMENT
        if not path.is_file():
            yield Missing("measurement", f"{path.name} is gone; measure again, and answer again.")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != recorded:
            yield Missing(
                "measurement",
                f"{path.name} is not the file that you measured. Open the lab, and measure again or"
                " use this file; your answers are graded against it.",
            )


def _of_saving(work: LabWork, last: str) -> Iterator[Missing]:
    """Whether the notebook was saved since something was last done in it."""
    event = datetime.fromisoformat(last)
    saved = datetime.fromtimestamp(work.notebook.stat().st_mtime, UTC)
    if (event - saved).total_seconds() > _SAME_MOMENT:
        yield Missing(
            "notebook",
            f"{work.notebook.name} was last saved {timestamp(saved)}, and you have worked on since"
            " then: save it, or your latest changes stay behind.",
        )
