"""A function as a question: what is read, what is refused, and in which words."""

from __future__ import annotations

import pytest

from mlsys_widgets.labs import Code, UnusableAnswer
from mlsys_widgets.labs.asked import is_usable
from mlsys_widgets.labs.deeper import as_counted
from mlsys_widgets.labs.lab import points_of

HALF = Code("Halve it.", "half(x)", [((4,), 2), ((3,), 1.5)], points=5)
RIGHT = "def half(x):\n    return x / 2"


def half(x):
    return x / 2


def test_a_source_is_kept_without_the_space_around_it():
    assert HALF.read(f"\n{RIGHT}\n\n") == RIGHT
    assert is_usable(HALF, RIGHT)
    assert HALF.in_words(RIGHT) == "2 lines"
    assert HALF.in_words("def half(x): return x") == "1 line"


def test_a_function_is_read_as_its_source():
    assert HALF.read(half) == RIGHT


def test_a_function_without_a_source_is_for_the_card():
    names: dict = {}
    exec(RIGHT, names)
    with pytest.raises(UnusableAnswer, match="source of half cannot be found; write it into"):
        HALF.read(names["half"])


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (..., "Nothing is written yet: write def half"),
        (None, "Nothing is written yet"),
        ("  \n", "Nothing is written yet"),
        (HALF.starter, "replace the three dots"),
        ("def half(x) return", "Python cannot read line 1: "),
        ("def other(x): return x", "no function half in it; begin with def half"),
        ("half = lambda x: x", "no function half in it"),
        ("class half: pass", "no function half in it"),
        (RIGHT + "\n#" + "x" * 9000, "8,000 are allowed. Shorten it."),
        ("x = " + "(" * 3000, "Python cannot read"),
        ("x = " + "-" * 7900 + "1", "Python cannot read that|no function half"),
        ("def half(x):\0", "Python cannot read"),
        (7, "That is a int; give the function, or its source as text."),
        ([RIGHT], "That is a list"),
    ],
)
def test_what_is_no_function_is_refused_in_a_sentence(value, why):
    with pytest.raises(UnusableAnswer, match=why):
        HALF.read(value)
    assert not is_usable(HALF, value)


def test_strange_escapes_are_no_warning(recwarn):
    HALF.read('def half(x):\n    return "\\d"')
    assert not recwarn


@pytest.mark.parametrize(
    ("signature", "examples"),
    [("half x", []), ("half(", []), ("half(x)", [((float("nan"),), 1)]), ("f(x)", [((half,), 1)])],
)
def test_an_item_that_nobody_could_answer_is_refused(signature, examples):
    with pytest.raises(ValueError, match="cannot be used"):
        Code("Halve it.", signature, examples, points=5)


def test_examples_are_tried_in_words():
    right, wrong = (each.in_words for each in HALF.tried("def half(x): return 2"))
    assert right == "`half(4)` returns `2`, as expected."
    assert wrong == "`half(3)` returns `2`; `1.5` is expected."
    (failed, _) = HALF.tried("def half(): return 2")
    assert not failed.is_right
    assert failed.in_words.startswith("`half(4)` fails: TypeError: half() takes 0 positional")


def test_it_counts_as_other_answers_do():
    items = {"halving": HALF, "more": Code("?", "f()", [], points=3, deeper=True)}
    assert points_of(items) == {"halving": 5, "more": 3}
    assert points_of(as_counted(items, "optional")) == {"halving": 5, "more": 0}
