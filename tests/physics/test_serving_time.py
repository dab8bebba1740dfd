"""A pass of a served model: a sum of kernels, held against the textbook and its own parts."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from tests.physics.laws import LESS
from tests.physics.strategies import positive, whole

TEXTBOOK = {"decode": ph.decode, "prefill": ph.prefill}
phases = st.sampled_from(["decode", "prefill"])
precisions = st.sampled_from(["fp16", "bf16", "fp8", "int8", "int4"])
batches = whole(1024)
#: Contexts from 128 to 131,072 tokens.
contexts = positive(128, 131_072).map(int)


def served(phase: str, batch: Any, sequence: Any, **words: Any) -> ph.ServingTime:
    return ph.serving_time("llama31-8b", "h200-sxm", phase, batch, sequence, **words)


def kernel_time(done: ph.ServingTime) -> float:
    """Seconds of all kernels without the gaps between them."""
    return sum(float(seconds) for part, seconds in done.parts.items() if part != "gaps")


@given(phases, batches, contexts, st.sampled_from(["fp16", "bf16"]), st.booleans())
@example("decode", 1024, 131_072, "fp16", True)
@example("decode", 255, 128_944, "fp16", False)
@example("prefill", 759, 128, "fp16", False)
@example("prefill", 1, 128, "fp16", True)
def test_never_faster_than_the_textbook(
    phase: str, batch: int, sequence: int, precision: str, attention: bool
) -> None:
    textbook = TEXTBOOK[phase](
        "llama31-8b", "h200-sxm", batch, sequence, precision, attention=attention
    )
    assert served(phase, batch, sequence, precision=precision).time > textbook.time


def test_never_faster_than_the_textbook_anywhere_on_a_grid() -> None:
    batch = np.unique(np.floor(np.logspace(0, math.log10(1024), 80)))[:, None]
    sequence = np.unique(np.floor(np.logspace(math.log10(128), math.log10(131_072), 60)))
    for phase, textbook in TEXTBOOK.items():
        real = served(phase, batch, sequence).time
        assert np.all(real > textbook("llama31-8b", "h200-sxm", batch, sequence).time)


@given(phases, batches, contexts, precisions)
def test_no_kernel_is_faster_than_its_own_roofline(
    phase: str, batch: int, sequence: int, precision: str
) -> None:
    for timed in served(phase, batch, sequence, precision=precision).uses:
        assert timed.one.time >= LESS * timed.one.textbook


@given(phases, batches, contexts, precisions)
def test_a_graph_is_never_slower_than_kernel_by_kernel(
    phase: str, batch: int, sequence: int, precision: str
) -> None:
    graph, launched = (
        served(phase, batch, sequence, precision=precision, launch=launch)
        for launch in ("graph", "async")
    )
    assert graph.time <= launched.time
    assert graph.device_time == launched.device_time
    assert launched.time == max(launched.device_time, launched.host_time)
    assert (launched.reason == "launch") == (launched.host_time > launched.device_time)


@given(batches, contexts, st.sampled_from(["graph", "async"]))
def test_a_longer_context_never_takes_less(batch: int, sequence: int, launch: str) -> None:
    less, more = (
        served("decode", batch, length, launch=launch).time for length in (sequence, sequence + 1)
    )
    assert more >= LESS * less


def test_another_sequence_never_takes_less() -> None:
    """Single kernels may save time by becoming larger (see the laws); the whole step does not."""
    batch, sequence = np.arange(1.0, 1025.0)[:, None], np.array([128.0, 512.0, 8192.0, 131_072.0])
    times = served("decode", batch, sequence).time
    assert np.all(np.diff(times, axis=0) >= 0)


@given(whole(64), contexts)
def test_a_longer_prompt_never_takes_less(batch: int, sequence: int) -> None:
    less, more = (served("prefill", batch, length).time for length in (sequence, sequence + 1))
    assert more >= LESS * less


@given(phases, st.integers(1, 256), contexts, precisions)
def test_the_parts_and_the_gaps_are_the_whole(
    phase: str, batch: int, sequence: int, precision: str
) -> None:
    done = served(phase, batch, sequence, precision=precision)
    parts, gaps = kernel_time(done), done.kernels * done.node_overhead
    assert parts + gaps == pytest.approx(done.device_time)
    assert parts == pytest.approx(sum(timed.total for timed in done.uses))
    assert done.kernels == sum(timed.use.launches * timed.use.times for timed in done.uses)
    assert done.dominant.total == max(timed.total for timed in done.uses)
    assert done.reason == done.dominant.reason  # a graph waits for no launch


@given(phases, whole(64), contexts, st.sampled_from(["graph", "async"]))
def test_the_derivation_recomputes_to_the_result(
    phase: str, batch: int, sequence: int, launch: str
) -> None:
    done = served(phase, batch, sequence, launch=launch)
    shown = {step.quantity.name: step.value for step in done.derivation().steps}
    host = done.kernels * done.launch_overhead
    device = kernel_time(done) + done.kernels * done.node_overhead
    assert shown["host_time"] == pytest.approx(host)
    assert shown["device_time"] == pytest.approx(device)
    assert shown["time"] == pytest.approx(max(device, host) if launch == "async" else device)
    assert shown["tokens_per_second"] == pytest.approx(done.tokens / done.time)


@given(st.integers(1, 32))
def test_layers_add_up(layers: int) -> None:
    one, several = (served("decode", 4, 1000, layers=count) for count in (1, layers))
    assert several.device_time == pytest.approx(layers * one.device_time)


@pytest.mark.parametrize("phase", ["decode", "prefill"])
@pytest.mark.parametrize("launch", ["graph", "async"])
@pytest.mark.parametrize("precision", ["fp16", "int8", "int4"])
def test_many_at_once_are_each_on_their_own(phase: str, launch: str, precision: str) -> None:
    batch, sequence = np.array([[1.0], [16.0], [17.0]]), np.array([128.0, 1000.0, 20_000.0])
    words = {"launch": launch, "precision": precision}
    many = served(phase, batch, sequence, **words)
    for i, j in np.ndindex(3, 3):
        one = served(phase, float(batch[i, 0]), float(sequence[j]), **words)
        assert many.time[i, j] == pytest.approx(one.time, rel=1e-12)
        for part, seconds in many.parts.items():
            shared = np.broadcast_to(seconds, (3, 3))[i, j]
            assert shared == pytest.approx(one.parts[part], rel=1e-12)


def test_a_token_alone_waits_for_launches_and_many_for_memory() -> None:
    alone, many = (served("decode", batch, 8192, launch="async") for batch in (1, 256))
    assert (alone.reason, many.reason) == ("launch", "bandwidth")
    assert many.dominant.use.name == "Attention"
    assert served("prefill", 1, 8192).reason == "arithmetic"


def test_a_calibration_of_your_own_takes_the_place_of_the_one_on_record() -> None:
    shipped = ph.calibration_of("h200-sxm")
    slow = replace(shipped, launch=10 * shipped.launch)
    usual, tenfold = (
        served("decode", 1, 512, launch="async", calibration=chosen) for chosen in (None, slow)
    )
    assert tenfold.host_time == pytest.approx(10 * usual.host_time)
    assert tenfold.device_time == usual.device_time


@pytest.mark.parametrize("phase", ["prefill", "decode"])
def test_kernels_that_are_the_same_are_timed_once(phase: Any) -> None:
    pass_ = ph.serving_time("llama31-8b", "h200-sxm", phase, batch=16, sequence=2048)
    norms = [timed for timed in pass_.uses if timed.use.part == "normalization"]
    assert [timed.use.name for timed in norms] == [
        "RMS norm before attention",
        "RMS norm before feed-forward",
        "Last RMS norm",
    ]
    assert norms[0].one is norms[1].one is norms[2].one
    # Each still counts as often as it runs.
    layers = ph.workloads["llama31-8b"].layers  # type: ignore[attr-defined]
    assert pass_.normalization == pytest.approx((2 * layers + 1) * norms[0].one.time)
    products = [timed.one for timed in pass_.uses if timed.use.part == "products"]
    assert len({id(one) for one in products}) == len(products) == 4
