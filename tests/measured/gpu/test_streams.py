"""Memory-bound kernels on a GPU: bytes as they are counted, and copies that are checked."""

from __future__ import annotations

from mlsys_widgets.measured.gpu import streams
from tests.measured.gpu.fake_torch import FakeBench


def test_copies_and_triads_count_what_they_move() -> None:
    bench = FakeBench()
    streams.copies(bench)
    assert bench.recorder.skipped == []
    for kind, arrays in (("copy", 2), ("triad", 3)):
        found = bench.recorded(kind)
        assert {case["variant"] for case in found} == {"eager", "graph"}
        for case in found:
            assert case["bytes"] == arrays * case["shape"]["array_bytes"]
            assert case["throughput"] > 0


def test_a_copy_that_differs_is_noted() -> None:
    bench = FakeBench()
    bench.torch.equal = lambda a, b: False
    streams.copies(bench)
    assert {entry["reason"] for entry in bench.recorder.skipped} == {
        "RuntimeError: the copy differs from its source"
    }


def test_a_fused_chain_moves_less() -> None:
    bench = FakeBench()
    streams.elementwise(bench)
    assert bench.recorder.skipped == []
    chain = {
        case["variant"]: case
        for case in bench.recorded("elementwise")
        if case["shape"]["operations"] == 4
    }
    assert set(chain) == {"eager", "graph", "compiled"}
    assert chain["eager"]["traffic"] == chain["eager"]["bytes"]
    assert chain["compiled"]["bytes"] == chain["eager"]["bytes"]
    assert chain["compiled"]["traffic"] * 10 == chain["compiled"]["bytes"] * 4


def test_normalizations_count_three_passes_and_move_two() -> None:
    bench = FakeBench()
    streams.normalizations(bench)
    assert bench.recorder.skipped == []
    for kind in ("softmax", "layernorm"):
        for case in bench.recorded(kind):
            elements = case["shape"]["rows"] * case["shape"]["columns"]
            assert (case["flops"], case["bytes"], case["traffic"]) == (
                5 * elements, 6 * elements, 4 * elements,
            )  # fmt: skip
