"""Drawn sizes: the same for everybody, within their limits, and not what a person would pick."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.measured.gpu import (
    attention_kernels,
    gemm,
    linear_products,
    quantized_products,
    token_kernels,
    training_steps,
)
from mlsys_widgets.measured.gpu.drawn_sizes import draw, odd, prompts

LISTS = [
    attention_kernels.prompt_cases, attention_kernels.cache_cases, token_kernels.row_cases,
    token_kernels.rotary_cases, token_kernels.write_cases, linear_products.linear_cases,
    quantized_products.eight_bit_cases, quantized_products.four_bit_cases,
    quantized_products.conversion_cases, training_steps.training_cases,
]  # fmt: skip


@given(st.integers(0, 1000), st.integers(1, 500), st.integers(1, 500), st.sampled_from([1, 8, 16]))
def test_a_size_is_a_multiple_near_its_limits(seed: int, low: int, more: int, step: int) -> None:
    size = draw(random.Random(seed), low, low + more, step)
    assert size % step == 0
    assert max(step, low - step) <= size <= max(step, low + more + step)


def test_an_odd_size_is_odd() -> None:
    chance = random.Random(3)
    assert all(odd(chance, 100, 5000) % 2 for _ in range(50))


def test_limits_out_of_order_are_refused() -> None:
    with pytest.raises(ValueError, match="low and high must be positive and in order"):
        draw(random.Random(0), 5, 2)


def test_prompts_stay_within_their_tokens() -> None:
    found = prompts(random.Random(2), 200, shortest=128, longest=32768, batches=64, tokens=65536)
    assert all(1 <= batch <= 64 and batch * length <= 65536 for batch, length in found)
    assert max(batch for batch, _ in found) > 16


@pytest.mark.parametrize("cases", LISTS, ids=lambda cases: cases.__name__)
def test_a_list_repeats_nothing_and_is_the_same_every_time(cases: object) -> None:
    first = cases()  # type: ignore[operator]
    assert first == cases()  # type: ignore[operator]
    assert len(set(first)) == len(first)


def test_no_list_holds_only_powers_of_two() -> None:
    lengths = [case.length for case in attention_kernels.prompt_cases()]
    keys = [case.keys for case in attention_kernels.cache_cases()]
    rows = [case[1] for case in [*token_kernels.row_cases(), *linear_products.linear_cases()]]
    for sizes in (lengths, keys, rows, gemm.ODD):
        strange = [size for size in sizes if size & (size - 1)]
        assert len(strange) > len(sizes) / 4
        assert any(size % 2 for size in strange)
