"""The quantization explorer: what it says about an error, a speed and their crossing."""

from __future__ import annotations

from typing import Any

import pytest

from mlsys_widgets import QuantizationExplorer, Target
from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import Line


def numbers(w: QuantizationExplorer) -> dict[str, str]:
    return {label: value for label, value, _ in w.cards(w.result)}


def test_one_row_wins_and_many_lose() -> None:
    w = QuantizationExplorer()
    one = float(w.result.speed.speedup)
    w.set(rows=256)
    assert one > 1.5
    assert w.result.speed.speedup < 0.1
    # Bytes alone promise 16 bits over 4.25, whatever the rows.
    assert numbers(w)["Speed if only bytes counted"] == ph.format_quantity(16 / 4.25, "×")
    assert numbers(w)["fp16 is as fast from"] == "7 rows"


def test_the_error_is_that_of_physics() -> None:
    w = QuantizationExplorer(precision="int8", scales="tensor", outlier=22)
    whole = 4096 * 14336
    lost = ph.quantization_error(8, whole, weights=whole, outlier=22)
    assert w.result.error == lost.error
    w.set(scales="channel")
    channel = ph.quantization_error(8, 14336, weights=whole, outlier=22)
    assert w.result.error == channel.error
    w.set(precision="fp8")
    assert w.result.error == ph.float_error(22).error


def test_controls_are_there_where_they_do_something() -> None:
    w = QuantizationExplorer(precision="fp16")
    assert w.hidden() == {"scales", "cut", "outlier"}
    assert numbers(w)["Error"] == "the reference"
    assert "Error" not in w.explanations
    w.set(precision="fp8")
    assert w.hidden() == {"scales", "cut"}
    w.set(precision="int4")
    assert w.hidden() == set()
    assert list(w.explanations) == ["Error", "Time", "Size"]


def test_dragging_the_end_of_the_grid() -> None:
    w = QuantizationExplorer(precision="int8", scales="tensor", outlier=20)
    w.drag("cut", 5.0, 0.1)
    assert w.cut == pytest.approx(0.25)
    assert w.result.end == pytest.approx(5.0)
    w.drag("cut", -10.0, 0.1)  # the grid is symmetric
    assert w.cut == pytest.approx(0.5)
    w.drag("cut", 100.0, 0.1)
    assert w.cut == 1
    w.drag("rows", 33.0, 1e-5)
    assert w.rows == 33


def test_eight_bits_pay_for_their_conversion() -> None:
    w = QuantizationExplorer(precision="fp8", rows=16)
    assert w.result.speed.conversion > 0
    assert "Converting its activations takes" in w.sentence(w.result)
    w.set(precision="int4")
    assert "Converting" not in w.sentence(w.result)


def test_a_grid_that_leaves_little_is_an_alarm() -> None:
    w = QuantizationExplorer(precision="int4", scales="tensor")
    assert w.alert(w.result) is None
    w.set(outlier=22)
    words, tone = w.alert(w.result) or ("", "")
    assert ("Little is left" in words, tone) == (True, "red")
    assert ph.format_quantity(w.result.error, "%") in words


def test_targets_are_kept_and_missed() -> None:
    w = QuantizationExplorer(
        targets=[
            Target("error", 0.05, "error at most 5%"),
            Target("time", 50e-6, "time at most 50 µs"),
            Target("rows", 16, "at least 16 rows", "at least"),
        ]
    )
    assert [lamp.kept for lamp in w.lamps] == [False, True, False]
    w.set(precision="int8", rows=16)
    assert [lamp.kept for lamp in w.lamps] == [True, True, True]


def test_what_decides_is_marked() -> None:
    w = QuantizationExplorer(precision="int8", scales="tensor", outlier=40, cut=0.05)
    assert w.result.lost is not None
    assert w.result.lost.cut_off > w.result.lost.rounding
    assert w.dominant(w.result.lost) == "error"
    assert "beyond the end of the grid" in w.sentence(w.result)
    w.set(cut=1)
    assert w.dominant(w.result.lost) == "rounding"
    assert w.dominant(w.result.speed) == "time"


def test_a_prediction_is_about_its_matrix_and_scales() -> None:
    w = QuantizationExplorer(prediction=50)
    assert w.predicted("crossing") == 50
    w.set(rows=100, outlier=10)
    assert w.predicted("crossing") == 50
    w.set(precision="int8")
    assert w.predicted("crossing") is None
    assert "Your prediction of 50 rows is about other settings" in w.text()


class Gate:
    """A gate as a card is one: it opens once, and calls who waits."""

    def __init__(self) -> None:
        self.is_open = False
        self.waiting: list[Any] = []

    def on_open(self, then: Any) -> None:
        self.waiting.append(then)

    def open(self) -> None:
        self.is_open = True
        for then in self.waiting:
            then()


def test_what_a_later_prediction_asks_waits_for_its_gate() -> None:
    gate = Gate()
    w = QuantizationExplorer(outliers=gate)
    held = {"scales", "cut", "outlier"}
    assert w.hidden() == held
    panel = w._open().panel
    assert set(panel.readout["hidden"]) == held
    # No hand can do in the picture what the panel does not offer.
    assert [h.name for scene in w.scenes(w.result) for h in scene.handles] == ["rows"]
    gate.open()
    assert w.hidden() == set()
    assert set(panel.readout["hidden"]) == set()
    assert [h.name for scene in w.scenes(w.result) for h in scene.handles] == ["cut", "rows"]


def drawn_ends(w: QuantizationExplorer) -> set[float]:
    """Where the end of the grid is drawn."""
    weights = w.scenes(w.result)[0]
    (end,) = [mark for mark in weights.marks if isinstance(mark, Line) and mark.name == "end"]
    return set(end.x)


def test_an_end_that_nobody_can_move_is_not_drawn() -> None:
    gate = Gate()
    w = QuantizationExplorer(outliers=gate)
    assert drawn_ends(w) == set()
    gate.open()
    assert drawn_ends(w) == {w.result.end}


def test_what_is_fixed_is_not_offered_and_stays() -> None:
    fixed = {"weights", "outlier"}
    w = QuantizationExplorer(weights="gate_up", fixed=fixed)
    assert w.hidden() == fixed
    w.set(precision="fp8")
    assert w.hidden() == fixed | {"scales", "cut"}
    assert w.weights == "gate_up"


def test_one_row_is_counted_as_one() -> None:
    w = QuantizationExplorer(targets=[Target("rows", 2, "2 chats at once", "at least")])
    assert w.misses == ["2 chats at once: 1 row, 1 row too few."]
