"""Where each lab stands, in a course in which three invented students handed in."""

from __future__ import annotations

from dataclasses import replace

from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.lab_overview import overview
from mlsys_widgets.courses.lab_releases import release_lab, withdraw_lab
from tests.courses.conftest import LAB


def test_a_lab_is_counted_from_exchange_course_and_gradebook(graded):
    (lab,) = overview(Course.at(graded))
    assert (lab.handed_in, len(lab.grades), lab.ungraded) == (3, 3, 0)
    assert (lab.released, lab.state, lab.looks) == (False, "not released", 0)
    late = next((graded.parent / "exchange" / "demo" / "inbound").iterdir())
    late.rename(late.with_name(f"zoe+{LAB}+2026-11-02 UTC+abc"))
    (lab,) = overview(Course.at(graded))
    assert (lab.handed_in, lab.ungraded, lab.next_step) == (4, 1, "grade")


def test_what_is_next_follows_what_is_there(graded):
    (lab,) = overview(Course.at(graded))
    assert lab.next_step == ("essays" if lab.waiting else "feedback")
    assert replace(lab, grades={}, collected=frozenset(), in_exchange=frozenset()).next_step == (
        "release"
    )


def test_a_released_lab_is_open_and_one_that_is_withdrawn_says_so(course):
    release_lab(Course.at(course), LAB)
    (lab,) = overview(Course.at(course))
    assert (lab.released, lab.state) == (True, "open")
    withdraw_lab(Course.at(course), LAB)
    (lab,) = overview(Course.at(course))
    assert (lab.released, lab.state) == (False, "withdrawn")
