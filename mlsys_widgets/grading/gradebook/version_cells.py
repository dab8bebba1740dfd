"""The cells of a lab in nbgrader's gradebook, when its versions do not have the same ones.

nbgrader knows one version of a notebook, and refuses another one with more or fewer cells as soon
as something was graded. Here the gradebook gets the cells of all versions. What a cell is worth is
what the present version says; a cell that only earlier versions have is worth nothing in the full
score, and holds what those who have it earned.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final
from uuid import uuid4

from sqlalchemy import Connection, Table, select
from sqlalchemy.exc import SQLAlchemyError

from mlsys_widgets.grading.gradebook import gradebook_schema as t
from mlsys_widgets.grading.gradebook.gradebook_connection import connected
from mlsys_widgets.notebooks.blueprint import Blueprint, SourceCell
from mlsys_widgets.wording.system_errors import database_reason

_GRADE, _SOLUTION, _TASK = "GradeCell", "SolutionCell", "TaskCell"
_TABLES: Final[dict[str, Table]] = {
    _GRADE: t.grade_cells, _SOLUTION: t.solution_cells, _TASK: t.task_cells,
}  # fmt: skip


def has_submissions(url: str, lab: str) -> bool:
    """Whether something of a lab is graded already, so that nbgrader refuses other cells."""
    try:
        with connected(url) as db:
            notebook = _notebook(db, lab)
            table = t.submitted_notebook
            asked = select(table.c.id).where(table.c.notebook_id == notebook)
            return notebook is not None and db.execute(asked).first() is not None
    except SQLAlchemyError:  # whoever enters the lab says what is wrong with the gradebook
        return False


def add_earlier_cells(url: str, lab: str, earlier: Iterable[Blueprint]) -> None:
    """Give a gradebook the cells that only earlier versions of a lab have."""
    _write(url, lab, None, list(earlier))


def enter_version(url: str, lab: str, present: Blueprint) -> None:
    """Make a version the present one of a gradebook in which something is graded already.

    No cell is removed, and no points: what is no longer asked is worth nothing from now on.
    """
    _write(url, lab, present, [])


def _write(url: str, lab: str, present: Blueprint | None, earlier: list[Blueprint]) -> None:
    try:
        with connected(url, write=True) as db:
            notebook = _notebook(db, lab)
            if notebook is None:
                return
            cells = _Cells(db, notebook)
            if present is not None:
                cells.replace_sources(present)
            for blueprint in earlier:
                for name, cell in blueprint.cells.items():
                    cells.ensure(name, cell, worth=None)
    except SQLAlchemyError as problem:
        reason = database_reason(problem)
        raise ValueError(f"the gradebook cannot be written: {reason}") from None


def _notebook(db: Connection, lab: str) -> str | None:
    found = db.execute(
        select(t.notebook.c.id)
        .join(t.assignment, t.assignment.c.id == t.notebook.c.assignment_id)
        .where(t.assignment.c.name == lab, t.notebook.c.name == lab)
    ).first()
    return str(found.id) if found else None


class _Cells:
    """The cells of one notebook in the gradebook."""

    def __init__(self, db: Connection, notebook: str) -> None:
        self._db, self._book = db, notebook
        base = t.base_cell
        rows = db.execute(select(base).where(base.c.notebook_id == notebook)).all()
        self._known = {(row.name, row.type): str(row.id) for row in rows}
        table = t.submitted_notebook
        self._submitted = [
            row.id for row in db.execute(select(table.c.id).where(table.c.notebook_id == notebook))
        ]

    def ensure(self, name: str, cell: SourceCell, worth: float | None) -> None:
        """Have a cell in the gradebook, worth nothing if only earlier versions had it."""
        kinds = {_GRADE: cell.graded, _SOLUTION: cell.solution, _TASK: cell.task}
        for kind in (kind for kind, is_it in kinds.items() if is_it):
            known = self._known.get((name, kind))
            if known is None:
                known = self._add(name, kind, cell, worth or 0.0)
            if worth is not None and kind != _SOLUTION:
                table = _TABLES[kind]
                values = {"max_score": worth, "cell_type": cell.kind}
                self._db.execute(table.update().where(table.c.id == known).values(**values))

    def _add(self, name: str, kind: str, cell: SourceCell, worth: float) -> str:
        new, db = uuid4().hex, self._db
        about = {"id": new, "name": name, "type": kind, "notebook_id": self._book}
        db.execute(t.base_cell.insert().values(**about))
        more = {} if kind == _SOLUTION else {"max_score": worth, "cell_type": cell.kind}
        db.execute(_TABLES[kind].insert().values(id=new, **more))
        self._known[name, kind] = new
        # Who was graded before has not seen it; grading again says what it earns.
        if kind in (_GRADE, _TASK):
            self._for_everybody(t.grade, new, auto_score=0.0, needs_manual_grade=False)
        if kind in (_SOLUTION, _TASK):
            self._for_everybody(t.comment, new)
        return new

    def _for_everybody(self, table: Table, cell: str, **more: Any) -> None:
        rows = [
            {"id": uuid4().hex, "notebook_id": each, "cell_id": cell, **more}
            for each in self._submitted
        ]
        if rows:
            self._db.execute(table.insert(), rows)

    def replace_sources(self, present: Blueprint) -> None:
        """Make a notebook the one that submissions are restored from."""
        db, source = self._db, t.source_cell
        db.execute(source.delete().where(source.c.notebook_id == self._book))
        for name, cell in present.cells.items():
            points = float(cell.metadata.get("points", 0.0))
            self.ensure(name, cell, worth=points)
            db.execute(
                source.insert().values(
                    id=uuid4().hex, name=name, cell_type=cell.kind, locked=cell.locked,
                    source=cell.source, checksum=cell.checksum, notebook_id=self._book,
                )
            )  # fmt: skip
        for (name, kind), known in self._known.items():
            gone = name not in present.cells and kind != _SOLUTION
            if gone:
                table = _TABLES[kind]
                db.execute(table.update().where(table.c.id == known).values(max_score=0.0))
        if present.kernelspec:
            table = t.notebook
            kernelspec = json.dumps(dict(present.kernelspec))
            db.execute(table.update().where(table.c.id == self._book).values(kernelspec=kernelspec))
