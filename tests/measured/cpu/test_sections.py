"""What the sections of the CPU measurement record: kinds, counts, and results that are checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mlsys_widgets.measured.cpu import sections

from .instant_bench import InstantBench, recorded


def test_streams_count_bytes_as_stream_does(bench: InstantBench) -> None:
    sections.streams(bench)
    assert not bench.recorder.skipped
    for kind, arrays in (("copy", 2), ("triad", 3)):
        for case in recorded(bench, kind):
            assert case["bytes"] == 8 * arrays * case["shape"]["elements"]
            assert case["throughput"] == pytest.approx(case["bytes"] / 1e-3)
    assert {case["shape"]["threads"] for case in recorded(bench, "copy")} == {1, 2}
    assert {case["variant"] for case in recorded(bench, "triad")} == {"add", "blocked"}


def test_products_are_checked_and_counted(bench: InstantBench) -> None:
    sections.products(bench)
    found = recorded(bench, "gemm")
    assert {case["precision"] for case in found} == {"fp32", "fp64"}
    for case in found:
        n = case["shape"]["n"]
        assert case["flops"] == 2 * n**3
        assert n > 1024 or case["error"] < 1e-4
    skipped = {entry["what"] for entry in bench.recorder.skipped}
    assert {"gemm fp16", "gemm bf16", "gemm int8"} <= skipped


def test_a_wrong_product_is_refused(bench: InstantBench, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(a: Any, b: Any, out: Any) -> Any:
        out[:] = 0.0
        return out

    monkeypatch.setattr(np, "matmul", wrong)
    bench.fill("float32")
    with pytest.raises(RuntimeError, match="the product is wrong"):
        sections._error(bench, "float32", 16)


def test_elementwise_work_grows_with_its_arrays(bench: InstantBench) -> None:
    sections.elementwise(bench)
    for case in recorded(bench, "elementwise"):
        passes = {"relu": 2, "add": 3}[case["shape"]["operation"]]
        assert case["bytes"] == 4 * passes * case["shape"]["elements"]
    too_large = [entry for entry in bench.recorder.skipped if "1e+07" in entry["what"]]
    assert too_large
    assert too_large[0]["reason"] == "too little memory"


def test_overhead_is_recorded_beside_an_empty_loop(bench: InstantBench) -> None:
    sections.overhead(bench)
    variants = {case["variant"]: case for case in recorded(bench, "launch")}
    assert set(variants) == {"loop", "numpy", "allocating"}
    assert variants["loop"]["kernels"] == 0
    assert [case["kernels"] for case in recorded(bench, "dispatch")] == [10, 1000]


def test_every_way_through_a_chain_gives_the_same_numbers(bench: InstantBench) -> None:
    bench.fill("float32")
    sections._chain(bench, 100_000)
    assert not bench.recorder.skipped
    traffic = {case["variant"]: case["traffic"] for case in recorded(bench, "fusion")}
    assert traffic["temporaries"] == traffic["out"] == 40 * 100_000
    assert traffic["blocked"] == traffic["blocked_threads"] == 16 * 100_000
