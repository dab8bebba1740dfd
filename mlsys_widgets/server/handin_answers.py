"""What the panel is told about handing in, and handing in as a file: no course has to be there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mlsys_widgets.handin.archive import HandInResult, archive_name
from mlsys_widgets.handin.due_now import due_now, lateness
from mlsys_widgets.handin.missing import Missing, what_is_missing
from mlsys_widgets.handin.work import LabWork
from mlsys_widgets.labs.identity import Student


@dataclass(frozen=True)
class HandInOutlook:
    """Who would hand in what, and what is missing: to a course, or as a file."""

    lab: str
    title: str
    student: str
    course: str | None
    file: str | None
    missing: tuple[Missing, ...]
    due: Mapping[str, Any] | None
    #: Whether it is judged and told at once, and then stands.
    told_at_once: bool = False


@dataclass(frozen=True)
class HandInReceipt:
    """The files that were handed in, and when."""

    file: str | None
    course: str | None
    lateness: str | None
    time: str
    files: tuple[str, ...]
    #: What came of it, as far as it is told at once.
    told: tuple[str, ...] = ()


def outlook(
    work: LabWork, who: Student, *, course: str | None = None, told_at_once: bool = False
) -> HandInOutlook:
    """Say what would be handed in, by whom and how, and what is missing."""
    return HandInOutlook(
        lab=work.lab,
        title=work.title,
        student=who.name,
        course=course,
        file=None if course else archive_name(work.lab, who.name),
        missing=tuple(what_is_missing(work, who)),
        due=due_now(work),
        told_at_once=told_at_once,
    )


def receipt_of_file(work: LabWork, done: HandInResult, place: str) -> HandInReceipt:
    """Return the receipt of a file to hand in that was made."""
    return HandInReceipt(
        file=place,
        course=None,
        lateness=lateness(work, done.time),
        time=done.time.isoformat(timespec="seconds"),
        files=tuple(done.files),
    )
