"""The small kernels of a transformer: what they compute and what they count."""

from __future__ import annotations

import numpy as np

from mlsys_widgets.measured.gpu import token_kernels as kernels
from tests.measured.gpu.fake_torch import FakeBench, Tensor, fake_torch


def test_every_kind_is_measured() -> None:
    bench = FakeBench()
    kernels.token_kernels(bench)
    assert bench.recorder.skipped == []
    assert {case["kind"] for case in bench.recorder.cases} == {
        "rmsnorm", "layernorm", "softmax", "residual", "gated", "embedding", "rotary",
        "cache_write",
    }  # fmt: skip
    assert {case["variant"] for case in bench.recorder.cases} == {"graph"}
    assert {kind for kind, _, _ in kernels.row_cases()} == set(kernels.ROWWISE)


def test_bytes_and_traffic() -> None:
    bench = FakeBench()
    kernels.token_kernels(bench)
    passes = {"rmsnorm": (6, 4), "layernorm": (6, 4), "softmax": (6, 4), "residual": (6, 6),
              "gated": (6, 10)}  # fmt: skip
    for kind, (counted, moved) in passes.items():
        for case in bench.recorded(kind):
            n = case["shape"]["rows"] * case["shape"]["columns"]
            assert (case["bytes"], case["traffic"]) == (counted * n, moved * n)
    for case in bench.recorded("cache_write"):
        shape = case["shape"]
        n = shape["batch"] * shape["tokens"] * shape["kv_heads"] * shape["head_width"]
        assert case["bytes"] == 8 * n
    for case in bench.recorded("rotary"):
        shape = case["shape"]
        n = shape["tokens"] * shape["heads"] * shape["head_width"]
        assert case["flops"] == 3.5 * n
        assert case["traffic"] > case["bytes"] > 4 * n


def test_a_rotation_keeps_lengths_and_turns_by_the_angle() -> None:
    torch = fake_torch()
    x = torch.randn(5, 3, 8)
    angle = np.repeat(np.linspace(0, 3, 5)[:, None, None], 8, 2)
    turned = kernels.rotated(torch, x, Tensor(np.cos(angle)), Tensor(np.sin(angle)))
    pairs = x[..., :4] + 1j * x[..., 4:]
    expected = pairs * np.exp(1j * angle[..., :4])
    assert np.allclose(turned[..., :4], expected.real)
    assert np.allclose(turned[..., 4:], expected.imag)


def test_a_gate_multiplies_the_two_halves() -> None:
    both = np.array([[0.0, 2.0, 3.0, 5.0]])
    result = kernels.gate(fake_torch(), Tensor(both))
    assert np.allclose(result, [[0.0, 2.0 / (1 + np.exp(-2.0)) * 5.0]])


def test_new_tokens_land_at_their_positions() -> None:
    keys, values = Tensor(np.zeros((2, 3, 6, 4))), Tensor(np.zeros((2, 3, 6, 4)))
    torch = fake_torch()
    k, v = torch.randn(2, 2, 3, 4), torch.randn(2, 2, 3, 4)
    kernels.write_cache(keys, values, k, v, Tensor(np.array([4, 5])))
    assert np.array_equal(keys[:, :, 4:], k.swapaxes(1, 2))
    assert np.array_equal(values[:, :, 4:], v.swapaxes(1, 2))
    assert not keys[:, :, :4].any()


def test_a_cache_that_was_not_written_is_noted() -> None:
    bench = FakeBench()
    bench.torch.equal = lambda a, b: False
    kernels.token_kernels(bench)
    assert bench.recorded("cache_write") == []
    assert {entry["reason"] for entry in bench.recorder.skipped} == {
        "RuntimeError: the cache does not hold what was written to it"
    }
