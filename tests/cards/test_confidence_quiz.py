"""A quiz is answered once, found again, and judged only after answering."""

from __future__ import annotations

import pytest

from mlsys_widgets import ConfidenceQuiz, Question
from mlsys_widgets.labs import Quiz

QUESTIONS = [
    Question(
        f"q{k}", f"Question number {k}?", {"a": "yes", "b": "no"}, right="a",
        feedback={"b": f"Secret of {k}."},
    )
    for k in range(1, 4)
]  # fmt: skip


def test_all_at_once(led, open_ledger, browser_of):
    quiz = ConfidenceQuiz("phase1", QUESTIONS, ledger=led)
    page = browser_of(quiz)
    assert "Secret" not in page.sent
    page.ask("answer", q1="a", **{"q1-confidence": "5", "q2-confidence": "4"})
    assert page.trouble == (
        "Still missing: question 2 (an answer), question 3 (an answer and a confidence)."
    )
    assert led.events() == ()
    sure = {f"q{k}-confidence": str(k + 2) for k in (1, 2, 3)}
    page.ask("answer", q1="a", q2="b", q3="a", **sure)
    assert page.trouble is None
    assert led.events() == ()
    page.ask("lock", q1="a", q2="b", q3="a", **sure)
    assert page.trouble is None
    assert quiz.is_open
    assert quiz.score == (2, 3)
    assert quiz.judged == [(3, True), (4, False), (5, True)]
    assert "Secret of 2." in page.sent
    assert "Secret of 1." not in page.sent
    assert "You got 2 of 3 right" in page.said
    assert "Confidence and correctness" in quiz._card.view["figure"]
    assert len(quiz.children) == 2
    again = ConfidenceQuiz("phase1", QUESTIONS, ledger=open_ledger())
    assert again.judged == quiz.judged
    assert len(again.children) == 2
    assert "<svg" in again._repr_mimebundle_()["text/html"]
    assert "2 of 3" in again.text()


def test_one_after_the_other(led, browser_of):
    quiz = ConfidenceQuiz("phase1", QUESTIONS, ledger=led, feedback="each")
    page = browser_of(quiz)
    page.ask("answer-q2", q2="b", **{"q2-confidence": "4"})
    assert page.buttons == ["answer-q1", "lock", "back", "answer-q3"]
    assert page.said.startswith("Your answer to question 2 and how sure you are become final")
    assert "Secret" not in page.sent
    page.ask("lock", q2="b", **{"q2-confidence": "4"})
    assert "Secret of 2." in page.said
    assert page.buttons == ["answer-q1", "answer-q3"]
    with pytest.raises(ValueError, match="question 2 is already answered"):
        quiz.answer({"q2": ("a", 4)})
    quiz.answer({"q2": ("b", 4)})
    with pytest.raises(ValueError, match="no plot yet"):
        quiz.figure()
    quiz.answer({"q1": ("a", 1), "q3": ("a", 2)})
    assert quiz.score == (2, 3)
    with pytest.raises(ValueError, match="question is 'q9'"):
        quiz.answer({"q9": ("a", 1)})


def test_it_asks_before_it_locks_and_one_can_go_back(led, browser_of):
    quiz = ConfidenceQuiz("phase1", QUESTIONS, ledger=led)
    page = browser_of(quiz)
    sure = {f"q{k}-confidence": "3" for k in (1, 2, 3)}
    page.ask("answer", q1="a", q2="b", q3="a", **sure)
    assert page.buttons == ["lock", "back"]
    assert "Your 3 answers and how sure you are of each become final" in page.said
    # The keyboard is on the words, so that a second Enter locks nothing.
    assert quiz._card.view["focus"] == "confirm"
    assert "Secret" not in page.sent
    page.ask("back", q1="a", q2="b", q3="a", **sure)
    assert page.buttons == ["answer"]
    assert led.events() == ()
    assert not page.parts["q2"]["disabled"]
    # What stands in the boxes when it is locked is what counts.
    page.ask("answer", q1="a", q2="b", q3="a", **sure)
    page.ask("lock", q1="a", q2="a", **sure)
    assert page.trouble == "Still missing: question 3 (an answer)."
    assert led.events() == ()
    page.ask("lock", q1="a", q2="a", q3="a", **sure)
    assert quiz.score == (3, 3)


def test_locking_what_nobody_asked_about_locks_nothing(led, browser_of):
    """A click that comes late, from a second tab or a slow page."""
    quiz = ConfidenceQuiz("phase1", QUESTIONS, ledger=led, feedback="each")
    page = browser_of(quiz)
    page.ask("lock", q1="a", **{"q1-confidence": "3"})
    page.ask("back")
    assert led.events() == ()


def test_the_first_answer_counts(led):
    led.record_answer("phase1.q1", "b", confidence=5)
    led.record_answer("phase1.q1", "a", confidence=5)
    quiz = ConfidenceQuiz("phase1", QUESTIONS[:1], ledger=led)
    assert quiz.judged == [(5, False)]


def test_a_read_only_folder(led, browser_of, read_only):
    quiz = ConfidenceQuiz("phase1", QUESTIONS[:1], ledger=led)
    page = browser_of(quiz)
    page.ask("answer", q1="b", **{"q1-confidence": "5"})
    with read_only():
        page.ask("lock", q1="b", **{"q1-confidence": "5"})
        assert "Nothing was saved" in page.trouble
        assert "Secret" not in page.sent
        assert not quiz.is_open
    page.ask("retry")
    assert quiz.is_open
    assert "Secret of 1." in page.sent


def test_the_item_itself_makes_the_card(led):
    quiz = ConfidenceQuiz("phase1", Quiz(QUESTIONS, each=True, title="Three questions"), ledger=led)
    assert quiz.title == "Three questions"
    quiz.answer({"q1": ("a", 5)})
    assert set(led.state().answers) == {"phase1.q1"}
    with pytest.raises(ValueError, match="feedback is 'never'"):
        ConfidenceQuiz("phase1", QUESTIONS, ledger=led, feedback="never")
