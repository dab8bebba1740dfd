"""Whoever types a classmate's results is seen in the report, beside what chance would do."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from mlsys_widgets.classes import class_summary
from mlsys_widgets.classes.neighbor_keys import neighbor_keys
from mlsys_widgets.classes.report_page import page
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.judging.keys import Given, NumberKey
from mlsys_widgets.labs import Number, load
from tests.grading.classroom import grade, record
from tests.labs.rehearsal import ROOT, committed, nbgrader
from tests.sampling import sample

LAB = "lab_07_kernel_fusion"
CLASS = [f"student-{number}" for number in range(40)]


@pytest.fixture(scope="module")
def keys() -> dict[str, dict[str, NumberKey]]:
    """What is right for each of a class, by question."""
    home = ROOT / "assignments" / LAB
    lab, checks = load(home), load_checks(home)
    drawn = {student: lab.draw(student) for student in CLASS}
    numbers = [n for n, item in lab.items(drawn[CLASS[0]]).items() if isinstance(item, Number)]
    found = {
        name: {student: checks[name](Given(p, home)) for student, p in drawn.items()}
        for name in numbers
    }
    return {name: each for name, each in found.items() if len({k.value for k in each.values()}) > 9}


def test_a_neighbors_keys_are_found(keys) -> None:
    eve, ben = CLASS[3], CLASS[17]
    typed = {name: of[ben].value for name, of in keys.items()}
    wrong = {n: v for n, v in typed.items() if not keys[n][eve].reaches(keys[n][eve].value, v)}
    assert len(wrong) >= 3
    (found,) = neighbor_keys({eve: wrong}, keys)
    assert (found.student, found.neighbor) == (eve, ben)
    assert set(found.questions) == set(wrong)
    assert found.wrong == len(wrong)
    assert found.by_chance < 1e-3


def test_mistakes_of_ones_own_are_nobodys_keys(keys) -> None:
    """Forty students who are all off by factors of their own: a match now and then, no pair."""
    chance = random.Random(3)
    wrong = {
        student: {name: of[student].value * chance.uniform(1.1, 3) for name, of in keys.items()}
        for student in CLASS
    }
    found = neighbor_keys(wrong, keys)
    # By chance: each student is shown with a chance below one half, and the sum says how many.
    assert len(found) <= 3
    assert all(each.by_chance > 1e-3 for each in found)


def test_an_answer_that_is_right_for_many_says_nothing() -> None:
    keys = {n: {s: NumberKey(7.0 + (s == "eve"), tolerance=0) for s in CLASS} for n in ("a", "b")}
    assert neighbor_keys({CLASS[0]: {"a": 7.0, "b": 7.0}, "nobody": {}}, keys) == []
    assert neighbor_keys({}, {}) == []
    assert neighbor_keys({"eve": {"a": 1.0}}, {"a": {"eve": NumberKey(2, tolerance=0)}}) == []


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    course = committed(tmp_path_factory.mktemp("neighbors") / "course", LAB)
    nbgrader(course.root, ["generate_assignment", LAB, "--force"])
    for name in ("ann", "ben", "cat", "dan", "fay", "gil"):
        record(course, name)
    record(course, "eve", answers=course.asked("ben").right())
    return course


@pytest.mark.parametrize("run", sample([False, True], 1))
def test_the_report_shows_it_and_names_nobody_unless_asked(course, run) -> None:
    graded = grade(course, run=run, force=True)
    assert graded["eve"].earned < graded["ben"].earned
    (found,) = class_summary(LAB, course.root, names=True).neighbors
    assert (found.student, found.neighbor) == ("eve", "ben")
    assert 2 <= len(found.questions) <= found.wrong
    assert "Answers that are right for a classmate" in page(
        class_summary(LAB, course.root, names=True)
    )
    (hidden,) = class_summary(LAB, Path(course.root)).neighbors
    assert (hidden.student, hidden.neighbor) == ("", "")
