"""A question that is asked again: own numbers, own answer, and the ledger knows where one is."""

from __future__ import annotations

import pytest

from mlsys_widgets.cards.question_card import QuestionCard
from mlsys_widgets.labs import Essay, Lab, Number, Parameter, steps
from mlsys_widgets.labs.attempts import Attempts
from mlsys_widgets.ledger import NotSaved

SIDE = Parameter(256, steps(128, 384, 8), "elements", "side of a tile")
LAB = Lab(
    "lab_07_kernel_fusion", title="Caches", chapter=2, acts=(), parameters={"side": SIDE},
    deeper=("row_bytes",),
)  # fmt: skip


@LAB.asks
def tile_bytes(p):
    return Number(f"How many bytes has a tile of {p.side}?", "bytes", 6, low=10)


@LAB.asks
def few(p):
    return Number(f"Is {p.side > 255} 1?", "times", 1)


@LAB.asks
def row_bytes(p):
    return Number(f"How many bytes has a row of {p.side}?", "bytes", 6)


@LAB.asks
def why(p):
    return Essay(f"Why {p.side}?", [(3, "says so")])


ATTEMPTS = Attempts(LAB, "student-01")


@pytest.fixture
def ask(open_ledger):
    """Open the card of a question, as each kernel does for itself."""

    def made(name="tile_bytes", attempts=ATTEMPTS):
        item = LAB.item(name, LAB.draw("student-01"))
        return QuestionCard(name, item, ledger=open_ledger(), attempts=attempts)

    return made


def test_another_one_has_its_own_numbers_answer_draft_and_heading(ask):
    card = ask()
    card.record("100")
    assert card.ask_again()
    second = ATTEMPTS.at("tile_bytes", 1).item.ask
    text = card.text()
    assert second in text
    assert "Recorded" not in text
    seen = card._seen()
    assert seen["item"]["id"] == seen["item"]["names"][0] == "again.1.tile_bytes"
    assert seen["item"]["recorded"] == ""
    assert seen["fold"] is None
    card.record("200")
    answers = card._ledger.state().answers
    assert {name: answers[name].value for name in ("tile_bytes", "again.1.tile_bytes")} == {
        "tile_bytes": 100.0,
        "again.1.tile_bytes": 200.0,
    }
    assert card._seen()["fold"]
    assert card.is_open


def test_the_present_attempt_outlives_the_kernel_and_the_first_stays_open(ask):
    card = ask()
    card.record("100")
    card.ask_again()
    later = ask()
    assert (later.attempt, later.is_open, later.answer) == (1, True, None)
    assert later.item.ask == ATTEMPTS.at("tile_bytes", 1).item.ask
    later.record("300")
    assert later.ask_again()
    card.refresh()
    assert (card.attempt, card.item.ask) == (2, ATTEMPTS.at("tile_bytes", 2).item.ask)


def test_two_kernels_begin_one_attempt_together_and_answers_stay_with_theirs(ask, open_ledger):
    card, other = ask(), open_ledger()
    card.record("100")
    other.record_answer("attempt.tile_bytes", 1)
    # The card still shows the first attempt, and that is what it records.
    card.record("150")
    answers = other.state().answers
    assert answers["tile_bytes"].value == 150.0
    assert "again.1.tile_bytes" not in answers
    assert card.attempt == 1
    card.record("200")
    other.record_answer("attempt.tile_bytes", 2)
    assert card.ask_again()
    assert (card.attempt, other.state().answers["attempt.tile_bytes"].value) == (2, 2)


def test_nobody_asks_again_before_answering_or_when_the_numbers_are_used_up(ask):
    card = ask("few")
    with pytest.raises(ValueError, match="Answer this one first"):
        card.ask_again()
    card.record("1")
    assert card.ask_again()
    card.record("1")
    assert not card.ask_again()
    assert card.attempt == 1
    alone = ask("row_bytes", attempts=None)
    alone.record("10")
    assert not alone.ask_again()


def test_hints_on_form_and_deeper_belong_to_each_attempt(ask):
    card = ask()
    card.record("1")
    assert card.form_error
    card.ask_again()
    assert card.form_error is None
    card.record("2")
    assert "early.again.1.tile_bytes" in card._ledger.state().answers
    assert card.form_error
    deeper = ask("row_bytes")
    deeper.record("10")
    deeper.ask_again()
    assert "deeper, no points" in deeper.title


def test_code_answers_the_first_attempt_only(ask):
    card = ask()
    card.record_from_code(100)
    card.ask_again()
    with pytest.raises(ValueError, match="which code does not have"):
        card.record_from_code(200)
    assert card._ledger.state().answers["tile_bytes"].value == 100


def test_what_cannot_be_saved_begins_nothing(ask, read_only):
    card = ask()
    card.record("100")
    with read_only(), pytest.raises(NotSaved):
        card.ask_again()
    assert card.attempt == 0
    assert card.ask_again()


@pytest.mark.parametrize("number", [99_999, -1, "two", None, True])
def test_a_number_that_the_lab_does_not_have_leaves_the_first_attempt(ask, open_ledger, number):
    open_ledger().record_answer("attempt.few", number)
    card = ask("few")
    assert card.attempt == 0
    card.record("1")
    assert open_ledger().state().answers["few"].value == 1.0
