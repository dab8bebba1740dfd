"""One student's rows in a real gradebook: renamed, copied out, erased down to the file's bytes."""

from __future__ import annotations

import pytest

from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.student_rows import (
    gradebook,
    remove_student,
    rename_student,
    rewrite,
    rows_of,
    students,
    submissions,
)
from tests.courses.conftest import LAB


def test_a_student_is_renamed_with_everything_and_nothing_else_changes(graded):
    course = Course.at(graded)
    with gradebook(course, write=True) as db:
        old, other, *_ = [name for name in students(db) if submissions(db, name)]
        before, beside = rows_of(db, old), rows_of(db, other)
        rename_student(db, old, "new")
        rename_student(db, "nobody", "somebody")
    with gradebook(course) as db:
        after = rows_of(db, "new")
        assert rows_of(db, old) == {"student": None, "submissions": []}
        assert rows_of(db, other) == beside
        assert "somebody" not in students(db)
    assert after["student"] == {**before["student"], "id": "new"}
    assert [each["notebooks"] for each in after["submissions"]] == [
        each["notebooks"] for each in before["submissions"]
    ]


def test_an_erased_student_is_not_in_the_file_any_more(graded):
    course = Course.at(graded)
    with gradebook(course) as db:
        gone = next(name for name in students(db) if submissions(db, name))
        assert rows_of(db, gone)["submissions"][0]["lab"] == LAB
    with gradebook(course, write=True) as db:
        remove_student(db, gone)
    rewrite(course)
    assert gone.encode() not in (graded / "gradebook.db").read_bytes()


def test_after_an_exception_nothing_happened_and_a_broken_book_is_a_sentence(graded):
    course = Course.at(graded)
    with gradebook(course) as db:
        before = students(db)

    def remove_and_fail() -> None:
        with gradebook(course, write=True) as db:
            for name in before:
                remove_student(db, name)
            raise KeyError

    with pytest.raises(KeyError):
        remove_and_fail()
    with gradebook(course) as db:
        assert students(db) == before
    (graded / "gradebook.db").write_text("no gradebook")
    with pytest.raises(ValueError, match="mlsys course doctor"), gradebook(course) as db:
        pass
    (graded / "gradebook.db").unlink()
    with gradebook(course) as db:
        assert (students(db), rows_of(db, "ann")["student"]) == ({}, None)
    assert not (graded / "gradebook.db").exists()
