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


def test_chain_name() -> None:
    assert ph.chain("layernorm", "dropout", "relu").name == "LayerNorm → Dropout → ReLU"


def test_compute_time_follows_the_work_and_the_device() -> None:
    short, long = (ph.fuse(ph.chain(*["relu"] * k), 1e6, device="a100-sxm") for k in (1, 4))
    assert long.compute_time == pytest.approx(4 * short.compute_time)
    # A microcontroller cannot compute faster than its own peak.
    slow = ph.fuse(ph.chain("relu"), 1e6, device="cortex-m7")
    assert slow.compute_time == pytest.approx(1e6 / ph.devices["cortex-m7"].peak("fp32"))


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
