"""The fusion explorer says what physics says, and shows claim and measurement beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.instruments.fusion_explorer import MEASURED_ON, FusionExplorer
from mlsys_widgets.measured import findings, load, trial

show = ph.format_quantity
OPS = ("relu", "add", "mul", "scale", "sigmoid", "tanh", "gelu", "dropout", "layernorm", "softmax")
STEPS = tuple(f"step{k}" for k in range(1, 7))


@st.composite
def inputs(draw: st.DrawFn) -> dict[str, Any]:
    chain = draw(st.lists(st.sampled_from(OPS), min_size=1, max_size=6))
    padded = chain + ["none"] * (6 - len(chain))
    return {
        "chain": "own",
        **dict(zip(STEPS, padded, strict=True)),
        "elements": draw(st.integers(1000, 10**9)),
        "precision": draw(st.sampled_from(("fp32", "fp16", "int8"))),
        "bandwidth": draw(st.sampled_from(("1 TB/s", "2 TB/s", "3.35 TB/s", "4.8 TB/s"))),
        "launch_overhead": draw(st.floats(0, 50e-6)),
    }


def mark(instrument: FusionExplorer, name: str) -> Any:
    scenes = instrument.scenes(instrument.result)
    return next(one for scene in scenes for one in scene.marks if one.name == name)


def test_reference_values() -> None:
    w = FusionExplorer()
    result = w.result
    assert result.traffic_reduction == 3
    assert result.unfused_intensity == pytest.approx(0.833, abs=1e-3)
    assert result.fused_intensity == 2.5
    assert result.unfused_time == pytest.approx(39.7e-6, rel=2e-3)
    assert result.fused_time == pytest.approx(16.6e-6, rel=2e-3)
    assert result.speedup == pytest.approx(2.4, abs=0.05)
    assert round(w.ridge) == 156


def test_day_14() -> None:
    w = FusionExplorer(chain="sigmoid-relu")
    chain = w.operations
    assert (chain.unfused_reads, chain.unfused_writes) == (6, 4)
    assert (chain.fused_reads, chain.fused_writes) == (3, 1)
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
    blocks = mark(w, "tensors").blocks
    tensors = result.unfused_tensors + result.fused_tensors
    assert len(blocks) == tensors
    assert sum(tone == "purple" for *_, tone in blocks) == len(chain.links) + 1
    times = mark(w, "times").blocks
    assert [times[2][2], times[5][2]] == pytest.approx([result.unfused_time, result.fused_time])
    assert mark(w, "unfused intensity").x == (result.unfused_intensity,)
    assert mark(w, "fused intensity").x == (result.fused_intensity,)
    assert mark(w, "ridge").x == (w.ridge, w.ridge)
    cards = {label: value for label, value, _ in w.cards(result)}
    assert cards["Speedup"] == show(result.speedup, "×", pad=True)
    assert show(result.unfused_traffic, "B", pad=True) in cards["Data moved"]
    header, rows = w.table(result)
    apart, fused = rows[-2:]
    assert apart[header.index("Data moved")] == show(result.unfused_traffic, "B")
    assert fused[header.index("Time")] == show(result.fused_time, "s")
    assert [row[0] for row in rows[:-2]] == [link.op.name for link in chain.links]
    assert show(result.unfused_time, "s") in w.sentence(result)


@pytest.mark.parametrize(
    ("bandwidth", "device"),
    [("2 TB/s", "a100-sxm"), ("3.35 TB/s", "h100-sxm"), ("4.8 TB/s", "h200-sxm")],
)
@pytest.mark.parametrize("precision", ["fp32", "fp16", "int8"])
def test_the_ridge_is_the_devices_own(bandwidth: str, device: str, precision: str) -> None:
    w = FusionExplorer(bandwidth=bandwidth, precision=precision)
    assert w.ridge == ph.devices[device].ridge(precision)
    assert w.result.bandwidth == ph.devices[device].bandwidth


def test_half_the_bandwidth_doubles_the_ridge() -> None:
    w = FusionExplorer(bandwidth="1 TB/s")
    assert w.ridge == 2 * ph.devices["a100-sxm"].ridge("fp16")


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


def test_the_claim_stands_beside_the_model() -> None:
    w = FusionExplorer()
    html = w.html(w.result)
    claim = findings.CLAIMED_FUSION_SPEEDUP
    assert f"<td>{show(claim, '×')}</td>" in html
    assert f"<td>{show(w.result.speedup, '×')}</td>" in html
    on_chip = replace(w.result, launch_overhead=0.0).speedup
    assert f"<td>{show(on_chip, '×')}</td>" in html
    assert mark(w, "claim").x == (w.result.unfused_time / claim,)
    w.set(step3="tanh")  # a chain that nobody made a claim about
    assert mark(w, "claim").x == ()


def test_the_nearest_measurement_stands_beside_both() -> None:
    document = load(MEASURED_ON)
    known = findings.fusions(document, trial.roofs_of(document))
    w = FusionExplorer(measured=True)
    found = w.finding
    assert found == next(one for one in known if one.chain == "layernorm_dropout_relu")
    assert found.rows * found.columns == w.elements
    html = w.html(w.result)
    for value in (*found.wall.values(), *found.device.values(), found.modeled):
        assert f"<td>{show(value, '×')}</td>" in html
    assert mark(w, "measured").x == (w.result.unfused_time / found.wall["triton"],)
    w.set(elements=1e9)
    assert w.finding.rows * w.finding.columns == max(one.rows * one.columns for one in known)
    w.set(step2="relu", step3="none")
    assert w.finding.chain == "layernorm_relu"


def test_a_chain_that_was_not_measured_says_so() -> None:
    w = FusionExplorer(chain="sigmoid-relu", measured=True)
    assert w.finding is None
    words, _ = w.alert(w.result) or ("", "")
    assert "no measurement of this chain" in words
    assert "LayerNorm → Dropout → ReLU" in words
    assert mark(w, "measured").x == ()
    w.set(measured=False)
    assert w.alert(w.result) is None


def test_without_measurements_it_still_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlsys_widgets.instruments.fusion_explorer._measurements", lambda: ())
    w = FusionExplorer(measured=True)
    assert w.finding is None
    assert "no chain has been measured" in (w.alert(w.result) or ("", ""))[0]


def test_large_numbers_fit_into_their_box() -> None:
    control = FusionExplorer()._controls["elements"]
    assert control.shown(3e8) == "300 million"
    assert control.shown(786_432.0) == "786,432"
    assert control.read(FusionExplorer(), "300 million") == 3e8


def test_a_refused_input_changes_nothing() -> None:
    w = FusionExplorer(chain="sigmoid-relu")
    before, marks = w.inputs, w.marks
    for bad in ({"step1": "none"}, {"step2": "matmul"}, {"bandwidth": "9 TB/s"}, {"elements": 0}):
        with pytest.raises(ValueError, match="must be"):
            w.set(**bad, precision="fp32")
    assert w.inputs == before
    w.set(**dict.fromkeys(STEPS, "add"))
    assert all(w.marks[name] is one for name, one in marks.items())
