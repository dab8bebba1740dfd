"""The serving explorer: which form speaks, what it says, and what it does not give away."""

from __future__ import annotations

from typing import Any

import pytest

from mlsys_widgets import MemoryBudget, RooflineWidget, ServingExplorer, link
from mlsys_widgets import physics as ph
from mlsys_widgets.instruments import serving_curve as curve
from mlsys_widgets.instruments.live_math import live_math
from tests.instruments.drawn import card
from tests.instruments.test_serving_curve import measured_cases

show = ph.format_quantity


# Two forms, and no number that leaves open which one it is from.


@pytest.mark.parametrize("form", ["calibrated", "textbook"])
def test_every_number_names_its_form(form: str) -> None:
    instrument = ServingExplorer(form=form)
    result = instrument.result
    assert all(label.endswith(f", {form}") for label, _, _ in instrument.cards(result))
    assert instrument.sentence(result).startswith(f"{form.capitalize()} form, from ")
    assert form in instrument.table(result)[0][0]
    assert all(title.endswith(form) for title in instrument.explanations)
    for scene in instrument.scenes(result):
        assert form in repr((scene.legend, scene.up.label, scene.marks)).lower()
    instrument.set(target=1e-3)
    words, tone = instrument.alert(instrument.result) or ("", "")
    assert f"({form} form)" in words
    assert tone == "orange"


def test_without_a_measurement_it_is_the_textbook_and_says_so() -> None:
    instrument = ServingExplorer(device="h100-sxm")
    assert instrument.form == "calibrated"
    assert instrument.shown_form == "textbook"
    said = instrument.sentence(instrument.result)
    assert said.startswith("No measurement of the H100 SXM is on record, so this is the textbook")
    assert "calibrated" not in repr(instrument.cards(instrument.result))
    assert {"form", "launch"} <= set(instrument.hidden())
    instrument.set(device="h200-sxm")  # what was asked for is not forgotten
    assert instrument.shown_form == "calibrated"
    assert instrument.hidden() == set()


def test_only_devices_that_multiply_in_fp16_serve() -> None:
    with pytest.raises(ValueError, match="Device is 'cortex-m7'; it must be one of: a100-sxm"):
        ServingExplorer(device="cortex-m7")


def test_precisions_follow_form_and_device() -> None:
    instrument = ServingExplorer(precision="int4")
    instrument.set(form="textbook")  # which has no int4
    assert instrument.precision == "fp16"
    instrument.set(precision="tf32")
    instrument.set(form="calibrated")
    assert instrument.precision == "fp16"
    with pytest.raises(ValueError, match="Precision of the weights is 'tf32'"):
        instrument.set(precision="tf32")
    assert ServingExplorer(device="orin-nx").hidden() >= {"precision"}


# What it says.


def test_the_numbers_are_those_of_the_physics_core_with_two_digits() -> None:
    instrument = ServingExplorer(batch=64, sequence=2048, launch="graph")
    step = ph.serving_time("llama31-8b", "h200-sxm", "decode", 64, 2048, launch="graph")
    read = ph.serving_time("llama31-8b", "h200-sxm", "prefill", 64, 2048, launch="graph")
    for label, value, unit in (
        ("Time per token", step.time, "s"),
        ("Time to first token", read.time, "s"),
        ("Whole device", step.tokens_per_second, "tokens/s"),
        ("Each conversation", 1 / step.time, "tokens/s"),
    ):
        shown = show(float(f"{value:.2g}"), unit)
        assert card(instrument, label) == shown
        assert shown in instrument.sentence(instrument.result)
    assert card(instrument, "Memory") == "41.2 GB of 141 GB"  # PHYSICS.md, reference values
    kernel = step.dominant.use.name.lower()
    assert card(instrument, "What binds") == f"{step.reason} ({kernel})"
    rows = {row[0]: row for row in instrument.table(instrument.result)[1]}
    assert rows["64"][1] == card(instrument, "Time per token")
    assert rows["1,024"][1] == "does not fit"


def test_the_textbook_on_an_h100() -> None:
    instrument = ServingExplorer(device="h100-sxm", batch=1, sequence=2048)
    assert instrument.decode.tokens_per_second == pytest.approx(205.9, rel=1e-3)
    assert card(instrument, "Whole device") == "210 tokens/s"
    assert card(instrument, "What binds") == "bandwidth"
    assert "launched" not in instrument.sentence(instrument.result)


def test_memory_agrees_with_the_memory_budget() -> None:
    for device in ("h200-sxm", "a100-sxm"):
        budget = MemoryBudget(device=device, batch=64, sequence=4096)
        explorer = ServingExplorer(device=device, batch=64, sequence=4096)
        assert explorer.result.memory.total == budget.result.total
        assert explorer.result.fits == budget.result.largest_batch


def test_out_of_memory_says_by_how_much_and_a_hint_what_would_fit() -> None:
    instrument = ServingExplorer(batch=500, sequence=2048)
    result = instrument.result
    words, tone = instrument.alert(result) or ("", "")
    assert tone == "red"
    assert f"{show(-result.memory.headroom, 'B')} too much" in words
    assert card(instrument, "Time per token") == "does not fit"
    assert "does not fit" in instrument.sentence(result)
    remedy = f"batch {result.fits} at this length"
    assert remedy in instrument.hint(result)
    assert str(result.fits) not in words
    instrument.set(batch=float(result.fits))
    assert not instrument.result.out_of_memory


