"""Everything that the gradebook holds about one lab, read in three queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from mlsys_widgets.grading.gradebook import gradebook_schema as t


@dataclass(frozen=True)
class CellGrade:
    """One graded cell of one student."""

    #: The row of the gradebook.
    row: str
    #: What the grader gave, what a person gave instead, and extra credit on top.
    auto: float | None
    manual: float | None = None
    extra: float | None = None
    #: Whether it waits for a person.
    waiting: bool = False

    @property
    def points(self) -> float:
        """What counts: a person's points where there are any, and extra credit."""
        given = self.manual if self.manual is not None else self.auto
        return (given or 0.0) + (self.extra or 0.0)


@dataclass(frozen=True)
class LabGrade:
    """One student's grade in a lab."""

    student: str
    #: The row of the notebook.
    notebook: str
    #: When it was handed in, in UTC, and how much more time the gradebook gives.
    timestamp: datetime | None = None
    extension: Any = None
    #: Points that are subtracted for being late.
    penalty: float | None = None
    #: The graded cells, by name.
    cells: Mapping[str, CellGrade] = field(default_factory=dict)

    @property
    def earned(self) -> float:
        """Points before the penalty."""
        return sum(self.earned_by_cell.values())

    @property
    def earned_by_cell(self) -> dict[str, float]:
        """The same, cell by cell."""
        return {name: cell.points for name, cell in self.cells.items()}

    @property
    def total(self) -> float:
        """Points that count."""
        return round(max(0.0, self.earned - (self.penalty or 0.0)), 2)


def read_lab_grades(db: Connection, assignment: str) -> dict[str, LabGrade]:
    """Return the grade of everybody who has one, by student."""
    handed_in, book = t.submitted_assignment, t.submitted_notebook
    mine = handed_in.c.assignment_id == assignment
    found = db.execute(
        select(
            book.c.id, handed_in.c.student_id, handed_in.c.timestamp, handed_in.c.extension,
            book.c.late_submission_penalty,
        ).join(book, book.c.assignment_id == handed_in.c.id).where(mine)
    ).all()  # fmt: skip
    names = {
        row.id: row.name
        for row in db.execute(
            select(t.base_cell.c.id, t.base_cell.c.name)
            .join(t.notebook, t.base_cell.c.notebook_id == t.notebook.c.id)
            .where(t.notebook.c.assignment_id == assignment)
        )
    }
    cells: dict[str, dict[str, CellGrade]] = {row.id: {} for row in found}
    of_cell = t.grade.c
    rows = db.execute(
        select(
            of_cell.notebook_id, of_cell.cell_id, of_cell.id, of_cell.auto_score,
            of_cell.manual_score, of_cell.extra_credit, of_cell.needs_manual_grade,
        )
        .join(book, book.c.id == of_cell.notebook_id)
        .join(handed_in, handed_in.c.id == book.c.assignment_id)
        .where(mine)
    )  # fmt: skip
    # A class of a thousand has tens of thousands of these, so they are taken by their places.
    for of, cell, row_id, auto, manual, extra, waiting in rows:
        if cell in names:
            cells[of][names[cell]] = CellGrade(row_id, auto, manual, extra, bool(waiting))
    return {
        row.student_id: LabGrade(
            row.student_id, row.id, row.timestamp, row.extension, row.late_submission_penalty,
            cells[row.id],
        )
        for row in sorted(found, key=lambda row: str(row.student_id))
    }  # fmt: skip
