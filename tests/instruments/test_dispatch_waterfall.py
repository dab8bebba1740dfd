"""The dispatch waterfall says what physics says, in bar, meter, timeline, table and words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.instruments.controls import Slider
from mlsys_widgets.instruments.dispatch_waterfall import WELL_USED, DispatchWaterfall
from mlsys_widgets.instruments.live_math import live_math
from mlsys_widgets.wording.units import in_one_unit
from tests.instruments.drawn import handles, mark

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
        "launch_cost": st.floats(1e-7, 1e-3),
    }
)


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
        launch_overhead=w.launch_cost,
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
    for time in in_one_unit("s", result.total, w.textbook.total):
        assert time in w.sentence(result)
    header, rows = w.table(result)
    assert header[1:] == ("This run", "Textbook: eager, serial")
    told = {name: cells for name, *cells in rows}
    for k, one in enumerate((result, w.textbook)):
        assert told["Total"][k] == show(one.total, "s")
        assert told["Utilization"][k] == show(one.utilization, "%")
        assert told["Cost of a launch"][k] == show(one.launch_overhead, "s")


def test_the_first_kernels_are_in_the_table() -> None:
    # Keyword spotting on an A100: a launch of 10 µs, then a kernel of 5.5 µs, 0.5 µs of it memory.
    _, rows = DispatchWaterfall().table(DispatchWaterfall().result)
    told = {name: cells for name, *cells in rows}
    assert told["Kernel 1 launched"] == ["0 s to 10 µs"] * 2
    assert told["Kernel 2 runs"] == ["25.5 µs to 31 µs"] * 2
    graph = DispatchWaterfall(launch="graph")
    told = {name: cells for name, *cells in graph.table(graph.result)[1]}
    assert told["Kernel 2 launched"] == ["–", "15.5 µs to 25.5 µs"]


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


def test_a_device_brings_its_launch_cost_unless_one_is_asked_for() -> None:
    w = DispatchWaterfall(device="orin-nx")
    assert w.launch_cost == ph.devices["orin-nx"].launch()
    w.set(launch_cost="7 us")
    assert w.result.launch_overhead == pytest.approx(7e-6)
    assert "at 7 µs per launch" in w.sentence(w.result)
    assert eval(w.code, {"DispatchWaterfall": DispatchWaterfall}).inputs == w.inputs
    w.set(model="resnet50")
    assert w.launch_cost == pytest.approx(7e-6)
    w.set(device="h200-sxm")
    assert w.launch_cost == ph.devices["h200-sxm"].launch()
    assert "per launch" not in w.sentence(w.result)
    w.set(device="a100-sxm", launch_cost=2e-5)
    assert w.launch_cost == 2e-5
    # The textbook's launches cost what the device's do.
    assert w.textbook.launch_overhead == ph.devices["a100-sxm"].launch()


#: Where each handle can be taken to: its scene, and its place as fractions of the axis.
HANDLES = {"end of computing": 0, "end of a launch": 2, "end of a kernel": 2}


@given(inputs, st.sampled_from(sorted(HANDLES)), st.floats(0.001, 1))
def test_a_handle_lies_where_it_was_dragged_to(
    chosen: dict[str, Any], name: str, part: float
) -> None:
    w = DispatchWaterfall(**chosen)
    across = w.scenes(w.result)[HANDLES[name]].across
    handle, place = handles(w)[name], part * across.high
    w.drag(name, place, handle.y)
    control, value = w.controls[handle.control], getattr(w, handle.control)
    assert isinstance(control, Slider)
    # One axis for the whole drag, unless the input was beyond it from the start.
    now = w.scenes(w.result)[HANDLES[name]].across
    assert now.high == across.high or handle.x > across.high or now.high < across.high
    if value not in (control.low, control.high):
        moved = w.result.launch_overhead if name == "end of a kernel" else 0.0
        # Three digits are kept, and kernels are whole numbers of at least ten.
        assert handles(w)[name].x - moved == pytest.approx(place - moved, rel=0.06)


def test_handles_clip_at_the_ends_of_their_inputs() -> None:
    w = DispatchWaterfall()
    w.drag("end of computing", 1.0, 0)  # as slow as it gets
    assert w.speedup == 1
    w.drag("end of computing", 0.0, 0)
    assert w.speedup == 16
    w.drag("end of a launch", 0.0, 0)
    assert w.launch_cost == 1e-7
    w.drag("end of a launch", 1.0, 0)
    assert w.launch_cost == 1e-3
    w.drag("end of a kernel", 0.0, 0)  # before its own launch
    assert w.kernels == 10_000
    w.drag("end of a kernel", 1.0, 0)
    assert w.kernels == 10


def test_dragging_step_by_step_does_not_run_away() -> None:
    # Whatever is dragged, the pointer stays at one place of the screen while events arrive.
    for name, k in HANDLES.items():
        w = DispatchWaterfall()
        for part in (0.3, 0.6, 0.95, 1.0, 1.0, 1.0):
            axis = w.scenes(w.result)[k].across
            w.drag(name, part * axis.high, 0)
            assert w.scenes(w.result)[k].across.high == axis.high, name


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
    assert alert[0] == f"Launches take {show(result.dispatch / result.total, '%')} of the pass."


@given(inputs)
def test_the_hint_keeps_its_word(chosen: dict[str, Any]) -> None:
    w = DispatchWaterfall(**chosen)
    result, hint = w.result, w.hint(w.result)
    faster = replace(result, compute_per_kernel=result.compute_per_kernel / 2)
    assert f"utilization would be {show(faster.utilization, '%')}" in hint
    w.set(launch="async")
    promised = f"run ahead (to {show(w.result.utilization, '%')})"
    assert (promised in hint) == (w.result.utilization > result.utilization)


def test_what_compiling_does_for_other_models_is_a_hint() -> None:
    w = DispatchWaterfall(model="resnet50", launch="async", device="orin-nx", speedup=4)
    for key in MODELS:
        eager, compiled = (
            ph.run(key, "orin-nx", mode, "async", speedup=4) for mode in ("eager", "compiled")
        )
        words = f"{show(eager.total / compiled.total, '×')} faster, at "
        assert f"{words}{show(compiled.utilization, '%')}" in w.hint(w.result)
    assert w.html(w.result) == ""


@pytest.mark.parametrize("launch", WAYS)
def test_nothing_but_the_hint_tells_of_other_settings(launch: str) -> None:
    w = DispatchWaterfall(launch=launch)
    told = repr((w.cards(w.result), w.sentence(w.result), w.table(w.result), w.alert(w.result)))
    for mode, way in (("compiled", launch), ("eager", "async"), ("eager", "graph")):
        other = ph.run("kws", "a100-sxm", mode, way)
        if other.utilization != w.result.utilization:
            assert show(other.utilization, "%") not in told
            assert show(other.utilization, "%") in w.hint(w.result) or launch != "serial"


@pytest.mark.parametrize(
    ("chosen", "largest"),
    [
        ({}, "dispatch"),  # 10 of 15.5 ms
        ({"model": "gpt2-layer"}, "compute"),  # 10 of 11.1 ms
        ({"model": "gpt2-layer", "device": "orin-nx"}, "memory"),  # 17.9 of 28.9 ms
    ],
)
def test_the_math_marks_the_largest_part(chosen: dict[str, Any], largest: str) -> None:
    w = DispatchWaterfall(**chosen)
    (marked,) = (equation for _, equation, decides in live_math(w)["steps"] if decides)
    assert marked.partition("</math>")[0].endswith(
        f"<msub><mi>t</mi><mtext>{largest}</mtext></msub></mrow>"
    )
    assert "depends most on" in live_math(w)["most"]


def test_a_prediction_is_drawn_where_it_was_made_and_judged_nowhere() -> None:
    w = DispatchWaterfall(prediction=0.9)
    assert mark(w, "prediction").x == (0.9,)
    legend = w.scenes(w.result)[1].legend
    assert ("Your prediction, 90%", "prediction", "diamond") in legend
    assert "prediction" not in w.sentence(w.result)
    w.set(launch="async")
    assert mark(w, "prediction").x == ()
    assert "Your prediction of 90% is about other settings (Launches: Serial)." in w.text()
    w.reset()
    assert mark(w, "prediction").x == (0.9,)
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


def test_the_first_card_says_how_bad_it_is() -> None:
    tones = {}
    for inputs in ({"model": "gpt2-layer"}, {"mode": "compiled"}, {}):  # 90, 66.7 and 32.3 %
        w = DispatchWaterfall(**inputs)
        tones[round(float(w.result.utilization), 1)] = w.cards(w.result)[0][2]
    assert tones == {0.9: "green", 0.7: "orange", 0.3: "red"}
