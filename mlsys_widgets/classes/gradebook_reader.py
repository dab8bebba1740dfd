"""Reads what nbgrader's gradebook says about a lab: points given by hand or by the grader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, select

from mlsys_widgets.course.course import Course
from mlsys_widgets.course.trial_accounts import trial_accounts
from mlsys_widgets.grading.gradebook import gradebook_schema as t
from mlsys_widgets.grading.gradebook.gradebook_connection import connected
from mlsys_widgets.grading.gradebook.lab_grades import LabGrade, read_lab_grades


@dataclass(frozen=True)
class GradebookStudent:
    """A student in the gradebook; what the course does not know about them is empty."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""


@dataclass(frozen=True)
class Standing:
    """One student's entry in the gradebook."""

    #: The points of every graded cell; those that a person gave take precedence.
    points: Mapping[str, float]
    #: The cells that still wait for a person.
    waiting: tuple[str, ...] = ()
    #: The points that are subtracted for being late.
    penalty: float = 0.0
    #: When it was handed in, in UTC; ``None`` if that is unknown.
    timestamp: datetime | None = None
    seconds_late: float = 0.0

    @property
    def earned(self) -> float:
        """All points, before the late penalty."""
        return round(sum(self.points.values()), 2)

    @property
    def total(self) -> float:
        """All points, less the late penalty."""
        return round(max(0.0, self.earned - self.penalty), 2)


@dataclass(frozen=True)
class Grades:
    """A lab in the gradebook."""

    #: The points that each graded cell is worth, in the order of the notebook.
    most: Mapping[str, float]
    people: tuple[GradebookStudent, ...]
    #: The standing of each student who has handed in, by their id.
    standings: Mapping[str, Standing] = field(default_factory=dict)
    #: Accounts that only try the course; they are neither people nor have standings.
    trial: tuple[str, ...] = ()


def grades(course: Course, lab: str) -> Grades:
    """Read everything about a lab, without accounts that only try the course.

    How late a submission was is counted from the calendar of the course, for each student, and from
    the gradebook where the calendar is silent. Whoever left the course is not among its people.
    Raises `ValueError` if the gradebook does not know the lab.
    """
    with connected(course.db_url) as db:
        found = _assignment(db, lab)
        if not found:
            raise ValueError(
                f"the gradebook does not know {lab}; grade the class first: mlsys grade {lab}"
            )
        most, trial = _most(db, found.id), trial_accounts(course.home)
        left_out = trial | set(course.people.dropped)
        columns = [t.student.c[each.name] for each in fields(GradebookStudent)]
        rows = db.execute(select(*columns).order_by(t.student.c.id))
        people = [GradebookStudent(*(value or "" for value in row)) for row in rows]
        standings = {
            name: Standing(
                {cell: each.points for cell, each in grade.cells.items()},
                tuple(cell for cell in most if cell in grade.cells and grade.cells[cell].waiting),
                grade.penalty or 0.0,
                grade.timestamp,
                _seconds_late(grade, found.duedate, course.calendar.dates(lab, name).due),
            )
            for name, grade in read_lab_grades(db, found.id).items()
            if name not in left_out
        }
        return Grades(
            most,
            tuple(each for each in people if each.id not in left_out),
            standings,
            tuple(each.id for each in people if each.id in trial),
        )


def due(course: Course, lab: str) -> datetime | None:
    """Return when a lab is due; ``None`` without a gradebook or a due date."""
    with connected(course.db_url) as db:
        found = _assignment(db, lab)
        moment: datetime | None = found.duedate if found else None
        return moment


def _assignment(db: Connection, lab: str) -> Any:
    return db.execute(select(t.assignment).where(t.assignment.c.name == lab)).first()


def _most(db: Connection, assignment: str) -> dict[str, float]:
    """Return what each graded cell is worth, in the order of the notebook."""
    books = select(t.notebook.c.id).where(t.notebook.c.assignment_id == assignment)
    cells = select(t.base_cell).where(t.base_cell.c.notebook_id.in_(books))
    names = {row.id: row.name for row in db.execute(cells)}
    worth = {
        names[row.id]: float(row.max_score or 0.0)
        for table in (t.grade_cells, t.task_cells)
        for row in db.execute(select(table))
        if row.id in names
    }
    # The gradebook keeps no order of cells, but their source cells were written top to bottom.
    sources = select(t.source_cell).where(t.source_cell.c.notebook_id.in_(books))
    order = [row.name for row in db.execute(sources)]
    ranked = sorted(worth, key=lambda name: order.index(name) if name in order else len(order))
    return {name: worth[name] for name in ranked}


def _seconds_late(grade: LabGrade, due: datetime | None, own: datetime | None) -> float:
    """Return how late something was: by the calendar, or else by the gradebook."""
    if own:
        limit: datetime | None = own.astimezone(UTC).replace(tzinfo=None)
    else:
        limit = due + grade.extension if due and grade.extension is not None else due
    if grade.timestamp is None or limit is None:
        return 0.0
    return max(0.0, (grade.timestamp - limit).total_seconds())
