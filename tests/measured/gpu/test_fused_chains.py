"""Fused chains on a GPU: all ways are recorded, and a chain that computes wrongly is refused."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from mlsys_widgets.measured.gpu import fused_chains
from tests.measured.gpu.fake_torch import FakeBench, Tensor, fake_torch


def operands(rows: int = 256, columns: int = 64) -> tuple[Any, Tensor, Tensor, Tensor]:
    torch = fake_torch()
    x = torch.randn(rows, columns, dtype=np.float64)
    w, b = (Tensor(np.full(columns, value)) for value in (1.0, 0.1))
    return torch, x, w, b


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> FakeBench:
    @contextlib.contextmanager
    def cold(torch: Any) -> Iterator[None]:
        yield

    monkeypatch.setattr(fused_chains, "cold_cache", cold)
    monkeypatch.setattr(fused_chains, "warm_compiler", lambda bench: None)
    return FakeBench()


def test_every_way_but_triton_runs_without_a_gpu(bench: FakeBench) -> None:
    fused_chains.fusions(bench)
    assert all(entry["what"].endswith("triton") for entry in bench.recorder.skipped)
    found = bench.recorded("fusion")
    assert {case["variant"] for case in found} == {"eager", "graph", "compiled", "compiled_graph"}
    for case in found:
        shape = case["shape"]
        elements = shape["rows"] * shape["columns"]
        dropout = shape["chain"] == "layernorm_dropout_relu"
        assert case["bytes"] == 4 * elements * (3 if dropout else 2)
        if case["variant"].startswith("compiled"):
            assert case["traffic"] == 4 * elements
        else:
            # Eager dropout writes a mask of one byte per element.
            assert case["traffic"] == case["bytes"] + (elements if dropout else 0)


@pytest.mark.parametrize("dropout", [True, False])
def test_a_right_chain_passes_its_check(dropout: bool) -> None:
    torch, x, w, b = operands()
    result = fused_chains.chain(torch, dropout)(x, w, b)
    assert fused_chains.check(torch, result, x, w, b, dropout) < 1e-3


def test_a_chain_without_dropout_is_no_chain_with_dropout() -> None:
    torch, x, w, b = operands()
    result = fused_chains.chain(torch, False)(x, w, b)
    with pytest.raises(RuntimeError, match=r"dropout kept 1\.0000 of the elements"):
        fused_chains.check(torch, result, x, w, b, True)


@pytest.mark.parametrize("dropout", [True, False])
def test_a_chain_without_relu_is_refused(dropout: bool) -> None:
    torch, x, w, b = operands()
    result = fused_chains.chain(torch, dropout)(x, w, b)
    plain = torch.nn.functional.layer_norm(x, w.shape, w, b)
    negative = plain < -0.05
    result[negative] = plain[negative]
    sentence = "a value through that must be zero" if dropout else "the chain is wrong"
    with pytest.raises(RuntimeError, match=sentence):
        fused_chains.check(torch, result, x, w, b, dropout)


def test_a_value_that_rounds_to_the_other_side_of_zero_is_not_refused() -> None:
    torch, x, w, b = operands()
    result = fused_chains.chain(torch, True)(x, w, b)
    plain = torch.nn.functional.layer_norm(x, w.shape, w, b)
    close = (plain < 0) & (plain > -0.005)
    assert close.any()
    result[close] = 1e-4
    assert fused_chains.check(torch, result, x, w, b, True) < 1e-3


def test_what_was_left_unwritten_is_refused() -> None:
    torch, x, w, b = operands()
    result = fused_chains.chain(torch, False)(x, w, b)
    result[0, 0] = np.nan
    with pytest.raises(RuntimeError, match="unwritten or infinite"):
        fused_chains.check(torch, result, x, w, b, False)


def test_other_numbers_are_refused() -> None:
    torch, x, w, b = operands()
    result = fused_chains.chain(torch, False)(x, w, b) * 1.01
    with pytest.raises(RuntimeError, match="the chain is wrong"):
        fused_chains.check(torch, result, x, w, b, False)
