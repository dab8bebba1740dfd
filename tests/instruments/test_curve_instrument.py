"""What follows from a declared plot. The test of every instrument moves this one, too."""

from __future__ import annotations

import pytest

from mlsys_widgets import Target
from mlsys_widgets.drawing.curves import Curve
from mlsys_widgets.instruments.controls import Slider
from tests.instruments.drawn import mark
from tests.instruments.ring import Ring

#: Of 8 GPUs with 1 GB each: 1.75 GB over 50 GB/s, and 14 steps of 10 µs.
LINKS, TIME = 35e-3, 35.14e-3


def scene(ring):
    (found,) = ring.drawn(ring.result)
    return found


def test_the_curves_are_those_of_the_result():
    drawn = scene(Ring())
    time = mark(drawn, "Time")
    at = {round(x): y for x, y in zip(time.x, time.y, strict=True)}
    assert at[2] == pytest.approx(1e9 / 50e9 + 2e-5)  # two GPUs exchange halves, twice
    assert at[1024] == pytest.approx(2 * 1023 / 1024 / 50 + 2046e-5)
    assert (mark(drawn, "now").x, mark(drawn, "now").y) == ((8.0,), pytest.approx((TIME,)))
    assert (drawn.across.label, drawn.up.label) == ("GPUs", "Time")
    assert set(mark(drawn, "Budget").y) == {0.05}
    assert [words for words, *_ in drawn.legend] == ["Time", "Links", "Now", "Budget", "Measured"]


def test_numbers_and_words_follow():
    ring = Ring()
    assert ring.cards(ring.result) == [("Time", "35.1 ms", "ink"), ("Links", "35 ms", "blue")]
    assert ring.sentence(ring.result) == "GPUs: 8. Time: 35.1 ms. Links: 35 ms. Budget: 50 ms."
    assert ring.remark(ring.result) == "Budget: 50 ms."
    header, rows = ring.table(ring.result)
    assert header == ("GPUs", "Time", "Links")
    assert ("8", "35.1 ms", "35 ms") in rows


def test_a_hand_drags_along_the_curve_and_moves_no_axis():
    ring = Ring(prediction=0.28)  # about 8 GPUs, so it is not drawn for others
    before = scene(ring)
    ring.drag("gpus", 64.3, 0.0)
    assert ring.gpus == 64
    assert (scene(ring).across, scene(ring).up) == (before.across, before.up)


def test_a_prediction_and_a_target_are_drawn():
    ring = Ring(prediction=0.28, targets=[Target("total", 0.03, "30 ms a step")])
    assert set(mark(scene(ring), "prediction").y) == {0.28}
    assert ring.lamps[0].verdict == "35.1 ms, 5.14 ms off"
    assert mark(scene(ring), "target lines").paths[0][0][1] == 0.03


def test_what_has_nothing_to_show_is_not_named():
    ring = Ring(budget=10, data=1e4, latency=1e-7)
    far = mark(scene(ring), "Budget")
    assert set(far.y) == {10.0}  # the axis takes it in
    assert "Your prediction" not in str(scene(ring).legend)


def test_a_linear_control_has_a_linear_plot_from_zero():
    class Few(Ring):
        gpus = Slider("GPUs", default=8, low=2, high=16, whole=True, help="In the ring.")

    drawn = scene(Few())
    assert not drawn.across.log
    assert (drawn.up.log, drawn.up.low) == (False, 0.0)
    assert mark(drawn, "Time").x == tuple(range(2, 17))


@pytest.mark.parametrize(
    ("plot", "sentence"),
    [
        ((), "Wrong needs a plot with a Curve, and a compute() that gives a Result"),
        ((Curve("gpu", "total", "Time"),), "a Curve of Wrong has x='gpu'; it can have: data, gpus"),
        ((Curve("budget", "total", "Time"),), "has x='budget'; it can have: data, gpus, latency"),
        (
            (Curve("gpus", "total", "Time"), Curve("data", "links", "Links")),
            "the curves of Wrong have x=data, gpus; all must have the same",
        ),
        ((Curve("gpus", "time", "Time"),), "has y='time'; it can have: links, total"),
    ],
)
def test_what_cannot_be_drawn_is_told(plot, sentence):
    kind = type("Wrong", (Ring,), {"plot": plot})
    with pytest.raises(TypeError) as told:
        scene(kind())
    assert sentence in str(told.value)
