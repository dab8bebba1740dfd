"""A prediction is committed once, is found again, and opens what waits for it."""

from __future__ import annotations

import math
import shutil

import pytest

from mlsys_widgets import PredictionLock, Reflection, RooflineWidget
from mlsys_widgets.ledger import AlreadyCommitted, Ledger, ReadOnly

OPTIONS = {"A": "about 95%", "B": "about 70%", "C": "about 33%", "D": "under 5%"}


def a_choice(led, **more):
    return PredictionLock(
        "act1", question="How busy is the GPU?", options=OPTIONS, ledger=led, **more
    )


def a_number(led, **more):
    return PredictionLock("act2", question="How many images?", unit="images", ledger=led, **more)


# ---- one commit


def test_the_browser_commits_after_a_confirmation(led, browser_of):
    lock = a_choice(led)
    page = browser_of(lock)
    page.ask("propose", answer="C", confidence="4")
    assert not lock.is_open
    assert led.state().predictions == {}
    assert page.buttons == ["confirm", "change"]
    assert "33%" in page.said
    page.ask("change")
    assert page.buttons == ["propose"]
    page.ask("propose", answer="B", confidence="2")
    page.ask("confirm")
    assert lock.is_open
    assert (lock.value, lock.confidence) == ("B", 2)
    assert page.buttons == []
    assert page.parts["answer"]["disabled"]
    assert page.parts["sealed"]["time"] == lock.prediction.time
    assert led.verify().ok


def test_the_ledger_keeps_the_words_that_were_read(led):
    """The key of an option is not the letter that its student saw."""
    a_choice(led).commit("C", 4)
    PredictionLock("share", question="How busy?", unit="%", ledger=led).commit("25%", 3)
    long = "because " * 60
    PredictionLock("why", question="Why?", options={"A": long, "B": "no"}, ledger=led).commit(
        "A", 1
    )
    said = led.state().predictions
    assert (said["act1"].value, said["act1"].words) == ("C", "about 33%")
    assert (said["share"].value, said["share"].words) == (0.25, "25%")
    assert said["why"].words.startswith("because because")
    assert said["why"].words.endswith(" …")
    assert led.verify().ok


def test_a_second_commit_is_refused(led, browser_of):
    lock = a_choice(led)
    lock.commit("C", 4)
    with pytest.raises(AlreadyCommitted, match="that one stands"):
        lock.commit("B", 4)
    assert lock.commit("C", 4) == lock.prediction  # run again, the same cell changes nothing
    browser_of(lock).ask("propose", answer="B", confidence="1")
    assert "that one stands" in browser_of(lock).trouble
    assert [event.kind for event in led.events()] == ["opened", "prediction"]


def test_another_kernel_was_first(open_ledger, browser_of):
    here = a_choice(open_ledger())
    page = browser_of(here)
    page.ask("propose", answer="B", confidence="5")
    open_ledger().commit_prediction("act1", "D", confidence=1)
    assert not here.is_open
    page.ask("confirm")
    assert "'D'" in page.trouble
    assert not page.can_retry
    assert here.is_open
    assert (here.value, here.confidence) == ("D", 1)
    assert "under 5%" in page.parts["sealed"]["html"]


def test_a_restart_finds_it_again(open_ledger):
    a_choice(open_ledger()).commit("C", 4)
    again = a_choice(open_ledger())
    assert again.is_open
    assert (again.value, again.confidence) == ("C", 4)
    assert "Sealed: about 33%" in again.text()


def test_two_cards_of_one_question_agree(led):
    first, second = a_choice(led), a_choice(led)
    first.commit("A", 1)
    assert second.is_open
    assert "Sealed" in second.text()


def test_an_option_that_is_gone_still_stands(led):
    led.commit_prediction("act1", "E", 3)
    lock = a_choice(led)
    assert lock.is_open
    assert "“E”, an option that is no longer offered" in lock.text()


# ---- what is refused


