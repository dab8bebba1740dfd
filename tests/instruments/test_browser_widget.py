"""What a page may have missed: it tells its numbers and gets what is newer."""

from __future__ import annotations

import pytest

from mlsys_widgets.cards.card import Card
from mlsys_widgets.instruments.control_panel import ControlPanel


def state(number):
    return {"number": number, "hidden": [], "numbers": memoryview(b"")}


class Page:
    """Hears what widgets send."""

    def __init__(self, *widgets):
        self.states, self.answers = [], []
        for widget in widgets:
            widget._send = lambda message, buffers=None, w=widget: self._hear(w, message)

    def _hear(self, widget, message):
        if message["method"] == "update":
            (name,) = message["state"]
            self.states.append((widget, message["state"][name]["number"]))
        else:
            self.answers.append((widget, message["content"]))


@pytest.fixture
def panel():
    return ControlPanel(spec={}, readout=state(3))


def test_what_is_newer_is_sent_again_and_named(panel):
    card = Card(view={"title": "A card", "parts": []})
    page = Page(panel, card)
    have = {panel.model_id: 2, card.model_id: 1}
    card._handle_custom_msg({"have": have, "stamp": 7.5}, [])
    assert page.states == [(panel, 3)]
    assert page.answers == [(card, {"newest": {panel.model_id: 3}, "stamp": 7.5})]


def test_a_page_that_has_everything_gets_only_an_answer(panel):
    page = Page(panel)
    panel._handle_custom_msg({"have": {panel.model_id: 3}, "stamp": 1}, [])
    assert (page.states, page.answers) == ([], [(panel, {"newest": {}, "stamp": 1})])


@pytest.mark.parametrize("have", [None, [], "all", {"nobody": 0}, {"": None}])
def test_nonsense_is_answered_and_changes_nothing(panel, have):
    page = Page(panel)
    panel._handle_custom_msg({"have": have}, [])
    assert (page.states, page.answers) == ([], [(panel, {"newest": {}, "stamp": None})])


@pytest.mark.parametrize("number", ["0", None, [0], 0.5, {}])
def test_what_is_no_number_is_not_compared(panel, number):
    page = Page(panel)
    panel._handle_custom_msg({"have": {panel.model_id: number}}, [])
    assert page.states == []


def test_a_question_about_numbers_is_no_action_of_a_card():
    card, asked = Card(view={"title": "A card"}), []
    card.on_msg(lambda *message: asked.append(message))
    card._handle_custom_msg({"have": {}}, [])
    assert asked == []


def test_the_number_of_a_card_grows_with_what_it_shows():
    card = Card(view={"title": "A card"})
    page = Page(card)
    for title in ("A card", "Another", "Another", "A card"):
        card.view = {"title": title}
    assert page.states == [(card, 2), (card, 3)]
    assert card.number == 3


def test_a_closed_widget_is_not_kept(panel):
    name = panel.model_id
    panel.close()
    page = Page(other := Card(view={}))
    other._handle_custom_msg({"have": {name: 0}}, [])
    assert page.answers == [(other, {"newest": {}, "stamp": None})]
