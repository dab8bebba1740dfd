"""A small class that was graded by record, for tests that judge it again with other keys."""

from __future__ import annotations

import functools
import shutil
from pathlib import Path

from mlsys_widgets.course.course import Course
from mlsys_widgets.grading.gradebook.grade_history import GradeHistory
from mlsys_widgets.grading.regrading.regrade import Regrade
from tests.grading.classroom import LAB, classroom, grade, made_once, record
from tests.grading.simulated import sql
from tests.labs.rehearsal import Workshop

NUMBER, CHOICE, ESSAY = "intensity_flop_per_byte", "limit", "advice"


@functools.cache
def _class() -> Path:
    return made_once("regraded", _make)


def _make(root: Path) -> None:
    course = classroom(root)
    for student, times in (("ann", 1.0), ("bob", 2.0), ("cat", 1.03)):
        right = course.asked(student).right()
        record(course, student, {**right, NUMBER: right[NUMBER] * times})
    graded = grade(course)
    assert {each.way for each in graded.values()} == {"record"}


def graded_course(root: Path) -> Workshop:
    """Ann is right, Bob counts elements for bytes, and Cat is three percent off; all graded."""
    shutil.copytree(_class(), root, dirs_exist_ok=True)
    return Workshop(root, LAB)


def change_key(course: Workshop, old: str, new: str) -> None:
    """Edit the keys of the lab."""
    checks = course.root / "assignments" / LAB / "checks.py"
    text = checks.read_text()
    assert old in text
    checks.write_text(text.replace(old, new))


def regrade(course: Workshop, students: str = "*") -> Regrade:
    return Regrade(Course.at(course.root), LAB, students)


def history(course: Workshop) -> GradeHistory:
    return GradeHistory(course.root, LAB)


def by_hand(course: Workshop, student: str, cell: str, **points: float) -> None:
    """Do what formgrader does when a person gives points."""
    given = ", ".join(f"{name} = {value}" for name, value in points.items())
    sql(
        course.root,
        f"update grade set {given}, needs_manual_grade = 0 where id in (select g.id from grade g"
        " join submitted_notebook n on g.notebook_id = n.id"
        " join submitted_assignment a on n.assignment_id = a.id"
        " join base_cell c on c.id = g.cell_id where a.student_id = ? and c.name = ?)",
        student,
        cell,
    )
