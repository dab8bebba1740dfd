"""How many words a text has, and what is said about one that is too short or too long."""

from __future__ import annotations

import pytest

from mlsys_widgets.labs import Essay
from mlsys_widgets.labs.word_limits import WordLimits, count_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        (" \n\t ", 0),
        ("— … -> ***", 0),
        ("one", 1),
        ("x→y", 1),
        ("x → y", 2),
        ("It's 3.94 µs,\nnot more…", 5),
        ("non\u00a0breaking spaces\u2003part", 4),
        ("¿Qué?", 1),
        ("٣ 五", 2),
    ],
)
def test_a_word_has_a_letter_or_a_digit(text, words):
    assert count_words(text) == words


@pytest.mark.parametrize(
    ("limits", "wanted"),
    [
        (WordLimits(), ""),
        (WordLimits(20), "at least 20 words"),
        (WordLimits(20, 60), "20 to 60 words"),
        (WordLimits(1, 60), "at most 60 words"),
    ],
)
def test_the_length_that_is_asked_for_has_words(limits, wanted):
    assert limits.wanted == wanted


@pytest.mark.parametrize(("count", "label"), [(0, "Too short."), (1, "Too short."), (2, None),
                                              (3, None), (4, "Too long.")])  # fmt: skip
def test_both_ends_belong_to_what_is_asked(count, label):
    limits = WordLimits(2, 3)
    said = limits.problem("word " * count)
    assert said is None if label is None else said is not None and said[0] == label
    assert limits.is_long_enough("word " * count) == (label != "Too short.")


@pytest.mark.parametrize(("at_least", "at_most"), [(0, None), (-3, 5), (5, 3)])
def test_limits_that_nobody_can_keep_are_refused(at_least, at_most):
    with pytest.raises(ValueError, match=r"at_least is|cannot be written"):
        Essay("Why?", [], at_least=at_least, at_most=at_most)
