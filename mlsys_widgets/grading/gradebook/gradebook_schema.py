"""The tables of nbgrader's gradebook that grading reads and writes, for SQLAlchemy.

nbgrader has them as classes, whose import takes seconds and pulls in its whole server. A test holds
these against those classes, column by column.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import Boolean, Column, DateTime, Float, Interval, MetaData, String, Table, Text

_all: Final = MetaData()


def _table(name: str, *columns: Column[object]) -> Table:
    return Table(name, _all, Column("id", String(128), primary_key=True), *columns)


def _text(name: str) -> Column[object]:
    return Column(name, Text())


assignment: Final = _table("assignment", _text("name"), Column("duedate", DateTime()))
notebook: Final = _table("notebook", _text("name"), _text("assignment_id"), _text("kernelspec"))
base_cell: Final = _table("base_cell", _text("name"), _text("notebook_id"), _text("type"))
grade_cells: Final = _table("grade_cells", Column("max_score", Float()), _text("cell_type"))
solution_cells: Final = _table("solution_cells")
task_cells: Final = _table("task_cells", Column("max_score", Float()), _text("cell_type"))
source_cell: Final = _table(
    "source_cell",
    _text("name"),
    _text("cell_type"),
    Column("locked", Boolean()),
    _text("source"),
    _text("checksum"),
    _text("notebook_id"),
)
student: Final = _table(
    "student", _text("first_name"), _text("last_name"), _text("email"), _text("lms_user_id")
)
submitted_assignment: Final = _table(
    "submitted_assignment",
    _text("assignment_id"),
    _text("student_id"),
    Column("timestamp", DateTime()),
    Column("extension", Interval()),
)
submitted_notebook: Final = _table(
    "submitted_notebook",
    _text("assignment_id"),
    _text("notebook_id"),
    Column("flagged", Boolean()),
    Column("late_submission_penalty", Float()),
)
grade: Final = _table(
    "grade",
    _text("notebook_id"),
    _text("cell_id"),
    Column("auto_score", Float()),
    Column("manual_score", Float()),
    Column("extra_credit", Float()),
    Column("needs_manual_grade", Boolean()),
)
comment: Final = _table(
    "comment",
    _text("notebook_id"),
    _text("cell_id"),
    _text("auto_comment"),
    _text("manual_comment"),
)
ALL: Final = tuple(_all.tables.values())
