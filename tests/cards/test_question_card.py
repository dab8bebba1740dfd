"""What surrounds a graded answer: the question, whose lab it is, and what the ledger holds."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mlsys_widgets.cards import announcements
from mlsys_widgets.cards.question_card import MOST_HINTS, QuestionCard
from mlsys_widgets.cards.record_card import RecordCard
from mlsys_widgets.labs import Choice, Essay, Number, Record
from mlsys_widgets.labs.student_steps import StepProgress
from mlsys_widgets.ledger.handed_in import note_hand_in

BUSY = Number("How busy?", "percent", points=5, low=1, high=100, title="Utilization")
LONG = Number("How long?", "µs", points=1, low=0.05, high=1000)
MANY = Number("How many?", "images", points=2, low=1, high=1e6, whole=True)
WHICH = Choice("Which?", {"memory": "the memory", "compute": "the units"}, points=2)
WHY = Essay("Why?", [(1, "says so"), (2, "explains")])


def entered(card, text):
    """What a student does: type, press the button, and read what the card says."""
    card._asked(None, {"action": "record", "values": {"answer": text}}, None)
    return card.text()


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (LONG, ["Your number (1 point)", "Enter a number, in µs."]),
        (Number("How often?", "times", 2.5), ["(2.5 points)", "a number, how many times"]),
        (WHICH, ["Your decision (2 points)", "( ) the memory"]),
        (WHY, ["(3 points)", "Why?"]),
    ],
)
def test_a_question_says_how_to_answer_it(led, item, said):
    text = QuestionCard("t", item, ledger=led).text()
    assert item.ask in text
    for words in said:
        assert words in text


@pytest.mark.parametrize(
    ("item", "typed", "kept", "said"),
    [
        (BUSY, "33%", 33.0, "33 percent"),
        (BUSY, " 33.3 ", 33.3, "33.3 percent"),
        (LONG, "3.94 µs", 3.94, "3.94 µs"),
        (LONG, "0.2 ms", 200.0, "200 µs"),
        (MANY, "883,036", 883036.0, "883,036 images"),
        (MANY, "883k", 883e3, "883,000 images"),
        (MANY, "16 images", 16.0, "16 images"),
        (MANY, "1e3", 1000.0, "1,000 images"),
        (WHICH, "memory", "memory", "“the memory”"),
    ],
)
def test_what_is_typed_is_recorded_at_once_and_never_called_right(led, item, typed, kept, said):
    card = QuestionCard("t", item, ledger=led)
    text = entered(card, typed)
    assert f"Recorded: {said}.\nYou can change it until you hand in." in text
    assert led.state().answers["t"].value == kept
    assert "right" not in text.lower()
    assert "Look again" not in text
    assert card.is_open


@pytest.mark.parametrize("typed", ["a third", "", "  ", "3,94", "33 s", "1/3", "--", "nan", None])
def test_what_cannot_be_read_is_asked_back_and_the_answer_before_stands(led, typed):
    card = QuestionCard("t", BUSY, ledger=led)
    text = entered(card, typed)
    assert "t" not in led.state().answers
    assert "Recorded" not in text
    entered(card, "30")
    text = entered(card, typed)
    assert "Your earlier answer, 30 percent, still stands." in text
    assert led.state().answers["t"].value == 30


@pytest.mark.parametrize(
    ("item", "typed", "said"),
    [
        (BUSY, "0.33", "0.33 percent is very little; did you enter a fraction?"),
        (BUSY, "133", "133 percent cannot be right: a fraction is at most 100 percent."),
        (BUSY, "-5", "-5 percent cannot be right: the answer is not negative."),
        (LONG, "3940", "3,940 µs is far too much. Check the unit and the powers of ten."),
        (LONG, "3.94e-6", "3.94e-06 µs is far too little."),
        (MANY, "8.1", "8.1 images cannot be right: only a whole number makes sense here."),
    ],
)
def test_errors_of_form_are_pointed_out_and_still_recorded(led, open_ledger, item, typed, said):
    text = entered(QuestionCard("t", item, ledger=led), typed)
    assert "Look again. " + said in text
    assert "Recorded: " in text
    # A new kernel says the same.
    assert said in QuestionCard("t", item, ledger=open_ledger()).text()


def test_whoever_chose_nothing_reads_no_internal_names(led):
    text = entered(QuestionCard("t", WHICH, ledger=led), None)
    assert "Nothing is chosen yet. Choose one of the options." in text
    assert '"memory"' not in text


def test_nobody_finds_the_limits_by_trying(led):
    card = QuestionCard("t", BUSY, ledger=led)
    hinted = ["Look again" in entered(card, f"0.{k}") for k in range(1, 8)]
    assert hinted == [True] * MOST_HINTS + [False] * (7 - MOST_HINTS)
    # What was pointed out before is pointed out again, and counts once.
    assert "Look again" in entered(card, "0.1")
    assert led.state().answers["early.t"].attempts == MOST_HINTS


def test_a_comma_that_may_be_a_decimal_point_is_asked_back(led):
    text = entered(QuestionCard("t", MANY, ledger=led), "3,940")
    assert "Recorded: 3,940 images." in text
    assert "For a decimal point, type “3.940”." in text


def test_the_history_is_kept(led):
    card = QuestionCard("t", BUSY, ledger=led)
    for text in ("30", "31", "32"):
        entered(card, text)
    kept = led.state().answers["t"]
    assert (kept.value, [each.value for each in kept.earlier]) == (32, [30, 31])
    assert "Record the change" in str(card._card.view)


def test_a_rubric_is_shown_before_one_writes(led):
    text = QuestionCard("t", WHY, ledger=led).text()
    assert text.index("1 point: says so") < text.index("Your answer")


def test_a_text_that_is_too_short_is_kept_and_opens_nothing(led, open_ledger):
    item = Essay("Why?", [(1, "says so")], title="Reasons", at_least=4, at_most=6)
    card = QuestionCard("t", item, ledger=led)
    behind = QuestionCard("u", BUSY, ledger=led, after=card)
    assert "Write 4 to 6 words." in card.text()
    area = next(part for part in card._card.view["parts"] if part["key"] == "answer")
    assert (area["at_least"], area["at_most"]) == (4, 6)
    assert "Opens after you answer “Reasons” in 4 to 6 words." in behind.text()

    text = entered(card, "Because launches — wait.")
    assert "Recorded: 3 words" in text
    assert "Too short. That is 3 words; write at least 4." in text
    assert card._card.view["said"].startswith("Recorded. Too short.")
    assert led.state().answers["t"].value == "Because launches — wait."
    assert behind.blocked_by is card
    # A new kernel says the same.
    assert not QuestionCard("t", item, ledger=open_ledger()).is_open

    text = entered(card, "Because all of the launches wait in line.")
    assert "Too long. That is 8 words; write at most 6." in text
    assert behind.blocked_by is None
    assert "Too" not in entered(card, "Because all launches wait.")


def test_a_text_that_is_too_long_is_refused(led):
    text = entered(QuestionCard("t", WHY, ledger=led), "word " * 5000)
    assert "25,000 characters long; 20,000 are allowed" in text


def test_an_answer_that_cannot_be_saved_is_not_called_recorded(led, read_only):
    card = QuestionCard("t", BUSY, ledger=led)
    with read_only():
        text = entered(card, "30")
    assert "Recorded" not in text
    assert not card.is_open


def test_a_record_follows_the_ledger(led):
    done = {"Prediction: how busy?": StepProgress("to_do", "to do", whole=False)}
    card = RecordCard(Record(["act1"], points=4, title="Committed"), lambda: done, ledger=led)
    assert card.title == "Committed (4 points)"
    assert "○ To do: Prediction: how busy?" in card.text()
    done["Prediction: how busy?"] = StepProgress("done", "done")
    assert "✓ Done: Prediction: how busy?" in card.text()


def test_a_recorded_card_says_whether_it_was_handed_in(led):
    card = QuestionCard("t", BUSY, ledger=led)
    entered(card, "30")
    assert "You can change it until you hand in." in card.text()
    at = datetime(2026, 11, 17, 14, 2, tzinfo=UTC)
    note_hand_in(led.path.parent, led.head, at, course="mlsys")
    announcements.look_everywhere()  # as the panel asks for
    assert card._card.view["parts"][-1]["html"] == "<p>Handed in 2026-11-17T14:02:00.000Z.</p>"
    assert "You can change it and hand in again." in card.text()
    entered(card, "31")
    assert "Changed since you handed in Tue 17 Nov" in card.text()
    again = QuestionCard("t", BUSY, ledger=led)  # as after a restart
    assert "Changed since you handed in Tue 17 Nov" in again.text()
    note_hand_in(led.path.parent, led.head, at, file="lab_07-ann.zip")
    again.refresh()
    assert "In the file to hand in of Tue 17 Nov" in again.text()


@pytest.mark.parametrize("kept", [{"a": 1}, [3], "a third", None, True])
def test_an_answer_that_the_question_cannot_have_is_asked_again(led, kept):
    """Of another edition of the lab, or of somebody who wrote to the ledger by hand."""
    led.record_answer("t", kept)
    card = QuestionCard("t", BUSY, ledger=led)
    assert "Recorded" not in card.text()
    assert "cannot be shown" not in card.text()
    assert "Recorded: 30 percent" in entered(card, "30")


def test_what_is_recorded_becomes_short_and_keeps_what_must_be_read(led):
    card = QuestionCard("t", BUSY, ledger=led)
    assert card._card.view["fold"] is None
    entered(card, "0.3")  # a fraction, most likely
    fold = card._card.view["fold"]
    shown = [part["key"] for part in card._card.view["parts"] if part["key"] in fold["stays"]]
    assert fold["link"] == "Change"
    assert shown == ["recorded", "form"]
