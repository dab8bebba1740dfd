"""The frame of a lab: message, context, what to take away."""

from __future__ import annotations

import pytest
import traitlets

from mlsys_widgets import ContextToggle, KeyTakeaways, PredictionLock, Scenario
from mlsys_widgets.labs import Message
from mlsys_widgets.ledger import Ledger


def test_a_message():
    card = Scenario(
        "Ada", role="Operations", subject="Idle GPUs", message="One.\n\nTwo <now>.", task="Why?"
    )
    bundle = card._repr_mimebundle_()
    assert bundle["text/plain"].splitlines()[0] == "Message: Idle GPUs"
    assert "<p>Two &lt;now&gt;.</p>" in bundle["text/html"]
    assert "Your task. Why?" in bundle["text/plain"]


def test_a_message_says_more_about_the_context_that_is_chosen():
    toggle = ContextToggle({"cloud": "Cloud", "edge": "Edge"})
    more = {"cloud": "We rent an H100.", "edge": "It hangs beside a camera."}
    letter = Scenario(Message("Ada", "Operations", "Idle", "Why?", in_context=more), context=toggle)
    assert "We rent an H100." in letter.text()
    toggle.context = "edge"
    assert "beside a camera" in letter.text()
    assert "H100" not in letter.text()
    assert "H100" not in Scenario(letter.item).text()


def test_what_to_take_away_waits_for_its_gate(led):
    lock = PredictionLock("x", question="How many?", ledger=led)
    card = KeyTakeaways("Measure first.", ahead="Lab 08.", after=lock)
    assert "Measure" not in card.text()
    lock.commit(1, 1)
    assert "Measure" in str(card._card.view)
    assert "Next. Lab 08." in card.text()
    with pytest.raises(ValueError, match="no points"):
        KeyTakeaways()


def test_the_context_is_observed_and_kept(led, open_ledger, browser_of):
    toggle = ContextToggle(ledger=led, about={"edge": "A Jetson."})
    heard = []
    toggle.observe(lambda change: heard.append(change.new), names="context")
    assert toggle.context == "cloud"
    assert led.events() == ()  # looking writes nothing
    browser_of(toggle).ask("choose", context="edge")
    assert heard == ["edge"]
    assert browser_of(toggle).said == "Edge is selected."
    assert "A Jetson." in toggle.text()
    assert ContextToggle(ledger=open_ledger()).context == "edge"
    toggle.context = "cloud"
    assert led.state().answers["context"].value == "cloud"


def test_two_toggles_move_together(led):
    first, second = ContextToggle(ledger=led), ContextToggle(ledger=led)
    first.context = "edge"
    assert second.context == "edge"
    assert len([event for event in led.events() if event.kind == "answer"]) == 1


def test_a_context_that_is_not_there(browser_of):
    toggle = ContextToggle({"a": "A", "b": "B"}, context="b")
    with pytest.raises(traitlets.TraitError, match="must be one of: a, b"):
        toggle.context = "edge"
    assert toggle.context == "b"
    browser_of(toggle).ask("choose", context="edge")
    assert browser_of(toggle).trouble == "Choose one of: A, B."


def test_a_switch_that_could_not_be_kept_says_so(led, browser_of, read_only):
    toggle = ContextToggle(ledger=led)
    page = browser_of(toggle)
    with read_only():
        page.ask("choose", context="edge")
        assert toggle.context == "edge"
        assert "Switched, but not saved. Nothing was saved" in page.trouble
        page.ask("retry")
        assert page.can_retry
    page.ask("retry")
    assert page.trouble is None
    assert Ledger.open(led.path).state().answers["context"].value == "edge"
