"""The section of the small kernels: kinds, shapes, and results that are checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mlsys_widgets.measured.cpu import numpy_kernels as nk
from mlsys_widgets.measured.cpu import small_sections

from .instant_bench import SECONDS, InstantBench, instant_bench, recorded

SHAPES = {
    "rmsnorm": {"rows", "columns"},
    "layernorm": {"rows", "columns"},
    "softmax": {"rows", "columns"},
    "gated": {"rows", "columns"},
    "residual": {"rows", "columns"},
    "embedding": {"rows", "columns", "vocabulary"},
    "rotary": {"tokens", "heads", "head_width"},
}


@pytest.fixture
def roomy() -> Any:
    made = instant_bench(arena=128 << 20)
    yield made
    made.close()


def test_every_kernel_is_recorded_and_checked(roomy: InstantBench) -> None:
    small_sections.kernels(roomy)
    assert not roomy.recorder.skipped
    assert {case["kind"] for case in roomy.recorder.cases} == set(SHAPES)
    for case in roomy.recorder.cases:
        assert set(case["shape"]) == SHAPES[case["kind"]] | {"threads"}
        assert case["shape"]["threads"] == 1
        assert (case["variant"], case["precision"]) == ("numpy", "fp32")
        assert case["error"] < 1e-6
        assert case["throughput"] == pytest.approx(case["traffic"] / SECONDS)
        assert case["kernels"] >= 1


def test_a_table_that_does_not_fit_is_left_out(bench: InstantBench) -> None:
    small_sections.kernels(bench)
    assert [entry["reason"] for entry in bench.recorder.skipped] == ["too little memory"]
    assert not recorded(bench, "embedding")
    assert recorded(bench, "rmsnorm")


def test_a_wrong_kernel_is_left_out(bench: InstantBench, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(x: Any, out: Any) -> Any:
        out[:] = 1.0
        return out

    monkeypatch.setattr(nk, "softmax", wrong)
    small_sections.kernels(bench)
    reasons = {e["what"].split()[0]: e["reason"] for e in bench.recorder.skipped}
    assert "the result is wrong" in reasons["softmax"]
    assert not recorded(bench, "softmax")
    assert recorded(bench, "layernorm")


def test_sizes_are_the_same_each_time_and_odd_ones_are_among_them() -> None:
    sizes = small_sections.kernel_sizes(quick=False)
    assert sizes == small_sections.kernel_sizes(quick=False)
    assert len(set(sizes)) == len(sizes) >= 10
    assert any(rows % 2 and columns % 2 for rows, columns in sizes)
    assert max(rows * columns for rows, columns in sizes) <= small_sections.MOST_ELEMENTS
    assert np.ptp(np.log([rows * columns for rows, columns in sizes])) > np.log(1000)
