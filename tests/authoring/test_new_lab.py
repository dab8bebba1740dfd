"""A lab from the template, from nothing to grades, in a course without variants."""

from __future__ import annotations

import pytest

from mlsys_widgets.authoring import Course, labs_of, new_lab
from mlsys_widgets.physics import devices
from tests.authoring.conftest import DEMO
from tests.labs.rehearsal import (
    Workshop,
    asked,
    autograde,
    build,
    hidden_test,
    run_hidden,
    solved,
    typed,
    work_through,
)

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("new_lab")
    new_lab(root, DEMO)
    found = build(Workshop(root, DEMO))
    assert not found.problem
    return found


def test_it_builds_the_same_to_the_byte(made):
    before = dict(made.built)
    assert sorted(before) == [
        f"{step}/{DEMO}/{name}"
        for step in ("release", "source")
        for name in ("asks.py", f"{DEMO}.ipynb")
    ]
    assert build(made).problem == ""
    assert made.built == before


def test_what_no_longer_belongs_is_removed(made):
    old = made.root / "release" / DEMO / "old.py"
    old.write_text("x", "utf-8")
    assert build(made).problem == ""
    assert not old.exists()


def test_a_ledger_never_goes_to_students(made):
    ledger = made.root / "release" / DEMO / "ledger.jsonl"
    ledger.write_text("x", "utf-8")
    assert "is somebody's record of working there" in build(made).problem
    assert ledger.read_text("utf-8") == "x"
    ledger.unlink()


def test_everyone_has_numbers_of_their_own(made, tmp_path):
    """The hidden tests of the lab as it comes, for a student and under another name."""
    one, other = "student-1", "student-2"
    right = asked(made.course, DEMO, one).right()
    assert right != asked(made.course, DEMO, other).right()
    code = hidden_test(made.notebook("source"), "intensity_flop_per_byte")
    earned = {}
    for student in (one, other):
        folder = made.give(tmp_path / student / DEMO)
        earned[student], _ = run_hidden(code, folder, dict(right))
    assert earned == {one: 40, other: 0}


def test_what_it_teaches_holds_for_every_side_and_its_choice_depends_on_it(made):
    """By hand: N / 3 FLOP per byte for one product, N / 2 for two in one kernel."""
    ridge = devices["h100-sxm"].ridge()
    verdicts = []
    for number in range(200):
        found = asked(made.course, DEMO, f"student-{number}")
        side, right = found.p.side, found.right()
        assert 2 * side / 3 < ridge  # one product waits, also at twice the side
        assert right["intensity_flop_per_byte"] == pytest.approx(side / 2)
        assert right["limit"] == ("memory" if side < ridge else "compute")
        verdicts.append(right["limit"])
    assert min(verdicts.count("memory"), verdicts.count("compute")) >= 20  # a tenth


@pytest.mark.slow
def test_without_variants_everybody_has_the_numbers_of_the_text(made, tmp_path):
    root = tmp_path / "course"
    folder = new_lab(root, DEMO)
    settings = folder.parent / "course.toml"
    settings.write_text('variants = false\nedition = "2027"\n', "utf-8")
    plain = build(Workshop(root, DEMO))
    assert plain.problem == ""
    for student in ("student-1", "student-2"):
        work_through(plain.begin(student), student, plain.course, design=False)
    default = asked(plain.course, DEMO, "anybody")
    assert default.p == default.lab.draw("", variants=False)
    release = plain.notebook("release")
    plain.hand_in("student-1", solved(release, plain.notebook("source")))
    plain.hand_in("student-2", typed(release, default.right()))
    grades, _ = autograde(plain)
    for student in ("student-1", "student-2"):
        earned = {name: grade.score for name, grade in grades[student].items()}
        assert earned == {
            "intensity_flop_per_byte": 40, "limit": 20, "commitments": 20, "advice": 0,
        }  # fmt: skip


@pytest.mark.parametrize(
    "name", ["", "ab", "Lab_02", "2_lab", "lab-02", "lab 02", "../lab", "l" * 51, "läb_02", "lab\n"]
)
def test_names_that_are_none_are_refused(tmp_path, name):
    with pytest.raises(ValueError, match="it must be 3 to 50 lowercase letters, digits and _"):
        new_lab(tmp_path, name)
    assert not any(tmp_path.iterdir())


def test_a_lab_that_is_there_is_never_overwritten(course, home):
    (home / "lab.py").write_text("mine", "utf-8")
    with pytest.raises(ValueError, match="exists already; choose another name"):
        new_lab(course.root, DEMO)
    assert (home / "lab.py").read_text("utf-8") == "mine"


def test_a_second_lab_keeps_the_settings_of_the_course(course):
    settings = course.root / "assignments" / "course.toml"
    settings.write_text("variants = false\n", "utf-8")
    new_lab(course.root, "lab_03_other")
    assert settings.read_text("utf-8") == "variants = false\n"
    assert Course.at(course.root) == Course(course.root, variants=False)
    assert labs_of(course) == [DEMO, "lab_03_other"]
