"""One sentence below a comparison: kept if somebody writes it, and in nobody's way."""

from __future__ import annotations

import pytest

from mlsys_widgets import PredictionLock
from mlsys_widgets.cards.own_words_card import OwnWords


def a_reveal(led, value):
    lock = PredictionLock(
        "gap", question="Which?", options={"A": "small", "B": "large"}, ledger=led
    )
    lock.commit(value, 3)
    return lock.reveal(answer="B")


@pytest.mark.parametrize(("value", "asks"), [("A", "Why was I off?"), ("B", "What made me right?")])
def test_the_question_depends_on_whether_the_prediction_held(led, value, asks):
    reveal = a_reveal(led, value)
    assert reveal.own_words.title == asks
    assert reveal.children[1] is reveal.own_words  # on the page, below the comparison


def test_nothing_is_asked_before_the_comparison(led):
    lock = PredictionLock(
        "gap", question="Which?", options={"A": "small", "B": "large"}, ledger=led
    )
    reveal = lock.reveal(answer="B")
    assert (reveal.own_words, len(reveal.children)) == (None, 1)
    lock.commit("A", 3)
    assert reveal.own_words is None
    reveal.compare()
    assert reveal.own_words is not None


def test_a_sentence_is_kept_and_found_again(led, browser_of, open_ledger):
    page = browser_of(OwnWords("gap", "Why was I off?", ledger=led))
    assert page.parts["answer"]["value"] == ""
    page.ask("keep", answer="  I forgot <b>memory</b>. ")
    kept = led.state().answers["words.gap"]
    assert kept.value == "I forgot <b>memory</b>."
    assert "<b>" not in page.parts["kept"]["html"]
    page.ask("keep", answer="I forgot <b>memory</b>.")
    assert led.state().answers["words.gap"].earlier == ()  # the same again writes nothing
    again = OwnWords("gap", "Why was I off?", ledger=open_ledger())
    assert browser_of(again).parts["answer"]["value"] == kept.value


def test_nothing_and_too_much_are_refused_in_a_sentence(led, browser_of):
    page = browser_of(OwnWords("gap", "Why was I off?", ledger=led))
    page.ask("keep", answer=" ")
    assert page.trouble == "Nothing is written yet: write a sentence or two."
    page.ask("keep", answer="word " * 81)
    assert "Too long." in page.trouble
    assert "words.gap" not in led.state().answers


def test_its_drafts_are_kept_like_those_of_other_boxes(led, browser_of):
    page = browser_of(OwnWords("gap", "Why was I off?", ledger=led))
    item = page.widget._card.view["item"]
    assert (item["id"], item["names"], item["record"]) == ("words.gap", ["words.gap"], "keep")


def test_a_page_without_a_kernel_shows_what_was_written(led):
    reveal = a_reveal(led, "A")
    assert "In your own words" not in reveal.html()
    reveal.own_words.keep("I forgot <memory>.")
    assert "I forgot &lt;memory&gt;." in reveal.html()
