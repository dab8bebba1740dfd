"""Reads what nbgrader's gradebook says about a lab: points given by hand or by the grader."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, inspect, select
from sqlalchemy.engine import make_url

from mlsys_widgets.course.course import Course
from mlsys_widgets.course.trial_accounts import trial_accounts
from mlsys_widgets.grading.gradebook import gradebook_schema as t

#: When a lab is due for a student by the calendar; `None` where that says nothing.
DueTimes = Callable[[str], datetime | None]


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
    #: When the lab is due, in UTC.
    due: datetime | None = None
    #: Accounts that only try the course; they are neither people nor have standings.
    trial: tuple[str, ...] = ()


def grades(course: Course, lab: str) -> Grades:
    """Read everything about a lab, without accounts that only try the course.

    How late a submission was is counted from the calendar of the course, for each student, and from
    the gradebook where the calendar is silent. Whoever left the course is not among its people.
    Raises `ValueError` if the gradebook does not know the lab.
    """
    with _connected(course) as db:
        found = db and _assignment(db, lab)
        if not found:
            raise ValueError(
                f"the gradebook does not know {lab}; grade the class first: mlsys grade {lab}"
            )
        trial, gone = trial_accounts(course.home), frozenset(course.people.dropped)
        return _read(db, found, _due_times(course, lab), trial, gone)


def _due_times(course: Course, lab: str) -> DueTimes:
    """Return when a lab is due for a student by the calendar, in UTC as gradebooks have times."""

    def due_time(student: str) -> datetime | None:
        due = course.calendar.dates(lab, student).due
        return due and due.astimezone(UTC).replace(tzinfo=None)

    return due_time


def due(course: Course, lab: str) -> datetime | None:
    """Return when a lab is due; ``None`` without a gradebook or a due date."""
    with _connected(course) as db:
        found = db and _assignment(db, lab)
        moment: datetime | None = found.duedate if found else None
        return moment


class _connected:
    """A connection to the gradebook; ``None`` if there is no gradebook."""

    def __init__(self, course: Course) -> None:
        self._url = make_url(course.db_url)

    def __enter__(self) -> Any:
        # Connecting to a missing file would create an empty gradebook.
        file = self._url.database if self._url.get_backend_name() == "sqlite" else None
        if file and file != ":memory:" and not Path(file).is_file():
            self._engine = None
            return None
        self._engine = create_engine(self._url)
        self._db = self._engine.connect()
        return self._db

    def __exit__(self, *_: object) -> None:
        if self._engine is not None:
            self._db.close()
            self._engine.dispose()


def _assignment(db: Connection, lab: str) -> Any:
    if not inspect(db).has_table("assignment"):
        return None
    return db.execute(select(t.assignment).where(t.assignment.c.name == lab)).first()


def _read(
    db: Connection,
    found: Any,
    due_times: DueTimes,
    trial: frozenset[str],
    gone: frozenset[str],
) -> Grades:
    books = _ids(db, select(t.notebook.c.id).where(t.notebook.c.assignment_id == found.id))
    cells = {
        row.id: row.name
        for row in db.execute(select(t.base_cell).where(t.base_cell.c.notebook_id.in_(books)))
    }
    worth = {
        cells[row.id]: float(row.max_score or 0.0)
        for table in (t.grade_cells, t.task_cells)
        for row in db.execute(select(table))
        if row.id in cells
    }
    # The gradebook keeps no order of cells, but their source cells were written top to bottom.
    order = [
        row.name
        for row in db.execute(select(t.source_cell).where(t.source_cell.c.notebook_id.in_(books)))
    ]
    ranked = sorted(worth, key=lambda name: order.index(name) if name in order else len(order))
    people = tuple(
        GradebookStudent(row.id, *(row[k] or "" for k in range(1, 5)))
        for row in db.execute(
            select(
                t.student.c.id,
                t.student.c.first_name,
                t.student.c.last_name,
                t.student.c.email,
                t.student.c.lms_user_id,
            ).order_by(t.student.c.id)
        )
    )
    standings = _standings(db, found, cells, due_times)
    return Grades(
        {n: worth[n] for n in ranked},
        tuple(each for each in people if each.id not in trial | gone),
        {name: each for name, each in standings.items() if name not in trial | gone},
        found.duedate,
        tuple(each.id for each in people if each.id in trial),
    )


def _standings(
    db: Connection, found: Any, cells: Mapping[str, str], due_times: DueTimes
) -> dict[str, Standing]:
    table = t.submitted_assignment
    submissions = db.execute(select(table).where(table.c.assignment_id == found.id)).all()
    of_notebook: dict[str, str] = {}
    penalties: dict[str, float] = {}
    by_id = {row.id: row for row in submissions}
    for row in db.execute(select(t.submitted_notebook)):
        if row.assignment_id in by_id:
            of_notebook[row.id] = row.assignment_id
            late = row.late_submission_penalty or 0.0
            penalties[row.assignment_id] = penalties.get(row.assignment_id, 0.0) + late
    points: dict[str, dict[str, float]] = {each: {} for each in by_id}
    waiting: dict[str, list[str]] = {each: [] for each in by_id}
    for row in db.execute(select(t.grade)):
        submission = of_notebook.get(row.notebook_id)
        if submission is None or row.cell_id not in cells:
            continue
        name = cells[row.cell_id]
        score = row.auto_score if row.manual_score is None else row.manual_score
        points[submission][name] = (score or 0.0) + (row.extra_credit or 0.0)
        if row.needs_manual_grade:
            waiting[submission].append(name)
    return {
        row.student_id: Standing(
            points[row.id],
            tuple(waiting[row.id]),
            penalties.get(row.id, 0.0),
            row.timestamp,
            _late(row.timestamp, found.duedate, row.extension, due_times(str(row.student_id))),
        )
        for row in sorted(submissions, key=lambda row: str(row.student_id))
    }


def _late(
    timestamp: datetime | None, due: datetime | None, extension: Any, own: datetime | None
) -> float:
    limit = own or (due + extension if due and extension is not None else due)
    if timestamp is None or limit is None:
        return 0.0
    return max(0.0, (timestamp - limit).total_seconds())


def _ids(db: Connection, query: Any) -> list[str]:
    return [row.id for row in db.execute(query)]
