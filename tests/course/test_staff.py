"""People in the settings of a course: read whole, and refused with what is allowed."""

from __future__ import annotations

import pytest

from mlsys_widgets.course.course import Course
from mlsys_widgets.course.staff import CoursePeople, OtherNames, StaffMember, read_people
from mlsys_widgets.labs.identity import student, worked_as

SECTIONS = {"evening": ("eve",)}


def test_people_are_read_with_the_course(tmp_path):
    (tmp_path / "assignments").mkdir()
    (tmp_path / "assignments" / "course.toml").write_text(
        '[sections.evening]\nstudents = ["eve"]\n'
        '[staff.mia]\nrole = "ta"\nsections = ["evening"]\n[staff.kai]\nrole = "instructor"\n'
        '[people]\nlocked = ["ben"]\n[names.ann]\nnumbers = "ada"\n'
    )
    people = Course.at(tmp_path).people
    assert people.tas() == (StaffMember("mia", "ta", ("evening",)),)
    assert people.staff["kai"].role == "instructor"
    assert people == CoursePeople(people.staff, locked=("ben",), names={"ann": OtherNames("ada")})


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"staff": {"mia": {"role": "boss"}}}, 'must be "instructor" or "ta"'),
        ({"staff": {"mia": {}}}, "staff.mia.role is None"),
        ({"staff": ["mia"]}, r"must be a table, under a line \[staff\]"),
        ({"staff": {"mia": {"role": "ta", "pay": 3}}}, "staff.mia sets pay; it can set: role"),
        ({"staff": {"mia": {"role": "ta", "sections": ["x"]}}}, "the sections are: evening"),
        ({"staff": {"eve": {"role": "ta"}}}, "needs another login"),
        ({"staff": {"../x": {"role": "ta"}}}, "without slashes"),
        ({"people": {"locked": "ben"}}, "must be a list of names"),
        ({"people": {"gone": []}}, "it can set: added, locked, dropped"),
        ({"names": {"a": {"numbers": "x"}, "b": {"also": ["x"]}}}, "can be one of them"),
        ({"names": {"a": {"numbers": 3}}}, "names.a.numbers names 3"),
    ],
)
def test_what_is_wrong_is_named_with_what_is_allowed(said, why):
    with pytest.raises(ValueError, match=why):
        read_people(said, SECTIONS)


def test_stock_nbgrader_draws_the_numbers_of_a_renamed_student_from_the_earlier_name(
    tmp_path, monkeypatch
):
    (tmp_path / "assignments").mkdir()
    (tmp_path / "assignments" / "course.toml").write_text('[names.ann]\nnumbers = "ada"\n')
    work = tmp_path / "autograded" / "ann" / "lab_01"
    work.mkdir(parents=True)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert student(work).name == "ada"
    assert worked_as("ben", work) == "ben"
    assert worked_as("ann", tmp_path.parent) == "ann"


def test_a_ledger_of_somebody_else_changes_nothing():
    people = CoursePeople(names={"ann": OtherNames("", ("annie",))})
    assert people.worked_as("ann", b'{"value": {"student": "ben"}}') == "ann"
    assert people.worked_as("ann", b'{"value": {"student": "annie"}}') == "annie"
    for broken in (b"", b"[]", b"{", b'{"value": 3}', b"[" * 100_000):
        assert people.worked_as("ann", broken) == "ann"
    renamed = CoursePeople(names={"ann": OtherNames("ada")})
    assert renamed.worked_as("ann", b'{"value": {"student": "ben"}}') == "ada"
