"""What was typed, as plain data. That nothing can pretend is tested with the grader's judging."""

from __future__ import annotations

import numpy as np
import pytest

from mlsys_widgets.labs.answers import UnusableAnswer, choice_key, plain, print_sentence
from mlsys_widgets.physics import devices


@pytest.mark.parametrize("value", [None, True, 7, 0.5, "eager", 10**400])
def test_plain_values_stay_as_they_are(value):
    assert plain(value) is value


@pytest.mark.parametrize(
    ("value", "kind"),
    [(np.float32(0.5), float), (np.int8(3), int), (devices["a100-sxm"].ridge(), float)],
)
def test_numbers_of_libraries_become_plain(value, kind):
    assert type(plain(value)) is kind
    assert plain(value) == value


def test_anything_else_is_refused_by_its_kind():
    with pytest.raises(UnusableAnswer, match="it is a list, not a number or a text"):
        plain([1])


def test_a_refusal_shows_no_traceback():
    assert UnusableAnswer("Type a number.")._render_traceback_() == ["Type a number."]


def test_the_key_of_a_choice():
    assert choice_key(" STRASSE ") == choice_key("Straße")
    assert choice_key(None) is None


def test_a_printed_sentence_is_broken_between_words(capsys):
    print_sentence("A long sentence about memory-bound kernels. " * 4 + "x" * 90)
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 72 or line == "x" * 90 for line in lines)
    assert "memory-bound" in lines[0]
