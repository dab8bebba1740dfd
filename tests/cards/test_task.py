"""Tasks save to the ledger, open what waits for them, and hear of each other."""

from __future__ import annotations

import warnings

import pytest

from mlsys_widgets.cards import announcements
from mlsys_widgets.cards.parts import Prose
from mlsys_widgets.cards.task import ItemTask, Task
from mlsys_widgets.labs import Number
from mlsys_widgets.ledger import NotSaved


class Note(ItemTask):
    """The smallest task: it saves what it is given."""

    kind = "Note"

    def __init__(self, led, **more):
        super().__init__("note", Number("How long?", "µs", 1), "A note", ledger=led, **more)
        self.refresh()

    def parts(self):
        return [Prose("note", "Noted." if self.is_open else "Nothing yet.")]

    def actions(self):
        return {"save": lambda values: self.save(values["note"])}

    def save(self, words):
        self._save(lambda: self._ledger.record_answer("note", words))


def test_done_when_the_ledger_says_so(led, open_ledger):
    note, heard = Note(led), []
    note.on_open(lambda: heard.append("opened"))
    assert (note.is_open, heard) == (False, [])
    note.save("x")
    assert (note.is_open, heard) == (True, ["opened"])
    note.save("y")
    assert heard == ["opened"]  # it opens once
    again = Note(open_ledger())
    assert again.is_open
    again.on_open(lambda: heard.append("was open"))
    assert heard == ["opened", "was open"]


def test_what_it_is_called(led):
    note = Note(led)
    assert (note.called, note.question) == ("Note: A note", "A note")
    assert note.to_open == "finish “A note”"


def test_tasks_of_one_ledger_hear_of_each_other(led, open_ledger):
    one, other = Note(led), Note(open_ledger())
    one.save("x")
    assert other.is_open
    assert "Noted." in other.text()


def test_a_save_that_fails_opens_nothing_and_can_be_tried_again(led, browser_of, read_only):
    note = Note(led)
    page = browser_of(note)
    with read_only():
        page.ask("save", note="x")
        assert "Nothing was saved" in page.trouble
        assert page.can_retry
        assert announcements.last_problem(led)
        with pytest.raises(NotSaved):
            note.save("x")
    assert not note.is_open
    page.ask("retry")
    assert note.is_open
    assert announcements.last_problem(led) is None


def test_what_waits_may_fail_and_the_save_stands(led, browser_of):
    note = Note(led)

    def fail():
        raise ZeroDivisionError("a wall")

    opened = []
    note.on_open(fail)
    note.on_open(lambda: opened.append("behind it"))
    note.save("x")
    assert led.state().answers["note"].value == "x"
    assert opened == ["behind it"]
    note.show()
    assert "This is saved, but something behind it did not open: a wall" in note.text()


def test_a_listener_that_fails_stops_nobody(led):
    class Deaf:
        def refresh(self):
            raise ValueError("what?")

    deaf, note = Deaf(), Note(led)
    announcements.listen(led, deaf)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        note.save("x")
    assert [str(each.message) for each in told] == ["Deaf could not follow: what?"]
    assert note.is_open


def test_a_use_is_recorded(led):
    Note(led).record_use("Roofline")
    assert led.state().uses["Roofline"].count == 1


def test_a_task_without_a_rule_is_none(led):
    with pytest.raises(NotImplementedError):
        Task("x", "X", ledger=led).done(led.state())


def test_the_page_learns_what_is_recorded_and_when(led, browser_of):
    note = Note(led)
    page = browser_of(note)
    item = note._card.view["item"]
    assert (item["id"], item["names"], item["recorded"]) == ("note", ["note"], "")
    page.ask("save", note="x")
    assert note._card.view["item"]["recorded"] == led.state().answers["note"].time


def test_where_no_server_keeps_drafts_the_kernel_does(led, open_ledger, monkeypatch):
    note, told = Note(led), []
    monkeypatch.setattr(note._card, "send", told.append)
    draft = {"window": "w", "value": "half a sen", "over": "", "at": 1.0}
    change = {"item": "note", "box": "note", "window": "w", "draft": draft}
    note._card._handle_custom_msg({"drafts": [change]}, [])
    another = Note(open_ledger())
    monkeypatch.setattr(another._card, "send", told.append)
    another._card._handle_custom_msg({"drafts": None}, [])
    another._card._handle_custom_msg({"drafts": [{"item": "note"}]}, [])
    kept = {**draft, "ledger": "", "meanwhile": False}  # of no copy of a lab in particular
    assert told[:2] == [{"drafts": True}, {"drafts": {"note": {"note": [kept]}}}]
    assert told[2]["drafts"].endswith(".")
    assert not note.is_open
