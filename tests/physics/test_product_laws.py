"""Products: the best of some tilings, a second kernel where tiles are few, and ragged sizes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.physics.product_laws import (
    TILES,
    UNALIGNED_TILES,
    ProductLaw,
    TileShare,
    UnalignedLaw,
)
from tests.physics.laws import LESS, MEASURED, seconds, takes_no_less
from tests.physics.strategies import whole

#: Elements in 16 bytes: sizes that tensor cores take as they are.
PIECES = {"fp16": 8, "bf16": 8, "tf32": 4, "fp32": 4, "fp8": 16, "int8": 16}
precisions = st.sampled_from(sorted(PIECES))
pieces = whole(4096)


def few_tiles(m: int, n: int) -> bool:
    """Whether the law splits this product along K."""
    return n / 128 * math.ceil(m / 128) < MEASURED.units


def ragged(n: int, k: int) -> bool:
    return ph.product_family(n, k, "fp16") == "unaligned products"


@given(precisions, whole(16_384), pieces, pieces, st.sampled_from("mnk"))
def test_more_of_an_aligned_product_never_takes_less(
    precision: str, m: int, n: int, k: int, side: str
) -> None:
    """The one exception, a product that is no longer split, has a test of its own."""
    piece = PIECES[precision]
    sizes = {"m": m, "n": n * piece, "k": k * piece}
    larger = {side: sizes[side] + (1 if side == "m" else piece)}
    after = sizes | larger
    assume(few_tiles(m, sizes["n"]) == few_tiles(after["m"], after["n"]))

    def make(**shape: int) -> ph.Kernel:
        return ph.product(**shape, precision=precision)

    assert takes_no_less(make, sizes, larger, "products", precision)


@given(precisions, whole(16_384), pieces, pieces, st.sampled_from("mn"))
@example("bf16", 10, 2111, 2, "n")
@example("fp16", 128, 1198, 5, "m")
def test_a_larger_product_saves_at_most_the_second_kernel(
    precision: str, m: int, n: int, k: int, side: str
) -> None:
    piece = PIECES[precision]
    sizes = {"m": m, "n": n * piece, "k": k * piece}
    after = sizes | {side: sizes[side] + (1 if side == "m" else piece)}
    less, more = (
        seconds(ph.product(**shape, precision=precision), "products", precision)
        for shape in (sizes, after)
    )
    law = MEASURED.law("products", precision)
    assert isinstance(law, ProductLaw)
    assert more >= LESS * less - law.split_time


@given(whole(16_384), whole(32_768), whole(32_768), st.sampled_from("mnk"))
def test_more_of_a_ragged_product_never_takes_less(m: int, n: int, k: int, side: str) -> None:
    """Two elements more, because an odd side costs more than the even one after it."""
    sizes = {"m": m, "n": n, "k": k}
    larger = {side: sizes[side] + (1 if side == "m" else 2)}
    after = sizes | larger
    assume(ragged(n, k) and ragged(after["n"], after["k"]))
    assume(few_tiles(m, n) == few_tiles(after["m"], after["n"]))
    assert takes_no_less(ph.product, sizes, larger, "unaligned products")


@given(precisions, whole(16_384), pieces, pieces)
def test_never_faster_than_the_textbook(precision: str, m: int, n: int, k: int) -> None:
    piece = PIECES[precision]
    kernel = ph.product(m, n * piece, k * piece, precision)
    timed = MEASURED.time(kernel, "products", precision)
    assert timed.time >= LESS * timed.textbook


@given(whole(16_384), whole(32_768), whole(32_768))
def test_ragged_sizes_are_never_faster_than_the_textbook(m: int, n: int, k: int) -> None:
    assume(ragged(n, k))
    timed = MEASURED.time(ph.product(m, n, k), "unaligned products")
    assert timed.time >= LESS * timed.textbook


@given(whole(16_384), whole(65_536), whole(256), st.sampled_from([*TILES, *UNALIGNED_TILES]))
def test_a_tiling_covers_the_result(m: int, n: int, units: int, tile: tuple[int, int]) -> None:
    found = TileShare(
        m=m, n=n, units=units, tile_rows=tile[0], tile_columns=tile[1], half_tile=2.3, best=0.75
    )
    assert found.tiles * tile[0] * tile[1] >= m * n
    assert (found.waves - 1) * units < found.tiles <= found.waves * units
    assert 0 < found.filled <= 1
    assert found.share <= 0.75


@pytest.mark.parametrize("family", ["products", "unaligned products"])
@pytest.mark.parametrize("copies", [1, 100])
def test_many_products_at_once_are_each_on_their_own(family: str, copies: int) -> None:
    """Single, few and many shapes go three ways through the tilings; all find the same tile."""
    draw = np.random.default_rng(15)
    m, n, k = (np.floor(np.exp(draw.uniform(0, 10, 60))) for _ in range(3))
    many = MEASURED.time(ph.product(*(np.tile(side, copies) for side in (m, n, k))), family)
    alone = [seconds(ph.product(*shape), family) for shape in zip(m, n, k, strict=True)]
    assert many.time == pytest.approx(np.tile(alone, copies), rel=1e-12)


def test_an_odd_side_costs_more() -> None:
    law = MEASURED.law("unaligned products", "fp16")
    assert isinstance(law, UnalignedLaw)
    odd, even = (
        MEASURED.time(ph.product(4096, n, 4096), law.key).compute_efficiency for n in (2049, 2050)
    )
    assert odd == pytest.approx(even * law.odd_share, rel=0.01)


def test_a_size_that_is_no_multiple_takes_longer_than_the_next_that_is() -> None:
    ragged_time = seconds(ph.product(2049, 2049, 2049), "unaligned products")
    assert ragged_time > 1.5 * seconds(ph.product(2056, 2056, 2056), "products")


@pytest.mark.parametrize(
    ("n", "k", "precision", "family"),
    [
        (4096, 4096, "fp16", "products"),
        (4096, 4097, "fp16", "unaligned products"),
        (4100, 4096, "fp16", "unaligned products"),
        (4100, 4096, "tf32", "products"),
        (4104, 4096, "int8", "unaligned products"),
        (4097, 4097, "int4", "weight-only products"),
    ],
)
def test_families(n: int, k: int, precision: str, family: str) -> None:
    assert ph.product_family(n, k, precision) == family
