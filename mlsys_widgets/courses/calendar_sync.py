"""What follows the calendar of a course: the gradebook's due dates, and the dates in ``release/``.

Stock nbgrader and formgrader show the gradebook's dates, and students without a hub those that come
with a lab. Both are brought up to date wherever the calendar is read or changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC

from mlsys_widgets.authoring import labs_of
from mlsys_widgets.authoring.lab_dates import write_lab_dates
from mlsys_widgets.authoring.start_page import write_start_page
from mlsys_widgets.course.course import Course
from mlsys_widgets.files import START_PAGE


@dataclass(frozen=True)
class CalendarSync:
    """What was brought up to date."""

    #: Labs whose due date in the gradebook changed.
    gradebook: tuple[str, ...] = ()
    #: Labs whose dates in ``release/`` changed; students get them with the next release.
    released: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """What to tell an instructor."""
        sentences = []
        if self.gradebook:
            sentences.append(f"Due dates in the gradebook follow: {', '.join(self.gradebook)}.")
        if self.released:
            sentences.append(f"Dates in release/ follow: {', '.join(self.released)}.")
        return tuple(sentences)


def follow_calendar(course: Course) -> CalendarSync:
    """Bring gradebook and ``release/`` up to date with the calendar.

    Raises `ValueError` when the gradebook cannot be written.
    """
    labs, release = labs_of(course), course.root / "release"
    released = write_lab_dates(course.calendar, release, labs)
    if released and (release / START_PAGE).is_file():
        write_start_page(release)
    return CalendarSync(tuple(_write_due_dates(course, labs)), tuple(released))


def _write_due_dates(course: Course, labs: list[str]) -> list[str]:
    # The gradebook has times in UTC, without a zone.
    due = {
        lab: time.astimezone(UTC).replace(tzinfo=None)
        for lab in labs
        if (time := course.calendar.dates(lab).due)
    }
    if not due:
        return []
    # Here, because a course without dates never needs it.
    from sqlalchemy import select

    from mlsys_widgets.courses.student_rows import gradebook
    from mlsys_widgets.grading.gradebook import gradebook_schema as t

    with gradebook(course, write=True) as db:
        rows = db.execute(select(t.assignment)).all()
        changed = [row for row in rows if row.name in due and row.duedate != due[row.name]]
        for row in changed:
            values = {"duedate": due[row.name]}
            db.execute(t.assignment.update().where(t.assignment.c.id == row.id).values(values))
        return sorted(row.name for row in changed)
