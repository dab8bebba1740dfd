"""Products with stored weights: what each precision moves, and what it multiplies in."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from tests.physics.strategies import whole

sides = whole(65_536)
precisions = st.sampled_from(sorted(ph.storages))


@given(sides, sides, sides, precisions)
def test_counts(m: int, n: int, k: int, precision: str) -> None:
    kernel, stored = ph.product(m, n, k, precision), ph.storages[precision]
    assert math.isclose(kernel.flops, 2 * m * n * k)
    parts = (n * k * stored.weight, m * k * stored.activation, m * n * stored.result)
    assert math.isclose(kernel.bytes, sum(parts))


@given(sides, sides, sides)
def test_in_one_width_it_is_a_gemm(m: int, n: int, k: int) -> None:
    stored, plain = ph.product(m, n, k, "fp16"), ph.gemm(m, n, k, 2)
    assert math.isclose(stored.bytes, plain.bytes)
    assert stored.flops == plain.flops


@given(sides, sides, sides, precisions, st.sampled_from("mnk"))
def test_a_longer_side_computes_and_moves_more(
    m: int, n: int, k: int, precision: str, side: str
) -> None:
    sizes = {"m": m, "n": n, "k": k}
    less = ph.product(**sizes, precision=precision)
    more = ph.product(**sizes | {side: sizes[side] + 1}, precision=precision)
    assert more.flops > less.flops
    assert more.bytes > less.bytes


def test_narrow_weights_are_widened_to_a_precision_that_multiplies() -> None:
    assert ph.storages["int4"].arithmetic == "bf16"
    # Half a byte, and a scale and a zero of two bytes each for every 128 weights.
    assert ph.storages["int4"].weight == 0.5 + 4 / 128
    others = {key: stored for key, stored in ph.storages.items() if key != "int4"}
    assert all(stored.arithmetic == key for key, stored in others.items())
