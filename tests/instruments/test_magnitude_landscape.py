"""The magnitude landscape compares named quantities of named devices, and nothing else."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from mlsys_widgets import physics as ph
from mlsys_widgets.instruments.magnitude_landscape import MagnitudeLandscape

KEYS = ("h100-sxm", "orin-nx", "mobile-npu", "cortex-m7")
QUANTITIES = ("compute", "bandwidth", "memory", "power")
every_state = pytest.mark.parametrize(
    ("device", "other", "quantity", "peak"),
    list(itertools.product(KEYS, KEYS, QUANTITIES, ("native", "advertised"))),
)


# PHYSICS.md, reference values: H100 / Cortex-M7.


@pytest.mark.parametrize(
    ("quantity", "ratio"),
    [("compute", 989_000), ("bandwidth", 67_000), ("memory", 156_250), ("power", 7_000)],
)
def test_cloud_against_tiny(quantity: str, ratio: float) -> None:
    instrument = MagnitudeLandscape(quantity=quantity)
    found = instrument.result.ratios[quantity]
    assert found.ratio == pytest.approx(ratio)
    assert found.orders == pytest.approx(math.log10(ratio))
    assert f"{ratio:,}× more" in instrument.sentence(instrument.result)


def test_every_bar_names_its_precision() -> None:
    instrument = MagnitudeLandscape()
    words = {
        "989 TFLOPS fp16 dense",
        "12 TFLOPS fp16 dense",
        "35 TOPS int8 dense",
        "1 GFLOPS fp32 dense",
    }
    assert set(instrument.marks["compute values"].text) == words
    instrument.set(peak="advertised")
    assert set(instrument.marks["compute values"].text) == {
        "3,958 TOPS int8 with 2:4 sparsity",
        "100 TOPS int8 with 2:4 sparsity",
        "35 TOPS int8 dense",
        "1 GFLOPS fp32 dense",
    }
    assert instrument.result.compute.ratio == pytest.approx(3_958_000)


def test_the_order_is_that_of_the_quantity() -> None:
    instrument = MagnitudeLandscape(quantity="compute")
    header, _ = instrument.table(instrument.result)
    # 35 TOPS of int8 are more operations than 12 TFLOPS of fp16.
    assert list(header[1:5]) == ["H100 SXM", "Mobile NPU", "Jetson Orin NX", "Cortex-M7"]
    instrument.set(quantity="power")
    header, _ = instrument.table(instrument.result)
    assert list(header[1:5]) == ["H100 SXM", "Jetson Orin NX", "Mobile NPU", "Cortex-M7"]


# The prediction.


def test_a_prediction_is_judged_and_drawn() -> None:
    instrument = MagnitudeLandscape(prediction=9)
    cards = dict(card[:2] for card in instrument.cards(instrument.result))
    assert cards["Your prediction"] == "9 orders: 3 orders too many"
    line = instrument.marks["compute predicted"]
    assert line.visible
    assert line.x[0] == pytest.approx(1e9 * 1e9)
    assert not instrument.marks["power predicted"].visible
    # It is about the quantity that is looked at, and about two devices in either order.
    instrument.set(quantity="power", device="cortex-m7", other="h100-sxm")
    assert not line.visible
    assert instrument.marks["power predicted"].x[0] == pytest.approx(0.1 * 1e9)
    assert MagnitudeLandscape(prediction=6)._off(MagnitudeLandscape().result) == "correct"
    assert "too few" in MagnitudeLandscape(prediction=2)._off(MagnitudeLandscape().result)


@pytest.mark.parametrize("prediction", [-1, 21, float("nan")])
def test_a_prediction_without_sense_is_refused(prediction: float) -> None:
    with pytest.raises(ValueError, match=r"prediction is .* orders of magnitude between 0 and 20"):
        MagnitudeLandscape(prediction=prediction)


@pytest.mark.parametrize("prediction", [0, 6, 20])
def test_a_prediction_is_always_inside_its_panel(prediction: float) -> None:
    for device, other in itertools.product(KEYS, KEYS):
        instrument = MagnitudeLandscape(prediction=prediction, device=device, other=other)
        axis = instrument.scenes(instrument.result)[0].across
        assert axis.low <= instrument.marks["compute predicted"].x[0] <= axis.high * (1 + 1e-9)


# Every state there is.


@every_state
def test_every_state_is_true(device: str, other: str, quantity: str, peak: str) -> None:
    instrument = MagnitudeLandscape()
    marks = instrument.marks
    instrument.set(device=device, other=other, quantity=quantity, peak=peak)
    result = instrument.result
    header, rows = instrument.table(result)
    sentence = instrument.sentence(result)
    assert f"{ph.devices[device].name} compared with {ph.devices[other].name}" in header[5]
    assert sentence.startswith(header[5])
    for name, row in zip(QUANTITIES, rows, strict=True):
        ratio = result.ratios[name]
        assert ratio.ratio == ratio.value / ratio.other_value
        assert row[5] == ratio.comparison
        larger = max(ratio.ratio, 1 / ratio.ratio)
        wanted = "equal" if device == other else ph.format_quantity(larger, "×")
        assert wanted in ratio.comparison
        if device != other:
            assert ratio.comparison.endswith("more" if ratio.ratio > 1 else "less")
        assert ratio.words in row[1:5]
        assert ratio.other_words in row[1:5]
        assert ratio.comparison in sentence
        # Each device has one bar, as long as its value.
        ends = instrument.marks[f"{name} compared"].x[:, 1]
        others = instrument.marks[f"{name} of others"].x[:, 1]
        drawn = sorted(np.maximum(ends, others))
        values = sorted(instrument._value(key, name) for key in KEYS)
        assert drawn == pytest.approx(values)
        assert {ratio.value, ratio.other_value} <= set(ends)
    for mark in marks.values():
        assert np.isfinite(mark.x).all()
        assert np.isfinite(mark.y).all()
    assert all(instrument.marks[name] is mark for name, mark in marks.items())


def test_the_result_derives_itself() -> None:
    result = MagnitudeLandscape().result
    assert str(result.derivation("bandwidth")) == (
        "r_bandwidth = BW_H100 SXM / BW_Cortex-M7 = 3.35 TB/s / 50 MB/s = 67,000×   "
        "(bandwidth of H100 SXM over Cortex-M7)"
    )
    assert len(result.derivation().steps) == len(result.outputs()) == 4
    assert r"\frac" in result.derivation().to_latex()


def test_nonsense_is_refused_with_a_sentence_and_nothing_is_lost() -> None:
    instrument = MagnitudeLandscape(device="orin-nx")
    before = instrument.inputs
    for inputs, named in (
        ({"device": "a100"}, "Compare is 'a100'"),
        ({"quantity": "price"}, "Rank by is 'price'"),
        ({"other": "h100-sxm", "peak": "best"}, "Peak is 'best'"),
    ):
        with pytest.raises(ValueError, match=named):
            instrument.set(**inputs)
        assert instrument.inputs == before
