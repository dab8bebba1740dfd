"""Reflections: every attempt is recorded, and only the feedback to the given answer is shown."""

from __future__ import annotations

import pytest

from mlsys_widgets import Reflection
from mlsys_widgets.ledger import ReadOnly

OPTIONS = {"A": "more arithmetic", "B": "less memory traffic"}
FEEDBACK = {"A": "The arithmetic is the same.", "B": "Intermediates stay in registers."}


def a_choice(led, **more):
    given = {"right": "B", "feedback": FEEDBACK, **more}
    return Reflection("why", question="Why is it faster?", options=OPTIONS, ledger=led, **given)


def gaps(led, **more):
    return Reflection(
        "fill",
        question="Fusing saves {what} because the result stays in {where}.",
        blanks={
            "what": {"flop": "arithmetic", "byte": "traffic"},
            "where": {"reg": "registers", "hbm": "HBM"},
        },
        right={"what": "byte", "where": "reg"},
        feedback={"where": {"hbm": "That is where it would be read from again."}},
        ledger=led,
        **more,
    )


def words(led, **more):
    return Reflection("own", question="What surprised you?", ledger=led, **more)


def test_a_choice_with_feedback_for_that_very_option(led, browser_of):
    reflection = a_choice(led)
    page = browser_of(reflection)
    assert all(sentence not in page.sent for sentence in FEEDBACK.values())
    page.ask("answer", answer="A")
    assert "Not yet. The arithmetic is the same." in page.said
    assert FEEDBACK["B"] not in page.sent
    page.ask("answer", answer="B")
    assert "Right. Intermediates stay in registers." in page.said
    attempts = led.state().reflections["why"].attempts
    assert [(a.value, a.correct) for a in attempts] == [("A", False), ("B", True)]
    page.ask("answer", answer="B")
    assert len(reflection.attempts) == 2
    assert "2 attempts" in reflection.text()


def test_nobody_who_is_right_is_told_to_try_again(led, browser_of):
    def button(reflection):
        return browser_of(reflection).parts["send"]["buttons"][0][1]

    for reflection, wrong, right in (
        (a_choice(led), "A", "B"),
        (gaps(led), {"what": "byte", "where": "hbm"}, {"what": "byte", "where": "reg"}),
    ):
        assert button(reflection) in ("Answer", "Check")
        reflection.answer(wrong)
        assert button(reflection) == "Try again"
        reflection.answer(right)
        assert button(reflection) == "Change my answer"
    unjudged = Reflection("?", question="Which?", options=OPTIONS, ledger=led)
    unjudged.answer("A")
    assert button(unjudged) == "Change my answer"


def test_who_is_wrong_keeps_the_whole_card(led):
    reflection = a_choice(led)
    assert reflection.fold() is None
    reflection.answer("A")
    assert reflection.fold() is None
    reflection.answer("B")
    assert reflection.fold().stays == ("answer", "feedback0", "saved")


def test_gaps(led, browser_of):
    reflection = gaps(led)
    page = browser_of(reflection)
    page.ask("answer", answer={})
    assert page.trouble == "Still empty: gaps 1 and 2. Fill every gap."
    page.ask("answer", answer={"what": "byte", "where": None})
    assert page.trouble == "Still empty: gap 2. Fill every gap."
    page.ask("answer", answer={"what": "byte", "where": "hbm"})
    assert "Right. Gap 1, traffic." in page.said
    assert "Not yet. Gap 2, HBM. That is where" in page.said
    assert reflection.answer({"where": "reg", "what": "byte"}) is True
    assert "Fusing saves [traffic] because the result stays in [registers]." in reflection.text()
    with pytest.raises(ValueError, match="gap what names 'x'"):
        reflection.answer({"where": "reg", "what": "x"})
    with pytest.raises(ValueError, match="the answer names 'z'"):
        reflection.answer({"z": "reg"})


def test_words_are_saved_and_restored(led, open_ledger, browser_of):
    reflection = words(led, at_least=3, feedback="Compare: the *dispatch tax*.")
    page = browser_of(reflection)
    page.ask("answer", answer="  ")
    assert "Nothing is written yet" in page.trouble
    page.ask("answer", answer="too short")
    assert "Too short. That is 2 words; write at least 3." in page.trouble
    page.ask("answer", answer="GPUs wait\nfor <b>Python</b>\n")
    assert "Compare: the dispatch tax." in page.said
    again = words(open_ledger(), at_least=3)
    assert again.value == "GPUs wait\nfor <b>Python</b>"
    assert browser_of(again).parts["answer"]["value"] == again.value
    assert "&lt;b&gt;Python" in again.html()
    assert again.is_open


def test_a_read_only_folder_loses_nothing(led, browser_of, read_only):
    reflection = words(led)
    page = browser_of(reflection)
    with read_only():
        page.ask("answer", answer="my thought")
        assert "Nothing was saved" in page.trouble
        assert page.can_retry
        assert not reflection.is_open
        with pytest.raises(ReadOnly):
            reflection.answer("my thought")
    page.ask("retry")
    assert page.trouble is None
    assert reflection.value == "my thought"


def test_it_opens_when_answered_or_only_when_right(led):
    heard = []
    easy = a_choice(led)
    strict = Reflection(
        "strict", question="?", options=OPTIONS, right="B", opens="right", ledger=led
    )
    easy.on_open(lambda: heard.append("easy"))
    strict.on_open(lambda: heard.append("strict"))
    easy.answer("A")
    strict.answer("A")
    assert heard == ["easy"]
    assert "correctly" in strict.to_open
    strict.answer("B")
    strict.answer("A")
    assert heard == ["easy", "strict"]
    assert strict.is_open


def test_without_a_right_answer_nothing_is_judged(led):
    reflection = a_choice(led, right=None)
    assert reflection.answer("A") is None
    assert "Not yet" not in reflection.text()
    assert "The arithmetic is the same." in reflection.text()


def test_an_answer_to_an_older_question_does_not_disturb(led):
    led.record_reflection("why", {"gap": "old"})
    reflection = a_choice(led)
    assert reflection.is_open
    assert reflection._card.view["trouble"] is None


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"options": OPTIONS, "blanks": {}}, "options and blanks"),
        ({"options": OPTIONS, "right": "Z"}, "right names 'Z'"),
        ({"options": OPTIONS, "feedback": {"Z": ""}}, "feedback names 'Z'"),
        ({"options": OPTIONS, "opens": "right"}, "right= is not given"),
        ({"options": OPTIONS, "opens": "never"}, "opens is 'never'"),
        ({"blanks": {"x": OPTIONS}}, "each gap must be named once"),
    ],
)
def test_a_question_that_cannot_be_asked(led, given, sentence):
    with pytest.raises(ValueError, match=sentence):
        Reflection("x", question="?", ledger=led, **given)
