"""Widgets that nobody looks at cost nothing in the browser, and lose nothing by it."""

from __future__ import annotations

import gc
import weakref

import ipywidgets
import pytest

from mlsys_widgets import FusionExplorer, KeyTakeaways, MathPeek, PhysicsPanel, RooflineWidget
from mlsys_widgets.instruments.lazy_widget import LazyBox, LazyWidget
from tests.instruments.locks import Lock

VIEW = "application/vnd.jupyter.widget-view+json"


class Counter(LazyBox):
    """Counts how often its face is made."""

    def __init__(self):
        super().__init__()
        self.made = 0

    def face(self):
        self.made += 1
        return (ipywidgets.HTML(str(self.made)),)


@pytest.fixture
def constructed():
    """Every widget that is made meanwhile."""
    made: list[ipywidgets.Widget] = []
    ipywidgets.Widget.on_widget_constructed(made.append)
    yield made
    ipywidgets.Widget.on_widget_constructed(None)


def test_what_nobody_looks_at_has_no_face_and_no_channel(constructed):
    box = Counter()
    assert box.comm is None
    assert (box.made, box.has_face) == (0, False)
    assert constructed == [box]


@pytest.mark.parametrize("look", ["_repr_mimebundle_", "get_state"])
def test_showing_it_makes_the_face_once(look):
    box = Counter()
    for _ in range(2):
        getattr(box, look)()
    assert (box.made, box.has_face) == (1, True)


def test_showing_it_announces_it_under_the_name_that_is_shown():
    box = Counter()
    shown = box._repr_mimebundle_()
    assert shown[VIEW]["model_id"] == box.model_id == box.comm.comm_id
    assert box._repr_mimebundle_()[VIEW] == shown[VIEW]


def test_a_box_of_ipywidgets_that_holds_it_shows_it():
    box = Counter()
    around = ipywidgets.HBox([box])
    assert box.made == 1
    assert around.get_state()["children"] == [f"IPY_MODEL_{box.model_id}"]


def test_asking_for_children_does_not_announce_it():
    box = Counter()
    assert len(box.children) == 1
    assert box.comm is None


def test_nothing_keeps_alive_what_was_never_shown():
    box = Counter()
    known = weakref.ref(box)
    del box
    gc.collect()
    assert known() is None


def test_cards_and_instruments_of_a_lab_make_one_widget_each_until_they_are_shown(constructed):
    made = (
        KeyTakeaways("Measure first."),
        RooflineWidget(),
        FusionExplorer(),
        MathPeek("Peek", "$x$"),
    )
    made[1].set(n=512)
    assert [each for each in constructed if each not in made] == []
    assert all(isinstance(each, LazyWidget) and each.comm is None for each in made)
    for each in made:
        each._repr_mimebundle_()
    assert all(each.comm is not None for each in made)
    assert len(constructed) > 4 * len(made)


def test_an_instrument_that_was_moved_before_it_was_shown_shows_where_it_is():
    roofline = RooflineWidget()
    roofline.set(n=512)
    roofline._repr_mimebundle_()
    assert roofline._open().panel.readout["values"]["n"] == 512


def test_a_lock_that_opens_before_anybody_looks_leaves_nothing_locked():
    lock = Lock()
    roofline = RooflineWidget(lock=lock)
    lock.open()
    assert not roofline.has_face
    assert roofline.children == (roofline._open().board,)


def test_a_peek_is_typeset_as_it_is_when_it_is_shown():
    lock = Lock()
    lock.to_open = "predict"
    peek = MathPeek("Peek", "$x$", after=[lock])
    assert "Opens after you predict" in peek.text()
    lock.open()
    assert "$x$" in peek.value
    assert peek.layout.width == "100%"


def test_a_peek_that_is_shown_follows_its_gate():
    lock = Lock()
    lock.to_open = "predict"
    peek = MathPeek("Peek", "$x$", after=[lock])
    assert "$x$" not in peek.value
    lock.open()
    assert "$x$" in peek.value


def test_a_physics_panel_brings_its_steps_along():
    panel = PhysicsPanel(RooflineWidget())
    assert panel.comm is None
    assert panel.children == (panel.steps,)
    assert panel.steps.children == (panel.steps._open().board,)
