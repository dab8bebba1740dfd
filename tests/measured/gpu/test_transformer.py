"""The plain Llama: a new token is what reading the whole prompt gives, and work is counted."""

from __future__ import annotations

import numpy as np
import pytest

from mlsys_widgets.measured.gpu.attention_kernels import CacheAttention
from mlsys_widgets.measured.gpu.transformer import LLAMA31_8B, TOY, PlainLlama
from mlsys_widgets.measured.recorder import Skip
from mlsys_widgets.physics import workloads
from tests.measured.gpu.fake_torch import FakeBench


def llama(form: str = "grouped") -> PlainLlama:
    return PlainLlama(
        FakeBench(), TOY, np.float32, layers=2, tokens=64, longest=32,
        way=CacheAttention(form, True),
    )  # fmt: skip


@pytest.mark.parametrize("form", ["grouped", "plain"])
def test_decoding_agrees_with_reading_the_prompt(form: str) -> None:
    assert llama(form).check() < 1e-5


def test_a_token_at_the_wrong_place_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    model = llama()
    right = model.places

    def late(phase: str, length: int) -> object:
        return right(phase, length if phase == "prefill" else length - 1)

    monkeypatch.setattr(model, "places", late)
    with pytest.raises(RuntimeError, match="decoding differs from reading the prompt"):
        model.check()


def test_logits_follow_the_last_token_of_each_sequence() -> None:
    model = llama()
    torch = model.torch
    ids = torch.randint(0, TOY.vocabulary, (3, 7))
    caches = model.caches(3, 7)
    logits = model.step(ids, model.places("prefill", 7), caches)
    assert logits.shape == (3, TOY.vocabulary)
    alone = model.step(ids[1:2], model.places("prefill", 7), model.caches(1, 7))
    assert np.allclose(alone[0], logits[1], atol=1e-4)


def test_a_cache_has_only_so_much_room() -> None:
    with pytest.raises(Skip, match="the cache has room for 64"):
        llama().caches(13, 5)


def test_the_sizes_are_those_of_the_workload() -> None:
    known = workloads["llama31-8b"]
    weights = LLAMA31_8B.weights(32)
    assert weights == pytest.approx(known.parameters, rel=0.01)
    assert LLAMA31_8B.cached(LLAMA31_8B.layers) == 65536
    one = LLAMA31_8B.flops(1, 1, 1, 32, True)
    assert one == pytest.approx(2 * (weights - LLAMA31_8B.width * LLAMA31_8B.vocabulary), rel=0.01)
    assert LLAMA31_8B.flops(4, 10, 10, 1, False) < 40 * LLAMA31_8B.flops(1, 1, 10, 1, False)
    assert LLAMA31_8B.bytes(2, 1, 100, 32, True) == 2 * (
        weights - LLAMA31_8B.width * LLAMA31_8B.vocabulary + 65536 * 200
    )
