"""What surrounds a graded answer: the question, whose lab it is, and what the ledger holds."""

from __future__ import annotations

import pytest

from mlsys_widgets.cards.question_card import QuestionCard
from mlsys_widgets.cards.record_card import RecordCard
from mlsys_widgets.cards.welcome import Welcome
from mlsys_widgets.labs import Choice, Essay, Lab, Number, Parameters, Record, Student


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (Number("How long?", "µs", points=1), ["Your number (1 point)", "`t = ` and a number, in"]),
        (Number("How often?", "times", 2.5), ["(2.5 points)", "a number, how many times"]),
        (
            Choice("Which?", {"memory": "the memory", "compute": "the units"}, points=2),
            ["Your decision (2 points)", '"memory": the memory', "one of these, in quotes"],
        ),
        (Essay("Why?", [(1, "says so"), (2, "explains")]), ["(3 points)", "1 point: says so"]),
    ],
)
def test_a_question_says_how_to_answer_it(item, said):
    text = QuestionCard("t", item).text()
    assert item.ask in text
    for words in said:
        assert words.replace("`", "") in text


@pytest.mark.parametrize(
    ("acts", "words"),
    [((), "0 points, about 20 minutes."), (("A",), "one act:"), (("A", "B"), "2 acts:")],
)
def test_a_lab_says_what_it_takes(acts, words):
    lab = Lab("x", title="X", chapter=0, acts=acts, minutes="20")
    said = Welcome(lab, Student("ada", "your login at the hub"), Parameters({}), variants=False)
    assert words in said.text()
    assert "This is the lab of ada, known from your login at the hub." in said.text()
    assert "yours alone" not in said.text()
    assert "whoami" not in said.text()


def test_a_name_that_may_be_wrong_is_asked_about():
    lab = Lab("x", title="X", chapter=0, acts=())
    student = Student("laptop", "your login on this computer", uncertain=True)
    said = Welcome(lab, student, Parameters({}), variants=True, notices=["Careful."]).text()
    assert "mlsys whoami NAME" in said
    assert "yours alone" in said
    assert "Careful." in said


def test_a_record_follows_the_ledger(led):
    done = {"Prediction: how busy?": False}
    card = RecordCard(Record(["act1"], points=4, title="Committed"), lambda: done, ledger=led)
    assert card.title == "Committed (4 points)"
    assert "○ Missing: Prediction: how busy?" in card.text()
    done["Prediction: how busy?"] = True
    assert "✓ Done: Prediction: how busy?" in card.text()
