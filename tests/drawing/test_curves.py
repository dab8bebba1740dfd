"""The common plot: what is drawn where, what is named, and what is left out."""

from __future__ import annotations

from mlsys_widgets.drawing.curves import (
    Curve,
    Dots,
    Threshold,
    curve_scene,
    decade_axis,
    prediction,
)
from mlsys_widgets.drawing.scene import Axis, Blocks
from tests.instruments.drawn import mark

ACROSS, UP = Axis("Batch", 1.0, 100.0, True), Axis("Time", 0.0, 10.0)
CURVE = Curve(x=(1.0, 100.0), y=(2.0, 9.0), words="Model")


def test_dots_lie_on_curves_and_curves_on_thresholds():
    zone = Blocks("zone", ())
    parts = (Dots(x=8, y=3, words="Now", moves="batch"), CURVE, Threshold("Limit", y=5))
    scene = curve_scene(ACROSS, UP, parts, behind=(zone,))
    assert [each.name for each in scene.marks] == ["zone", "Limit", "Model", "Now"]
    assert [words for words, *_ in scene.legend] == ["Now", "Model", "Limit"]
    (handle,) = scene.handles
    assert (handle.control, handle.x, handle.y) == ("batch", 8, 3)


def test_thresholds_cross_the_whole_plot():
    scene = curve_scene(ACROSS, UP, (Threshold("Limit", y=5), Threshold("Knee", x=20)))
    assert (mark(scene, "Limit").x, mark(scene, "Limit").y) == ((1.0, 100.0), (5.0, 5.0))
    assert (mark(scene, "Knee").x, mark(scene, "Knee").y) == ((20.0, 20.0), (0.0, 10.0))


def test_what_has_no_data_or_no_place_keeps_its_mark_and_is_not_named():
    parts = (
        Curve((), (), "Nothing"),
        Threshold("Far", y=11),
        Dots((), (), "Not measured", moves="batch"),
        prediction(None),
        prediction(200, axis="x", before="batch "),
    )
    scene = curve_scene(ACROSS, UP, parts)
    assert len(scene.marks) == len(parts)
    assert all(len(each.x) == 0 for each in scene.marks)
    assert (scene.legend, scene.handles) == ((), ())


def test_a_name_stays_while_words_change():
    for value in (2.0, 3.0):
        scene = curve_scene(ACROSS, UP, (prediction(value, "s"),))
        assert mark(scene, "prediction").y == (value, value)
        assert scene.legend == ((f"Your prediction, {value:g} s", "prediction", "dashed"),)


def test_whole_decades_hold_everything():
    axis = decade_axis("Time", 0.03, 4.0, "s")
    assert (axis.low, axis.high, axis.ticks) == (0.01, 10.0, (0.01, 0.1, 1.0, 10.0))
