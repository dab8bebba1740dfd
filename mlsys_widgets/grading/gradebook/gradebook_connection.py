"""Connecting to nbgrader's gradebook, whose tables are in `gradebook_schema`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event, inspect, make_url

from mlsys_widgets.grading.gradebook import gradebook_schema as t


@contextmanager
def connected(url: str, *, write: bool = False) -> Iterator[Connection]:
    """Connect to a gradebook; with `write`, all that is done takes effect, or nothing."""
    engine = open_gradebook(url)
    try:
        with engine.connect() as db:
            yield db
            if write:
                db.commit()
    finally:
        engine.dispose()


def open_gradebook(url: str) -> Engine:
    """Open a gradebook; where there is none yet, an empty one in memory.

    What is deleted in SQLite is overwritten on the disk.
    """
    place = make_url(url)
    sqlite = place.get_backend_name() == "sqlite"
    # Connecting to a file that is missing would create it.
    if not sqlite or Path(place.database or "").is_file():
        # A formgrader that is open beside us may hold the file for a moment.
        engine = create_engine(place, connect_args={"timeout": 60} if sqlite else {})
        if sqlite:
            event.listen(engine, "connect", lambda db, _: db.execute("PRAGMA secure_delete = ON"))
        if inspect(engine).has_table("student"):
            return engine
        engine.dispose()
    empty = create_engine("sqlite://")
    t.student.metadata.create_all(empty)
    return empty
