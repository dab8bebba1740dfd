"""What an author is told before students find out."""

from __future__ import annotations

import pytest

from mlsys_widgets.authoring import new_lab
from mlsys_widgets.grading.judging.advice import advise


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
