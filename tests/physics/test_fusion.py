"""What a chain reads and writes, and what fusing it saves."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from tests.physics.strategies import positive


def test_a_chain_agrees_with_the_verdicts_of_its_pairs() -> None:
    chain = ph.chain("layernorm", "dropout", "relu")
    pairs = zip(chain.links, chain.links[1:], strict=False)
    assert all(ph.can_fuse(a.op, b.op).fusible for a, b in pairs)


def test_a_tensor_named_twice_is_read_once_when_fused() -> None:
    residual = ph.chain("gelu", ("add", "x"))
    assert (residual.unfused_reads, residual.fused_reads) == (3, 1)
    two = ph.chain(("mul", "w"), ("add", "w"))
    assert (two.unfused_reads, two.fused_reads) == (4, 2)


def test_tensors_without_names_are_different_tensors() -> None:
    assert ph.chain("add", "add").fused_reads == 3


def test_compute_time_follows_the_work_and_the_device() -> None:
    short, long = (ph.fuse(ph.chain(*["relu"] * k), 1e6, device="a100-sxm") for k in (1, 4))
    assert long.compute_time == pytest.approx(4 * short.compute_time)
    # Datasheets, fp32 outside the tensor cores: 19.5 and 67 TFLOPS; 1,024 cores at 918 MHz; the
    # course's 1 GFLOP/s of a microcontroller.
    rates = {"a100-sxm": 19.5e12, "h100-sxm": 67e12, "h200-sxm": 67e12, "orin-nx": 1.88e12,
             "cortex-m7": 1e9}  # fmt: skip
    for device, rate in rates.items():
        one = ph.fuse(ph.chain("relu"), 1e6, device=device)
        assert one.compute_time == pytest.approx(1e6 / rate)
    with pytest.raises(ValueError, match="Mobile NPU has no vector peak on record"):
        ph.fuse(ph.chain("relu"), 1e6, device="mobile-npu", launch_overhead=0)


@given(st.sampled_from(["a100-sxm", "h200-sxm", "orin-nx", "cortex-m7"]), positive(1, 1e12))
def test_arithmetic_is_longer_than_traffic_right_of_the_vector_ridge(
    device: str, elements: float
) -> None:
    machine = ph.devices[device]
    ridge = machine.elementwise_rate() / machine.bandwidth
    for steps in (["relu"], ["gelu"] * 6, ["layernorm", "dropout", "relu"]):
        found = ph.fuse(ph.chain(*steps), elements, 1, device)
        longer = found.compute_time > found.fused_traffic / found.bandwidth
        assert longer == (found.fused_intensity > ridge)


OPS = [key for key in ph.ops if ph.chainable(key)]


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
