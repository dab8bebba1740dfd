"""The rules of a reflection: three forms of answering, and when each is done."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from mlsys_widgets.labs import ReflectionPrompt
from mlsys_widgets.labs.reflection_prompt import AnswerFeedback

OPTION = ReflectionPrompt(
    "Why?", {"A": "launches", "B": "memory"}, right="B", feedback={"A": "No."}
)
GAPS = ReflectionPrompt(
    "Fusing {n} kernels saves {what}.",
    blanks={"n": {"3": "three"}, "what": {"flop": "arithmetic", "byte": "traffic"}},
    right={"what": "byte"},
    feedback={"what": {"flop": "Look at the bytes."}},
)
WORDS = ReflectionPrompt("What surprised you?", at_least=3, feedback="Compare.")


def test_one_option():
    form = OPTION.form
    assert form.read("A") == "A"
    assert (form.judge("A"), form.judge("B")) == (False, True)
    assert form.remarks("A") == [AnswerFeedback("launches", "No.", False)]
    assert (form.fits("A"), form.fits("C"), form.fits(None)) == (True, False, False)
    for nothing in (None, ""):
        with pytest.raises(ValueError, match="Choose one of the options first"):
            form.read(nothing)
    with pytest.raises(ValueError, match=r"one of: “launches” \('A'\), “memory” \('B'\)"):
        form.read("C")


def test_gaps():
    form = GAPS.form
    right = {"n": "3", "what": "byte"}
    assert form.read({"what": "byte", "n": "3"}) == right
    assert (form.judge(right), form.judge({**right, "what": "flop"})) == (True, False)
    assert form.remarks({**right, "what": "flop"}) == [
        AnswerFeedback("three", "", None),
        AnswerFeedback("arithmetic", "Look at the bytes.", False),
    ]
    assert form.fits(right)
    assert not form.fits({"n": "3"})
    with pytest.raises(ValueError, match="Still empty: gap 2"):
        form.read({"n": "3"})
    with pytest.raises(ValueError, match="gap what names 'x'"):
        form.read({"n": "3", "what": "x"})
    with pytest.raises(ValueError, match="the answer names 'more'"):
        form.read({**right, "more": "x"})


def test_free_text():
    form = WORDS.form
    assert form.read(" Bytes set pace ") == "Bytes set pace"
    assert form.judge("Bytes set pace") is None
    assert form.remarks("Bytes set pace") == [AnswerFeedback("", "Compare.", None)]
    assert form.fits("anything")
    with pytest.raises(ValueError, match="That is 1 word; write at least 3"):
        form.read("Bytes")
    with pytest.raises(ValueError, match="Nothing is written yet"):
        form.read("  ")


def test_nothing_says_what_is_right():
    assert ReflectionPrompt("Why?", {"A": "a", "B": "b"}).form.judge("A") is None
    free = ReflectionPrompt("{x}", blanks={"x": {"a": "a"}})
    assert free.form.judge({"x": "a"}) is None


@pytest.mark.parametrize(("opens", "done"), [("answered", True), ("right", False)])
def test_done_when_answered_or_only_when_right(opens, done):
    prompt = ReflectionPrompt("Why?", {"A": "a", "B": "b"}, right="B", opens=opens)
    attempts = [SimpleNamespace(correct=False)]
    state = SimpleNamespace(reflections={"why": SimpleNamespace(attempts=attempts)})
    assert not prompt.is_done("other", state)
    assert prompt.is_done("why", state) is done
    attempts.append(SimpleNamespace(correct=True))
    assert prompt.is_done("why", state)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"options": {"A": "a"}, "blanks": {"x": {}}}, "has options and blanks"),
        ({"opens": "right"}, "opens when it is right, but right= is not given"),
        ({"opens": "never"}, "opens is 'never'"),
        ({"options": {"A": "a"}, "right": "B"}, "right names 'B'; it can name: A"),
        ({"options": {"A": "a"}, "feedback": {"B": "b"}}, "feedback names 'B'"),
        ({"blanks": {"y": {"a": "a"}}}, "each gap must be named once"),
        ({"blanks": {"x": {"a": "a"}}, "right": {"x": "b"}}, "names 'b'; it can name: a"),
        ({"blanks": {"x": {"a": "a"}}, "feedback": {"x": {"b": "?"}}}, "names 'b'"),
    ],
)
def test_what_does_not_fit_together_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        ReflectionPrompt("It waits for {x}.", **given)
