"""Products with a layer's weight: few rows and many, odd ones included."""

from __future__ import annotations

from mlsys_widgets.measured.gpu import linear_products
from tests.measured.gpu.fake_torch import FakeBench


def test_products_are_replayed_with_the_weight_transposed() -> None:
    bench = FakeBench()
    linear_products.linear_products(bench)
    assert bench.recorder.skipped == []
    found = bench.recorded("gemm")
    assert {case["precision"] for case in found} == {"fp16", "bf16"}
    for case in found:
        assert case["variant"] == "graph"
        shape = case["shape"]
        assert shape["transposed"] is True
        assert case["flops"] == 2 * shape["m"] * shape["n"] * shape["k"]
        assert case["error"] < 0.1


def test_the_list_covers_decoding_prompts_and_odd_sides() -> None:
    cases = linear_products.linear_cases()
    few = [case for case in cases if case[1] <= 256]
    assert 60 <= len(few) <= 90
    assert {case[1] for case in few} >= set(linear_products.ROWS)
    assert {case[2:] for case in cases} >= {*linear_products.LLAMA, *linear_products.GPT2}
    assert sum(m % 2 and n % 2 and k % 2 for _, m, n, k in cases) >= 8
    assert any(not k % 8 and n % 2 for _, m, n, k in cases)
    assert any(not n % 8 and k % 2 for _, m, n, k in cases)
