"""The codes of a course, as the command lists them."""

from __future__ import annotations

import pytest

from mlsys_widgets.cli import main
from mlsys_widgets.course.course import Course
from mlsys_widgets.course.student_codes import code_of
from mlsys_widgets.courses.enrollment import enter_students
from mlsys_widgets.courses.roster import RosterEntry


@pytest.fixture
def course(tmp_path):
    (tmp_path / "assignments").mkdir()
    settings = tmp_path / "assignments" / "course.toml"
    settings.write_text('student_codes = true\nsecret = "5f0c9a"\n')
    return Course.at(tmp_path)


def listed(course: Course, *students: str) -> int:
    return main(["course", "codes", *students, "--folder", str(course.root)])


def test_everybody_in_the_gradebook_has_a_code(course, capsys):
    enter_students(course, [RosterEntry("bob"), RosterEntry("ann")])
    assert listed(course) == 0
    codes = [f"{login},{code_of(course.edition, login)}" for login in ("ann", "bob")]
    assert capsys.readouterr().out.splitlines() == ["login,code", *codes]
    assert listed(course, "mia") == 0
    assert capsys.readouterr().out.splitlines()[1] == f"mia,{code_of(course.edition, 'mia')}"


def test_without_codes_or_people_a_sentence_says_what_to_do(course, capsys):
    assert listed(course) == 1
    assert "name the students: mlsys course codes LOGIN" in capsys.readouterr().err
    (course.root / "assignments" / "course.toml").write_text('secret = "5f0c9a"\n')
    assert listed(course) == 1
    assert "student_codes = true" in capsys.readouterr().err
