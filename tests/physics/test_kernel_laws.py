"""What all laws share: never faster than the textbook, and a time that is the sum of its terms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.physics.kernel_laws import Law, SmallLaw
from tests.physics.laws import LESS, MEASURED, takes_no_less
from tests.physics.strategies import whole

KINDS = {
    f"small kernels of {family}": kind
    for family, kind in {
        "elementwise": "residual",
        "gated": "gated",
        "rotary": "rotary",
        "cache_write": "cache_write",
        "conversion": "conversion to int8",
    }.items()
}
families = st.sampled_from(sorted(KINDS))


@given(families, whole(10**6), whole(10**5), st.sampled_from(["rows", "columns"]))
def test_more_elements_never_take_less(family: str, rows: int, columns: int, side: str) -> None:
    sizes = {"rows": rows, "columns": columns}

    def make(**shape: int) -> ph.Kernel:
        return ph.small_kernel(KINDS[family], **shape)

    assert takes_no_less(make, sizes, {side: sizes[side] + 1}, family)


@given(families, whole(10**6), whole(10**5), whole(8))
def test_never_faster_than_the_textbook_and_more_launches_take_longer(
    family: str, rows: int, columns: int, launches: int
) -> None:
    kernel = ph.small_kernel(KINDS[family], rows, columns)
    timed = MEASURED.time(kernel, family, "fp16", launches)
    assert timed.time >= LESS * timed.textbook
    assert timed.time >= launches * timed.floor
    again = MEASURED.time(kernel, family, "fp16", launches + 1)
    assert again.time - timed.time == pytest.approx(timed.floor, rel=1e-6)


@given(whole(256), whole(131_072), st.sampled_from([64, 128]), st.sampled_from([1, 2, 8, 32]))
def test_one_token_over_a_longer_cache(batch: int, keys: int, width: int, kept: int) -> None:
    sizes = {"batch": batch, "keys": keys, "head_width": width}

    def make(**shape: int) -> ph.Kernel:
        return ph.attention(heads=32, queries=1, kv_heads=kept, **shape)

    for name, value in sizes.items():
        assert takes_no_less(make, sizes, {name: value + 1}, "cache attention")
    timed = MEASURED.time(make(**sizes), "cache attention")
    assert timed.time >= LESS * timed.textbook


@given(whole(1024), whole(65_536), whole(65_536), st.sampled_from("mnk"))
def test_weights_of_four_bits(m: int, n: int, k: int, side: str) -> None:
    sizes = {"m": m, "n": n, "k": k}

    def make(**shape: int) -> ph.Kernel:
        return ph.product(**shape, precision="int4")

    larger = {side: sizes[side] + 1}
    assert takes_no_less(make, sizes, larger, "weight-only products", "int4")
    timed = MEASURED.time(make(**sizes), "weight-only products", "int4")
    assert timed.time >= LESS * timed.textbook


def test_a_single_row_lies_in_one_piece() -> None:
    law = MEASURED.law("small kernels of gated", "fp16")
    assert isinstance(law, SmallLaw)
    one, two = (MEASURED.time(ph.small_kernel("gated", rows, 1), law.key).floor for rows in (1, 2))
    assert (one, two) == (pytest.approx(law.floor * law.single_row), law.floor)


def test_the_simplest_law_is_a_kernel_time_with_something_exposed() -> None:
    source = ph.Source("a test", "2026-11", "measured")
    values = {"floor": 1e-6, "bandwidth_share": 0.5, "compute_share": 0.25, "exposed": 0.5}
    law = ph.catalog_entry(Law, "x", "x", **{k: source.fact(v) for k, v in values.items()})
    kernel = ph.product(1000, 1000, 1000)
    timed = law.time(kernel, ph.LawCeilings(peak=1e12, bandwidth=1e9, units=1), launches=2)
    moving, computing = 6e6 / 0.5e9, 2e9 / 0.25e12
    assert timed.time == pytest.approx(2e-6 + moving + 0.5 * computing)
