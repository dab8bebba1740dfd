"""The dispatch waterfall says what physics says, in bar, meter, timeline, table and words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import Blocks
from mlsys_widgets.instruments.dispatch_waterfall import WELL_USED, DispatchWaterfall, timeline

show = ph.format_quantity
MODELS = ("kws", "resnet50", "gpt2-layer")
DEVICES = ("a100-sxm", "h100-sxm", "h200-sxm", "orin-nx")
WAYS = ("serial", "async", "graph")

inputs = st.fixed_dictionaries(
    {
        "model": st.sampled_from(MODELS),
        "device": st.sampled_from(DEVICES),
        "mode": st.sampled_from(("eager", "compiled")),
        "launch": st.sampled_from(WAYS),
        "kernels": st.integers(10, 10_000),
        "speedup": st.floats(1, 16),
    }
)


def mark(instrument: DispatchWaterfall, name: str) -> Any:
    scenes = instrument.scenes(instrument.result)
    return next(one for scene in scenes for one in scene.marks if one.name == name)


@pytest.mark.parametrize(
    ("chosen", "utilization"),
    [
        ({"model": "kws"}, 0.323),
        ({"model": "resnet50"}, 0.799),
        ({"model": "gpt2-layer"}, 0.900),
        ({"model": "kws", "mode": "compiled"}, 0.667),
        ({"model": "gpt2-layer", "mode": "compiled"}, 0.920),
        ({"model": "kws", "launch": "async"}, 0.500),
        ({"model": "kws", "speedup": 2}, 0.192),
    ],
)
def test_reference_values(chosen: dict[str, Any], utilization: float) -> None:
    found = DispatchWaterfall(device="a100-sxm", **chosen)
    assert found.result.utilization == pytest.approx(utilization, abs=5e-4)


def test_the_call_of_the_issue() -> None:
    w = DispatchWaterfall(model="kws", device="a100-sxm", mode="compiled", launch="serial")
    assert round(w.result.utilization, 3) == 0.667


@given(inputs)
def test_result_bar_meter_and_words_agree(chosen: dict[str, Any]) -> None:
    w = DispatchWaterfall(**chosen)
    result = w.result
    direct = ph.run(
        chosen["model"],
        chosen["device"],
        chosen["mode"],
        chosen["launch"],
        kernels=w.kernels,
        speedup=w.speedup,  # as kept: a slider snaps to its ends
    )
    assert result == direct
    bar, textbook = w.scenes(result)[0].marks[0].blocks[:3], w.scenes(result)[0].marks[0].blocks[3:]
    for blocks, one in ((bar, result), (textbook, w.textbook)):
        lengths = [right - left for left, _, right, _, _ in blocks]
        assert lengths == pytest.approx(
            [one.compute, one.dispatch, one.memory], rel=1e-6, abs=1e-12
        )
        assert [tone for *_, tone in blocks] == ["compute", "dispatch", "memory"]
        assert blocks[0][0] == 0
        assert blocks[-1][2] == pytest.approx(one.total)
    assert mark(w, "utilization").blocks[0][2] == result.utilization
    cards = {label: value for label, value, _ in w.cards(result)}
    assert cards["Utilization"] == show(result.utilization, "%", pad=True)
    assert cards["Dispatch"] == show(result.dispatch, "s", pad=True)
    assert show(result.utilization, "%") in w.sentence(result)
    assert show(result.total, "s") in w.sentence(result)
    header, (now, book) = w.table(result)
    for row, one in ((now, result), (book, w.textbook)):
        assert row[header.index("Total")] == show(one.total, "s")
        assert row[header.index("Utilization")] == show(one.utilization, "%")


@given(inputs)
def test_the_timeline_ends_when_physics_says(chosen: dict[str, Any]) -> None:
    result = DispatchWaterfall(**chosen).result
    shown = timeline(result)
    count = len(shown.kernels)
    assert 1 <= count <= 8
    few = replace(result, kernels=float(count), memory_time=result.memory * count / result.kernels)
    assert shown.end == pytest.approx(few.total)
    busy = sum(end - start for start, end in shown.kernels)
    idle = sum(end - start for start, end in shown.idle)
    assert busy + idle == pytest.approx(shown.end)
    assert idle == pytest.approx(few.dispatch, rel=1e-6, abs=1e-12)
    assert len(shown.launches) == (1 if chosen["launch"] == "graph" else count)
    # No kernel runs before it was launched.
    asked = shown.launches * count if chosen["launch"] == "graph" else shown.launches
    pairs = zip(asked, shown.kernels, strict=True)
    assert all(start >= end for (_, end), (start, _) in pairs)


def test_the_timeline_draws_what_it_tells() -> None:
    w = DispatchWaterfall(launch="async")
    shown, scene = timeline(w.result), w.scenes(w.result)[2]
    blocks = {one.name: one.blocks for one in scene.marks if isinstance(one, Blocks)}
    assert [block[:3:2] for block in blocks["idle"]] == list(shown.idle)
    tones = [tone for *_, tone in blocks["launches and kernels"]]
    assert tones == ["dispatch"] * 8 + ["compute", "memory"] * 8
    assert scene.across.high >= shown.end
    assert "8 of 1,000 kernels" in scene.across.label


def test_few_kernels_have_a_short_timeline() -> None:
    w = DispatchWaterfall(kernels=10, mode="compiled")  # fusion leaves two
    assert len(timeline(w.result).kernels) == 2


def test_a_model_brings_its_kernels_unless_a_count_is_asked_for() -> None:
    w = DispatchWaterfall()
    assert w.kernels == ph.workloads["kws"].kernels
    w.set(model="resnet50")
    assert w.kernels == ph.workloads["resnet50"].kernels
    w.set(model="kws", kernels=50)
    assert w.kernels == 50
    w.set(mode="compiled")
    assert w.kernels == 50
    w.set(model="gpt2-layer")
    assert w.kernels == ph.workloads["gpt2-layer"].kernels


def test_code_names_a_count_that_the_model_would_not_bring() -> None:
    w = DispatchWaterfall(model="resnet50", kernels=1000)
    again = eval(w.code, {"DispatchWaterfall": DispatchWaterfall})
    assert again.inputs == w.inputs


def test_total_work_stays_while_kernels_change() -> None:
    w = DispatchWaterfall()
    whole = w.result.compute, w.result.memory
    w.set(kernels=10_000)
    assert (w.result.compute, w.result.memory) == pytest.approx(whole)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("launch", WAYS)
def test_a_faster_gpu_is_used_less(model: str, launch: str) -> None:
    w = DispatchWaterfall(model=model, launch=launch)
    seen = []
    for speedup in (1, 2, 4, 8, 16):
        w.set(speedup=speedup)
        seen.append(w.result.utilization)
    assert seen == sorted(seen, reverse=True)


@given(inputs)
def test_the_alert_keeps_its_word(chosen: dict[str, Any]) -> None:
    w = DispatchWaterfall(**chosen)
    result, alert = w.result, w.alert(w.result)
    assert (alert is not None) == (result.dispatch > max(result.compute, result.memory))
    if alert is None:
        return
    faster = replace(result, compute_per_kernel=result.compute_per_kernel / 2)
    assert show(faster.utilization, "%") in alert[0]
    if chosen["launch"] == "serial":
        w.set(launch="async")
        assert f"run ahead (to {show(w.result.utilization, '%')})" in alert[0]


def test_three_models_are_compared() -> None:
    w = DispatchWaterfall(model="resnet50", launch="async", device="orin-nx", speedup=4)
    html = w.html(w.result)
    for key in MODELS:
        for mode in ("eager", "compiled"):
            one = ph.run(key, "orin-nx", mode, "async", speedup=4)
            assert f"<td>{show(one.utilization, '%')}</td>" in html
    assert "<strong>ResNet-50</strong>" in html


def test_a_prediction_is_drawn_and_judged() -> None:
    w = DispatchWaterfall(prediction=0.9)
    assert mark(w, "prediction").x == (0.9,)
    off = 100 * (0.9 - w.result.utilization)
    assert f"{show(off)} percentage points too high" in w.sentence(w.result)
    legend = w.scenes(w.result)[1].legend
    assert ("Your prediction, 90%", "prediction", "diamond") in legend
    assert mark(DispatchWaterfall(), "prediction").x == ()


@pytest.mark.parametrize("nonsense", [1.5, -0.1, float("nan"), "half"])
def test_a_prediction_that_is_no_fraction_is_refused(nonsense: Any) -> None:
    with pytest.raises(ValueError, match=r"prediction is .*; it must be a fraction"):
        DispatchWaterfall(prediction=nonsense)


def test_the_meter_changes_color_at_its_line() -> None:
    w = DispatchWaterfall(model="gpt2-layer")
    assert w.result.utilization >= WELL_USED
    assert mark(w, "utilization").blocks[0][4] == "green"
    w.set(model="kws")
    assert mark(w, "utilization").blocks[0][4] == "compute"
    assert mark(w, "well used").x == (WELL_USED, WELL_USED)


def test_a_refused_input_changes_nothing() -> None:
    w = DispatchWaterfall(kernels=300)
    before, marks = w.inputs, w.marks
    for bad in ({"device": "cortex-m7"}, {"kernels": 9}, {"kernels": "many"}, {"model": "bert"}):
        with pytest.raises(ValueError, match=r"must be|write it like"):
            w.set(**bad, speedup=3)
    assert w.inputs == before
    assert all(w.marks[name] is one for name, one in marks.items())
