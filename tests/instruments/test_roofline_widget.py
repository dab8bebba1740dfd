"""The roofline: kernels under the roof of a device, overlays, and inputs that hang together."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import Line, Points
from mlsys_widgets.instruments.live_math import live_math
from mlsys_widgets.instruments.predicted import Predicted
from mlsys_widgets.instruments.roofline_widget import RooflineWidget
from mlsys_widgets.measured import load, points
from tests.instruments.drawn import handle, mark
from tests.instruments.locks import Lock

show = ph.format_quantity


def legend(w: RooflineWidget) -> list[str]:
    (scene,) = w.scenes(w.result)
    return [words for words, _, _ in scene.legend]


def test_the_reference_kernel_of_the_course() -> None:
    w = RooflineWidget(device="h100-sxm", precision="fp16", n=512)
    assert w.result.mfu == pytest.approx(0.578, abs=5e-4)
    assert dict(card[:2] for card in w.cards(w.result))["Regime"] == "memory-bound"
    assert "left of the ridge at 295.2 FLOP/B" in w.sentence(w.result)


@settings(max_examples=40)
@given(st.sampled_from(sorted(ph.devices)), st.integers(1, 32768), st.booleans(), st.data())
def test_plot_cards_sentence_and_table_agree(
    device: str, n: int, llm: bool, data: st.DataObject
) -> None:
    w = RooflineWidget(device=device, n=n, workload="llm" if llm else "gemm")
    w.set(precision=data.draw(st.sampled_from(ph.devices[device].precisions)))
    result = w.result
    first = w.operations[0]
    point = mark(w, first.name)
    assert (point.x, point.y) == ((result.intensity,), (result.attainable,))
    drops = mark(w, "drops").paths
    assert [path[1] for path in drops] == [
        (o.roof.intensity, o.roof.attainable) for o in w.operations
    ]
    unit = "OP/s" if w.precision == "int8" else "FLOP/s"
    cards = dict(card[:2] for card in w.cards(result))
    form = ", textbook" if device in ph.calibrated_devices() else ""
    label = f"{first.name if llm else 'Attainable'}{form}"
    assert cards[label] == show(result.attainable, unit, pad=True)
    assert show(result.mfu, "%") in w.sentence(result)
    _, rows = w.table(result)
    count = len(w.operations)
    assert [row[0] for row in rows[:count]] == [op.name for op in w.operations]
    assert [row[4] for row in rows[:count]] == [show(o.roof.attainable, unit) for o in w.operations]
    # The roof itself: its bandwidth, ridge and peak.
    assert rows[count][0] == f"Roof: {ph.devices[device].name}"
    assert rows[count][3] == show(result.ridge, "FLOP/B")
    assert rows[count][4] == ph.devices[device].peak_label(w.precision, w.sparse)
    roof = mark(w, "roof")
    assert roof.x[1] == pytest.approx(result.ridge)
    assert max(roof.y) == result.peak


def test_a_square_stays_square_whichever_side_moves() -> None:
    w = RooflineWidget()
    w.set(k=1024)
    assert (w.m, w.n, w.k) == (1024, 1024, 1024)
    w.set(square=False)
    w.set(k=64)
    assert (w.m, w.n, w.k) == (1024, 1024, 64)
    assert "m" not in w.hidden()


def test_a_precision_that_the_device_lacks_gives_way_unless_it_was_asked_for() -> None:
    w = RooflineWidget(device="h100-sxm", precision="fp8")
    w.set(device="cortex-m7")
    assert w.precision == "fp32"
    with pytest.raises(ValueError, match="Precision is 'fp8'; it must be one of: fp32"):
        w.set(precision="fp8")
    assert (w.device, w.precision) == ("cortex-m7", "fp32")


def test_sparsity_is_offered_where_both_peaks_are_known() -> None:
    w = RooflineWidget(device="h100-sxm", sparse=True)
    assert w.result.peak == ph.devices["h100-sxm"].peak("fp16", sparse=True)
    w.set(device="mobile-npu")
    assert (w.sparse, "sparse" in w.hidden()) == (False, True)
    w.set(device="orin-nx", precision="int8")  # known only with sparsity
    assert (w.sparse, "sparse" in w.hidden()) == (True, True)
    assert "with 2:4 sparsity" in w.sentence(w.result)


def test_fusion_raises_the_elementwise_kernels_and_not_the_projection() -> None:
    apart, fused = (RooflineWidget(workload="llm", fusion=f).operations for f in ("none", "full"))
    assert apart[0].roof == fused[0].roof
    assert fused[1].roof.attainable > apart[1].roof.attainable


def test_other_roofs_are_drawn_where_the_precision_is_known() -> None:
    w = RooflineWidget(precision="fp8", compare=("h200-sxm", "a100-sxm", "h100-sxm"))
    # A100 has no fp8, and H100 is the device itself: only H200 is drawn (1,979 TFLOPS, 4.8 TB/s).
    ((_, ridge, _),) = mark(w, "other roofs").paths
    assert ridge == pytest.approx((1979 / 4.8, 1979e12))
    assert "Other roofs, named on the chart" in legend(w)
    names = mark(w, "roof names")
    assert names.text == ("H200 SXM",)
    rows = {row[0]: row for row in w.table(w.result)[1]}
    assert rows["Roof: H200 SXM"][2:5] == ("4.8 TB/s", "412.3 FLOP/B", "1,979 TFLOPS fp8 dense")
    assert rows["Roof: A100 SXM"][4] == "no dense fp8 peak on record"
    said = w.sentence(w.result)
    assert "Other roofs: H200 SXM (1,979 TFLOPS fp8 dense, 4.8 TB/s)." in said
    assert "No dense fp8 peak on record: A100 SXM." in said


def test_measured_products_are_those_of_the_document() -> None:
    w = RooflineWidget(device="h200-sxm", measured=True)
    shown = mark(w, "measured")
    timed = [p for p in points("h200-sxm", "fp16", "gemm") if p.variant != "eager"]
    square = [p for p in timed if p.shape["m"] == p.shape["n"] == p.shape["k"]]
    assert isinstance(shown, Points)
    assert 0 < len(shown.x) == len(square) < len(timed)
    assert w.alert(w.result) is None
    w.set(device="a100-sxm")
    assert mark(w, "measured").x == ()
    assert "No fp16 matrix products were measured on the A100 SXM" in w.alert(w.result)[0]  # type: ignore[index]


def test_a_prediction_is_a_line() -> None:
    w = RooflineWidget(prediction=312e12)
    line = mark(w, "prediction")
    assert isinstance(line, Line)
    assert set(line.y) == {312e12}
    assert "Your prediction, 312 TFLOPS" in legend(w)
    assert "You predicted 312 TFLOPS." in w.sentence(w.result)
    assert w.shown_table[1][-1][:2] == ("Your prediction", "312 TFLOPS")
    assert mark(RooflineWidget(), "prediction").x == ()
    far = RooflineWidget(device="cortex-m7", prediction=312e12)
    assert "Your prediction, 312 TFLOPS (beyond the chart)" in legend(far)


class Open:
    """A lock that a prediction has opened."""

    question, is_open = "?", True

    def __init__(self, predicted: Predicted) -> None:
        self.predicted = predicted

    def on_open(self, then: Any) -> None: ...
    def record_use(self, instrument: str) -> None: ...


def test_a_predicted_fraction_is_a_line_at_that_part_of_the_peak() -> None:
    w = RooflineWidget(lock=Open(Predicted("33%", 0.33, "mfu")))
    assert mark(w, "prediction").y == pytest.approx((0.33 * 989e12,) * 2)  # of the dense fp16 peak
    assert "Your prediction, 33% of the peak" in legend(w)
    w.set(form="calibrated", compare=("a100-sxm",))
    assert mark(w, "prediction").y == pytest.approx((0.33 * 989e12,) * 2)
    w.set(peak_share=2)  # another machine
    assert mark(w, "prediction").y == ()


def test_the_code_keeps_machine_and_prediction() -> None:
    w = RooflineWidget(machine="cpu-2core-server", prediction=312e12, n=64)
    assert "machine='cpu-2core-server'" in w.code
    again = eval(w.code, {"RooflineWidget": RooflineWidget})
    assert legend(again) == legend(w)
    document = load("cpu-2core-server")
    assert "machine" not in RooflineWidget(machine=document).code  # no code can hold that


def test_a_machine_of_ones_own_has_its_own_roof() -> None:
    w = RooflineWidget(machine="cpu-2core-server", precision="fp32", device="cortex-m7")
    roof, own = mark(w, "your machine"), mark(w, "your products")
    assert len(roof.x) == 3
    assert len(own.x) > 0
    assert "Its measured products" in legend(w)
    assert mark(RooflineWidget(), "your machine").x == ()
    # ceilings("cpu-2core-server"): its best fp32 product and its best copy.
    assert "cpu-2core-server, as measured: 272 GFLOPS fp32 and 39.9 GB/s." in w.sentence(w.result)
    rows = {row[0]: row for row in w.table(w.result)[1]}
    assert rows["Roof: cpu-2core-server"][2:5] == ("39.9 GB/s", "", "272 GFLOPS fp32")
    assert "cpu-2core-server, N = 3,072" in rows
    # Only square products: the document also holds those of a transformer, M = 1 and so on.
    assert "cpu-2core-server, N = 97" not in rows
    (scene,) = w.scenes(w.result)
    assert scene.up.low < max(roof.y) < scene.up.high


def test_measured_products_are_in_table_and_sentence() -> None:
    w = RooflineWidget(device="h200-sxm", measured=True)
    timed = [p for p in points("h200-sxm", "fp16", "gemm") if p.variant != "eager"]
    found = [p for p in timed if p.shape["m"] == p.shape["n"] == p.shape["k"]]
    best = max(point.attained for point in found)
    fastest = f"{len(found)} measured products, the fastest at {show(best, 'FLOP/s')}."
    assert fastest in w.sentence(w.result)
    rows = [row for row in w.table(w.result)[1] if row[0].startswith("Measured")]
    assert 2 <= len(rows) <= 4
    ordered = sorted(found, key=lambda point: point.intensity)
    for row, point in ((rows[0], ordered[0]), (rows[-1], ordered[-1])):
        shown = show(point.intensity, "FLOP/B"), show(point.attained, "FLOP/s")
        assert row[3:5] == shown


# Integers.


def test_integer_rates_are_operations_everywhere() -> None:
    for llm in (False, True):
        workload = "llm" if llm else "gemm"
        w = RooflineWidget(precision="int8", n=2048, workload=workload, compare=("a100-sxm",))
        (scene,) = w.scenes(w.result)
        drawn = repr((scene.legend, scene.up, w.cards(w.result), w.sentence(w.result)))
        everything = drawn + repr(w.table(w.result)) + str(w.result.derivation())
        assert "TOPS" in scene.up.label
        assert "FLOPS" not in everything
        assert isinstance(w.result, ph.Roofline)
        same = ph.roofline(w.result.intensity, 1979e12, 3.35e12)  # H100: dense int8, HBM3
        assert w.result.attainable == same.attainable


# Several kernels.


def test_cards_and_sentence_speak_of_every_kernel() -> None:
    w = RooflineWidget(workload="llm")
    cards = dict(card[:2] for card in w.cards(w.result))
    said = w.sentence(w.result)
    for op in w.operations:
        assert cards[op.name] == show(op.roof.attainable, "FLOP/s", pad=True)
        assert cards[f"{op.name}, MFU"] == show(op.roof.mfu, "%", pad=True)
        assert f"{op.name[1:]}, at {show(op.roof.intensity, 'FLOP/B')}" in said
        place = f"{op.roof.regime}, {show(op.roof.intensity, 'FLOP/B')}"
        assert cards[f"{op.name}, regime"] == place
    assert len(cards) == 9
    assert "Layer norm and softmax do equally many operations per byte" in said


@pytest.mark.parametrize("inputs", [{}, {"precision": "int8"}, {"bandwidth_share": 2}])
def test_the_square_at_the_ridge_lies_at_the_ridge(inputs: dict[str, Any]) -> None:
    w = RooflineWidget(n=512, **inputs)
    side = float(dict(card[:2] for card in w.cards(w.result))["N at the ridge"].replace(",", ""))
    w.set(n=side)
    assert w.result.intensity == pytest.approx(w.result.ridge, rel=2e-3)
    w.set(square=False)
    assert "N at the ridge" not in dict(card[:2] for card in w.cards(w.result))


def test_relu_has_a_place_that_no_size_changes() -> None:
    w = RooflineWidget(device="a100-sxm", precision="fp32", workload="relu", n=1024)
    assert w.result.intensity == 0.125  # one operation on 4 bytes read and 4 bytes written
    assert w.result.regime == "memory-bound"
    assert w.operations[0].kernel.bytes == 2 * 4 * 1024**2
    w.set(n=64)
    assert w.result.intensity == 0.125
    (scene,) = w.scenes(w.result)
    assert [each.name for each in scene.handles] == ["roof", "ridge"]
    assert "ReLU" in legend(w)
    w.set(measured=True)
    assert w.alert(w.result)[0] == "No fp32 ReLU was measured on the A100 SXM."  # type: ignore[index]
    w.set(device="h200-sxm", precision="fp16")
    shown = mark(w, "measured")
    assert w.alert(w.result) is None
    # Beyond what the caches hold, a measured ReLU lies on the slope of the roof or below it.
    assert set(shown.x) == {0.25}
    assert len(shown.x) >= 3


def test_kernels_at_one_place_are_told_apart() -> None:
    w = RooflineWidget(workload="llm")
    _, norm, softmax = w.operations
    assert norm.roof.intensity == softmax.roof.intensity
    names = mark(w, "kernel names")
    assert names.text == ("Projection", "Layer norm", "Softmax")
    assert math.log10(names.y[2] / names.y[1]) >= 0.44  # one above the other
    small, large = mark(w, "Layer norm"), mark(w, "Softmax")
    assert small.symbol != large.symbol
    assert small.size < large.size
    (scene,) = w.scenes(w.result)
    order = [one.name for one in scene.marks]
    assert order.index("Softmax") < order.index("Layer norm")  # the smaller one is on top


# Handles.


@pytest.mark.parametrize("square", [True, False])
@pytest.mark.parametrize("device", ["h100-sxm", "cortex-m7"])
@settings(max_examples=20)
@given(st.floats(0.01, 1e5))
def test_the_product_lies_where_it_is_dragged(device: str, square: bool, x: float) -> None:
    w = RooflineWidget(device=device, square=square)
    ends = []
    for n in (1, 32768):
        w.set(n=n)
        ends.append(float(w.result.intensity))
    w.drag("GEMM", x, 1e12)
    found = handle(w, "GEMM")
    assert (found.x, found.y) == (w.result.intensity, w.result.attainable)
    wanted = min(max(x, ends[0]), ends[1])
    # N has three digits, and is whole: near the intensity of N = 1 no step is smaller.
    step = max(0.006, 0.51 / max(w.n - 0.5, 0.5))
    assert found.x == pytest.approx(wanted, rel=step)
    assert found.control == "n"
    assert w.square is square


def test_the_projection_moves_the_batch() -> None:
    w = RooflineWidget(workload="llm", sequence=1)
    for batch in (1, 7, 40, 300, 1000):
        w.set(batch=batch)
        x = float(w.result.intensity)
        w.set(batch=20)
        w.drag("Projection", x, 1e12)
        assert w.batch == pytest.approx(batch, rel=0.006)
    w.drag("Projection", 0.01, 1e12)
    assert w.batch == 1
    w.drag("Projection", 1e5, 1e12)
    assert w.batch == pytest.approx(1024, rel=0.005)  # in three digits
    assert handle(w, "Projection").control == "batch"


@settings(max_examples=30)
@given(st.sampled_from(sorted(ph.devices)), st.floats(-7, 7), st.floats(-4, 4))
def test_roof_and_ridge_lie_where_they_are_dragged(device: str, up: float, along: float) -> None:
    w = RooflineWidget(device=device)
    own = w.modeled
    (before,) = w.scenes(w.result)
    y = own.device_peak * 10**up
    w.drag("roof", 1.0, y)
    limited = min(max(y, own.device_peak / 10), own.device_peak * 10)
    assert handle(w, "roof").y == pytest.approx(limited, rel=0.031)
    assert w.result.bandwidth == own.device.bandwidth
    peak = w.result.peak
    x = min(max(peak / own.device.bandwidth * 10**along, 0.01), 1e5)
    w.drag("ridge", x, 1.0)
    limited = min(max(x, peak / own.device.bandwidth / 10), peak / own.device.bandwidth * 10)
    assert w.result.ridge == pytest.approx(limited, rel=0.031)
    assert handle(w, "ridge").x == pytest.approx(min(limited, 1e5), rel=0.031)
    assert w.result.peak == peak
    (after,) = w.scenes(w.result)
    assert (before.up.low, before.up.high) == (after.up.low, after.up.high)
    assert handle(w, "ridge").flip


# What if.


def test_a_device_with_another_bandwidth_says_so_and_keeps_its_own_roof_in_sight() -> None:
    w = RooflineWidget(n=512, bandwidth_share=2)
    # PHYSICS.md: 57.8 % of the peak at 3.35 TB/s; at twice that the same intensity reaches it.
    assert w.result.bandwidth == 6.7e12
    assert w.result.regime == "compute-bound"
    assert legend(w)[0] == "H100 SXM with 2× its bandwidth, 989 TFLOPS fp16 dense"
    assert w.sentence(w.result).startswith("H100 SXM with 2× its bandwidth: GEMM has")
    assert len(mark(w, "other roofs").paths) == 1
    assert mark(w, "roof names").text == ("H100 SXM",)
    assert "B = x_B × B_device = 2 × 3.35 TB/s = 6.7 TB/s" in str(w.result.derivation())
    w.set(peak_share=0.5)
    assert w.cards(w.result)[-1][1] == "494.5 TFLOPS fp16 dense"
    assert "with 0.5× its peak and 2× its bandwidth" in legend(w)[0]
    assert "bandwidth_share=2" in w.code


def test_the_math_marks_what_decides() -> None:
    w = RooflineWidget(n=512)
    for n, decides in ((512, "intensity"), (4096, "attainable")):  # either side of N = 886
        w.set(n=n)
        assert w.dominant(w.result) == decides
        assert decides in {step.quantity.name for step in w.result.derivation().steps}
    assert w.headline in w.result.outputs()


def test_a_share_next_to_one_is_one() -> None:
    w = RooflineWidget(peak_share=3)
    w.drag("roof", 1.0, 1.02 * 989e12)
    assert w.peak_share == 1


def test_roofs_of_one_height_have_their_names_above_each_other() -> None:
    w = RooflineWidget(device="a100-sxm", compare=("h100-sxm", "h200-sxm"))
    names = mark(w, "roof names")  # both have 989 TFLOPS fp16
    assert names.text == ("H100 SXM", "H200 SXM")
    assert math.log10(names.y[1] / names.y[0]) >= 0.44


# Axes.


def test_faster_chips_are_never_drawn_lower() -> None:
    places = []
    for key, device in ph.devices.items():
        w = RooflineWidget(device=key, precision=device.native)
        (scene,) = w.scenes(w.result)
        low, high = math.log10(scene.up.low), math.log10(scene.up.high)
        peak = float(w.result.peak)
        places.append((peak, (math.log10(peak) - low) / (high - low)))
    places.sort()
    assert [place for _, place in places] == sorted(place for _, place in places)


def test_a_compared_microcontroller_is_on_the_chart() -> None:
    w = RooflineWidget(precision="fp32", compare=("cortex-m7",))
    (scene,) = w.scenes(w.result)
    assert scene.up.low < 1e9 / 100  # its peak
    assert scene.up.words[0] == "100 K"


def test_every_kernel_on_the_chart_has_its_math() -> None:
    w = RooflineWidget(workload="llm", sequence=1)
    assert list(w.explanations) == ["Projection", "Layer norm", "Softmax"]
    for op in w.operations:
        shown = live_math(w, op.name)
        assert shown["part"] == op.name
        last = shown["steps"][[title for title, _, _ in shown["steps"]].index("Attainable rate")]
        assert show(op.roof.attainable, "FLOP/s") in last[1]
    w.set(workload="gemm")
    assert list(w.explanations) == ["Roofline"]


def test_a_predicted_fraction_of_the_peak_is_kept_in_code() -> None:
    locked = RooflineWidget(lock=Open(Predicted("33%", 0.33, "mfu")))
    assert locked.code == "RooflineWidget(prediction={'mfu': 0.33})"
    again = eval(locked.code, {"RooflineWidget": RooflineWidget})
    assert (legend(again), again.code) == (legend(locked), locked.code)
    with pytest.raises(ValueError, match="prediction is 'speed'; it must be one of: rate, mfu"):
        RooflineWidget(prediction={"speed": 1})
    with pytest.raises(ValueError, match="prediction names 2 quantities; it must name one"):
        RooflineWidget(prediction={"rate": 1e12, "mfu": 0.3})


# Attention, and the calibrated form.


def test_attention_lies_where_its_operations_and_bytes_put_it() -> None:
    w = RooflineWidget(workload="attention", batch=4, sequence=2048)
    model = ph.workloads["llama31-8b"]
    shape = {"head_width": model.head_width, "kv_heads": model.kv_heads}
    prompt = ph.attention(4, model.heads, 2048, 2048, causal=True, **shape)
    assert w.result.intensity == prompt.intensity
    assert w.result.regime == "compute-bound"
    w.set(workload="decode")
    token = ph.attention(4, model.heads, 1, 2048, **shape)
    assert w.result.intensity == token.intensity
    assert w.result.regime == "memory-bound"
    assert "Attention of a new token has an intensity of 3.99 FLOP/B" in w.sentence(w.result)
    assert w.hidden() >= {"fusion", "m", "n", "k", "square"}


@pytest.mark.parametrize("workload", ["attention", "decode"])
def test_attention_moves_the_sequence(workload: str) -> None:
    w = RooflineWidget(workload=workload, sequence=300)
    (name,) = (op.name for op in w.operations)
    x = float(w.result.intensity)
    w.set(sequence=20)
    w.drag(name, x, 1e12)
    assert w.sequence == pytest.approx(300, rel=0.006)
    assert handle(w, name).control == "sequence"


@pytest.mark.parametrize(
    ("workload", "kind", "words"),
    [
        ("attention", "attention", "attention over prompts"),
        ("decode", "decode_attention", "attention of new tokens"),
    ],
)
def test_measured_attention_lies_on_the_chart(workload: str, kind: str, words: str) -> None:
    w = RooflineWidget(device="h200-sxm", workload=workload, measured=True)
    found = [p for p in points("h200-sxm", "fp16", kind) if p.shape["form"] != "naive"]
    assert mark(w, "measured").x == tuple(point.intensity for point in found)
    assert f"Measured {words}" in legend(w)
    assert f"{len(found)} measurements of {words}, the fastest at" in w.sentence(w.result)
    rows = [row[0] for row in w.table(w.result)[1] if row[0].startswith("Measured, ")]
    assert rows[0] == f"Measured, {found[0].size}"
    w.set(precision="int8")
    assert f"No int8 {words} was measured on the H200 SXM" in w.alert(w.result)[0]  # type: ignore[index]


@pytest.mark.parametrize(
    ("inputs", "name", "family"),
    [
        ({"n": 4096}, "GEMM", "products"),
        ({"n": 1023}, "GEMM", "unaligned products"),
        ({"workload": "attention"}, "Attention over a prompt", "prompt attention"),
        ({"workload": "decode"}, "Attention of a new token", "cache attention"),
    ],
)
def test_a_calibrated_kernel_lies_where_its_time_puts_it(
    inputs: dict[str, Any], name: str, family: str
) -> None:
    w = RooflineWidget(device="h200-sxm", form="calibrated", batch=16, sequence=4096, **inputs)
    (op,) = w.operations
    kernel = op.kernel
    if isinstance(kernel, ph.Gemm):
        kernel = ph.product(kernel.m, kernel.n, kernel.k, "fp16")
    time = float(ph.calibration_of("h200-sxm").time(kernel, family, "fp16").time)
    reached = float(op.kernel.flops) / time
    assert reached <= w.result.attainable
    drawn = mark(w, name)
    assert (drawn.x, drawn.y) == ((w.result.intensity,), (pytest.approx(reached),))
    cards = dict(card[:2] for card in w.cards(w.result))
    assert cards["Attainable, textbook"] == show(w.result.attainable, "FLOP/s", pad=True)
    about = show(float(f"{reached:.2g}"), "FLOP/s")
    assert cards["Reached, calibrated"] == about
    assert cards["Time, calibrated"] == show(float(f"{time:.2g}"), "s")
    assert f"calibrated, from a measurement of the device, it reaches about {about}" in w.sentence(
        w.result
    )
    assert f"{name}, calibrated" in legend(w)
    assert {row[0]: row[4] for row in w.table(w.result)[1]}[f"{name}, calibrated"] == about
    assert list(w.explanations) == [f"{name}, textbook", f"{name}, calibrated"]
    shown = live_math(w, f"{name}, calibrated")
    assert shown["part"] == f"{name}, calibrated"
    # The fraction of the peak is left to whoever asks for it.
    assert not any("MFU" in label and "calibrated" in label for label in cards)


@pytest.mark.parametrize(
    ("inputs", "why"),
    [
        ({"device": "h100-sxm"}, "no measurement of the H100 SXM is on record"),
        ({"bandwidth_share": 2}, "only the dense roof of the device as it is was measured"),
        ({"sparse": True}, "only the dense roof of the device as it is was measured"),
        ({"workload": "decode", "precision": "fp8"}, "no measurement of such kernels in fp8"),
        ({"n": 1023, "precision": "fp8"}, "no measurement of such kernels in fp8 is on record"),
    ],
)
def test_what_was_not_measured_stays_textbook_and_says_so(inputs: dict[str, Any], why: str) -> None:
    w = RooflineWidget(**({"device": "h200-sxm", "form": "calibrated"} | inputs))
    assert w.shown_form == "textbook"
    assert w.operations[0].rate == w.result.attainable
    assert f"That is the textbook: {why}" in w.sentence(w.result)
    w.set(form="textbook")
    assert "That is the textbook" not in w.sentence(w.result)


def test_a_layer_has_the_textbook_form_only() -> None:
    w = RooflineWidget(device="h200-sxm", workload="llm", form="calibrated")
    assert "form" in w.hidden()
    assert all(op.timed is None for op in w.operations)
    labels = [label for label, _, _ in w.cards(w.result)]
    rates = [label for label in labels if not label.endswith(", regime")]
    assert all(label.endswith(", textbook") for label in rates)


def test_what_was_measured_waits_for_its_gate() -> None:
    gate = Lock()
    w = RooflineWidget(device="h200-sxm", measured=True, measurements=gate)
    assert w.hidden() >= {"form", "measured"}
    assert mark(w, "measured").x  # what the author of a lab has set is there
    gate.open()
    assert not w.hidden() & {"form", "measured"}


def test_a_kernel_below_the_chart_lies_on_its_edge() -> None:
    w = RooflineWidget(device="h200-sxm", form="calibrated", n=8)
    (scene,) = w.scenes(w.result)
    assert w.operations[0].rate < scene.up.low
    assert mark(w, "GEMM").y == (scene.up.low,)
