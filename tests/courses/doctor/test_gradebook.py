"""A gradebook: broken in one way at a time, and diagnosed."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from mlsys_widgets.course.course import Course
from mlsys_widgets.courses import RosterEntry, enter_students
from mlsys_widgets.courses.doctor import gradebook
from mlsys_widgets.courses.gradebook_registration import register_labs
from tests.courses.conftest import LAB, Disk
from tests.courses.doctor.findings import (
    is_broken,
    is_doubtful,
    is_well,
    name_gradebook,
    the_one,
)
from tests.grading.test_postgres import Server

pytestmark = pytest.mark.timeout(300)


def change(course: Path, query: str) -> None:
    with sqlite3.connect(course / "gradebook.db") as db:
        db.execute(query)
    db.close()


def gradebook_is_broken(course: Path, said: str, fix: str) -> None:
    is_broken(gradebook.gradebook, course, "gradebook", said, fix)


def test_looking_changes_nothing(course: Path):
    before = (course / "gradebook.db").read_bytes()
    is_well(gradebook.gradebook, course, "gradebook")
    assert "2 in" in is_well(gradebook.gradebook, course, "students").said
    assert (course / "gradebook.db").read_bytes() == before


def test_it_is_gone(course: Path):
    (course / "gradebook.db").unlink()
    gradebook_is_broken(course, "there is no gradebook.db", "nbgrader generate_assignment LAB")
    assert not (course / "gradebook.db").exists()


def test_it_is_no_database(course: Path):
    (course / "gradebook.db").write_text("something else " * 100, "utf-8")
    gradebook_is_broken(course, "file is not a database", "restore a copy of the file")


def test_it_is_empty(course: Path):
    (course / "gradebook.db").write_bytes(b"")
    gradebook_is_broken(course, "gradebook.db is empty", "nbgrader generate_assignment LAB --force")


def test_it_is_of_an_early_nbgrader(course: Path):
    change(course, "update alembic_version set version_num = '50a4d84c131a'")
    gradebook_is_broken(
        course, "has schema 50a4d84c131a, and nbgrader needs", "nbgrader db upgrade"
    )
    change(course, "drop table alembic_version")
    gradebook_is_broken(course, "has schema of an early nbgrader", "nbgrader db upgrade")


def test_it_can_only_be_read(course: Path, course_disk: Disk):
    place = course_disk.place / "course"
    shutil.copytree(course, place)
    is_well(gradebook.gradebook, place, "gradebook")
    course_disk.close_to_writers()
    gradebook_is_broken(place, "attempt to write a readonly database", "chown or chmod")


def test_somebody_else_holds_it(course: Path):
    holder = sqlite3.connect(course / "gradebook.db", isolation_level=None)
    holder.execute("begin exclusive")
    try:
        gradebook_is_broken(course, "database is locked", "another program holds it")
    finally:
        holder.close()


def test_nobody_is_in_it(course: Path):
    change(course, "delete from student")
    is_doubtful(gradebook.gradebook, course, "students", "none are", "mlsys course roster")


def test_it_knows_another_lab_or_none(course: Path):
    change(course, "update source_cell set checksum = 'x' where name = 'limit'")
    is_doubtful(
        gradebook.gradebook, course, "gradebook", f"its {LAB} differs from the one in source/",
        f"nbgrader generate_assignment {LAB} --force",
    )  # fmt: skip
    register_labs(Course(course), [LAB])
    is_well(gradebook.gradebook, course, "gradebook")
    change(course, "delete from source_cell")
    is_doubtful(gradebook.gradebook, course, "gradebook", f"does not know {LAB}", "--force")


def test_an_address_that_is_none(course: Path):
    name_gradebook(course, "somewhere")
    gradebook_is_broken(course, "db_url is not an address", "c.CourseDirectory.db_url")


@pytest.mark.needs("postgresql")
def test_on_a_server(course: Path):
    server = Server()
    try:
        url = server.create("grades")
        name_gradebook(course, url)
        gradebook_is_broken(course, "/grades.* is empty", "nbgrader generate_assignment")
        register_labs(Course(course), [LAB])
        enter_students(Course(course), [RosterEntry("ann")])
        is_well(gradebook.gradebook, course, "gradebook")
        assert is_well(gradebook.gradebook, course, "students").said == "1 in the gradebook"
        engine = create_engine(url, isolation_level="AUTOCOMMIT")
        with engine.connect() as db:
            db.execute(text("create role reader login"))
            db.execute(text("grant select on all tables in schema public to reader"))
        engine.dispose()
        name_gradebook(course, url.replace("grader@", "reader:s3cr3t@"))
        found = the_one(gradebook.gradebook, course, "gradebook")
        assert "permission denied for table student" in found.said
        assert "a user who may write" in found.fix
        assert "s3cr3t" not in found.said + found.fix
        server.stop()
        gradebook_is_broken(course, "cannot be used: connection", "make sure that the server runs")
    finally:
        server.close()
