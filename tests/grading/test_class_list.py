"""Who is in the class: a roster makes one, grading does not, and near names are suggested."""

from __future__ import annotations

import pytest
from sqlalchemy import create_engine

from mlsys_widgets.grading.gradebook import gradebook_schema as t
from mlsys_widgets.grading.reading.class_list import ClassList


@pytest.fixture
def gradebook(tmp_path):
    """A gradebook that holds what a test says."""
    url = f"sqlite:///{tmp_path / 'gradebook.db'}"
    engine = create_engine(url)
    t.student.metadata.create_all(engine)

    def holds(students, handed_in=()):
        with engine.begin() as db:
            for login, last in students.items():
                db.execute(t.student.insert().values(id=login, last_name=last))
            for login in handed_in:
                values = {"id": f"work of {login}", "student_id": login, "assignment_id": "lab"}
                db.execute(t.submitted_assignment.insert().values(values))
        return ClassList.of(url)

    yield holds
    engine.dispose()


def test_without_a_gradebook_nobody_is_a_stranger(tmp_path, gradebook):
    assert ClassList.of(f"sqlite:///{tmp_path / 'none.db'}").stranger("eve") == ""
    assert gradebook({}).stranger("eve") == ""


def test_grading_alone_makes_no_class(gradebook):
    """It enters whoever hands in, so who hands in next may be anybody."""
    assert gradebook({"ann": None, "ben": None}, handed_in=["ann", "ben"]).stranger("eve") == ""


@pytest.mark.parametrize("handed_in", [[], ["ann", "ben"]])
def test_names_make_a_class(gradebook, handed_in):
    known = gradebook({"ann": "Lee", "ben": None}, handed_in)
    assert known.stranger("ben") == ""
    assert known.stranger("bem") == "bem is not in this class. Did they mean ben?"
    assert known.stranger("xaver") == "xaver is not in this class."


def test_whoever_was_only_graded_can_be_taken_out(gradebook):
    known = gradebook({"ann": "Lee", "ben": None, "bem": None}, ["ann", "bem"])
    assert known.stranger("bem") == ""
    assert known.without({"bem", "ann"}).stranger("bem").endswith("Did they mean ben?")
    assert known.without({"bem", "ann"}).stranger("ann") == "", "somebody entered the name"


def test_two_of_one_name_tell_nothing_about_an_uploader():
    known = ClassList({"a1": ("Ann", "Lee"), "a2": ("Ann", "Lee"), "zoe": ("Zoë", "Ray")})
    assert known.uploader("leeann_5_lab-a1.zip", "lab") is None
    assert known.uploader("Zoe Ray_5_lab-a1.zip", "lab") == "zoe"
