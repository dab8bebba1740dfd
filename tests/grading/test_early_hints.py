"""Cards of the labs point out errors of form, and give neither a key nor a thought away."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsys_widgets.grading.judging.early_hints import early_hint_problems
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.judging.keys import Belief, NumberKey
from mlsys_widgets.labs import Lab, Number, load
from tests.sampling import sample

ASSIGNMENTS = Path(__file__).parents[2] / "assignments"
LABS = sorted(path.name for path in ASSIGNMENTS.glob("lab_*"))


@pytest.mark.usefixtures("read_once")
@pytest.mark.parametrize("name", LABS)
def test_errors_of_form_are_told_and_errors_of_thought_are_not(name: str, tmp_path: Path) -> None:
    home = ASSIGNMENTS / name
    lab = load(home)
    for file, example in lab.examples.items():
        (tmp_path / file).write_bytes(example())
    students = sample([f"student-{k:03}" for k in range(25)], 4)
    assert list(early_hint_problems(lab, load_checks(home), tmp_path, students)) == []


def problems(item: Number, *beliefs: Belief) -> list[str]:
    lab = Lab("lab_00_demo", title="Demo", chapter=0, acts=())
    lab.asks(lambda_named("busy_pct", item))
    checks = {"busy_pct": lambda_named("busy_pct", NumberKey(30.0, 0.03, beliefs))}
    return list(early_hint_problems(lab, checks, Path(), ["ann"]))


def lambda_named(name, value):
    def named(_given):
        return value

    named.__name__ = name
    return named


FRACTION = Belief("a fraction", 0.3, 0.5, "That is a fraction.", form=True)
WAITING = Belief("waiting", 70.0, 0.2, "That is the rest.")


def test_limits_that_tell_forms_from_thoughts_are_fine() -> None:
    assert problems(Number("?", "percent", 5, low=1, high=100), FRACTION, WAITING) == []


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"low": 0.1, "high": 100}, "the card stays silent at 0.3"),
        ({"low": 1, "high": 65}, "an error of thought, and the card points it out at 70"),
        ({"low": 20, "high": 100}, "the card refuses 15, and the key is 30"),
    ],
)
def test_what_is_wrong_with_limits_is_said(limits: dict[str, float], words: str) -> None:
    (problem,) = problems(Number("?", "percent", 5, **limits), FRACTION, WAITING)
    assert problem.startswith("busy_pct, with the numbers of ann")
    assert words in problem
