"""What launching costs a forward pass, and what hides it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from tests.physics.strategies import counts, launches, positive, times


@given(counts, times, times | st.just(0.0), times | st.just(0.0), launches)
def test_a_pass_adds_up(
    kernels: float, compute: float, launch: float, memory: float, how: str
) -> None:
    done = ph.forward_pass(kernels, compute, launch, memory, launch=how)  # type: ignore[arg-type]
    assert 0 < done.utilization <= 1 + 1e-12
    assert math.isclose(done.compute + done.memory + done.dispatch, done.total, rel_tol=1e-9)
    assert done.dispatch >= -1e-9 * done.total


@given(counts, times, times | st.just(0.0), times | st.just(0.0))
def test_async_is_never_slower_than_serial(
    kernels: float, compute: float, launch: float, memory: float
) -> None:
    serial, hidden = (
        ph.forward_pass(kernels, compute, launch, memory, launch=how) for how in ("serial", "async")
    )
    assert hidden.total <= serial.total * (1 + 1e-12)
    # Nor faster than the slower of the two queues.
    assert hidden.total >= max(kernels * launch, hidden.compute + hidden.memory) * (1 - 1e-12)


@given(counts, times, positive(1e-7, 1e-3), positive(1.01, 100))
def test_a_faster_device_is_less_utilized(
    kernels: float, compute: float, launch: float, speedup: float
) -> None:
    slow = ph.forward_pass(kernels, compute, launch)
    fast = ph.forward_pass(kernels, compute / speedup, launch)
    assert fast.utilization < slow.utilization
    assert fast.total < slow.total


@given(
    st.sampled_from(["kws", "resnet50", "gpt2-layer"]),
    st.sampled_from(["a100-sxm", "h100-sxm", "h200-sxm", "orin-nx"]),
    launches,
    positive(1, 1e5),
)
def test_compiling_never_slows_a_pass(model: str, device: str, how: str, kernels: float) -> None:
    eager, compiled = (
        ph.run(model, device, mode=mode, launch=how, kernels=kernels)  # type: ignore[arg-type]
        for mode in ("eager", "compiled")
    )
    assert compiled.total <= eager.total * (1 + 1e-12)
    assert math.isclose(compiled.compute, eager.compute, rel_tol=1e-9)
    assert compiled.kernels >= 1


def test_a_single_kernel_cannot_hide_its_launch() -> None:
    serial, ahead = (ph.forward_pass(1, 5e-6, 10e-6, launch=how) for how in ("serial", "async"))
    assert ahead.total == pytest.approx(serial.total)


def test_a_graph_pays_one_launch_and_a_little_for_each_kernel() -> None:
    graph = ph.forward_pass(1000, 5e-6, 10e-6, launch="graph")
    assert isinstance(graph, ph.GraphPass)
    assert graph.dispatch == pytest.approx(10e-6 + 1000 * ph.GRAPH_NODE_OVERHEAD.value)


def test_the_same_work_in_other_kernels_computes_as_long() -> None:
    own, split = (ph.run("resnet50", "a100-sxm", kernels=k) for k in (None, 5000))
    assert split.compute == pytest.approx(own.compute)
    assert split.dispatch > own.dispatch


def test_compiling_never_leaves_less_than_one_kernel() -> None:
    assert ph.run("kws", "a100-sxm", mode="compiled", kernels=1).kernels == 1
