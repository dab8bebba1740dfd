"""The rules of a prediction: what can be entered, and how it is read back."""

from __future__ import annotations

import math
import re
from types import SimpleNamespace

import pytest

from mlsys_widgets.labs import Prediction

CHOICE = Prediction("How busy?", {"A": "about 95%", "C": "about **33%**"}, values={"C": 0.33})
NUMBER = Prediction("How many images?", unit="images", low=1, high=1e9)


def test_options_are_read_by_key():
    assert CHOICE.read("C") == "C"
    assert CHOICE.in_words("C") == "about **33%**"
    assert CHOICE.in_words("Z") == "“Z”, an option that is no longer offered"
    assert (CHOICE.number("C"), CHOICE.number("A")) == (0.33, None)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (None, "Choose one of the options first."),
        ("", "Choose one of the options first."),
        ("Z", "The answer is 'Z'; it must be one of: A, C."),
        (7, "The answer is 7; it must be one of: A, C."),
    ],
)
def test_an_option_that_is_none(value, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        CHOICE.read(value)


def test_numbers_are_read_with_their_unit():
    assert NUMBER.read("134k") == NUMBER.read(134_000) == 134_000.0
    assert NUMBER.in_words(134_000.0) == "134,000 images"
    assert NUMBER.number(5.0) == 5.0
    assert Prediction("How busy?", unit="%").read("33%") == pytest.approx(0.33)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("  ", "Enter a number first: type a number such as 12, 3.5k or 2e6"),
        (True, "The prediction is True"),
        (None, "The prediction is None"),
        (math.inf, "must be a finite number"),
        (0, "is out of range; type a number such as 12, 3.5k or 2e6, at least 1 image, at most"),
        ("2e9", "is out of range"),
    ],
)
def test_a_number_that_cannot_be_used(value, words):
    with pytest.raises(ValueError, match=words):
        NUMBER.read(value)


def test_done_when_committed():
    state = SimpleNamespace(predictions={"act1": 1}, reflections={}, answers={"act2": 1})
    assert NUMBER.is_done("act1", state)
    assert not NUMBER.is_done("act2", state)


def test_a_question_that_cannot_be_asked():
    with pytest.raises(ValueError, match="there must be at least two"):
        Prediction("?", {"A": "yes"})
    with pytest.raises(ValueError, match="values name no option: B"):
        Prediction("?", {"A": "yes", "C": "no"}, values={"B": 1})


def test_examples_suggest_no_magnitude_and_are_allowed():
    assert "such as 12, 3.5k or 2e6" in Prediction("How many?", unit="images").hint
    batch = Prediction("Which batch?", unit="images", low=1, high=256)
    assert batch.hint == "type a number such as 12, at least 1 image, at most 256 images"
    assert "at least 1 s" in Prediction("How long?", unit="s", low=1).hint
    rest = Prediction("How many?", low=1e9)
    assert rest.hint.startswith("type a number, at least")
    assert "such as 40 or 400" in Prediction("Which batch?", example="40 or 400").hint
