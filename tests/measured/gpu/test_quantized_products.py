"""Products in eight and four bits: scales are applied, and a wrong product is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mlsys_widgets.measured.gpu import quantized_products as products
from tests.measured.gpu.fake_torch import FakeBench, Tensor, fake_torch


def test_everything_but_int4_is_rehearsed_without_a_gpu() -> None:
    bench = FakeBench()
    products.quantized_products(bench)
    assert [entry["reason"] for entry in bench.recorder.skipped] == [
        "PyTorch has this product on a GPU only"
    ]
    assert {case["precision"] for case in bench.recorded("gemm")} == {"int8", "fp8"}
    assert all(case["variant"] == "graph" for case in bench.recorded("gemm"))
    assert {case["shape"]["to"] for case in bench.recorded("conversion")} == {"int8", "fp8"}


def test_a_four_bit_weight_is_read_as_it_is_packed() -> None:
    bench = FakeBench()
    products._four_bit(bench, 3, 16, 256)
    (case,) = bench.recorded("gemm")
    assert case["precision"] == "int4"
    assert case["shape"]["group"] == 128
    assert case["error"] < 0.01
    assert case["bytes"] == 16 * 256 / 2 + 2 * (3 * 256 + 3 * 16)
    assert case["traffic"] == case["bytes"] + 4 * 16 * 2


def test_a_four_bit_weight_packed_otherwise_is_refused() -> None:
    bench = FakeBench()
    packed = bench.torch.ops.aten._convert_weight_to_int4pack

    def swapped(raw: Tensor, tiles: int) -> Any:
        return packed(Tensor((raw >> 4) | (raw << 4)), tiles)

    bench.torch.ops.aten._convert_weight_to_int4pack = swapped
    with pytest.raises(RuntimeError, match="the product is wrong"):
        products._four_bit(bench, 3, 16, 256)


def test_a_four_bit_weight_wants_whole_groups() -> None:
    bench = FakeBench()
    with bench.recorder.attempt("an odd product"):
        products._four_bit(bench, 3, 16, 200)
    assert "k of 128" in bench.recorder.skipped[0]["reason"]


@pytest.mark.parametrize(("to", "largest"), [("int8", 127), ("fp8", 448)])
def test_a_row_is_scaled_to_the_largest_value(to: str, largest: int) -> None:
    torch = fake_torch()
    x = torch.randn(4, 50) * 3.0
    numbers, scale = products.converted(torch, x, to)
    assert np.allclose(np.abs(numbers.astype(float)).max(-1), largest, rtol=1e-2)
    assert np.allclose(numbers * scale, x, atol=0.05)


def test_conversions_count_their_passes() -> None:
    bench = FakeBench()
    products.quantized_products(bench)
    for case in bench.recorded("conversion"):
        shape = case["shape"]
        n = shape["rows"] * shape["columns"]
        assert case["bytes"] == 3 * n + 2 * shape["rows"]
        assert case["traffic"] == (17 if shape["to"] == "int8" else 13) * n + 8 * shape["rows"]


def test_sizes_are_what_the_kernels_accept() -> None:
    for precision, m, n, k in products.eight_bit_cases():
        assert {m % 16, n % 16, k % 16} == {0}
        assert m > 16 or precision == "fp8"
    for m, n, k in products.four_bit_cases():
        assert 1 <= m <= 256
        assert (n % 8, k % 128) == (0, 0)
