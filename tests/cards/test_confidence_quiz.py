"""Quiz, myths and checklist: answered once, found again, judged only after answering."""

from __future__ import annotations

import pytest

from mlsys_widgets import ConfidenceQuiz, Myth, MythBuster, Question, SelfAssessment
from mlsys_widgets.cards.quiz_question import calibration, calibration_in_words

QUESTIONS = [
    Question(
        f"q{k}", f"Question number {k}?", {"a": "yes", "b": "no"}, right="a",
        feedback={"b": f"Secret of {k}."},
    )
    for k in range(1, 4)
]  # fmt: skip
MYTHS = [Myth("flops", "Fewer FLOPs run faster.", "Bytes count."), Myth("two", "Two.", "Other.")]
BANDS = [(0, "Early days", "Read again."), (2, "Nearly", "Look up the gaps."), (3, "Ready", "On.")]
ITEMS = {"ridge": "find a **ridge**", "fuse": "fuse kernels", "trace": "read a trace"}


# ---- quiz


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
    assert "Secret of 2." in page.said
    assert page.buttons == ["answer-q1", "answer-q3"]
    with pytest.raises(ValueError, match="question 2 was answered already"):
        quiz.answer({"q2": ("a", 4)})
    quiz.answer({"q2": ("b", 4)})
    with pytest.raises(ValueError, match="no plot yet"):
        quiz.figure()
    quiz.answer({"q1": ("a", 1), "q3": ("a", 2)})
    assert quiz.score == (2, 3)
    with pytest.raises(ValueError, match="question is 'q9'"):
        quiz.answer({"q9": ("a", 1)})


def test_the_first_answer_counts(led):
    led.record_answer("phase1.q1", "b", confidence=5)
    led.record_answer("phase1.q1", "a", confidence=5)
    quiz = ConfidenceQuiz("phase1", QUESTIONS[:1], ledger=led)
    assert quiz.judged == [(5, False)]


def test_a_read_only_folder(led, browser_of, read_only):
    quiz = ConfidenceQuiz("phase1", QUESTIONS[:1], ledger=led)
    page = browser_of(quiz)
    with read_only():
        page.ask("answer", q1="b", **{"q1-confidence": "5"})
        assert "Nothing was saved" in page.trouble
        assert "Secret" not in page.sent
        assert not quiz.is_open
    page.ask("retry")
    assert quiz.is_open
    assert "Secret of 1." in page.sent


def test_the_plot_says_what_was_answered():
    scene = calibration([(5, True), (5, False), (2, True)], 0.25)
    marks = {mark.name: mark for mark in scene.marks}
    assert list(marks["yours"].x) == [2.0, 5.0]
    assert list(marks["yours"].y) == [1.0, 0.5]
    assert marks["counts"].text == ("1 of 1", "1 of 2")
    assert marks["calibrated"].y == (0.25, 1.0)
    assert "trust yourself" in calibration_in_words([(1, True)] * 3, 0.25)
    assert "know well" in calibration_in_words([(5, True)] * 3, 0.25)


def test_a_question_without_its_answer():
    with pytest.raises(ValueError, match="right of q names 'z'"):
        Question("q", "?", {"a": "yes"}, right="z")


# ---- myths


def test_myths_one_by_one(led, open_ledger, browser_of):
    myths = MythBuster("myths", MYTHS, ledger=led)
    page = browser_of(myths)
    assert "Bytes count." not in page.sent
    assert "Two." not in page.sent
    page.ask("commit-flops")
    assert page.trouble == "Say first whether you believe it or doubt it."
    page.ask("commit-flops", flops="believe")
    assert page.said == "What is the case: Bytes count."
    assert "Two." in page.sent
    assert "Other." not in page.sent
    with pytest.raises(ValueError, match="You said already “I believe it”"):
        myths.commit("flops", "doubt")
    again = MythBuster("myths", MYTHS, ledger=open_ledger())
    assert again.stances == {"flops": "believe"}
    again.commit("two", "doubt")
    assert again.is_open
    assert "You doubted 1 of 2." in again.text()
    assert myths.is_open  # it heard of it


def test_a_myth_is_not_revealed_when_nothing_was_saved(led, browser_of, read_only):
    page = browser_of(MythBuster("myths", MYTHS, ledger=led))
    with read_only():
        page.ask("commit-flops", flops="doubt")
        assert "Nothing was saved" in page.trouble
        assert "Bytes count." not in page.sent
    page.ask("retry")
    assert "Bytes count." in page.sent


# ---- checklist


def test_a_checklist(led, open_ledger, browser_of):
    can = SelfAssessment(
        "can", ITEMS, bands=BANDS, review={"trace": "Days 8–11", "fuse": "Day 13"}, ledger=led
    )
    page = browser_of(can)
    assert can.band is None
    page.ask("save", items=["fuse", "ridge"])
    assert page.said == "2 of 3. Nearly. Look up the gaps."
    assert page.parts["gaps"]["points"] == [["read a trace", "Days 8–11"]]
    again = SelfAssessment("can", ITEMS, bands=BANDS, ledger=open_ledger())
    assert again.ticked == ("ridge", "fuse")
    assert again.save(list(ITEMS)) == (3, "Ready", "On.")
    assert "[x] find a ridge" in again.text()
    assert again.save([])[1] == "Early days"
    with pytest.raises(ValueError, match="ticked names 'x'"):
        can.save(["x"])


@pytest.mark.parametrize("bands", [[], [(1, "a", "b")], [(0, "a", "b"), (9, "c", "d")]])
def test_bands_that_leave_a_gap(led, bands):
    with pytest.raises(ValueError, match="must begin at 0"):
        SelfAssessment("can", ITEMS, bands=bands, ledger=led)
