"""One function judges an answer, whoever asks: a class, the hand-in, practice."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsys_widgets.judging import Belief, ChoiceKey, CodeKey, Given, NumberKey
from mlsys_widgets.judging.judge_answer import judge_answer
from mlsys_widgets.labs import Parameters

GIVEN = Given(Parameters({"side": 8}), Path("nowhere"))


def test_a_number_and_a_choice_are_judged_by_their_keys():
    def tile_bytes(given):
        return NumberKey(2 * given.p.side**2, tolerance=0.01)

    def limit(given):
        slow = Belief("compute", "compute", credit=0, says="The units wait.")
        return ChoiceKey("memory", [slow])

    assert judge_answer(tile_bytes, GIVEN, 128).right
    assert judge_answer(limit, GIVEN, "compute").belief == "compute"
    assert judge_answer(limit, GIVEN, ...).says == "Not answered."


def test_a_check_that_misses_a_file_says_why():
    def measured(given):
        raise ValueError("measurement.json is missing. Take one in the lab.")

    verdict = judge_answer(measured, GIVEN, 3)
    assert (verdict.credit, verdict.says) == (
        0,
        "measurement.json is missing. Take one in the lab.",
    )


@pytest.mark.parametrize(
    ("replies", "credit"), [(['{"value": 4}', '{"value": 6}'], 1), (['{"value": 4}'], 0.5)]
)
def test_a_function_is_judged_by_what_it_replied(replies, credit):
    def double(given):
        return CodeKey("def double(x): return 2 * x", [[2], [3]])

    source = "def double(x): return x + x"
    assert judge_answer(double, GIVEN, source, lambda key: replies).credit == credit
    assert judge_answer(double, GIVEN, source).says == "The function was called with other cases."
    assert judge_answer(double, GIVEN, 3, lambda key: replies).credit == 0
