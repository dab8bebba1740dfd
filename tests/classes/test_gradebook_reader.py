"""The gradebook as it is read: points, penalties, and who is late."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from mlsys_widgets.classes.gradebook_reader import Standing, due, grades
from mlsys_widgets.course.course import Course
from tests.grading.classroom import LAB, classroom
from tests.grading.simulated import (
    STUDENTS,
    copy_of_class,
    graded_class,
    made,
    of_kind,
    sql,
)

pytestmark = pytest.mark.timeout(600)


def test_cells_are_in_the_order_of_the_notebook() -> None:
    found = grades(Course(graded_class()), LAB)
    assert found.most == {
        "intensity_flop_per_byte": 40, "limit": 20, "advice": 20, "commitments": 20,
    }  # fmt: skip
    assert list(found.most) == ["intensity_flop_per_byte", "limit", "advice", "commitments"]
    assert set(found.standings) == set(made(graded_class()))
    assert len(found.people) == STUDENTS


def test_who_left_the_course_is_not_among_its_people(tmp_path: Path) -> None:
    root = copy_of_class(tmp_path / "course")
    everybody = grades(Course.at(root), LAB)
    gone = min(everybody.standings)
    settings = root / "assignments" / "course.toml"
    said = settings.read_text() if settings.is_file() else ""
    settings.write_text(f'{said}\n[people]\ndropped = ["{gone}"]\n')
    found = grades(Course.at(root), LAB)
    assert {each.id for each in everybody.people} - {each.id for each in found.people} == {gone}
    assert set(everybody.standings) - set(found.standings) == {gone}
    assert found.trial == everybody.trial


def test_late_is_after_the_due_date_and_the_extension(tmp_path: Path) -> None:
    root = copy_of_class(tmp_path / "course")
    late = of_kind(root, "late")
    standings = grades(Course(root), LAB).standings
    assert {name for name, each in standings.items() if each.seconds_late > 0} == set(late)
    # SQLite keeps an extension as the time after 1970.
    sql(root, "update submitted_assignment set extension = '1971-01-01 00:00:00.000000'")
    assert not any(each.seconds_late for each in grades(Course(root), LAB).standings.values())


def test_points_by_hand_take_precedence_and_extra_credit_is_added(tmp_path: Path) -> None:
    root = copy_of_class(tmp_path / "course")
    sql(root, "update grade set auto_score = 10, manual_score = 3, extra_credit = 1")
    for standing in grades(Course(root), LAB).standings.values():
        assert set(standing.points.values()) == {4.0}


def test_a_penalty_never_makes_points_negative() -> None:
    assert Standing({"a": 3.0, "b": 4.5}).total == 7.5
    assert Standing({"a": 3.0}, penalty=1.0).total == 2.0
    assert Standing({"a": 3.0}, penalty=5.0).total == 0.0
    assert Standing({"a": 3.0}, penalty=5.0).earned == 3.0


def test_when_a_lab_is_due(tmp_path: Path) -> None:
    assert due(Course(graded_class()), LAB) == datetime(2026, 10, 9, 20)
    assert due(Course(graded_class()), "lab_99") is None
    root = classroom(tmp_path / "course").root
    (root / "gradebook.db").unlink()
    assert due(Course(root), LAB) is None
    assert not (root / "gradebook.db").exists()


def test_a_lab_that_is_not_in_the_gradebook(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="mlsys grade lab_99"):
        grades(Course(graded_class()), "lab_99")
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "gradebook.db").touch()
    with pytest.raises(ValueError, match=f"does not know {LAB}"):
        grades(Course(empty), LAB)
