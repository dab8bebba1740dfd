"""The magnitude landscape compares named quantities of named devices, and nothing else."""

from __future__ import annotations

import itertools
import math

import pytest

from mlsys_widgets import physics as ph
from mlsys_widgets.instruments.magnitude_landscape import MagnitudeLandscape
from tests.instruments.drawn import handles, mark

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


def test_every_rung_names_its_precision() -> None:
    instrument = MagnitudeLandscape()
    assert set(instrument.marks["values"].text) == {
        "▸ Cloud: 989 TFLOPS fp16 dense",
        "Edge: 12 TFLOPS fp16 dense",
        "Mobile: 35 TOPS int8 dense",
        "▸ Tiny: 1 GFLOPS fp32 dense",
    }
    instrument.set(peak="advertised")
    assert set(instrument.marks["values"].text) == {
        "▸ Cloud: 3,958 TOPS int8 with 2:4 sparsity",
        "Edge: 100 TOPS int8 with 2:4 sparsity",
        "Mobile: 35 TOPS int8 dense",
        "▸ Tiny: 1 GFLOPS fp32 dense",
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


def legend(instrument: MagnitudeLandscape) -> list[str]:
    return [words for words, _, _ in instrument.scenes(instrument.result)[0].legend]


def test_a_prediction_is_judged_and_drawn_beside_the_gap() -> None:
    instrument = MagnitudeLandscape(prediction=1e9)
    cards = dict(card[:2] for card in instrument.cards(instrument.result))
    assert cards["Your prediction"] == "1,000,000,000×: 3 orders of magnitude above"
    (path,) = mark(instrument, "predicted gap").paths
    assert [y for _, y in path] == [1, 1, 1e9, 1e9]  # from the lower rung, which is the foot
    assert "Your prediction, 1,000,000,000×" in legend(instrument)
    assert instrument.shown_table[1][-1][:2] == ("Your prediction", "1,000,000,000×")
    # It is about two devices in either order, and about the quantity that was asked for.
    instrument.set(device="cortex-m7", other="h100-sxm")
    (path,) = mark(instrument, "predicted gap").paths
    assert path[2][1] == 1e9
    assert "prediction=1e+09" in instrument.code
    instrument.set(quantity="power")
    assert mark(instrument, "predicted gap").paths == ()
    assert "Your prediction" not in dict(card[:2] for card in instrument.cards(instrument.result))
    assert "prediction" not in instrument.code
    assert mark(MagnitudeLandscape(), "predicted gap").paths == ()


@pytest.mark.parametrize(
    ("prediction", "off"), [(1e6, "within rounding"), (1e2, "4 orders of magnitude below")]
)
def test_how_far_off_a_prediction_is(prediction: float, off: str) -> None:
    instrument = MagnitudeLandscape(prediction=prediction)
    assert instrument._off() == off


@pytest.mark.parametrize("prediction", [-1, 0, float("nan")])
def test_a_prediction_without_sense_is_refused(prediction: float) -> None:
    with pytest.raises(ValueError, match="prediction"):
        MagnitudeLandscape(prediction=prediction)


@pytest.mark.parametrize("prediction", [1e-9, 0.5, 1, 1e6, 1e20, 1e30])
def test_a_prediction_is_always_on_the_ladder_or_said_to_be_beyond(prediction: float) -> None:
    for device, other in itertools.product(KEYS, KEYS):
        instrument = MagnitudeLandscape(prediction=prediction, device=device, other=other)
        axis = instrument.scenes(instrument.result)[0].up
        (path,) = mark(instrument, "predicted gap").paths
        low, end = path[0][1], path[2][1]
        assert axis.low <= low <= end <= axis.high
        cut = "(beyond the ladder)" in " ".join(legend(instrument))
        assert cut is not (math.isclose(end / low, max(prediction, 1 / prediction), rel_tol=1e-9))


# The ladder and its zoom.


def test_the_gap_is_bracketed_with_its_factor() -> None:
    instrument = MagnitudeLandscape(device="orin-nx", other="h100-sxm", quantity="bandwidth")
    chosen = mark(instrument, "gaps").paths[0]
    # PHYSICS.md: 102 GB/s, 3.35 TB/s, and 50 MB/s at the foot.
    assert [y for _, y in chosen] == pytest.approx([2040, 2040, 67_000, 67_000])
    assert mark(instrument, "gap").text == ("32.8×",)
    assert "Gap, 32.8×" in legend(instrument)
    assert mark(instrument, "other gaps").text == ("82.4×", "5×", "28×")


def test_the_axis_stands_still_whatever_is_chosen() -> None:
    axes, places = set(), []
    for quantity, peak, device in itertools.product(QUANTITIES, ("native", "advertised"), KEYS):
        instrument = MagnitudeLandscape(quantity=quantity, peak=peak, device=device)
        ladder, enlarged = instrument.scenes(instrument.result)
        axes.add((ladder.up.low, ladder.up.high, ladder.up.ticks))
        assert enlarged.up.high / enlarged.up.low == pytest.approx(1000, rel=0.8)
        places.append(instrument.result.ratios[quantity].ratio)
    assert len(axes) == 1
    assert max(places) <= next(iter(axes))[1]


def test_words_on_the_ladder_do_not_overlap() -> None:
    for quantity, peak in itertools.product(QUANTITIES, ("native", "advertised")):
        instrument = MagnitudeLandscape(quantity=quantity, peak=peak)
        levels = sorted(math.log10(y) for y in mark(instrument, "values").y)
        assert min(b - a for a, b in itertools.pairwise(levels)) > 0.41
        for zoom in (1, 30, 1e3, 1e4):
            instrument.set(zoom=zoom)
            words = mark(instrument, "enlarged values")
            places = zip(words.x, (math.log10(y) for y in words.y), strict=True)
            for (x, y), (other_x, other_y) in itertools.combinations(places, 2):
                assert x != other_x or abs(y - other_y) >= 0.3


@pytest.mark.parametrize("y", [0.6, 20, 31.7, 1e3, 12_345, 3.1e5, 1e6, 1e7])
def test_the_zoom_lies_where_it_is_dragged(y: float) -> None:
    instrument = MagnitudeLandscape()
    instrument.drag("window", 3.0, y)
    middle = 10**1.5  # of three orders
    assert handles(instrument)["window"].y == pytest.approx(
        min(max(y, middle), 1e4 * middle), rel=0.006
    )
    assert handles(instrument)["window"].control == "zoom"
    ((_, low, _, high, _),) = mark(instrument, "window").blocks
    assert (low, high) == (instrument.zoom, instrument.zoom * 1000)
    enlarged = instrument.scenes(instrument.result)[1].up
    assert enlarged.low == pytest.approx(low * 1e9)  # of 1 GFLOPS
    assert enlarged.high > high * 1e9  # with room for the words of the highest rung


def test_the_zoom_says_what_it_shows_and_what_lies_beyond() -> None:
    instrument = MagnitudeLandscape(zoom=1e4)
    assert instrument.sentence(instrument.result).endswith(
        "The zoom covers 10 TFLOPS to 10,000 TFLOPS, where you find "
        "H100 SXM, Mobile NPU, Jetson Orin NX."
    )
    words = mark(instrument, "enlarged values").text
    assert "▼ Tiny, 10,000× below" in words
    instrument.set(zoom=1)
    assert any(text.startswith("▲") for text in mark(instrument, "enlarged values").text)


# Every state there is.


@every_state
def test_every_state_is_true(device: str, other: str, quantity: str, peak: str) -> None:
    instrument = MagnitudeLandscape(device=device, other=other, quantity=quantity, peak=peak)
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
        # Each device has one rung, at its multiple of the foot, and the two are bracketed.
        order = [quantity, *(each for each in QUANTITIES if each != quantity)]
        column = order.index(name)
        for key in KEYS:
            rung = mark(instrument, f"rungs of {key}").paths[column]
            times = instrument._value(key, name) / instrument._value("cortex-m7", name)
            assert {y for _, y in rung} == {times}
        bracket = mark(instrument, "gaps").paths[column]
        assert bracket[2][1] / bracket[1][1] == pytest.approx(larger)


def test_the_result_derives_itself() -> None:
    result = MagnitudeLandscape().result
    assert str(result.derivation("bandwidth")) == (
        "r_bandwidth = BW_H100 SXM / BW_Cortex-M7 = 3.35 TB/s / 50 MB/s = 67,000×   "
        "(bandwidth of H100 SXM over Cortex-M7)"
    )
    assert len(result.derivation().steps) == len(result.outputs()) == 4
    assert r"\frac" in result.derivation().to_latex()


def test_a_gap_has_the_color_of_its_size() -> None:
    """989,000× in compute, 67,000× in bandwidth, 156,250× in memory, 7,000× in power."""
    instrument = MagnitudeLandscape()
    first, _, *others = (tone for _, _, tone in instrument.cards(instrument.result))
    shown = dict(zip(QUANTITIES, (first, *others), strict=True))
    assert shown == {"compute": "red", "bandwidth": "orange", "memory": "orange", "power": "blue"}
