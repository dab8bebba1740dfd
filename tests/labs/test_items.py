"""The rules of items: how an answer is read, what an item is worth, and when it is done."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from mlsys_widgets.labs import (
    Checklist,
    Choice,
    Essay,
    Message,
    Number,
    Prediction,
    Record,
    Reflection,
    ReflectionPrompt,
    UnusableAnswer,
)
from mlsys_widgets.physics import devices

NUMBER = Number("How much?", "µs", points=5, low=1e-3, high=1e6, hint="Seconds?")
WORDS = Choice("Which?", {"memory": "the memory", "compute": "the units"}, points=5)
BANDS = [(0, "Early days", "Read again."), (2, "Ready", "On.")]
SKILLS = {"ridge": "find a ridge", "fuse": "fuse kernels"}


def saved(**kept):
    return SimpleNamespace(**{"predictions": {}, "reflections": {}, "answers": {}, **kept})


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (..., "t_us is not answered yet: replace the three dots with a number, in µs."),
        (None, "t_us is not answered yet: replace the three dots with a number, in µs."),
        ("33%", "t_us is the text '33%'; type a number, in µs, without quotes or unit."),
        (True, "t_us is True; it must be a number, in µs."),
        (math.nan, "t_us is not a finite number; it must be a number, in µs."),
        (-math.inf, "t_us is not a finite number; it must be a number, in µs."),
        (10**400, "t_us is not a finite number; it must be a number, in µs."),
        ([1], "t_us cannot be used: it is a list, not a number or a text. Type a number, in µs."),
        (1e-4, "t_us = 0.0001 cannot be right: a plausible value lies between 0.001 and 1,000,000"
         " µs. Seconds?"),
        (-5, "t_us = -5 cannot be right: a plausible value lies between 0.001 and 1,000,000 µs."
         " Seconds?"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_told_in_a_sentence(value, sentence):
    with pytest.raises(UnusableAnswer) as told:
        NUMBER.read("t_us", value)
    assert str(told.value).replace("−", "-") == sentence
    assert told.value._render_traceback_() == [str(told.value)]


@pytest.mark.parametrize("value", [1e-3, 1e6, 5, np.float32(2.5), devices["a100-sxm"].ridge()])
def test_what_can_be_used_is_repeated_and_plain(value):
    answer, said = NUMBER.read("t_us", value)
    assert type(answer) in (int, float)
    assert said.startswith("t_us = ")
    assert said.endswith(" µs. It can be graded.")


@pytest.mark.parametrize("typed", ["memory", " Memory ", "MEMORY\n"])
def test_a_choice_may_have_capitals_and_spaces(typed):
    assert WORDS.read("limit", typed) == (
        "memory", 'limit = "memory": the memory. It can be graded.',
    )  # fmt: skip


@pytest.mark.parametrize("typed", ["mem", "", 1, "the memory", True, "memory."])
def test_other_words_are_no_choice(typed):
    with pytest.raises(UnusableAnswer, match='it must be one of: "memory", "compute", in quotes'):
        WORDS.read("limit", typed)


def test_what_to_type_in_words():
    assert NUMBER.wanted == "a number, in µs"
    assert Number("How often?", "times", points=1).wanted == "a number, how many times"
    assert WORDS.wanted == 'one of: "memory", "compute"'
    assert (NUMBER.unit, WORDS.unit) == ("µs", None)


@pytest.mark.parametrize("key", ["Memory", " memory", "memory "])
def test_options_are_lowercase(key):
    with pytest.raises(ValueError, match="must be lowercase, without spaces around it"):
        Choice("Which?", {key: "the memory"}, points=1)


def test_an_item_is_kept_under_its_own_name():
    assert NUMBER.ledger_names("t_us") == ("t_us",)
    assert NUMBER.is_done("t_us", saved(answers={"t_us": 5}))
    assert not NUMBER.is_done("t_us", saved(predictions={"t_us": 5}))
    assert Record(["design"], points=3).ledger_names("kept") == ("kept",)


def test_a_rubric_adds_up():
    assert Essay("Why?", [(2, "names it"), (1.5, "explains it")]).points == 3.5


def test_what_people_call_items():
    assert {NUMBER.kind, WORDS.kind, Essay("?", []).kind} == {"Question"}
    assert Message("Ada", "Ops", "GPUs", "Why?").kind == "Message"
    assert (Prediction("?").kind, ReflectionPrompt("?").kind) == ("Prediction", "Reflection")
    assert Reflection is ReflectionPrompt


def test_the_band_of_a_score():
    can = Checklist(SKILLS, BANDS)
    assert [can.band(score)[1] for score in (0, 1, 2)] == ["Early days", "Early days", "Ready"]
    assert can.bands[0] == (2, "Ready", "On.")  # the highest comes first


@pytest.mark.parametrize("bands", [[], [(1, "a", "b")], [(0, "a", "b"), (9, "c", "d")]])
def test_bands_that_leave_a_gap(bands):
    with pytest.raises(ValueError, match="the lowest must begin at 0, and none may begin above 2"):
        Checklist(SKILLS, bands)
