"""Attention on a GPU: what it counts, that a wrong one is refused, and which way over a cache."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mlsys_widgets.measured.gpu import attention_kernels as kernels
from mlsys_widgets.measured.gpu.attention_kernels import CacheAttention, CachedToken, Heads
from mlsys_widgets.measured.recorder import Spread
from tests.measured.gpu.fake_torch import FakeBench, Tensor


def test_prompts_are_measured_tiled_and_naive() -> None:
    bench = FakeBench()
    kernels.attention(bench)
    assert bench.recorder.skipped == []
    found = bench.recorded("attention")
    assert {case["shape"]["form"] for case in found} == {"tiled", "naive"}
    for case in found:
        shape = case["shape"]
        assert set(shape) - {"backend"} == {
            "batch", "heads", "kv_heads", "queries", "keys", "head_width", "causal", "form",
        }  # fmt: skip
        scores = shape["batch"] * shape["heads"] * shape["queries"] * shape["keys"]
        flops = 4 * scores * shape["head_width"]
        assert case["flops"] == (flops / 2 if shape["causal"] else flops)
        tokens = shape["batch"] * shape["queries"] * shape["head_width"]
        least = 4 * tokens * (shape["heads"] + shape["kv_heads"])
        if shape["form"] == "tiled":
            assert shape["backend"] == "flash"
            assert case["bytes"] == case["traffic"] == least
        else:
            assert case["bytes"] == least + 8 * scores
            assert case["traffic"] > case["bytes"]
        assert case["error"] < 0.02


def test_wrong_attention_is_refused() -> None:
    bench = FakeBench()
    bench.torch.nn.functional.scaled_dot_product_attention = lambda q, k, v, **options: q
    kernels.attention(bench)
    assert {case["shape"]["form"] for case in bench.recorder.cases} == {"naive"}
    assert len(bench.recorder.skipped) == 2
    assert all("the attention is wrong" in e["reason"] for e in bench.recorder.skipped)


@pytest.mark.parametrize("heads", [Heads(4, 2, 8), Heads(4, 4, 8), Heads(4, 1, 8)])
def test_both_ways_over_a_cache_agree(heads: Heads) -> None:
    bench = FakeBench()
    q = bench.random(1, (3, heads.queries, 1, heads.width), np.float32)[0]
    k, v = bench.random(2, (3, heads.keys, 17, heads.width), np.float32)
    first = kernels.grouped(bench.torch, q, k, v)
    second = kernels.plainly(bench.torch, q, k, v)
    assert first.shape == second.shape == q.shape
    assert np.allclose(first, second, atol=1e-6)


def test_a_new_token_reads_its_cache() -> None:
    bench = FakeBench()
    kernels.decoding(bench)
    assert bench.recorder.skipped == []
    assert "Taken:" in bench.recorder.notes[-1]
    for case in bench.recorded("decode_attention"):
        shape = case["shape"]
        assert shape["queries"] == 1
        heads, width = shape["batch"] * shape["heads"], shape["head_width"]
        assert case["flops"] == 4 * heads * shape["keys"] * width
        cached = shape["batch"] * shape["kv_heads"] * shape["keys"] * width
        assert case["bytes"] == 4 * (cached + heads * width)
        assert case["error"] < 0.02


def test_the_faster_way_is_taken_and_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = FakeBench()
    seen: list[Any] = []

    def replay(call: Any, sets: int, hold: int = 0) -> Spread:
        seen.append(call(0))
        seconds = 1.0 if len(seen) % 2 else 2.0  # grouped comes first, then plain
        return Spread(seconds, seconds, seconds, 1)

    monkeypatch.setattr(bench, "replay", replay)
    way = kernels.cache_attention(bench)
    assert way == CacheAttention("grouped", True)
    tried = len(seen)
    assert kernels.cache_attention(bench) is way
    assert len(seen) == tried == 4


def test_a_way_that_fails_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = FakeBench()

    def broken(torch: Any, q: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        raise RuntimeError("no kernel for this")

    monkeypatch.setitem(kernels.FORMS, "grouped", broken)
    assert kernels.cache_attention(bench).form == "plain"
    assert any("no kernel for this" in note for note in bench.recorder.notes)


def test_a_backend_is_switched_off_only_inside() -> None:
    bench = FakeBench()
    state = {"cudnn": True}
    bench.torch.backends = type("Backends", (), {})()
    bench.torch.backends.cuda = type(
        "Switches", (),
        {
            "cudnn_sdp_enabled": staticmethod(lambda: state["cudnn"]),
            "enable_cudnn_sdp": staticmethod(lambda on: state.update(cudnn=on)),
        },
    )()  # fmt: skip
    bench.cuda = True
    with CacheAttention("plain", False).chosen(bench):
        assert not state["cudnn"]
    assert state["cudnn"]
    with CacheAttention("plain", True).chosen(bench):
        assert state["cudnn"]


def test_caches_fit_and_prompts_are_long_and_short() -> None:
    for case in kernels.cache_cases():
        assert 128 <= case.keys <= 32768
        assert 1 <= case.batch <= 256
        assert 4 * case.batch * case.keys * case.heads.keys * case.heads.width <= 40e9
    assert CachedToken(256, 32768) in kernels.cache_cases()
    tiled = [case for case in kernels.prompt_cases() if case.form == "tiled"]
    assert {case.length for case in tiled} >= {128, 32768}
    assert all(case.batch * case.length <= 65536 for case in tiled)
    written = [case for case in kernels.prompt_cases() if case.form == "naive"]
    assert 18 <= len(written) <= 22
    assert {case.causal for case in written} == {True, False}
    assert all(2 * c.batch * c.heads.queries * c.length**2 <= 16e9 for c in written)
