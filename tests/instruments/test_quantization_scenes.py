"""What the quantization explorer draws: weights, grid, end, times and measured products."""

from __future__ import annotations

import numpy as np
import pytest

from mlsys_widgets import physics as ph
from mlsys_widgets.instruments import quantization_scenes as scenes
from mlsys_widgets.instruments.quantization_scenes import Quantized

DOWN = 4096 * 14336


def of(precision: str, **changes: object) -> Quantized:
    asked = {
        "weights": "down", "precision": precision, "block": float(DOWN), "outlier": 0.0,
        "cut": 1.0, "rows": 1.0,
    }  # fmt: skip
    return Quantized(**(asked | changes))  # type: ignore[arg-type]


def test_the_matrices_are_those_of_the_model() -> None:
    assert scenes.SHAPES == {
        "down": (4096, 14336), "gate_up": (28672, 4096), "qkv": (6144, 4096)
    }  # fmt: skip
    assert of("int4").count == DOWN


def test_a_grid_has_as_many_numbers_as_its_bits() -> None:
    for block in (float(DOWN), 128.0):
        now = of("int4", block=block)
        lines = scenes.grid_lines(now, 1.12 * now.largest)
        assert len(lines) == 15
        assert lines[-1] == pytest.approx(now.reach)
        assert np.diff(lines) == pytest.approx(now.reach / 7)
    assert of("int4").reach == of("int4").largest > of("int4", block=128.0).reach
    # Of the 255 numbers of int8, every so-manieth; none of fp16.
    fine = of("int8")
    some = scenes.grid_lines(fine, fine.largest)
    step = fine.reach / 127
    assert 30 < len(some) < 130
    assert np.array(some) / step == pytest.approx(np.round(np.array(some) / step))
    assert scenes.grid_lines(of("fp16"), 6) == []


def test_an_outlier_stretches_the_grid_of_whoever_shares_its_scale() -> None:
    alone, grouped = (of("int8", outlier=22.0, block=b) for b in (float(DOWN), 128.0))
    assert alone.reach == 22
    assert grouped.reach == of("int8", block=128.0).reach < 3
    assert alone.error > 3 * of("int8").error
    assert grouped.error == pytest.approx(of("int8", block=128.0).error, rel=1e-3)


def test_a_grid_that_ends_before_the_outlier_leaves_it_out() -> None:
    now = of("int8", outlier=22.0, cut=0.25)
    assert now.end == now.reach == 5.5
    scene = scenes.histogram(now)
    zones = next(mark for mark in scene.marks if mark.name == "cut off")
    assert [zone[0] for zone in zones.blocks] == [scene.across.low, 5.5]
    assert now.lost is not None
    assert now.lost.cut_off > 0
    assert ("Cut off", "red", "block") in scene.legend
    assert ("The outlier", "red", "diamond") in scene.legend


def test_the_bars_are_all_weights() -> None:
    bars = next(m for m in scenes.histogram(of("int4")).marks if m.name == "weights").blocks
    assert sum(height for *_, height, _ in bars) == pytest.approx(1, abs=1e-6)


def test_only_a_grid_of_equal_steps_has_an_end_to_drag() -> None:
    for precision, names in (("int8", ["cut"]), ("int4", ["cut"]), ("fp8", []), ("fp16", [])):
        assert [h.name for h in scenes.histogram(of(precision)).handles] == names


def test_the_curves_are_the_products_of_physics() -> None:
    for precision in ("fp8", "int8", "int4"):
        scene = scenes.time_chart(of(precision, block=128.0), None)
        marks = {mark.name: mark for mark in scene.marks}
        for name, asked in (("fp16", "fp16"), ("precision", precision)):
            curve = marks[name]
            for k in (0, 9, -1):
                speed = ph.product_speed(curve.x[k], 4096, 14336, asked, group=128)
                assert curve.y[k] == pytest.approx(float(speed.time))


def test_measured_products_lie_beside_their_curve() -> None:
    # The law of int4 has a mean error of 6 % in the trial of the model, its worst case 28 %.
    pairs = scenes.measured("down", "int4")
    assert [rows for rows, _ in pairs] == [3, 4, 8]
    for rows, seconds in pairs:
        law = ph.product_speed(rows, 4096, 14336, "int4").time
        assert seconds == pytest.approx(float(law), rel=0.3)


def test_fp16_has_no_second_curve_and_crosses_nothing() -> None:
    now = of("fp16")
    marks = {mark.name: mark for mark in scenes.time_chart(now, None).marks}
    assert (len(marks["precision"].x), now.crossing, now.error, now.by_bytes) == (0, 0, 0.0, 1.0)


def test_a_prediction_is_a_line_at_its_rows() -> None:
    scene = scenes.time_chart(of("int4", block=128.0), 200.0)
    line = next(mark for mark in scene.marks if mark.name == "prediction")
    assert tuple(line.x) == (200, 200)
    assert any("200 rows" in words for words, *_ in scene.legend)
    assert len(scene.legend) <= 5