@pytest.mark.parametrize(
    ("answer", "confidence", "sentence"),
    [
        (None, "4", "Choose one of the options"),
        ("X", "4", "must be one of: A, B, C, D"),
        ("C", None, "how sure are you"),
        ("C", "9", "whole number from 1 to 5"),
        ("C", "very", "whole number from 1 to 5"),
        ("C", True, "whole number from 1 to 5"),
    ],
)
def test_what_is_missing_gets_a_sentence(led, browser_of, answer, confidence, sentence):
    lock = a_choice(led)
    page = browser_of(lock)
    page.ask("propose", answer=answer, confidence=confidence)
    assert sentence in page.trouble
    assert page.buttons == ["propose"]
    with pytest.raises(ValueError, match=sentence):
        lock.commit(answer, confidence)
    page.ask("propose", answer="C", confidence="4")
    assert page.trouble is None


@pytest.mark.parametrize(
    ("typed", "number"), [("134k", 134_000), ("1.5e6", 1.5e6), ("10,000", 10_000), (250, 250)]
)
def test_numbers_are_read_as_people_type_them(led, typed, number):
    assert a_number(led).commit(typed, 3).value == number


def test_a_percentage(led):
    lock = PredictionLock("p", question="How busy?", unit="%", low=0, high=1, ledger=led)
    for typed, sentence in [
        ("", "type a number such as 33%"),
        ("a lot", "is not a percentage"),
        ("133%", "133% is out of range"),
        ("never", "finite"),
        (True, "True"),
        (math.nan, "finite"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            lock.commit(typed, 3)
    assert lock.commit("33%", 3).value == pytest.approx(0.33)
    assert "Sealed: 33%" in lock.text()


def test_a_question_that_cannot_be_asked(led):
    with pytest.raises(ValueError, match="there must be at least two"):
        PredictionLock("x", question="?", options={"A": "yes"}, ledger=led)
    with pytest.raises(ValueError, match="name no option: Z"):
        a_choice(led, values={"Z": 1.0})


# ---- nothing saved


def test_a_read_only_folder_keeps_the_lock_closed(led, browser_of, read_only):
    lock = a_choice(led)
    opened = []
    lock.on_open(lambda: opened.append(True))
    page = browser_of(lock)
    page.ask("propose", answer="C", confidence="4")
    with read_only():
        page.ask("confirm")
        assert "Nothing was saved" in page.trouble
        assert "may not be written" in page.trouble
        assert page.can_retry
        assert page.buttons == ["confirm", "change"]
        page.ask("retry")
        assert page.can_retry
        assert not lock.is_open
        assert not opened
        with pytest.raises(ReadOnly):
            lock.confirm()
    page.ask("retry")
    assert page.trouble is None
    assert opened == [True]
    assert lock.value == "C"
    assert led.verify().ok


def test_a_folder_that_vanished(tmp_path, browser_of):
    folder = tmp_path / "lab"
    folder.mkdir()
    led = Ledger.open(folder / "ledger.jsonl", lab="lab_07", student="student-01")
    lock = a_choice(led)
    shutil.rmtree(folder)
    page = browser_of(lock)
    page.ask("propose", answer="C", confidence="4")
    page.ask("confirm")
    assert "is gone" in page.trouble
    assert not lock.is_open
    folder.mkdir()
    page.ask("retry")
    assert lock.is_open


def test_the_ledger_of_somebody_else(led, browser_of):
    led.record_answer("x", 1)
    other = Ledger.open(led.path, lab="lab_07_kernel_fusion", student="student-02")
    page = browser_of(a_choice(other))
    page.ask("propose", answer="C", confidence="4")
    page.ask("confirm")
    assert "ledger of the student 'student-01'" in page.trouble
    assert not page.widget.is_open


def test_a_broken_widget_shows_a_sentence_and_no_traceback(led, browser_of, monkeypatch):
    lock = a_choice(led)
    monkeypatch.setattr(lock, "propose", lambda *_: 1 / 0)
    browser_of(lock).ask("propose", answer="C", confidence="4")
    assert "That did not work: division by zero" in browser_of(lock).trouble
    browser_of(lock).ask("no such thing")
    assert "That did not work" in browser_of(lock).trouble


# ---- what waits for it


def test_instruments_open_at_once_and_their_use_is_written_down(led):
    lock = a_choice(led)
    instrument = RooflineWidget(lock=lock)
    assert instrument.locked
    assert "How busy is the GPU?" in instrument.children[0].value
    lock.commit("C", 4)
    assert not instrument.locked
    assert instrument.children[0] is instrument._view.board
    instrument._view.panel.moved = {"n": [1024, 1.0]}
    assert led.state().uses["RooflineWidget"].needs == ("act1",)
    assert led.verify().ok


def test_a_use_that_cannot_be_written_down_stops_no_instrument(led, read_only, browser_of):
    lock = a_choice(led)
    lock.commit("C", 4)
    with read_only():
        lock.record_use("RooflineWidget")
    assert "was not recorded" in browser_of(lock).trouble


def test_what_waits_and_fails_does_not_unsay_the_commit(led, browser_of):
    lock = a_choice(led)
    heard = []
    lock.on_open(lambda: 1 / 0)
    lock.on_open(lambda: heard.append(1))
    lock.commit("C", 4)
    assert heard == [1]
    assert lock.is_open
    assert "This is saved, but" in browser_of(lock).trouble
    lock.on_open(lambda: heard.append(2))
    assert heard == [1, 2]


def test_gates_chain(led, browser_of):
    first = a_choice(led)
    reflection = Reflection(
        "why", question="Why?", options={"A": "dispatch", "B": "math"}, ledger=led, after=first,
        title="Why so idle?",
    )  # fmt: skip
    second = a_number(led, after=[first, reflection])
    page = browser_of(second)
    assert "commit your prediction: “How busy is the GPU?”" in page.parts["closed"]["html"]
    with pytest.raises(ValueError, match="opens after you commit"):
        second.commit("100k", 2)
    first.commit("C", 4)
    assert "answer the reflection “Why so idle?”" in page.parts["closed"]["html"]
    page.ask("propose", answer="100k", confidence="2")
    assert "still closed" in page.trouble
    reflection.answer("A")
    assert page.parts["answer"]["legend"] == "How many images?"
    second.commit("100k", 2)
    assert second.is_open


# ---- still


def test_the_still_twin_needs_no_browser(led):
    lock = a_choice(led)
    for committed in (False, True):
        bundle = lock._repr_mimebundle_()
        assert "application/vnd.jupyter.widget-view+json" in bundle
        for kind in ("text/plain", "text/html"):
            assert "How busy is the GPU?" in bundle[kind]
            assert ("Sealed" in bundle[kind]) == committed
            assert "0x" not in bundle[kind]
        lock.commit("C", 4)


def test_what_authors_write_is_no_html(led):
    lock = PredictionLock("x", question="<img src=x> **really** `a<b`?", ledger=led)
    assert "<img" not in lock._card.view["parts"][0]["legend"]
    assert "<strong>really</strong> <code>a&lt;b</code>" in lock.html()


def test_what_waits_to_be_sealed_is_not_settled(led, browser_of):
    lock = a_choice(led)
    page = browser_of(lock)
    assert not lock._card.view["unsettled"]
    page.ask("propose", answer="B", confidence="2")
    assert lock._card.view["unsettled"]
    page.ask("change")
    # What was entered is the browser's, as a draft: the kernel has nothing to remember.
    assert not lock._card.view["unsettled"]
    assert page.parts["answer"]["value"] is None
    page.ask("propose", answer="B", confidence="2")
    page.ask("confirm")
    assert not lock._card.view["unsettled"]
    assert lock._card.view["item"]["recorded"] == lock.prediction.time


def test_what_is_sealed_is_settled_in_every_state_that_the_browser_sees(led, browser_of):
    lock = a_choice(led)
    page = browser_of(lock)
    page.ask("propose", answer="B", confidence="2")
    seen = []
    lock._card.observe(lambda change: seen.append(change["new"]), "view")
    page.ask("confirm")
    # Others hear of it first, and have the card shown before the proposal is forgotten.
    assert seen
    assert not [view for view in seen if view["unsettled"]]
