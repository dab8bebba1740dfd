"""What an author is told before students find out."""

from __future__ import annotations

import pytest

from mlsys_widgets.authoring import new_lab
from mlsys_widgets.grading.judging.advice import advise
from mlsys_widgets.grading.judging.shared_keys import shared_keys


@pytest.fixture
def home(tmp_path):
    return new_lab(tmp_path, "lab_02_demo")


def change(home, file, old, new):
    text = (home / file).read_text("utf-8")
    assert old in text
    (home / file).write_text(text.replace(old, new), "utf-8")


def test_the_lab_one_starts_from_gives_no_reason(home):
    assert advise(home) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("asks.py", "points=40", "points=35", "The points add up to 95, not to 100."),
        ("checks.py", "right * 2,", "right * 1.01,",
         "the belief “elements for bytes” can be as good as right"),
        ("checks.py", "right / 2,", "right * 2.01,",
         "the beliefs “elements for bytes” and “one FLOP for a multiply-add” can lead to the same"),
        ("checks.py", "def act1_bound", "def _act1_bound", "act1_bound has no check"),
        ("asks.py", "high=1e6", "high=60", "outside of low to high"),
        ("asks.py", "steps(128, 440, 8)", "steps(128, 1920, 64)",
         "what is right differs from student to student"),
        ("checks.py", "right = _fused(side)", "right = {}[given.p.side]",
         "the check fails for some students: KeyError"),
    ],
)  # fmt: skip
def test_what_is_odd_is_said(home, file, old, new, words):
    change(home, file, old, new)
    assert any(words in sentence for sentence in advise(home)), advise(home)


def test_too_few_beliefs(home):
    text = (home / "checks.py").read_text("utf-8")
    for belief in ("two kernels", "inverted"):
        before, _, rest = text.partition(f'            Belief(\n                "{belief}"')
        text = before + rest.partition("            ),\n")[2]
    (home / "checks.py").write_text(text, "utf-8")
    assert advise(home) == [
        "intensity_flop_per_byte knows 2 wrong beliefs; three or more make good feedback."
    ]


def test_without_variants_only_the_numbers_of_the_text_are_tried(home):
    change(home, "asks.py", "steps(128, 440, 8)", "steps(128, 1920, 64)")
    assert advise(home, variants=False) == []


def too_alike(home):
    return {each.item: each for each in shared_keys(home) if each.too_alike}


def test_few_keys_in_a_class_are_counted(home):
    assert too_alike(home) == {}
    change(home, "asks.py", "steps(128, 440, 8)", "(128, 256, 384)")
    number = too_alike(home)["intensity_flop_per_byte"]
    assert number.distinct == 3
    # A third of the class has each key, and nobody's is near another.
    assert number.accepted == pytest.approx(1 / 3, abs=0.02)
    assert number.example is None


def test_keys_within_each_others_tolerance_are_counted(home):
    change(home, "checks.py", "tolerance=0.02", "tolerance=0.2")
    (number,) = too_alike(home).values()
    value, key = number.example
    assert 0 < abs(value - key) <= 0.2 * key
    assert number.distinct == 40  # sides from 128 to 440 by 8
    assert number.accepted > 0.1


def test_a_decision_that_is_the_same_for_everybody_is_counted(home):
    change(home, "asks.py", "steps(128, 440, 8)", "steps(128, 280, 4)")
    assert too_alike(home)["limit"].accepted == 1


def test_what_a_student_measures_is_nobody_elses(home):
    measured = 'side = int((given.folder / "machine.json").read_text())'
    change(home, "checks.py", "side = given.p.side\n    right", f"{measured}\n    right")
    change(home, "asks.py", "steps(128, 440, 8)", "(128, 300)")
    assert [each.item for each in shared_keys(home)] == ["limit"]
