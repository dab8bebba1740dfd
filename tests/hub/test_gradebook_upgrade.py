"""An old gradebook is brought up to date after a copy, and a failure changes nothing."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.dbutil import write_alembic_ini

from mlsys_widgets.course.course import Course
from mlsys_widgets.hub.backup.gradebook_upgrade import upgrade_gradebook


@pytest.fixture
def gradebook(tmp_path, monkeypatch):
    """A gradebook in its newest form, with a student in it."""
    # nbgrader looks for alembic on the path.
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    (tmp_path / "assignments").mkdir()
    path = tmp_path / "gradebook.db"
    with Gradebook(f"sqlite:///{path}") as book:
        book.add_student("ada")
        book.db.commit()
    return path


def revision(path):
    with closing(sqlite3.connect(path)) as db:
        return db.execute("select version_num from alembic_version").fetchone()[0]


def alembic(path, *words):
    settings = path.with_name("alembic.ini")
    write_alembic_ini(str(settings), f"sqlite:///{path}")
    subprocess.run(
        [sys.executable, "-m", "alembic", "-c", settings, *words], check=True, capture_output=True
    )


def test_what_is_up_to_date_is_left_alone(gradebook):
    before = gradebook.read_bytes()
    assert upgrade_gradebook(Course(gradebook.parent)) is None
    assert gradebook.read_bytes() == before


def test_an_old_one_is_upgraded_and_its_copy_stays(gradebook):
    newest = revision(gradebook)
    # As an nbgrader before the last two revisions left it: without what they add.
    with closing(sqlite3.connect(gradebook)) as db:
        db.executescript(
            "drop table assignment; drop table course;"
            "alter table student drop column lms_user_id;"
            "create table assignment"
            " (id varchar(128) primary key, name varchar(128), duedate timestamp)"
        )
        db.commit()
    alembic(gradebook, "stamp", "--purge", "167914646830")
    copy = upgrade_gradebook(Course(gradebook.parent))
    assert revision(gradebook) == newest
    assert revision(copy) == "167914646830"
    assert copy.stat().st_mode & 0o077 == 0
    with Gradebook(f"sqlite:///{gradebook}") as book:
        assert [each.id for each in book.students] == ["ada"]


def test_one_that_cannot_be_upgraded_is_as_it_was(gradebook):
    alembic(gradebook, "stamp", "--purge", "b6d005d67074")  # columns of later ones are there
    with pytest.raises(ValueError, match="could not be upgraded and is as it was"):
        upgrade_gradebook(Course(gradebook.parent))
    assert revision(gradebook) == "b6d005d67074"
    with closing(sqlite3.connect(gradebook)) as db:
        assert db.execute("select id from student").fetchall() == [("ada",)]


def test_a_newer_one_is_refused(gradebook):
    with closing(sqlite3.connect(gradebook)) as db:
        db.execute("update alembic_version set version_num = 'future'")
        db.commit()
    with pytest.raises(ValueError, match="written by a newer nbgrader"):
        upgrade_gradebook(Course(gradebook.parent))
