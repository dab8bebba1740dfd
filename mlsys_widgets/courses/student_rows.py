"""What nbgrader's gradebook holds about one student: renamed, merged, copied out, or erased."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from mlsys_widgets.course.course import Course
from mlsys_widgets.grading.gradebook import gradebook_schema as t
from mlsys_widgets.grading.gradebook.gradebook_connection import connected
from mlsys_widgets.wording.system_errors import database_reason


@contextmanager
def gradebook(course: Course, *, write: bool = False) -> Iterator[Connection]:
    """Connect to the gradebook; where there is none yet, to an empty one in memory.

    With `write`, what is done takes effect at the end: all of it, or nothing after an exception.
    What is deleted in SQLite is overwritten on the disk.
    """
    try:
        with connected(course.db_url, write=write) as db:
            yield db
    except (SQLAlchemyError, ModuleNotFoundError) as problem:
        raise ValueError(
            f"the gradebook of {course.root} cannot be used: {database_reason(problem)}; mlsys"
            " course doctor says more"
        ) from None


def rewrite(course: Course) -> None:
    """Write the gradebook's file again, without what was deleted from it long ago."""
    url = make_url(course.db_url)
    if url.get_backend_name() != "sqlite":
        return
    with gradebook(course) as db:
        db.connection.dbapi_connection.execute("VACUUM")  # type: ignore[union-attr]


def students(db: Connection) -> dict[str, dict[str, str]]:
    """Return everybody in the gradebook, by login: names, email, id in the learning system."""
    rows = db.execute(select(t.student).order_by(t.student.c.id))
    return {
        row.id: {
            name: getattr(row, name) or ""
            for name in ("first_name", "last_name", "email", "lms_user_id")
        }
        for row in rows
    }


def submissions(db: Connection, student: str) -> dict[str, str]:
    """Return the labs that a student has in the gradebook: name, and id of the submission."""
    query = select(t.assignment.c.name, t.submitted_assignment.c.id).where(
        t.submitted_assignment.c.assignment_id == t.assignment.c.id,
        t.submitted_assignment.c.student_id == student,
    )
    return {row.name: row.id for row in db.execute(query)}


def rows_of(db: Connection, student: str) -> dict[str, Any]:
    """Return all that the gradebook holds about a student, as plain data."""
    person = db.execute(select(t.student).where(t.student.c.id == student)).first()
    cells = {row.id: row.name for row in db.execute(select(t.base_cell))}
    labs = []
    for name, submission in sorted(submissions(db, student).items()):
        table = t.submitted_assignment
        one = _plain(db.execute(select(table).where(table.c.id == submission)).one())
        books = []
        for book in db.execute(
            select(t.submitted_notebook).where(t.submitted_notebook.c.assignment_id == submission)
        ).all():
            plain = _plain(book)
            for part in (t.grade, t.comment):
                rows = db.execute(select(part).where(part.c.notebook_id == book.id)).all()
                plain[f"{part.name}s"] = [
                    {"cell": cells.get(row.cell_id), **_plain(row)} for row in rows
                ]
            books.append(plain)
        labs.append({"lab": name, **one, "notebooks": books})
    return {"student": _plain(person) if person else None, "submissions": labs}


def rename_student(db: Connection, old: str, new: str) -> None:
    """Give a student another id; grades, comments and hand-ins go along."""
    row = db.execute(select(t.student).where(t.student.c.id == old)).first()
    if row is None:
        return
    db.execute(t.student.insert().values(**{**row._mapping, "id": new}))
    table = t.submitted_assignment
    db.execute(update(table).where(table.c.student_id == old).values(student_id=new))
    db.execute(delete(t.student).where(t.student.c.id == old))


def move_submission(db: Connection, submission: str, student: str) -> None:
    """Let a submission be another student's."""
    table = t.submitted_assignment
    db.execute(update(table).where(table.c.id == submission).values(student_id=student))


def remove_submission(db: Connection, submission: str) -> None:
    """Erase a submission with its grades and comments."""
    books = [
        row.id
        for row in db.execute(
            select(t.submitted_notebook).where(t.submitted_notebook.c.assignment_id == submission)
        )
    ]
    for part in (t.grade, t.comment):
        db.execute(delete(part).where(part.c.notebook_id.in_(books)))
    db.execute(delete(t.submitted_notebook).where(t.submitted_notebook.c.id.in_(books)))
    db.execute(delete(t.submitted_assignment).where(t.submitted_assignment.c.id == submission))


def remove_student(db: Connection, student: str) -> None:
    """Erase a student with all submissions."""
    for submission in submissions(db, student).values():
        remove_submission(db, submission)
    db.execute(delete(t.student).where(t.student.c.id == student))


def _plain(row: Any) -> dict[str, Any]:
    plain = dict(row._mapping)
    for name, value in plain.items():
        if isinstance(value, datetime):
            plain[name] = value.isoformat()
        elif isinstance(value, timedelta):
            plain[name] = value.total_seconds()
    return plain
