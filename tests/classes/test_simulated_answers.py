"""What simulated students type: right and wrong answers that the checks judge as intended."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from mlsys_widgets.classes.simulated_answers import (
    NONSENSE,
    Knowledge,
    SimulatedStudent,
)
from mlsys_widgets.judging.keys import Belief, Checks, ChoiceKey, Given, NumberKey
from mlsys_widgets.judging.verdicts import judge
from mlsys_widgets.labs import Choice, Number
from mlsys_widgets.labs.variants import Parameters

TIME = Number("How long?", "s", points=10, low=0, high=1e9)
LIMIT = Choice("What limits it?", {"memory": "memory", "compute": "compute"}, points=10)
KEYS = {
    "time": NumberKey(
        123.456, tolerance=0.05, beliefs=(Belief("forgets the launches", 61.7, 0.5, "No."),)
    ),
    "limit": ChoiceKey(
        "memory", beliefs=(Belief("thinks of FLOPS", "compute", 0.0, "Look at the ridge."),)
    ),
}
CHECKS: Checks = {name: lambda given, key=key: key for name, key in KEYS.items()}


def knowledge(skill: float, seed: int = 0, **more: object) -> Knowledge:
    student = SimulatedStudent("ann", "1", skill=skill, **more)  # type: ignore[arg-type]
    return Knowledge(student, CHECKS, Given(Parameters({}), Path()), random.Random(seed))


@pytest.mark.parametrize("seed", range(20))
def test_a_strong_student_is_right(seed: int) -> None:
    for name, item in (("time", TIME), ("limit", LIMIT)):
        typed = knowledge(50.0, seed).answer(name, item)
        assert typed.credit == 1
        assert judge(KEYS[name], item.read(typed.text) if typed.text else ...).credit == 1


@pytest.mark.parametrize("seed", range(20))
def test_a_weak_student_is_wrong_and_worth_what_the_checks_say(seed: int) -> None:
    for name, item in (("time", TIME), ("limit", LIMIT)):
        typed = knowledge(-50.0, seed, believes=0.5).answer(name, item)
        assert typed.credit < 1
        verdict = judge(KEYS[name], item.read(typed.text) if typed.text else ...)
        assert (verdict.credit, verdict.belief) == (typed.credit, typed.belief)


def test_wrong_numbers_mostly_come_from_beliefs() -> None:
    typed = [knowledge(-50.0, seed, believes=1.0).answer("time", TIME) for seed in range(50)]
    assert sum(each.belief == "forgets the launches" for each in typed) > 40


def test_nonsense_is_typed_without_a_thought() -> None:
    typed = {knowledge(0.0, seed, nonsense=True).answer("time", TIME).text for seed in range(60)}
    assert typed <= set(NONSENSE)
    assert len(typed) > 5


def test_without_a_key_the_answer_stays_blank() -> None:
    assert knowledge(50.0).answer("unknown", TIME).text == ""
    assert knowledge(50.0).key("unknown") is None


def test_skill_and_being_right_raise_likelihood_and_confidence() -> None:
    assert knowledge(-3.0).likelihood("time") < knowledge(0.0).likelihood("time")
    assert knowledge(0.0).likelihood("time") < knowledge(3.0).likelihood("time")
    sure, unsure = (
        sum(knowledge(0.0, seed).confidence(right=right) for seed in range(200))
        for right in (True, False)
    )
    assert sure > unsure
    assert {knowledge(0.0, seed).confidence(right=True) for seed in range(500)} <= {1, 2, 3, 4, 5}
