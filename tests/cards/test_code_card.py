"""The card of a function: it records first, then tries the examples, and says what they gave."""

from __future__ import annotations

import pytest

from mlsys_widgets.cards.code_card import CodeCard
from mlsys_widgets.labs import Code, function_calls

HALF = Code("Halve it.", "half(x)", [((4,), 2), ((3,), 1.5)], points=5, title="Half of it")
RIGHT = "def half(x):\n    return x / 2"


def entered(card, text):
    """What a student does: type, press the button, and read what the card says."""
    card._asked(None, {"action": "record", "values": {"answer": text}}, None)
    return card.text()


def test_it_shows_the_question_the_examples_and_where_to_begin(led):
    text = CodeCard("h", HALF, ledger=led).text()
    for words in ("Half of it (5 points)", "Halve it.", "half(3): 1.5", "def half(x):\n    ..."):
        assert words in text
    assert "expected" not in text


def test_a_right_function_is_recorded_and_its_examples_hold(led):
    card = CodeCard("h", HALF, ledger=led)
    text = entered(card, RIGHT)
    assert led.state().answers["h"].value == RIGHT
    assert "Recorded: 2 lines" in text
    assert "half(4) returns 2.0, as expected." in text
    assert card.answer is not None


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return 2 * x", "half(4) returns 8; 2 is expected."),
        ("return y", "half(4) fails: line 2: NameError: name 'y' is not defined."),
        ("exit()", "half(4) fails: line 2: it ends the program"),
        ("while True: pass", "half(4) fails: it was stopped after 999 steps"),
    ],
)
def test_a_wrong_function_is_recorded_too_and_no_traceback_is_shown(led, monkeypatch, body, said):
    monkeypatch.setattr(function_calls, "MOST_STEPS", 999)
    card = CodeCard("h", HALF, ledger=led)
    source = f"def half(x):\n    {body}"
    text = entered(card, source)
    assert said in text
    assert "Traceback" not in text
    assert led.state().answers["h"].value == source


def test_what_python_cannot_read_is_not_recorded_and_the_earlier_one_stands(led):
    card = CodeCard("h", HALF, ledger=led)
    entered(card, RIGHT)
    text = entered(card, "def half(x) return x")
    assert "Python cannot read line 1" in text
    assert "Your earlier answer, 2 lines, still stands." in text
    assert led.state().answers["h"].value == RIGHT


def test_opening_a_notebook_again_calls_nothing(led, monkeypatch):
    entered(CodeCard("h", HALF, ledger=led), RIGHT)
    monkeypatch.setattr(Code, "tried", lambda *_: pytest.fail("it was called"))
    again = CodeCard("h", HALF, ledger=led)
    assert "Recorded: 2 lines" in again.text()
    assert RIGHT in again.text()
    assert "as expected" not in again.text()
