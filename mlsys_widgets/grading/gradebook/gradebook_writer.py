"""The gradebook: nbgrader's own, read once, written in one transaction per submission."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import uuid4

from sqlalchemy import (
    Connection,
    Table,
    bindparam,
    make_url,
    select,
)
from sqlalchemy.exc import DataError, IntegrityError, SQLAlchemyError

from mlsys_widgets.course.calendar import Calendar
from mlsys_widgets.grading.gradebook import gradebook_schema as t
from mlsys_widgets.grading.gradebook.gradebook_connection import open_gradebook
from mlsys_widgets.grading.gradebook.lab_grades import LabGrade, read_lab_grades
from mlsys_widgets.grading.gradebook.late_penalty import Lateness, LatePenalty
from mlsys_widgets.grading.judging.scoring import Score
from mlsys_widgets.notebooks.blueprint import Blueprint, SourceCell
from mlsys_widgets.wording.system_errors import database_reason

_KIND: Final = {"GradeCell": t.grade_cells, "TaskCell": t.task_cells}


@dataclass(frozen=True)
class GradebookEntry:
    """What is written about one submission."""

    student: str
    #: When it was handed in, in UTC; `None` if nothing says so.
    timestamp: datetime | None
    #: What each graded cell earned; those without keep what they had.
    scores: Sequence[Score]
    #: Answer cells that are as they were released.
    no_response: Sequence[str] = ()
    #: Answer cells that are not.
    answered: Sequence[str] = ()


class EntryRefused(ValueError):
    """An entry that no gradebook takes, such as one under an impossible name."""


class LabGradebook:
    """nbgrader's gradebook of a course, for one lab.

    Parameters
    ----------
    calendar
        When the lab is due, and for whom; where it says nothing, the gradebook does.
    moments
        When the answers of a student were handed in that counted from then on, by cell: whether
        they are late is decided by that. The others were handed in with the submission.
    """

    def __init__(
        self,
        url: str,
        lab: str,
        penalty: LatePenalty = lambda *_: None,
        calendar: Calendar | None = None,
        moments: Callable[[str], Mapping[str, datetime]] = lambda _: {},
    ) -> None:
        self._lab, self._penalty, self._calendar = lab, penalty, calendar or Calendar()
        self._moments = moments
        try:
            self._engine = open_gradebook(url)
            self._read()
        except ModuleNotFoundError as problem:
            raise ValueError(
                f"the gradebook at {_shown(url)} needs {problem.name}; for PostgreSQL: pip install"
                " 'mlsys-widgets[postgres]', and db_url = \"postgresql+psycopg://…\""
            ) from None
        except SQLAlchemyError as problem:
            raise ValueError(
                f"the gradebook at {_shown(url)} cannot be read: {database_reason(problem)}"
            ) from None

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    @property
    def assignment(self) -> str:
        """The row of the lab."""
        return str(self._assignment)

    @contextmanager
    def connected(self) -> Iterator[Connection]:
        """Read and write in one transaction: all of it, or nothing."""
        try:
            with self._engine.begin() as db:
                yield db
        except SQLAlchemyError as problem:
            raise ValueError(f"the gradebook cannot be used: {database_reason(problem)}") from None

    def grades(self) -> dict[str, LabGrade]:
        """Return what the gradebook holds about the lab, by student."""
        with self.connected() as db:
            found = read_lab_grades(db, self.assignment)
        self.close()
        return found

    @property
    def has_due_date(self) -> bool:
        """Whether the lab can be handed in late."""
        return self._duedate is not None

    def _read(self) -> None:
        """Read everything about the lab that does not change while a class is graded."""
        with self._engine.connect() as db:
            found = db.execute(select(t.assignment).where(t.assignment.c.name == self._lab)).first()
            book = (
                found
                and db.execute(
                    select(t.notebook).where(
                        t.notebook.c.assignment_id == found.id, t.notebook.c.name == self._lab
                    )
                ).first()
            )
            if found is None or book is None:
                raise self._unknown()
            self._assignment, self._notebook = found.id, book.id
            self._duedate = self._by_calendar() or found.duedate
            if self._duedate != found.duedate:  # which stock nbgrader and formgrader show
                _update(db, t.assignment, found.id, {"duedate": self._duedate})
                db.commit()
            cells = db.execute(
                select(t.base_cell).where(t.base_cell.c.notebook_id == book.id)
            ).all()
            points = {
                row.id: row.max_score
                for table in _KIND.values()
                for row in db.execute(select(table))
            }
            sources = db.execute(
                select(t.source_cell).where(t.source_cell.c.notebook_id == book.id)
            ).all()
        self._graded = {c.name: c.id for c in cells if c.type in _KIND}
        self._answers = {c.name: c.id for c in cells if c.type in ("SolutionCell", "TaskCell")}
        worth = {c.name: points[c.id] for c in cells if c.type == "GradeCell"}
        #: What each graded cell is worth, in the order of the notebook.
        self.points: dict[str, float] = {s.name: worth[s.name] for s in sources if s.name in worth}
        written, tasks = (
            {c.name for c in cells if c.type == kind} for kind in ("SolutionCell", "TaskCell")
        )
        self.blueprint = Blueprint(
            self._lab,
            json.loads(book.kernelspec) if book.kernelspec else None,
            {
                s.name: SourceCell(
                    s.cell_type,
                    s.source,
                    s.checksum,
                    bool(s.locked),
                    graded=s.name in worth,
                    solution=s.name in written,
                    task=s.name in tasks,
                    metadata={"points": worth[s.name]} if s.name in worth else {},
                )
                for s in sources
            },
        )

    def _unknown(self) -> ValueError:
        lab = self._lab
        return ValueError(
            f"the gradebook does not know {lab}; run: nbgrader generate_assignment {lab}"
        )

    @property
    def graded_cells(self) -> frozenset[str]:
        """All cells that have points, also those that only earlier versions of the lab have."""
        return frozenset(self._graded)

    @property
    def answer_cells(self) -> frozenset[str]:
        """Cells in which something is written, and which have a comment each."""
        return frozenset(self._answers)

    def write(self, entry: GradebookEntry) -> Lateness | None:
        """Write a submission: all of it, or nothing. Returns how late it was, and what that cost.

        `EntryRefused` if this one cannot be written, and `ValueError` if nothing can be any more.
        """
        try:
            return self._write(entry)
        except (DataError, IntegrityError, UnicodeError) as problem:
            reason = database_reason(problem)
            raise EntryRefused(f"the gradebook does not take it: {reason}") from None
        except SQLAlchemyError as problem:
            raise ValueError(
                f"the gradebook cannot be written: {database_reason(problem)}; what is graded is"
                " kept: continue with --resume"
            ) from None

    def _write(self, entry: GradebookEntry) -> Lateness | None:
        with self._engine.begin() as db:
            submission, extension = self._submission(db, entry)
            notebook = self._submitted_notebook(db, submission)
            if notebook is None:
                return self._write_first(db, submission, extension, entry)
            earned = self._write_scores(db, notebook, entry.scores)
            self._write_comments(db, notebook, entry)
            late, penalty = self._late(entry, extension, earned)
            _update(db, t.submitted_notebook, notebook, {"late_submission_penalty": penalty})
        return late

    def _write_first(
        self, db: Connection, submission: str, extension: Any, entry: GradebookEntry
    ) -> Lateness | None:
        """Write what nobody has graded before: nothing is there that could stand."""
        automatic = self._automatic(entry.scores)
        earned = {cell: auto for cell, auto in automatic.items() if auto is not None}
        late, penalty = self._late(entry, extension, earned)
        notebook = _insert(
            db, t.submitted_notebook,
            {
                "assignment_id": submission, "notebook_id": self._notebook, "flagged": False,
                "late_submission_penalty": penalty,
            },
        )  # fmt: skip
        words = _comments(entry)
        grades = [
            {"cell_id": cell, "auto_score": auto, "needs_manual_grade": auto is None}
            for cell in self._graded.values()
            for auto in (automatic.get(cell),)
        ]
        comments = [
            {"cell_id": cell, "auto_comment": words.get(name)}
            for name, cell in self._answers.items()
        ]
        for table, rows in ((t.grade, grades), (t.comment, comments)):
            if rows:
                own = {"notebook_id": notebook}
                db.execute(table.insert(), [{"id": _new_id(), **own, **row} for row in rows])
        return late

    def _submission(self, db: Connection, entry: GradebookEntry) -> tuple[str, Any]:
        if db.execute(select(t.student).where(t.student.c.id == entry.student)).first() is None:
            db.execute(t.student.insert().values(id=entry.student))
        table = t.submitted_assignment
        found = db.execute(
            select(table).where(
                table.c.assignment_id == self._assignment, table.c.student_id == entry.student
            )
        ).first()
        if found is None:
            values = {"assignment_id": self._assignment, "student_id": entry.student}
            return _insert(db, table, {**values, "timestamp": entry.timestamp}), None
        if entry.timestamp is not None:
            _update(db, table, found.id, {"timestamp": entry.timestamp})
        return str(found.id), found.extension

    def _submitted_notebook(self, db: Connection, submission: str) -> str | None:
        table = t.submitted_notebook
        found = db.execute(
            select(table.c.id).where(
                table.c.assignment_id == submission, table.c.notebook_id == self._notebook
            )
        ).first()
        return None if found is None else str(found.id)

    def _automatic(self, scores: Sequence[Score]) -> dict[str, float | None]:
        """Return the points of each cell that has a score; `None` where a person decides."""
        return {self._graded[s.name]: s.auto for s in scores if s.name in self._graded}

    def _write_scores(
        self, db: Connection, notebook: str, scores: Sequence[Score]
    ) -> dict[str, float]:
        """Write scores as nbgrader does: what a person gave stands, and waits for another look."""
        rows = db.execute(select(t.grade).where(t.grade.c.notebook_id == notebook)).all()
        by_cell = {row.cell_id: row for row in rows}
        automatic = self._automatic(scores)
        earned, changes = {}, []
        for cell, row in by_cell.items():
            auto = automatic.get(cell, row.auto_score)
            if cell in automatic:
                by_hand = row.manual_score is not None or auto is None
                new = {"auto_score": auto, "needs_manual_grade": by_hand}
                changes.append({"row": row.id, **new})
            score = row.manual_score if row.manual_score is not None else auto
            if score is not None:
                earned[cell] = score + (row.extra_credit or 0.0)
        update_all(db, t.grade, changes)
        return earned

    def _write_comments(self, db: Connection, notebook: str, entry: GradebookEntry) -> None:
        rows = db.execute(select(t.comment).where(t.comment.c.notebook_id == notebook)).all()
        by_cell = {row.cell_id: row.id for row in rows}
        changes = [
            {"row": by_cell[self._answers[name]], "auto_comment": words}
            for name, words in _comments(entry).items()
            if name in self._answers
        ]
        update_all(db, t.comment, changes)

    def _late(
        self, entry: GradebookEntry, extension: Any, earned: Mapping[str, float]
    ) -> tuple[Lateness | None, float | None]:
        names = {cell: name for name, cell in self._graded.items()}
        points = {names[cell]: each for cell, each in earned.items() if cell in names}
        return self.late(entry.student, entry.timestamp, extension, points)

    def late(
        self,
        student: str,
        timestamp: datetime | None,
        extension: Any,
        earned: Mapping[str, float],
    ) -> tuple[Lateness | None, float | None]:
        """Return how late a submission was, and the penalty as the gradebook has it."""
        moments = self._moments(student)
        groups: defaultdict[datetime | None, float] = defaultdict(float)
        for name, points in earned.items():
            groups[moments.get(name, timestamp)] += points
        found = [
            self._late_at(student, moment, extension, points)
            for moment, points in (groups or {timestamp: 0.0}).items()
        ]
        delays = [late for late, _ in found if late]
        if not delays:
            return None, None
        costs = [cost for _, cost in found if cost is not None]
        penalty = round(sum(costs), 2) if costs else None
        before = sum(earned.values())
        return Lateness(max(each.seconds for each in delays), before, penalty or 0.0), penalty

    def _late_at(
        self, student: str, timestamp: datetime | None, extension: Any, earned: float
    ) -> tuple[Lateness | None, float | None]:
        late = self._seconds_late(student, timestamp, extension)
        if not late:
            return None, None
        penalty = self._penalty(student, earned, late)
        if penalty is not None:
            penalty = min(max(penalty, 0.0), earned)
        return Lateness(late, earned, penalty or 0.0), penalty

    def _seconds_late(self, student: str, timestamp: datetime | None, extension: Any) -> float:
        if timestamp is None or self._duedate is None:
            return 0.0
        due = self._by_calendar(student)
        if due is None:
            due = self._duedate + extension if extension is not None else self._duedate
        late: float = (timestamp - due).total_seconds()
        return max(0.0, late)

    def _by_calendar(self, student: str = "") -> datetime | None:
        """Return when the lab is due by the calendar, as the gradebook has it: UTC, no zone."""
        due = self._calendar.dates(self._lab, student).due
        return due and due.astimezone(UTC).replace(tzinfo=None)


def _shown(url: str) -> str:
    """Return an address without its password."""
    try:
        return make_url(url).render_as_string(hide_password=True)
    except SQLAlchemyError:
        return "db_url"


def _comments(entry: GradebookEntry) -> dict[str, str | None]:
    """Return what is noted beside each written answer."""
    return {
        **dict.fromkeys(entry.answered),
        **dict.fromkeys(entry.no_response, "No response."),
    }


def _new_id() -> str:
    return uuid4().hex


def _insert(db: Connection, table: Table, values: Mapping[str, Any]) -> str:
    new = _new_id()
    db.execute(table.insert().values(id=new, **values))
    return new


def _update(db: Connection, table: Table, row: str, values: Mapping[str, Any]) -> None:
    db.execute(table.update().where(table.c.id == row).values(**values))


def update_all(db: Connection, table: Table, changes: Sequence[Mapping[str, Any]]) -> None:
    """Change rows, which ``row`` names, in one go: a server may be far away."""
    if changes:
        db.execute(table.update().where(table.c.id == bindparam("row")), [*changes])