def test_a_missed_target_says_by_how_much_and_a_hint_what_would_meet_it() -> None:
    instrument = ServingExplorer(batch=300, sequence=2048, target="20 ms")
    result = instrument.result
    late = float(f"{result.time - 20e-3:.2g}")
    words, _ = instrument.alert(result) or ("", "")
    assert f"{show(late, 's')} more than the target of 20 ms" in words
    assert "more than the target" in instrument.sentence(result)
    assert instrument.hint(result).startswith(
        f"What would meet the target: batch {result.largest_batch} at this length"
    )
    instrument.set(batch=float(result.largest_batch))
    assert instrument.alert(instrument.result) is None
    assert instrument.hint(instrument.result) == ""
    instrument.set(target=1e-3)
    assert instrument.hint(instrument.result) == "What would meet the target: nothing here."


def test_smaller_weights_that_would_fit_are_a_hint() -> None:
    instrument = ServingExplorer(batch=440, sequence=2048)  # 435 fit in fp16
    assert "or weights in fp8, with" in instrument.hint(instrument.result)
    instrument.set(precision="fp8")
    assert not instrument.result.out_of_memory


def test_the_largest_batch_that_can_be_set_may_not_be_the_largest() -> None:
    instrument = ServingExplorer(form="textbook", sequence=128, target=1)
    assert card(instrument, "Largest batch within target") == "1,024 or more"
    instrument.set(target=1e-3)
    assert card(instrument, "Largest batch within target") == "none"


# What was measured.


def test_measured_points_are_drawn_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curve, "cases", measured_cases)
    curve.measured_tokens.cache_clear()
    try:
        instrument = ServingExplorer(measured=True, sequence=2048)
        points = instrument.marks["measured"]
        assert (list(points.x), list(points.y)) == ([6e-3], [1 / 6e-3])
        row = instrument.table(instrument.result)[1][-1]
        assert row[:3] == ("1, measured", "6 ms", "166.7 tokens/s")
        assert instrument.alert(instrument.result) is None
        instrument.set(form="textbook")
        assert "launch" not in instrument.hidden()  # it chooses the points
        assert points.visible
        instrument.set(sequence=8192)
        assert not points.visible
        words, tone = instrument.alert(instrument.result) or ("", "")
        assert "is on record" in words
        assert tone == "gray"
    finally:
        curve.measured_tokens.cache_clear()


# What can be dragged, predicted and linked.


@pytest.mark.parametrize("batch", [1, 7, 64, 200])
def test_the_batch_is_dragged_along_its_curve_and_under_the_bars(batch: int) -> None:
    instrument = ServingExplorer()
    step = ph.serving_time("llama31-8b", "h200-sxm", "decode", batch, 2048, launch="async")
    instrument.drag("batch", float(step.time), float(step.tokens_per_second))
    assert instrument.batch == batch
    bars = instrument.scenes(instrument.result)[1]
    assert bars.handles[0].y == pytest.approx(step.time)
    instrument.drag("bar", 3.0, 0.0)
    assert instrument.batch == 64


def test_the_target_is_dragged() -> None:
    instrument = ServingExplorer()
    instrument.drag("target", 0.0123, 500)
    assert instrument.target == 0.0123
    instrument.drag("target", 1e9, 500)
    assert instrument.target == 1


def test_a_predicted_rate_is_in_picture_table_and_code() -> None:
    instrument = ServingExplorer(prediction=5000)
    assert list(instrument.marks["prediction"].y) == [5000, 5000]
    assert instrument.shown_table[1][-1][:2] == ("Your prediction", "5,000 tokens/s")
    assert instrument.code == "ServingExplorer(prediction=5000)"


def test_one_world_with_roofline_and_memory_budget() -> None:
    roofline, budget = RooflineWidget(workload="llm"), MemoryBudget()
    explorer = ServingExplorer(batch=32, sequence=1000)
    link(explorer, budget, roofline, on=("device", "batch", "sequence"))
    assert (budget.batch, roofline.sequence, budget.device) == (32, 1000, "h200-sxm")
    budget.set(device="a100-sxm", batch=8)
    assert (explorer.device, explorer.batch, roofline.batch) == ("a100-sxm", 8, 8)
    budget.set(device="cortex-m7")  # which serves no language model
    assert explorer.device == "a100-sxm"
    budget.set(device="h200-sxm")
    part = link(explorer, budget, on="precision")
    explorer.set(precision="int8")
    assert budget.precision == explorer.precision
    part()


@pytest.mark.parametrize(
    ("inputs", "decides"),
    [
        ({}, ["device_time", "device_time", "weights"]),
        ({"form": "textbook"}, ["memory_time", "compute_time", "weights"]),
        ({"sequence": 8192, "batch": 100}, ["device_time", "device_time", "kv_cache"]),
    ],
)
def test_the_math_marks_what_decides(inputs: dict[str, Any], decides: list[str]) -> None:
    instrument = ServingExplorer(launch="graph", **inputs)
    explained = instrument.explanations
    assert [instrument.dominant(result) for result in explained.values()] == decides
    for title in explained:
        math = live_math(instrument, title)
        assert math is not None
        assert sum(marked for _, _, marked in math["steps"]) == 1
        assert math["most"]
