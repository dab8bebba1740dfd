"""The fusion explorer says what physics says, and shows claim and measurement beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.instruments import fusion_scenes
from mlsys_widgets.instruments.fusion_explorer import MEASURED_ON, FusionExplorer
from mlsys_widgets.instruments.live_math import live_math
from mlsys_widgets.measured import findings, load, trial
from tests.instruments.drawn import mark

show = ph.format_quantity
OPS = ("relu", "add", "mul", "scale", "sigmoid", "tanh", "gelu", "dropout", "layernorm", "softmax")
DEVICES = ("a100-sxm", "h100-sxm", "h200-sxm", "orin-nx", "cortex-m7")
STEPS = tuple(f"step{k}" for k in range(1, 7))
LONG = {"chain": "own", **dict.fromkeys(STEPS, "gelu")}


@st.composite
def inputs(draw: st.DrawFn) -> dict[str, Any]:
    chain = draw(st.lists(st.sampled_from(OPS), min_size=1, max_size=6))
    device = draw(st.sampled_from(DEVICES))
    known = [p for p in ("fp32", "fp16", "int8") if p in ph.devices[device].precisions]
    padded = chain + ["none"] * (6 - len(chain))
    return {
        "chain": "own",
        **dict(zip(STEPS, padded, strict=True)),
        "elements": draw(st.integers(1000, 10**9)),
        "device": device,
        "fused": draw(st.booleans()),
        "precision": draw(st.sampled_from(known)),
        "bandwidth": draw(st.floats(1e7, 1e13)),
        "launch_overhead": draw(st.floats(1e-7, 1e-2) | st.just(0.0)),
    }


def test_reference_values() -> None:
    w = FusionExplorer()
    result = w.result
    assert result.traffic_reduction == 3
    assert result.unfused_intensity == pytest.approx(0.833, abs=1e-3)
    assert result.fused_intensity == 2.5
    # Three launches of 10 µs, 6 × 1.57 MB at 2 TB/s, 7.86 MFLOP at 19.5 TFLOPS; then one launch
    # and 2 × 1.57 MB.
    assert result.unfused_time == pytest.approx(35.1e-6, rel=2e-3)
    assert result.fused_time == pytest.approx(12.0e-6, rel=2e-3)
    assert result.speedup == pytest.approx(2.93, abs=0.005)
    # 19.5 TFLOPS of the vector units over 2 TB/s.
    assert w.ridge == pytest.approx(9.75)


def test_day_14() -> None:
    w = FusionExplorer(chain="sigmoid-relu")
    chain = w.operations
    assert (chain.unfused_reads, chain.unfused_writes) == (6, 4)
    assert (chain.fused_reads, chain.fused_writes) == (3, 1)
    assert "6 reads and 4 writes of a tensor; fused, 3 reads and 1 write" in w.sentence(w.result)
    w.set(fused=True)
    assert "3 reads and 1 write of a tensor instead of 6 reads and 4 writes" in w.sentence(w.result)


@given(inputs())
def test_result_bars_table_and_words_agree(chosen: dict[str, Any]) -> None:
    w = FusionExplorer(**chosen)
    result = w.result
    chain = ph.chain(*(chosen[step] for step in STEPS if chosen[step] != "none"))
    assert w.operations == chain
    width = ph.BYTES_PER_ELEMENT[chosen["precision"]]
    assert result.unfused_traffic == pytest.approx(
        (chain.unfused_reads + chain.unfused_writes) * width * chosen["elements"]
    )
    # Steps of their own add up to the chain.
    assert sum(one.unfused_traffic for one in w.kernels) == pytest.approx(result.unfused_traffic)
    assert sum(one.unfused_time for one in w.kernels) == pytest.approx(result.unfused_time)
    assert len(mark(w, "tensors read").blocks) == chain.unfused_reads
    assert len(mark(w, "tensors written").paths) == chain.unfused_writes
    times = mark(w, "times").blocks
    assert [times[2][2], times[5][2]] == pytest.approx([result.unfused_time, result.fused_time])
    assert mark(w, "intensities").x == (result.unfused_intensity, result.fused_intensity)
    assert mark(w, "ridge").x == ((w.ridge, w.ridge) if w.ridge < 1e4 else ())
    # The point lies on the curve of the model.
    curve = mark(w, "speedup")
    around = np.interp(np.log(result.elements), np.log(curve.x), curve.y)
    assert mark(w, "speedup now").y == (pytest.approx(around, rel=0.02),)
    cards = {label: value for label, value, _ in w.cards(result)}
    assert cards["Speedup"] == show(result.speedup, "×", pad=True)
    assert show(result.unfused_traffic, "B", pad=True) in cards["Data moved"]
    header, rows = w.table(result)
    count = len(chain.links)
    apart, fused = rows[count : count + 2]
    assert apart[header.index("Data moved")] == show(result.unfused_traffic, "B")
    assert fused[header.index("Time")] == show(result.fused_time, "s")
    assert fused[header.index("Speedup")] == show(result.speedup, "×")
    assert [row[0] for row in rows[:count]] == [link.op.name for link in chain.links]
    assert show(result.unfused_time, "s") in w.sentence(result)


@pytest.mark.parametrize("device", DEVICES)
def test_a_device_brings_its_own_values(device: str) -> None:
    machine = ph.devices[device]
    w = FusionExplorer(device=device)
    assert (w.result.bandwidth, w.result.launch_overhead) == (machine.bandwidth, machine.launch())
    for precision in w.controls["precision"].options(w):
        w.set(precision=precision)
        assert w.ridge == machine.elementwise_rate() / machine.bandwidth
    assert w.result.speedup == ph.fuse(w.operations, w.elements, w.result.bytes_per_element,
                                       device).speedup  # fmt: skip
    # The line of code makes the same instrument again.
    assert eval(w.code).inputs == w.inputs


def test_devices_without_a_cost_of_a_launch_are_left_out() -> None:
    offered = FusionExplorer().controls["device"].options(FusionExplorer())
    assert set(offered) == {key for key, d in ph.devices.items() if d.launch_overhead is not None}


def test_the_precision_follows_the_device() -> None:
    w = FusionExplorer(precision="int8")
    w.set(device="cortex-m7")
    assert w.precision == "fp32"  # the only one that it has a peak for
    w.set(device="orin-nx")
    assert w.precision == "fp16"
    with pytest.raises(ValueError, match="Precision is 'int8'"):
        w.set(precision="int8")


def test_half_the_bandwidth_doubles_the_ridge() -> None:
    w = FusionExplorer(bandwidth="1 TB/s")
    assert w.ridge == 2 * FusionExplorer().ridge


def test_the_switch_changes_the_picture_and_not_the_numbers() -> None:
    w = FusionExplorer()
    before = w.result, w.cards(w.result)
    w.set(fused=True)
    assert (w.result, w.cards(w.result)) == before
    assert mark(w, "traffic labels").text[-1].strip() == show(w.result.fused_traffic, "B")


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("part", [0.0, 0.2, 0.45, 0.7, 0.9, 1.0])
def test_the_data_bar_ends_where_it_is_dragged(fused: bool, device: str, part: float) -> None:
    w = FusionExplorer(fused=fused, device=device)
    before = w.scenes(w.result)[0]
    x = part * before.across.high
    w.drag("data", x, 1.0)
    after = w.scenes(w.result)[0]
    assert after.across == before.across  # or the bar would run away from the pointer
    moved = after.handles[0].x
    tensors = w.result.fused_tensors if fused else w.result.unfused_tensors
    assert moved == pytest.approx(w.elements * w.result.bytes_per_element * tensors)
    # Where the bar stops, its axis would change.
    ends = [limit * tensors / w.result.unfused_tensors
            for limit in fusion_scenes.span(float(w.result.unfused_traffic))]  # fmt: skip
    assert moved == pytest.approx(min(max(x, ends[0]), ends[1]), rel=0.02)


@pytest.mark.parametrize("x", [1e3, 5e4, 786_432, 1e9])
def test_the_point_of_the_speedup_is_dragged_through_all_sizes(x: float) -> None:
    w = FusionExplorer()
    w.drag("elements", x, 2.0)
    assert w.elements == pytest.approx(x, rel=5e-3)
    (handle,) = w.scenes(w.result)[3].handles
    assert (handle.x, handle.y) == (w.elements, w.result.speedup)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("part", [0.0, 0.3, 0.5, 0.8, 1.0])
def test_the_launches_end_where_they_are_dragged(device: str, part: float) -> None:
    w = FusionExplorer(device=device)
    before = w.scenes(w.result)[2]
    rest = w.result.unfused_time - 3 * w.launch_overhead
    ends = [limit - rest for limit in fusion_scenes.span(float(w.result.unfused_time))]
    x = part * before.across.high
    w.drag("launch", x, 2.0)
    after = w.scenes(w.result)[2]
    assert after.across == before.across
    moved = after.handles[0].x
    assert moved == pytest.approx(3 * w.launch_overhead)
    # It stops where the axis would change, or at the slider's end.
    wanted = min(max(x, ends[0], 0.0), ends[1], 3 * w.controls["launch_overhead"].high)
    assert moved == pytest.approx(wanted, abs=0.02 * before.across.high)


def test_a_prediction_is_drawn_named_and_in_the_table() -> None:
    w = FusionExplorer(prediction=3)
    assert set(mark(w, "prediction").y) == {3.0}
    legend = w.scenes(w.result)[3].legend
    assert ("Your prediction, 3×", "prediction", "dashed") in legend
    assert w.shown_table[1][-1][:2] == ("Your prediction", "3×")
    assert "prediction=3" in w.code
    with pytest.raises(ValueError, match="prediction"):
        FusionExplorer(prediction=0)


def test_tensors_that_do_not_fit() -> None:
    # Two tensors of 786,432 fp32 elements against 512 KB: 2 × 786,432 × 4 / 512,000 = 12.3.
    w = FusionExplorer(device="cortex-m7")
    words, tone = w.alert(w.result) or ("", "")
    assert (tone, "12.3×" in words, "6.29 MB" in words) == ("red", True, True)
    assert "at most" not in words
    # 512,000 / 8 elements of two fp32 tensors.
    assert "at most 64,000 elements" in w.hint(w.result)
    assert "Memory" in w.explanations
    w.set(elements=64_000)
    assert w.alert(w.result) is None
    assert "Memory" not in w.explanations


def test_a_hint_names_what_most_of_the_fused_time_is() -> None:
    # 10 of 12 µs are the launch.
    assert FusionExplorer().shown_hint.startswith("Of the fused kernel's time, 83.5% is the launch")
    assert "memory traffic" in FusionExplorer(device="orin-nx", elements=1e8).shown_hint
    assert "memory traffic" in FusionExplorer(elements=1e8).shown_hint
    # Six GELUs are 48 FLOP for 4 bytes: right of the ridge at 9.75.
    assert "arithmetic" in FusionExplorer(elements=1e8, **LONG).shown_hint


@given(inputs())
def test_sentence_and_hint_name_the_same_limit(chosen: dict[str, Any]) -> None:
    w = FusionExplorer(**chosen)
    if w.capacity.out_of_memory or len(w.operations.links) == 1:
        return
    said, hint = w.sentence(w.result), w.hint(w.result)
    if "is arithmetic" in hint:
        assert "waits for arithmetic" in said
    if "is memory traffic" in hint:
        assert "waits for memory" in said
    assert said.endswith(w._said_limit)
    assert w._said_limit in w.remark(w.result)


def test_the_math_marks_what_fusion_saves_most_of() -> None:
    w = FusionExplorer()
    assert w.dominant(w.result) == ""  # launches, which are an input
    w.set(launch_overhead=0)
    assert w.dominant(w.result) == "traffic_reduction"
    assert w.dominant(w.explanations["Ridge"]) == ""
    assert "speedup" in w.result.outputs()
    assert any(decides for _, _, decides in live_math(w)["steps"])


def test_a_chain_brings_its_steps_and_a_step_makes_it_your_own() -> None:
    w = FusionExplorer()
    w.set(chain="sigmoid-relu")
    assert [w.inputs[step] for step in STEPS[:5]] == ["mul", "add", "relu", "sigmoid", "none"]
    w.set(step5="gelu")
    assert w.chain == "own"
    w.set(chain="layernorm-dropout-relu")
    assert w.inputs == FusionExplorer().inputs
    w.step2 = "none"
    assert w.chain == "own"
    assert w.operations.name == "LayerNorm → ReLU"


def test_steps_have_no_gaps_and_one_empty_place_is_shown() -> None:
    w = FusionExplorer(chain="own", step1="relu", step2="none", step3="none", step5="tanh")
    assert [w.inputs[step] for step in STEPS] == ["relu", "tanh", *["none"] * 4]
    assert w.hidden() == {"step4", "step5", "step6"}
    w.set(**dict.fromkeys(STEPS, "gelu"))
    assert w.hidden() == set()


def test_nothing_to_fuse_with() -> None:
    w = FusionExplorer(chain="own", step1="relu", step2="none", step3="none")
    assert w.result.speedup == 1
    assert "nothing to fuse" in w.sentence(w.result)


def speedups(w: FusionExplorer) -> dict[str, str]:
    """The last column of the table, by row."""
    return {row[0]: row[-1] for row in w.table(w.result)[1]}


def test_the_claim_stands_beside_the_model() -> None:
    w = FusionExplorer()
    claim = findings.CLAIMED_FUSION_SPEEDUP
    assert speedups(w)["Claim in the text"] == show(claim, "×")
    assert set(mark(w, "claim").y) == {claim}
    w.set(step3="tanh")  # a chain that nobody made a claim about
    assert mark(w, "claim").x == ()
    assert "Claim in the text" not in speedups(w)


def test_the_ends_of_the_curve_are_in_the_table() -> None:
    w = FusionExplorer()
    for size, words in ((1e3, "Fused, 1,000 elements"), (1e9, "Fused, 1 billion elements")):
        modeled = ph.fuse(w.operations, size).speedup
        assert speedups(w)[words] == show(modeled, "×")


def test_measurements_stand_beside_both() -> None:
    document = load(MEASURED_ON)
    known = findings.fusions(document, trial.roofs_of(document))
    w = FusionExplorer(measured=True)
    found = w.finding
    assert found == next(one for one in known if one.chain == "layernorm_dropout_relu")
    assert found.rows * found.columns == w.elements
    ours = [one for one in known if one.chain == found.chain]
    # Every point that is drawn is in the table, and so is every way of fusing at the nearest size.
    drawn = mark(w, "measured")
    assert list(zip(drawn.x, drawn.y, strict=True)) == [
        (one.rows * one.columns, one.wall["triton"]) for one in ours
    ]
    cells = " ".join(speedups(w).values())
    for value in (*found.wall.values(), *found.device.values(), *drawn.y):
        assert show(value, "×") in cells
    assert show(found.wall["triton"], "×") in w.sentence(w.result)
    w.set(elements=1e9)
    assert w.finding.rows * w.finding.columns == max(one.rows * one.columns for one in known)
    w.set(step2="relu", step3="none")
    assert w.finding.chain == "layernorm_relu"


def test_a_device_without_measurements_says_so() -> None:
    w = FusionExplorer(measured=True, device="orin-nx")
    assert "Measured on an H200 SXM" in w.sentence(w.result)
    assert "Nothing was measured on the Jetson Orin NX." in w.sentence(w.result)
    w.set(device="h200-sxm")
    assert "Nothing was measured" not in w.sentence(w.result)


def test_a_chain_that_was_not_measured_says_so() -> None:
    w = FusionExplorer(chain="sigmoid-relu", measured=True)
    assert w.finding is None
    assert w.alert(w.result) == ("There is no measurement of this chain.", "gray")
    assert "LayerNorm → Dropout → ReLU" in w.hint(w.result)
    assert mark(w, "measured").x == ()
    w.set(measured=False)
    assert w.alert(w.result) is None


def test_without_measurements_it_still_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlsys_widgets.instruments.fusion_explorer._measurements", lambda: ())
    w = FusionExplorer(measured=True)
    assert w.finding is None
    assert "no measurement" in (w.alert(w.result) or ("", ""))[0]
    assert w.hint(w.result) == "No chain has been measured."
