"""Fewer bits: every formula of the error against weights that are really rounded."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.measured import cases

WEIGHTS = 2**17
RNG = np.random.default_rng(1948)
#: Six draws of as many normal weights: the error of one of them follows its own largest weight.
DRAWS = RNG.standard_normal((6, WEIGHTS))


def rounded(weights: Any, bits: int, block: int, cut: float = math.inf) -> Any:
    """Weights on a grid of equal steps for each block, as a program would round them."""
    blocks = weights.reshape(-1, block)
    steps = 2 ** (bits - 1) - 1
    step = np.minimum(np.abs(blocks).max(1, keepdims=True), cut) / steps
    return (np.clip(np.round(blocks / step), -steps, steps) * step).reshape(weights.shape)


def lost(bits: int, block: int, outlier: float = 0.0, cut: float = math.inf) -> float:
    """The error of rounding, relative to normal weights, over all draws."""
    found = []
    for weights in DRAWS:
        held = weights.copy()
        if outlier:
            held[17] = outlier
        found.append(np.mean((rounded(held, bits, block, cut) - held) ** 2))
    return math.sqrt(np.mean(found))


bits_of = st.integers(3, 8)
blocks = st.sampled_from([32, 64, 128, 1024, 4096, WEIGHTS])
# Six draws know the mean square of so many weights to half a percent, and that of
# their six largest weights to four. A group's largest weight is on the grid, 1 of 32 at most.
CLOSE = 0.04


@settings(max_examples=12, deadline=None)
@given(bits_of, blocks)
def test_the_error_of_a_scale_from_the_largest_weight(bits: int, block: int) -> None:
    predicted = ph.quantization_error(bits, block, weights=WEIGHTS)
    assert float(predicted.error) == pytest.approx(lost(bits, block), rel=CLOSE)


@settings(max_examples=12, deadline=None)
@given(bits_of, blocks, st.floats(1.0, 4.0))
def test_the_error_of_a_grid_that_is_cut(bits: int, block: int, cut: float) -> None:
    predicted = ph.quantization_error(bits, block, weights=WEIGHTS, cut=cut)
    assert float(predicted.error) == pytest.approx(lost(bits, block, cut=cut), rel=CLOSE)


@settings(max_examples=12, deadline=None)
@given(bits_of, blocks, st.floats(6.0, 60.0))
def test_the_error_with_an_outlier(bits: int, block: int, outlier: float) -> None:
    predicted = ph.quantization_error(bits, block, weights=WEIGHTS, outlier=outlier)
    assert float(predicted.error) == pytest.approx(lost(bits, block, outlier), rel=CLOSE)


@settings(max_examples=12, deadline=None)
@given(bits_of, blocks, st.floats(10.0, 60.0), st.floats(3.0, 9.0))
def test_the_error_with_an_outlier_that_is_cut(
    bits: int, block: int, outlier: float, cut: float
) -> None:
    predicted = ph.quantization_error(bits, block, weights=WEIGHTS, outlier=outlier, cut=cut)
    assert float(predicted.error) == pytest.approx(lost(bits, block, outlier, cut), rel=CLOSE)


def test_a_bit_is_worth_six_decibels() -> None:
    # 20 log10(2) is 6.02; a symmetric grid has one step less than half of its numbers.
    for bits in range(6, 16):
        more, less = (ph.quantization_error(b, 128).decibels for b in (bits + 1, bits))
        assert more - less == pytest.approx(20 * math.log10(2), rel=0.05)


def test_an_outlier_four_times_as_large_costs_a_shared_scale_two_bits() -> None:
    whole = 4096**2
    largest = float(ph.block_reach(whole))
    clean, other = (
        ph.quantization_error(8, whole, outlier=each).decibels for each in (0.0, 4 * largest)
    )
    assert (clean - other) / (20 * math.log10(2)) == pytest.approx(2, abs=0.02)
    grouped = ph.quantization_error(8, 128, weights=whole, outlier=4 * largest)
    assert grouped.error == pytest.approx(ph.quantization_error(8, 128).error, rel=1e-3)


@pytest.mark.parametrize("block", [1, 2, 16, 128, 4096])
@pytest.mark.parametrize("cut", [1.5, 3.0, math.inf])
def test_how_far_a_block_reaches(block: int, cut: float) -> None:
    largest = np.minimum(np.abs(DRAWS).reshape(-1, block).max(1), cut)
    limit = min(cut, 1e30)
    assert float(ph.block_reach(block, limit)) == pytest.approx(
        math.sqrt(np.mean(largest**2)), rel=0.02
    )


def test_a_finer_grid_and_a_smaller_group_never_hurt() -> None:
    errors = np.array(
        [
            [float(ph.quantization_error(b, g, weights=WEIGHTS).error) for b in range(3, 9)]
            for g in (32, 64, 128, 4096, WEIGHTS)
        ]
    )
    assert (np.diff(errors, axis=1) < 0).all()
    assert (np.diff(errors, axis=0) > 0).all()


def floats(weights: Any, reach: float) -> Any:
    """Weights rounded to fp8 (e4m3), the largest scaled to 448."""
    scaled = np.abs(weights) * 448 / reach
    power = np.floor(np.log2(np.maximum(scaled, 2.0**-6)))
    step = 2.0 ** (power - 3)
    return np.sign(weights) * np.minimum(np.round(scaled / step) * step, 448) * reach / 448


@pytest.mark.parametrize("reach", [4.7, 5.5, 22.0, 100.0, 3000.0])
def test_the_error_of_fp8(reach: float) -> None:
    # A step next to a power of two is smaller on its lower side, which the formula leaves out.
    error = math.sqrt(np.mean((floats(DRAWS, reach) - DRAWS) ** 2))
    assert float(ph.float_error(reach).error) == pytest.approx(error, rel=CLOSE)


def test_the_error_of_eight_bits_on_an_h200() -> None:
    # The measurement converted normal activations with one scale per row, and held them against
    # the numbers in fp16. Its random numbers and those of the formula are normal.
    for to, error_of in (
        ("int8", lambda row: ph.quantization_error(8, row).error),
        ("fp8", lambda row: ph.float_error(ph.block_reach(row)).error),
    ):
        found = [case for case in cases("h200-sxm", kind="conversion") if case.shape["to"] == to]
        assert len(found) > 10
        for case in found:
            assert case.error is not None
            assert float(error_of(case.shape["columns"])) == pytest.approx(case.error, rel=0.15)


def test_scales_take_bits() -> None:
    # PyTorch's int4: 4 bits, and a bf16 scale and zero for 128 weights, as products count them.
    kept = ph.stored_weights(8e9, 4, 128)
    assert kept.size == 8e9 * ph.storages["int4"].weight
    assert ph.stored_weights(8e9, 4, 32).bits_per_weight == 5
    assert ph.stored_weights(8e9, 8, 1e30, beside=16).size == pytest.approx(8e9)


def test_the_speed_of_a_product_is_that_of_its_kernels() -> None:
    rows, columns, depth = 16, 28672, 4096
    h200 = ph.calibration_of("h200-sxm")
    llama = ph.language_model("llama31-8b")
    for precision in ("int8", "fp8"):
        # The same kernels as in a decode step of a whole model.
        uses = ph.layer_kernels(llama, "decode", rows, 2048, precision)
        timed = {each.use.name: float(each.one.time) for each in ph.time_uses(uses, h200)}
        found = ph.product_speed(rows, columns, depth, precision)
        assert found.product_time == pytest.approx(timed["Gate and up product"], rel=1e-12)
        assert found.conversion == pytest.approx(
            timed["Conversion: Gate and up product"], rel=1e-12
        )
        assert found.time == found.product_time + found.conversion
    int4 = ph.product_speed(rows, columns, depth, "int4")
    stored = h200.time(ph.product(rows, columns, depth, "int4"), "weight-only products", "int4")
    assert (int4.conversion, int4.time) == (0, pytest.approx(float(stored.time), rel=1e-12))
    assert ph.product_speed(rows, columns, depth, "fp16").speedup == 1


def test_the_crossing_is_where_the_speedup_ends() -> None:
    for columns, depth in ((4096, 4096), (28672, 4096), (4096, 14336)):
        rows = ph.crossing_rows(columns, depth)
        before, after = (
            ph.product_speed(each, columns, depth, "int4").speedup for each in (rows - 1, rows)
        )
        assert after <= 1 < before
    assert ph.crossing_rows(4096, 4096, "fp8", most=8) == 1
    assert ph.crossing_rows(28672, 4096, "fp8") == 0


@pytest.mark.parametrize(("columns", "depth"), [(6144, 4096), (4096, 14336), (128256, 4096)])
def test_the_measured_products_cross_where_the_law_says(columns: int, depth: int) -> None:
    """Between two measured numbers of rows, int4 goes from faster than every fp16 to slower."""
    shape = {"n": columns, "k": depth}
    four = cases("h200-sxm", kind="gemm", precision="int4", **shape)
    half = [
        case.seconds.median
        for case in cases("h200-sxm", kind="gemm", precision="fp16", variant="graph", **shape)
        if case.shape["m"] <= 24
    ]
    faster = max(c.shape["m"] for c in four if c.seconds.median < min(half))
    slower = min(c.shape["m"] for c in four if c.seconds.median > max(half))
    assert faster < ph.crossing_rows(columns, depth) <= slower


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="bits is 1; it must be a number of bits between 2 and 16"):
        ph.quantization_error(1, 128)
    with pytest.raises(ValueError, match="precision is 'int3'"):
        ph.product_speed(1, 4096, 4096, "int3")
