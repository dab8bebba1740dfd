"""The numbers of the serving explorer: every batch as the physics core times it alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.instruments import serving_curve as curve
from mlsys_widgets.measured import MeasurementError

batches = st.integers(1, 1024)
lengths = st.integers(128, 131072)
precisions = st.sampled_from(["fp16", "bf16", "fp8", "int8", "int4"])
launches = st.sampled_from(["async", "graph"])


def alone(batch: float, sequence: float, precision: str, launch: Any) -> ph.ServingTime:
    return ph.serving_time(
        curve.KEY, "h200-sxm", "decode", batch, sequence, precision, launch=launch
    )


@given(batches, lengths, precisions, launches)
@settings(max_examples=60, deadline=None)
def test_each_batch_of_the_curve_is_what_it_is_alone(
    batch: int, sequence: int, precision: str, launch: Any
) -> None:
    """The curve times attention again and nothing else; that must be all that a length changes."""
    times = curve.calibrated_times("h200-sxm", precision, float(sequence), launch)
    step = alone(float(batch), float(sequence), precision, launch)
    assert times.at(batch) == pytest.approx(step.time, rel=1e-12)
    one = times.step(batch)
    for name in (*step.inputs(), *step.outputs()):
        assert getattr(one, name) == pytest.approx(getattr(step, name), rel=1e-12), name
    reason, kernel = times.binds(batch)
    assert reason == step.reason
    assert kernel == ("" if reason == "launch" else step.dominant.use.name)
    replayed = alone(float(batch), float(sequence), precision, "graph")
    assert times.replayed(batch) == pytest.approx(replayed.time, rel=1e-12)


@given(lengths, precisions, launches)
@settings(max_examples=20, deadline=None)
def test_the_parts_of_a_bar_add_up_to_its_time(sequence: int, precision: str, launch: Any) -> None:
    times = curve.calibrated_times("h200-sxm", precision, float(sequence), launch)
    total = sum(times.parts.values())
    assert total == pytest.approx([times.at(batch) for batch in curve.BARS])
    assert all((part >= 0).all() for part in times.parts.values())


@pytest.mark.parametrize("device", ["a100-sxm", "h100-sxm", "h200-sxm"])
@pytest.mark.parametrize("sequence", [128.0, 2048.0, 131072.0])
def test_the_textbook_is_the_textbook(device: str, sequence: float) -> None:
    times = curve.textbook_times(device, "fp16", sequence)
    for k, batch in enumerate(curve.BARS):
        step = ph.decode(curve.KEY, device, batch, sequence)
        assert times.at(batch) == step.time
        assert sum(part[k] for part in times.parts.values()) == pytest.approx(step.time)
        assert times.binds(batch) == ("bandwidth" if step.memory_bound else "arithmetic", "")
    assert times.replayed(1) is None


@given(batches, lengths, launches)
@settings(max_examples=30, deadline=None)
def test_the_calibrated_form_is_never_faster(batch: int, sequence: int, launch: Any) -> None:
    real = curve.calibrated_times("h200-sxm", "fp16", float(sequence), launch)
    assert real.at(batch) >= curve.textbook_times("h200-sxm", "fp16", float(sequence)).at(batch)


def test_weights_shrink_and_the_cache_does_not() -> None:
    wide, narrow = (
        curve.memory_needed("calibrated", "h200-sxm", precision, 64.0, 2048.0)
        for precision in ("fp16", "fp8")
    )
    textbook = curve.memory_needed("textbook", "h200-sxm", "fp8", 64.0, 2048.0)
    assert wide.total == ph.footprint(curve.KEY, "h200-sxm", 64, 2048).total
    assert narrow.weights == wide.weights / 2 == textbook.weights
    assert narrow.kv_cache == wide.kv_cache == 2 * textbook.kv_cache
    assert narrow.activations == wide.activations
    assert "b_w" in str(narrow.derivation("weights"))


def served(**changes: Any) -> curve.Serving:
    asked = {
        "device": "h200-sxm",
        "form": "calibrated",
        "precision": "fp16",
        "launch": "async",
        "batch": 16.0,
        "sequence": 2048.0,
        "target": 20e-3,
    }
    return curve.serve(**(asked | changes))


@given(batches, lengths, st.floats(1e-3, 1.0), st.sampled_from(curve.FORMS))
@settings(max_examples=60, deadline=None)
def test_the_largest_batch_fits_and_is_in_time_and_no_larger_one_is(
    batch: int, sequence: int, target: float, form: curve.Form
) -> None:
    now = served(batch=float(batch), sequence=float(sequence), target=target, form=form)
    best = now.largest_batch
    assert now.out_of_memory == (batch > now.fits)
    if best:
        found = served(batch=float(best), sequence=float(sequence), target=target, form=form)
        assert not found.out_of_memory
        assert found.late <= 0
    for more in range(best + 1, 1025, 100):
        other = served(batch=float(more), sequence=float(sequence), target=target, form=form)
        assert other.out_of_memory or other.late > 0


def test_the_first_token_comes_after_all_prompts() -> None:
    now = served(batch=4.0, sequence=1000.0)
    read = ph.serving_time(curve.KEY, "h200-sxm", "prefill", 4, 1000, launch="async")
    assert now.first_token == read.time
    assert served(form="textbook").first_token == ph.prefill(curve.KEY, "h200-sxm", 16, 2048).time


def test_a_precision_that_the_textbook_does_not_know_stands_alone() -> None:
    assert served(precision="int4").beside is None
    assert served(precision="fp8").beside is not None
    assert served(form="textbook").beside is None


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [
        (182.7, 0.1, 180),
        (999.6, 0.1, 1000),
        (0.00974, 0.1, 0.0097),
        (182.7, 0.01, 183),
        (0, 0.1, 0),
    ],
)
def test_digits_follow_the_known_error(value: float, error: float, shown: float) -> None:
    assert curve.rounded(value, error) == shown


# What was measured.


def measured_cases(device: str, **asked: Any) -> list[Any]:
    """A document with three tokens in fp16, of which two were launched one by one."""
    taken = [
        ("eager", 1, 2048, 6e-3),
        ("eager", 8, 32768, 9e-3),
        ("graph", 8, 2000, 6.5e-3),
    ]
    assert (asked["kind"], asked["model"], asked["phase"]) == ("serving", curve.KEY, "decode")
    return [
        SimpleNamespace(
            shape={"batch": batch, "sequence": sequence}, seconds=SimpleNamespace(median=seconds)
        )
        for variant, batch, sequence, seconds in taken
        if variant == asked["variant"] and asked["precision"] == "fp16"
    ]


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(curve, "cases", measured_cases)
    curve.measured_tokens.cache_clear()
    yield
    curve.measured_tokens.cache_clear()


@pytest.mark.usefixtures("taken")
def test_measured_points_have_this_launch_precision_and_about_this_context() -> None:
    assert served(measured=True).measured == ((1.0, 6e-3),)
    assert served(measured=True, launch="graph").measured == ((8.0, 6.5e-3),)
    assert served(measured=True, sequence=30000.0).measured == ((8.0, 9e-3),)
    assert served(measured=True, sequence=8192.0).measured == ()
    assert served(measured=True, precision="bf16").measured == ()
    assert served().measured == ()


def test_without_a_measurement_there_are_no_points(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: Any, **__: Any) -> None:
        raise MeasurementError("no such document")

    monkeypatch.setattr(curve, "cases", none)
    curve.measured_tokens.cache_clear()
    assert curve.measured_tokens("h100-sxm", "fp16", "graph") == ()
    curve.measured_tokens.cache_clear()


def test_every_time_is_a_positive_number() -> None:
    for sequence in (128.0, 131072.0):
        seconds = curve.calibrated_times("h200-sxm", "fp16", sequence, "async").seconds
        assert seconds.shape == (1024,)
        assert np.isfinite(seconds).all()
        assert (seconds > 0).all()
