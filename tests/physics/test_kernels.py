"""What kernels count: operations, bytes, and their ratio."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from tests.physics.strategies import dimensions, positive


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


@given(positive(1, 1e12), st.sampled_from([1, 2, 4]), positive(1e-5, 1))
def test_fusion_leaves_the_work_and_cuts_the_traffic(
    elements: float, width: int, share: float
) -> None:
    apart, fused = (ph.elementwise(elements, width, traffic_share=f) for f in (1.0, share))
    assert fused.flops == apart.flops
    assert math.isclose(fused.bytes, share * apart.bytes)
    assert fused.intensity >= apart.intensity * (1 - 1e-12)


def test_each_fusion_strategy_leaves_less_than_the_one_before() -> None:
    shares = [strategy.traffic_share for strategy in ph.fusion_strategies.values()]
    assert shares[0] == 1
    assert shares == sorted(shares, reverse=True)


def test_a_norm_crosses_memory_by_one_rule_everywhere() -> None:
    # As separate steps three times (the course), as one kernel twice, beside a neighbor once.
    apart, alone, beside = ph.fusion_strategies.values()
    assert apart.crossings == ph.normalization.passes == 3
    for norm in ("layernorm", "softmax"):
        kernel = ph.chain(norm)
        assert alone.crossings == kernel.unfused_reads + kernel.unfused_writes
        # What a neighbor in the same kernel saves of it: its read.
        both = ph.chain("relu", norm)
        spared = kernel.unfused_reads + kernel.unfused_writes + 2
        spared -= both.fused_reads + both.fused_writes
        assert alone.crossings - beside.crossings == spared / 2


def test_a_kind_of_kernel_has_to_count_for_itself() -> None:
    with pytest.raises(NotImplementedError):
        _ = ph.Kernel().flops
