"""What a course knows about its hand-ins, apart from what was handed in: read once for a class.

When the lab was released is noted by the hub when it releases one, in ``.mlsys/released.json``:
``{"lab_07_kernel_fusion": "2026-10-01T09:00:00Z"}``. On other servers, instructors may write it.
What the hub saw of hand-ins is in its notes, see `mlsys_widgets.ledger.hand_in_notes`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Self

from mlsys_widgets.course.course import Course
from mlsys_widgets.files import OWN_FOLDER, RELEASED, TIMESTAMP
from mlsys_widgets.grading.reading.hand_in_time import HandInTime, hand_in_time, read_time
from mlsys_widgets.ledger.hand_in_notes import HandInNote, notes_beside, read_notes

#: As much of a timestamp as is read.
_LONGEST: Final = 200


@dataclass(frozen=True)
class HandInFacts:
    """The known facts about the hand-ins of one lab."""

    #: When it was released, if that is known.
    released: datetime | None = None
    #: What the hub has noted, by student, in order.
    notes: Mapping[str, tuple[HandInNote, ...]] = field(default_factory=dict)
    #: The time zone that the course tells nbgrader.
    zone: str = ""
    #: Whether the lab has a due date.
    due: bool = True

    @classmethod
    def of(cls, course: Course, lab: str, *, due: bool) -> Self:
        """Read what a course knows."""
        notes: dict[str, list[HandInNote]] = {}
        for note in read_notes(notes_beside(course.home)):
            if note.lab == lab:
                notes.setdefault(note.student, []).append(note)
        zone = course.nbgrader.get("Exchange", {}).get("timezone", "")
        return cls(
            release_time(course.home, lab) or course.calendar.dates(lab).release,
            {student: tuple(each) for student, each in notes.items()},
            str(zone),
            due,
        )

    def of_student(self, student: str) -> tuple[HandInNote, ...]:
        """Return what the hub has noted about a student."""
        return self.notes.get(student, ())

    def time(self, folder: Path, student: str, *, last_saved: str | None = None) -> HandInTime:
        """Return when a submission was handed in.

        It was not handed in before something was ``last_saved`` in its ledger.
        """
        known = [note.noted for note in self.of_student(student)[-1:]]
        return hand_in_time(
            _timestamp(folder / TIMESTAMP),
            zone=self.zone,
            known=[*known, *_moment(last_saved)],
            due=self.due,
        )

    def after_close(
        self, student: str, moment: datetime | None, close: datetime | None
    ) -> str | None:
        """Say why a submission came when its lab was closed, in words; `None` if it did not.

        What the hub noted counts too: a student may write any time into ``timestamp.txt``. Moments
        are in UTC without a zone.
        """
        if close is None or moment is None:
            return None
        # One that lay there when the hub began to look may have come any time before.
        notes = [
            each
            for each in self.of_student(student)
            if each.watched and read_time(each.says, self.zone) == moment
        ]
        last = max([moment.replace(tzinfo=UTC), *(each.noted for each in notes)])
        if last < close:
            return None
        why = (
            f"{last.astimezone(UTC):%Y-%m-%d %H:%M} UTC, and it closed"
            f" {close.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        )
        earlier = [each for each in self.of_student(student) if each.noted < close]
        return f"{why}; an earlier hand-in of {earlier[-1].says} was on time" if earlier else why


def release_time(course: Path, lab: str) -> datetime | None:
    """Return when a lab was released for the first time; `None` if nobody wrote it down."""
    path = course / OWN_FOLDER / RELEASED
    if not path.is_file():
        return None
    try:
        time = json.loads(path.read_text("utf-8")).get(lab)
        moment = None if time is None else datetime.fromisoformat(time)
    except (ValueError, TypeError, AttributeError):
        raise ValueError(
            f'{path} cannot be read; it must be like {{"{lab}": "2026-10-01T09:00:00Z"}}'
        ) from None
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment


def _timestamp(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            return file.read(_LONGEST)
    except OSError:
        return None


def _moment(time: str | None) -> list[datetime]:
    try:
        return [datetime.fromisoformat(time)] if time else []
    except ValueError:  # a day that no calendar has
        return []
