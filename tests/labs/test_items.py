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
        (..., "Nothing is entered yet: enter a number, in µs."),
        (None, "Nothing is entered yet: enter a number, in µs."),
        ("  ", "Nothing is entered yet: enter a number, in µs."),
        (
            "33%",
            "'33%' is in %, which is not a time; write it like 12.5 µs.",
        ),
        (True, "True is not a number; enter a number, in µs."),
        (math.nan, "That is not a finite number; enter a number, in µs."),
        (-math.inf, "That is not a finite number; enter a number, in µs."),
        (10**400, "That is not a finite number; enter a number, in µs."),
        ([1], "That cannot be used: it is a list, not a number or a text. Enter a number, in µs."),
    ],
)
def test_what_cannot_be_used_is_told_in_a_sentence(value, sentence):
    with pytest.raises(UnusableAnswer) as told:
        NUMBER.read(value)
    assert str(told.value) == sentence
    assert told.value._render_traceback_() == [str(told.value)]


@pytest.mark.parametrize(
    ("ask", "example"),
    [
        ("How many? (in bits, such as 1.5.)", "1.5"),
        ("Answer in bits, as in 75,000.", "75,000"),
        ("How many, as in Act 2?", "12 or 3.5k"),  # those of the usual ones that are in range
    ],
)
def test_an_answer_in_another_unit_is_refused_with_an_example_of_this_question(ask, example):
    item = Number(ask, "bits", points=1, low=1, high=1e5)
    with pytest.raises(UnusableAnswer) as told:
        item.read("160 W")
    assert str(told.value) == f"'160 W' is in W, not in bits; write it like {example}."


@pytest.mark.parametrize(
    "value", [1e-3, 1e6, 5, -5, np.float32(2.5), devices["a100-sxm"].ridge(), "5 µs", "0.005 ms"]
)
def test_what_can_be_used_is_plain(value):
    answer = NUMBER.read(value)
    assert type(answer) in (int, float)
    assert NUMBER.in_words(answer).endswith(" µs")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1e-4, "0.0001 µs is far too little. Check the unit and the powers of ten. Seconds?"),
        (1e7, "10,000,000 µs is far too much. Check the unit and the powers of ten. Seconds?"),
        (-5, "-5 µs cannot be right: the answer is not negative."),
        (1e-3, None),
        (1e6, None),
    ],
)
def test_what_lies_outside_is_an_error_of_form(value, said):
    assert NUMBER.form_error(value) == said


@pytest.mark.parametrize("typed", ["memory", " Memory ", "MEMORY\n"])
def test_a_choice_may_have_capitals_and_spaces(typed):
    assert WORDS.read(typed) == "memory"
    assert WORDS.in_words("memory") == "“the memory”"


@pytest.mark.parametrize("typed", ["mem", 1, "the memory", True, "memory."])
def test_other_words_are_no_choice(typed):
    with pytest.raises(UnusableAnswer, match=r'choose one of: “.*” \("memory"\), “'):
        WORDS.read(typed)


def test_what_to_type_in_words():
    assert NUMBER.wanted == "a number, in µs"
    assert Number("How often?", "times", points=1).wanted == "a number, how many times"
    assert WORDS.wanted == 'one of: “the memory” ("memory"), “the units” ("compute")'
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
