"""The gradebook: reachable, up to date with nbgrader, writable, and with somebody in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from mlsys_widgets.authoring import Course, labs_of
from mlsys_widgets.courses.doctor.finding import Finding, ok, problem, warning
from mlsys_widgets.courses.freshness import checksums
from mlsys_widgets.wording.system_errors import database_reason

_ABOUT: Final = "gradebook"
#: Seconds to wait for another program that holds it.
_PATIENCE: Final = 5
_CELLS: Final = """
    select notebook.name as lab, source_cell.name as cell, source_cell.checksum as checksum
    from source_cell join notebook on source_cell.notebook_id = notebook.id
"""


def gradebook(course: Course) -> Iterator[Finding]:
    """Check the gradebook that the settings name."""
    from sqlalchemy import create_engine, make_url
    from sqlalchemy.exc import SQLAlchemyError

    url, file = course.db_url, course.gradebook
    if file is not None and not file.is_file():
        yield problem(
            _ABOUT,
            f"there is no {file.name}",
            "enter the labs, which creates it: nbgrader generate_assignment LAB --force; then mlsys"
            " course roster . STUDENTS.csv",
        )
        return
    try:
        shown = make_url(url).render_as_string(hide_password=True)
        waits: dict[str, Any] = (
            {"timeout": _PATIENCE} if url.startswith("sqlite") else {"connect_timeout": _PATIENCE}
        )
        engine = create_engine(url, connect_args=waits)
    except ModuleNotFoundError as trouble:
        yield problem(_ABOUT, f"it needs {trouble.name}", "pip install 'mlsys-widgets[postgres]'")
        return
    except SQLAlchemyError as trouble:
        words = f"db_url is not an address: {trouble}"
        yield problem(_ABOUT, words, "fix c.CourseDirectory.db_url")
        return
    try:
        yield from _inside(engine, shown, course)
    except SQLAlchemyError as trouble:
        yield _unusable(shown, trouble)
    finally:
        engine.dispose()


def _inside(engine: Any, shown: str, course: Course) -> Iterator[Finding]:
    from sqlalchemy import inspect, text

    tables = inspect(engine).get_table_names()
    if "student" not in tables:
        yield problem(
            _ABOUT, f"{shown} is empty", "enter the labs: nbgrader generate_assignment LAB --force"
        )
        return
    with engine.connect() as db:
        schema = (
            db.execute(text("select version_num from alembic_version")).scalar()
            if "alembic_version" in tables
            else None
        )
        cells: dict[str, dict[str, str]] = {}
        for row in db.execute(text(_CELLS)):
            cells.setdefault(row.lab, {})[row.cell] = row.checksum
        students = db.execute(text("select count(*) from student")).scalar()
    wanted = _newest_schema()
    if schema != wanted:
        yield problem(
            _ABOUT,
            f"{shown} has schema {schema or 'of an early nbgrader'}, and nbgrader needs {wanted}",
            "nbgrader db upgrade, which makes a copy first; or use the nbgrader that wrote it",
        )
        return
    # A row that nobody ever sees: it is written and rolled back.
    with engine.connect() as db:
        unseen = text("insert into student (id) values (:id)")
        db.execute(unseen, {"id": f"mlsys-doctor-{uuid4().hex}"})
        db.rollback()
    stale = [lab for lab in labs_of(course) if cells.get(lab) != checksums(course, lab)]
    for lab in stale:
        yield warning(
            _ABOUT,
            f"its {lab} differs from the one in source/"
            if lab in cells
            else f"it does not know {lab}",
            f"nbgrader generate_assignment {lab} --force",
        )
    if not students:
        yield warning("students", "none are in the gradebook", "mlsys course roster . STUDENTS.csv")
    else:
        yield ok("students", f"{students} in the gradebook")
    if not stale:
        yield ok(_ABOUT, f"{shown} can be written")


def _newest_schema() -> str | None:
    import nbgrader
    from alembic.script import ScriptDirectory

    return ScriptDirectory(str(Path(nbgrader.__file__).parent / "alembic")).get_current_head()


def _unusable(shown: str, trouble: Exception) -> Finding:
    words = database_reason(trouble)
    if "readonly" in words or "read-only" in words:
        fix = "let whoever grades write the file and its folder: chown or chmod u+w"
    elif "locked" in words:
        fix = "another program holds it; close formgrader or wait for mlsys grade to end"
    elif "sqlite" in shown:
        fix = "restore a copy of the file; nbgrader itself keeps none"
    else:
        fix = "make sure that the server runs, and that db_url names it and a user who may write"
    return problem(_ABOUT, f"{shown} cannot be used: {words}", fix)
