"""A question whose student was told: its answer stands, and may be taken again where that is so."""

from __future__ import annotations

import json

import pytest

from mlsys_widgets.cards.question_card import QuestionCard
from mlsys_widgets.cards.told_parts import ToldFile
from mlsys_widgets.files import TOLD
from tests.cards.test_asking_again import ATTEMPTS, LAB

WHY = "A tile has two sides."
AGAIN = "All of its rows count."


def report(**changes):
    question = {
        "name": "tile_bytes", "title": "", "points": 6, "kind": "answer", "answer": "100.0",
        "earned": 3, "credit": 0.5, "says": WHY, "again": True, "second": None,
    }  # fmt: skip
    if (credit := changes.pop("taken", None)) is not None:
        second = {"answer": "200 bytes", "credit": credit, "says": AGAIN, "share": 0.9}
        question |= {
            "second": second,
            "again": False,
            "earned": round(6 * max(0.9 * credit, 0.5), 2),
        }
    question |= changes.pop("question", {})
    found = {
        "format": 1, "lab": LAB.name, "student": "student-01", "questions": [question],
        "share": 0.9, "until": None, "later": "",
    }  # fmt: skip
    return {**found, **changes}


@pytest.fixture
def card(open_ledger):
    ledger = open_ledger()
    told = ToldFile(ledger.path, LAB.name, "student-01")
    item = LAB.item("tile_bytes", LAB.draw("student-01"))
    made = QuestionCard("tile_bytes", item, ledger=ledger, attempts=ATTEMPTS, told=told.read)
    made.record(100)

    def tell(**changes):
        ledger.path.with_name(TOLD).write_text(json.dumps(report(**changes)))
        made.refresh()
        return made

    made.tell = tell
    return made


def words(card):
    return " ".join(part.text() for part in card.parts())


def test_it_says_what_the_answer_earned_and_why(card):
    assert WHY not in words(card)
    card.tell()
    said = words(card)
    for each in ("Partly right", WHY, "3 of 6 points", "90%", "100"):
        assert each in said
    assert "Record" not in said
    assert card.fold() is None


def test_its_answer_stands(card):
    card.tell()
    with pytest.raises(ValueError, match="answer stands"):
        card.record(200)
    assert card.record_from_code(200) == 200  # a notebook runs on
    assert card.answer.value == 100


def test_it_is_taken_again_once_on_new_numbers(card):
    card.tell()
    first = card.item.ask
    card.actions()["second"]({})
    assert (card.attempt, card.item.ask != first, card.is_final) == (1, True, False)
    assert "Second chance." in words(card)
    card.record(200)
    card.tell(taken=1.0)
    assert "5.4 of 6 points" in words(card)
    with pytest.raises(ValueError, match="answer stands"):
        card.record(300)
    with pytest.raises(ValueError, match="cannot be taken again"):
        card.actions()["second"]({})


@pytest.mark.parametrize(
    "changes",
    [{"student": "ben"}, {"lab": "lab_01"}, {"format": 2}, {"questions": 3}],
)
def test_what_is_told_to_somebody_else_is_not_shown(card, changes):
    assert not card.tell(**changes).is_final


def test_a_chance_that_is_over_is_not_offered(card):
    card.tell(until="2026-01-01T00:00:00+00:00")
    assert "new numbers" not in words(card)
    with pytest.raises(ValueError, match="cannot be taken again"):
        card.actions()["second"]({})


def test_the_end_of_a_chance_is_said_in_a_time_that_browsers_put_on_their_own_clock(card):
    card.tell(until="2999-01-02T05:00:00+02:00")
    assert "hand in until 2999-01-02T03:00:00Z: 90% of its points count" in words(card)


@pytest.mark.parametrize(
    ("credit", "counts"),
    [
        (1.0, "5.4 of 6 points. The second answer counts: it earned 5.4 points (90% of 6),"),
        (0.5, "3 of 6 points. The first answer counts: it earned 3 points, and the second 2.7"),
        (0.0, "3 of 6 points. The first answer counts: it earned 3 points, and the second 0."),
    ],
)
def test_both_answers_are_shown_and_which_counts_and_why(card, credit, counts):
    card.tell()
    first = card.item.ask
    card.actions()["second"]({})
    card.record(200)
    card.tell(taken=credit)
    said = words(card)
    verdict = {1.0: "✓ Right.", 0.5: "◐ Partly right.", 0.0: "✗ Not right."}[credit]
    for each in (
        card.item.ask, "Your second answer: 200 bytes", f"{verdict} {AGAIN}",
        "Your first answer, on other numbers: 100 bytes ◐ Partly right.", first, WHY,
        counts,
    ):  # fmt: skip
        assert each in said
    assert card.item.ask != first


def test_a_second_answer_is_shown_where_the_ledger_is_not(card, open_ledger):
    """As on another machine, which has what was told and not what was recorded."""
    first = card.item.ask
    card.tell(taken=1.0)
    assert card.attempt == 1
    assert words(card).startswith(ATTEMPTS.at("tile_bytes", 1).item.ask)
    assert first in words(card)


def test_points_that_a_person_decided_on_are_not_explained_by_the_answers(card):
    card.tell(question={"earned": 6})
    assert "6 of 6 points. Your TA decided on these points." in words(card)
    card.tell(taken=1.0, question={"earned": 6})
    assert "Your TA decided" in words(card)
    assert "counts" not in words(card)


def test_a_verdict_is_said_once(card):
    card.tell(question={"says": "Right.", "credit": 1.0, "earned": 6, "again": False})
    assert words(card).count("Right") == 1
