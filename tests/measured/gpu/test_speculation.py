"""Verifying several tokens in one step: it agrees with reading the prompt, and work is counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mlsys_widgets.measured.gpu import speculation
from mlsys_widgets.measured.gpu.attention_kernels import CacheAttention
from mlsys_widgets.measured.gpu.speculation import agreement, masked
from mlsys_widgets.measured.gpu.transformer import LLAMA31_8B, TOY, PlainLlama
from tests.measured.gpu.fake_torch import FakeBench


def llama() -> PlainLlama:
    return PlainLlama(
        FakeBench(), TOY, np.float32, layers=2, tokens=64, longest=32,
        way=CacheAttention("grouped", True),
    )  # fmt: skip


@pytest.mark.parametrize("tokens", [2, 4, 8])
def test_verified_tokens_agree_with_reading_the_prompt(tokens: int) -> None:
    assert agreement(llama(), tokens, masked) < 1e-5


def test_a_way_that_looks_ahead_is_refused() -> None:
    def all_of_it(torch: Any, q: Any, keys: Any, values: Any, mask: Any) -> Any:
        return masked(torch, q, keys, values, np.zeros_like(mask))

    with pytest.raises(RuntimeError, match="verifying differs from reading the prompt"):
        agreement(llama(), 4, all_of_it)


def test_plain_steps_and_verified_ones_are_recorded() -> None:
    bench = FakeBench()
    speculation.speculation(bench)
    # PyTorch's own bias is nothing that the fake one has.
    assert [entry["what"] for entry in bench.recorder.skipped] == ["verifying, lower_right"]
    found = {case["shape"]["tokens"]: case for case in bench.recorded("verification")}
    assert set(found) == {1, 2}
    assert found[1]["flops"] == TOY.flops(2, 1, 16, 2, True)
    for tokens, case in found.items():
        assert case["throughput"] == pytest.approx(2 * tokens / case["seconds"]["median"])
        assert case["bytes"] == found[1]["bytes"]


def test_only_the_attention_of_earlier_tokens_is_shorter() -> None:
    one = LLAMA31_8B.flops(1, 1, 1000, 32, True)
    assert LLAMA31_8B.verifying_flops(1, 1, 1000, 32) == one
    shorter = 4 * 32 * 32 * 128  # one key less for the first of two
    assert LLAMA31_8B.verifying_flops(1, 2, 1000, 32) == 2 * one - shorter
