"""What must hold for every input, not only for the examples of the course."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph


def positive(low: float = 1e-12, high: float = 1e18) -> st.SearchStrategy[float]:
    """Numbers spread evenly over their orders of magnitude."""
    exponents = st.floats(math.log10(low), math.log10(high), allow_nan=False)
    return exponents.map(lambda e: min(max(10.0**e, low), high))


dimensions = st.integers(1, 100_000)
counts = positive(1, 1e6)
times = positive(1e-9, 1.0)
rates = positive(1e-3, 1e9)
launches = st.sampled_from(["serial", "async", "graph"])
peaks_on_record = [
    (device, key.removesuffix(" sparse"), key.endswith("sparse"))
    for device in ph.devices.values()
    for key in device.peaks
]


@given(positive(1e-6, 1e6), positive(1e6, 1e18), positive(1e3, 1e15))
def test_attainable_is_under_both_roofs_and_touches_one(
    intensity: float, peak: float, bandwidth: float
) -> None:
    roof = ph.roofline(intensity, peak, bandwidth)
    assert 0 < roof.attainable <= peak
    assert roof.attainable <= bandwidth * intensity
    assert roof.attainable in (peak, bandwidth * intensity)
    assert 0 < roof.mfu <= 1


@given(st.sampled_from(peaks_on_record), positive(1e-6, 1e6))
def test_the_regime_is_what_the_plot_shows(
    case: tuple[ph.Device, str, bool], intensity: float
) -> None:
    device, precision, sparse = case
    peak = device.peak(precision, sparse)
    roof = ph.roofline(intensity, peak, device.bandwidth)
    assert roof.ridge == device.ridge(precision, sparse)
    # Left of the corner the sloped roof is the lower one, right of it the flat one.
    on_the_slope = device.bandwidth * intensity < peak
    near_the_corner = math.isclose(intensity, roof.ridge, rel_tol=1e-9)
    assert near_the_corner or (roof.regime == "memory-bound") == on_the_slope
    assert near_the_corner or (roof.mfu < 1) == on_the_slope


@given(dimensions, dimensions, dimensions, st.sampled_from([1, 2, 4, 8]))
def test_gemm_counts(m: int, n: int, k: int, width: int) -> None:
    kernel = ph.gemm(m, n, k, width)
    assert math.isclose(kernel.flops, 2 * m * n * k)
    assert math.isclose(kernel.bytes, width * (m * n + n * k + m * k))
    # No GEMM is more intense than one whose smallest side is the only limit.
    assert kernel.intensity <= 2 * min(m, n, k) / width * (1 + 1e-12)


@given(dimensions, dimensions, dimensions)
def test_a_projection_is_a_gemm(batch: int, sequence: int, width: int) -> None:
    flat = ph.gemm(batch * sequence, width, width)
    folded = ph.projection(batch, sequence, width)
    assert math.isclose(flat.flops, folded.flops)
    assert math.isclose(flat.bytes, folded.bytes)


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
def test_a_faster_device_is_less_utilised(
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


OPS = [key for key, op in ph.ops.items() if op.kind in ("elementwise", "row-reduction")]


@st.composite
def chains(draw: st.DrawFn) -> ph.Chain:
    steps = []
    for key in draw(st.lists(st.sampled_from(OPS), min_size=1, max_size=12)):
        named = ph.ops[key].operands and draw(st.booleans())
        steps.append((key, draw(st.sampled_from("xwb"))) if named else key)
    return ph.chain(*steps)


@given(chains(), positive(1, 1e12), st.sampled_from([1, 2, 4]))
def test_fusion_never_costs(chain: ph.Chain, elements: float, width: int) -> None:
    found = ph.fuse(chain, elements, width, "a100-sxm")
    assert found.fused_traffic <= found.unfused_traffic
    assert found.fused_intensity >= found.unfused_intensity
    assert found.speedup >= 1 - 1e-12
    # One pass in and one pass out is the least that any kernel moves.
    assert found.fused_traffic >= 2 * width * elements * (1 - 1e-12)
    if len(chain.links) == 1:
        assert math.isclose(found.speedup, 1) or chain.links[0].operands == ("x",)


@given(positive(1e-3, 1e5), rates, positive(1.0001, 100), positive(1.0001, 10))
def test_break_even_is_monotone(
    compile_time: float, eager: float, gain: float, more: float
) -> None:
    compiled = eager * gain
    base = ph.break_even(compile_time, eager, compiled)
    assert 0 < base < math.inf
    assert ph.break_even(compile_time * more, eager, compiled) > base
    assert ph.break_even(compile_time, eager, compiled * more) < base
    faster_eager = eager * min(more, math.sqrt(gain))
    assert ph.break_even(compile_time, faster_eager, compiled) > base


@given(positive(1e-3, 1e5), rates, positive(1e-3, 1))
def test_no_gain_never_pays(compile_time: float, eager: float, loss: float) -> None:
    assert ph.break_even(compile_time, eager, eager * loss) == math.inf
    done = ph.deployment(compile_time, eager, eager * loss, per_day=1e9, days=365)
    assert done.days_to_break_even == math.inf
    assert done.roi_positive is False
    assert done.net_saved < 0


@given(positive(1e-3, 1e5), rates, positive(1.001, 10), positive(1, 1e9), positive(1e-3, 1e4))
def test_a_deployment_agrees_with_itself(
    compile_time: float, eager: float, gain: float, per_day: float, days: float
) -> None:
    done = ph.deployment(compile_time, eager, eager * gain, per_day=per_day, days=days)
    if not math.isclose(done.inferences, done.break_even, rel_tol=1e-9):
        assert done.roi_positive == (done.net_saved > 0) == (done.days_to_break_even < days)
    (start, nothing), (end, saved) = done.curve
    assert (start, nothing, end) == (0, 0, days)
    # The straight line crosses the compile cost on the day of break-even.
    assert math.isclose(saved / end * done.days_to_break_even, compile_time, rel_tol=1e-9)


@given(positive(1, 1e12), positive(1, 1e15), positive(1e6, 1e13), positive(1e6, 1e16))
def test_overlap_saves_at_most_the_smaller_term(
    data: float, operations: float, bandwidth: float, rate: float
) -> None:
    terms = {"data": data, "operations": operations, "bandwidth": bandwidth, "rate": rate}
    added, overlapped = (ph.iron_law(**terms, overlapped=o) for o in (False, True))
    smaller = min(added.memory_time, added.compute_time)
    assert math.isclose(added.total, overlapped.total + smaller, rel_tol=1e-9)
    assert added.binding == overlapped.binding


@given(st.integers(1, 4096), st.integers(1, 131_072), st.sampled_from([8, 32]))
def test_out_of_memory_and_the_batch_that_fits(batch: int, sequence: int, heads: int) -> None:
    need = ph.footprint("llama3-8b", "h100-sxm", batch, sequence, kv_heads=heads)
    assert need.out_of_memory == (need.headroom < 0) == (need.largest_batch < batch)
    fitting = need.largest_batch
    if fitting >= 1:
        assert not ph.footprint(
            "llama3-8b", "h100-sxm", fitting, sequence, kv_heads=heads
        ).out_of_memory
    over = ph.footprint("llama3-8b", "h100-sxm", fitting + 1, sequence, kv_heads=heads)
    assert over.out_of_memory


@given(st.integers(1, 1024), st.integers(1, 131_072), st.booleans())
def test_reading_is_never_slower_than_writing(batch: int, sequence: int, attention: bool) -> None:
    write, read = (
        step("llama3-8b", "h100-sxm", batch, sequence, attention=attention)
        for step in (ph.decode, ph.prefill)
    )
    assert read.tokens_per_second >= write.tokens_per_second * (1 - 1e-9)
    for step in (write, read):
        assert step.time == max(step.memory_time, step.compute_time)


@given(st.lists(positive(1, 1e5), min_size=1, max_size=20))
def test_a_call_over_many_is_many_calls(sizes: list[float]) -> None:
    shapes = np.array(sizes)
    many = ph.gemm(shapes, shapes, shapes)
    roofs = ph.roofline(many.intensity, 989e12, 3.35e12)
    for k, size in enumerate(sizes):
        one = ph.gemm(size, size, size)
        roof = ph.roofline(one.intensity, 989e12, 3.35e12)
        assert roofs.attainable[k] == roof.attainable
        assert roofs.regime[k] == roof.regime
