"""Matrix products on a GPU: what they count, and that a wrong one is refused."""

from __future__ import annotations

import pytest

from mlsys_widgets.measured.gpu import gemm
from tests.measured.gpu.fake_torch import FakeBench

RESULT = "<class 'numpy.float16'>"


def test_squares_are_counted_and_recorded_both_ways() -> None:
    bench = FakeBench()
    gemm.squares(bench, ["fp16", "fp32", "int8"])
    assert bench.recorder.skipped == []
    found = bench.recorded("gemm")
    assert {case["variant"] for case in found} == {"eager", "graph"}
    for case in found:
        n = case["shape"]["n"]
        size, result = {"fp16": (2, 2), "fp32": (4, 4), "int8": (1, 4)}[case["precision"]]
        assert case["flops"] == 2 * n**3
        assert case["bytes"] == 3 * size * n**2
        assert case["traffic"] == 2 * size * n**2 + result * n**2
        assert case["error"] < 0.1


def test_fp16_has_sizes_that_tensor_cores_cannot_take_as_they_are() -> None:
    assert all(n % 2 for n in gemm.ODD)
    assert all(n % 2 == 0 and n % 8 for n in gemm.EVEN)
    for sizes in (gemm.ODD, gemm.EVEN):
        assert len(sizes) >= 10
        assert sizes == sorted(sizes)
        assert 128 <= sizes[0] < sizes[-1] <= 8192


def test_a_batch_counts_every_product_with_matrices_of_its_own() -> None:
    bench = FakeBench()
    gemm.batches(bench)
    assert bench.recorder.skipped == []
    for case in bench.recorded("batched_gemm"):
        n, count = case["shape"]["n"], case["shape"]["batch"]
        assert case["flops"] == 2 * n**3 * count
        # Two operands and a result, 2 bytes per number.
        assert case["bytes"] == case["traffic"] == 6 * n**2 * count
        assert case["error"] < 0.1


def test_projections_use_the_transposed_weight() -> None:
    bench = FakeBench()
    gemm.projections(bench, ["fp32"])
    assert bench.recorder.skipped == []
    assert {case["shape"]["m"] for case in bench.recorded("projection")} == {1, 16}
    assert all(case["shape"]["n"] == case["shape"]["k"] == 64 for case in bench.recorder.cases)


def test_a_linear_product_says_so_and_is_only_replayed() -> None:
    bench = FakeBench()
    gemm.product(bench, "fp16", 3, 40, 24, linear=True)
    (case,) = bench.recorder.cases
    assert case["kind"] == "gemm"
    assert case["variant"] == "graph"
    assert case["shape"] == {"m": 3, "n": 40, "k": 24, "result": RESULT, "transposed": True}
    assert case["traffic"] == 2 * (3 * 40 + 40 * 24 + 3 * 24)


def test_a_wrong_product_is_skipped_with_its_error() -> None:
    bench = FakeBench()
    bench.torch.mm = lambda a, b, out: out.fill_(0.0)
    bench.torch.bmm = lambda a, b, out=None: a * 0
    gemm.squares(bench, ["fp32"])
    gemm.batches(bench)
    assert bench.recorder.cases == []
    assert all("the product is wrong" in entry["reason"] for entry in bench.recorder.skipped)


def test_eight_bits_want_multiples_of_sixteen() -> None:
    bench = FakeBench()
    with bench.recorder.attempt("an odd product"):
        gemm.product(bench, "int8", 17, 16, 16, "gemm")
    assert "multiples of 16" in bench.recorder.skipped[0]["reason"]


def test_an_unknown_precision_is_refused() -> None:
    with pytest.raises(ValueError, match="precision must be fp32, tf32"):
        gemm._operands(FakeBench(), "fp3")
