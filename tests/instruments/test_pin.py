"""A pinned state: a ghost behind the picture, and cards that compare."""

from __future__ import annotations

import pytest

from mlsys_widgets import BreakEvenTimeline, DispatchWaterfall, IronLaw, RooflineWidget
from mlsys_widgets.drawing.scene import Blocks, Line, Points, Scene, Strokes, Words
from mlsys_widgets.instruments.pin import Pin, ghost


def test_a_ghost_has_the_shape_of_the_picture_and_none_of_its_words():
    axis = BreakEvenTimeline().scenes(BreakEvenTimeline().result)[0].across
    marks = (
        Line("line", (1, 2), (3, 4), "blue"),
        Strokes("strokes", (((0, 0), (1, 1)),), "red"),
        Points("points", (1,), (2,), "green", "diamond"),
        Blocks("blocks", ((0, 0, 1, 1, "red"),), 0.5),
        Words("words", (1,), (1,), ("here",)),
    )
    pale = ghost(Scene(axis, axis, marks))
    assert [mark.name for mark in pale] == [f"pinned {mark.name}" for mark in marks[:4]]
    line, strokes, points, blocks = pale
    assert (line.x, line.y, line.tone, line.dash) == ((1, 2), (3, 4), "gray", "dotted")
    assert (strokes.tone, points.tone, points.symbol) == ("gray", "gray", "diamond")
    assert blocks.blocks == ((0, 0, 1, 1, "gray"),)
    assert blocks.opacity < 0.5


@pytest.mark.parametrize(
    ("before", "now", "says"),
    [
        ("20 µs", "30 µs", "was 20 µs, now 1.5×"),
        ("20 µs", "20 µs", ""),
        ("pays off", "not justified", "was pays off"),
        ("1 ms", "20 µs", "was 1 ms"),  # other units: the two are read as they are
        ("1 inference", "2 inferences", "was 1 inference, now 2×"),
        ("0 s", "2 s", "was 0 s"),
        ("−3 s", "2 s", "was −3 s"),
    ],
)
def test_a_card_says_what_it_was(before, now, says):
    assert Pin({}, (), {"Card": before}).compared("Card", now) == says
    assert Pin({}, (), {"Other": before}).compared("Card", now) == ""


def test_the_legend_says_that_a_pinned_bar_ends_beyond_the_chart():
    law = IronLaw(batch=64)
    law.pin()
    assert [words[-1] for words in legends_of(law)] == ["Pinned"] * 3
    law.set(batch=1)
    first, *others = [words[-1] for words in legends_of(law)]
    assert first == "Pinned (partly beyond the chart)"
    assert others == ["Pinned"] * 2
    law.unpin()
    assert not [word for words in legends_of(law) for word in words if "Pin" in word]


def legends_of(instrument):
    return [[words for words, *_ in one] for one in instrument._open().panel.readout["legends"]]


def test_a_pin_keeps_the_state_while_the_inputs_move_on():
    waterfall = DispatchWaterfall()
    waterfall.pin()
    waterfall.set(kernels=500)
    assert waterfall.pinned.inputs["kernels"] == 1000
    cards = waterfall._open().panel.readout["cards"]
    # 1,000 and 500 kernels of 10 µs a launch: 10 and 5 ms of dispatch.
    assert ["Dispatch", "5.00 ms"] in [card[:2] for card in cards]
    assert next(c[3] for c in cards if c[0] == "Dispatch") == "was 10.0 ms, now 0.5×"
    waterfall.unpin()
    assert all(card[3] == "" for card in waterfall._open().panel.readout["cards"])


def test_the_code_brings_the_pin_back():
    roofline = RooflineWidget(n=128)
    roofline.pin()
    roofline.set(n=4096)
    again = eval(roofline.code)  # the code is ours
    assert again.inputs == roofline.inputs
    assert again.pinned == roofline.pinned
    assert again.code == roofline.code


def test_a_pin_of_the_present_state_is_kept_too():
    roofline = RooflineWidget()
    roofline.pin()
    assert roofline.code == "RooflineWidget(pinned={})"
    assert eval(roofline.code).pinned == roofline.pinned


def test_what_cannot_be_pinned_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match="has no input 'nn'"):
        RooflineWidget(pinned={"nn": 3})
    with pytest.raises(ValueError, match="N is 0; it must be a whole number between"):
        RooflineWidget(pinned={"n": 0})
