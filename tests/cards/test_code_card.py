"""The card of a function: it records first, then tries the examples, and says what they gave."""

from __future__ import annotations

import pytest

from mlsys_widgets.cards.code_card import CodeCard
from mlsys_widgets.cards.practice_parts import Practice
from mlsys_widgets.labs import Code, Game, Impossible, Played, function_calls

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


def test_in_practice_its_question_and_calls_stay_beside_the_solution(led):
    assert CodeCard("h", HALF, ledger=led).fold() is None
    card = CodeCard("h", HALF, ledger=led)
    entered(card, RIGHT)
    assert "ask" not in card.fold().stays
    practiced = CodeCard("h", HALF, ledger=led, practice=Practice({}, led.path.parent))
    assert {"ask", "examples", "solution", "tried"} <= set(practiced.fold().stays)


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


def _replay(decided, coins):
    if len(decided) != len(coins):
        raise Impossible("it skips a coin")
    cents = sum(coin for coin, taken in zip(coins, decided, strict=True) if taken)
    return Played(cents, f"It has {cents} cents.", coins, decided)


PURSE = Game("def play(f, coins): return [f(c) for c in coins]", _replay, unit="cents")
TAKE = Code("Take coins.", "take(coin)", [([[1, 5]], 5)], points=5, title="Coins", game=PURSE)


@pytest.mark.parametrize(
    ("body", "said", "beaten"),
    [
        ("return True", "run 1: It has 6 cents.", True),
        ("return coin > 1", "run 1: It has 5 cents.", False),
        ("return 1 / 0", "run 1 fails: line 2: ZeroDivisionError: division by zero.", False),
    ],
)
def test_a_policy_is_tried_in_an_open_run(led, body, said, beaten):
    card = CodeCard("t", TAKE, ledger=led)
    assert "run 1: more than 5 cents" in card.text()
    text = entered(card, f"def take(coin):\n    {body}")
    assert said in text
    (tried,) = TAKE.tried(led.state().answers["t"].value)
    assert tried.is_right is beaten
