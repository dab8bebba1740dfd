"""Who handed in nothing and who is at risk: by pace and missing work, never by points."""

from __future__ import annotations

import pytest

from mlsys_widgets.classes.class_members import class_members
from mlsys_widgets.classes.summary import ClassMember
from mlsys_widgets.course.course import Course
from mlsys_widgets.course.grading_shares import shares_path
from tests.classes.test_class_charts import row
from tests.classes.two_labs import GRADED, ONE, TWO, day, two_labs


@pytest.fixture
def root(tmp_path):
    return two_labs(tmp_path, GRADED | {("ben", TWO): (0, 8, 0)})


def members(root, lab=TWO, days=30, blank=None, *, names=True) -> dict[str, ClassMember]:
    rows = {who: row(points) for (who, of), (points, *_) in GRADED.items() if of == lab}
    found = class_members(
        Course.at(root), lab, rows or {"ann": row(5)}, blank or {}, names=names, now=day(days)
    )
    return {each.student or str(number): each for number, each in enumerate(found)}


def test_who_handed_in_nothing_and_who_still_has_time(root):
    # The first lab was due three days ago, for Eve's section it is due in two days.
    assert [each.state for each in members(root, ONE, 0).values()] == [
        "graded",
        "graded",
        "has time",
    ]
    assert members(root, ONE)["eve"].state == "missing"
    (root / "submitted" / "eve" / ONE).mkdir(parents=True)
    assert members(root, ONE)["eve"].state == "not graded"


def test_at_risk_is_who_misses_labs_leaves_blanks_or_is_late_twice(root):
    found = members(root, blank={"ann": 0.5})
    assert found["ann"].signs == ("left 50% of the points blank",)
    assert found["ben"].signs == (f"late here and in {ONE}",)
    assert found["eve"].signs == (f"handed in nothing in {ONE}, {TWO}",)


def test_few_points_are_no_risk(root):
    # Ben has none in the second lab; without the first, he was late once.
    assert members(root, ONE)["ben"].signs == ()
    assert members(root, blank={"ann": 0.49})["ann"].signs == ()


@pytest.mark.parametrize(
    ("hours", "signs"),
    [
        (2.0, ()),
        (0.5, ("began with 30 minutes left, and half of the class needs 60 minutes or more",)),
        (-1.0, ("began after it was due",)),
        (None, ()),
    ],
)
def test_at_risk_is_who_begins_with_less_time_than_it_takes(root, hours, signs):
    rows = {"ann": row(9, minutes=60.0, began=hours), "ben": row(9, minutes=60.0, began=40.0)}
    found = class_members(Course.at(root), ONE, rows, {}, names=True, now=day(30))
    assert {each.student: each.signs for each in found if each.student != "eve"} == {
        "ann": signs, "ben": (),
    }  # fmt: skip


def test_sections_and_tas(root):
    settings = root / "assignments" / "course.toml"
    settings.write_text(f'{settings.read_text()}[staff.mia]\nrole = "ta"\nsections = ["evening"]\n')
    found = members(root)
    assert [(each.section, each.ta) for each in found.values()] == [
        ("", ""), ("", ""), ("evening", "mia"),
    ]  # fmt: skip
    path = shares_path(root, TWO)
    path.parent.mkdir(exist_ok=True)
    path.write_text('{"ann": "tom"}')
    assert members(root)["ann"].ta == "tom"
    unnamed = members(root, names=False).values()
    assert {(each.student, each.name, each.ta) for each in unnamed} == {("", "", "")}
    assert [bool(each.signs) for each in unnamed] == [False, True, True]
