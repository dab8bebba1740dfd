"""Attention as a kernel: what it computes and moves, tiled and naive, over a prompt or a cache."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from tests.physics.strategies import whole

batches, lengths, widths = whole(256), whole(32_768), st.sampled_from([32, 64, 80, 128, 256])
groups = st.sampled_from([(32, 32), (32, 8), (12, 12), (64, 1)])


@given(batches, groups, lengths, widths)
def test_counts_of_a_prompt(batch: int, heads: tuple[int, int], length: int, width: int) -> None:
    kernel = ph.attention(batch, heads[0], length, length, width, kv_heads=heads[1])
    assert math.isclose(kernel.flops, 4 * batch * heads[0] * length**2 * width)
    assert math.isclose(kernel.bytes, 2 * 2 * batch * sum(heads) * length * width)


@given(batches, groups, lengths, widths)
def test_a_mask_halves_the_work_and_moves_the_same(
    batch: int, heads: tuple[int, int], length: int, width: int
) -> None:
    whole_square, masked = (
        ph.attention(batch, heads[0], length, length, width, kv_heads=heads[1], causal=causal)
        for causal in (False, True)
    )
    assert masked.flops == whole_square.flops / 2
    assert masked.bytes == whole_square.bytes


@given(batches, groups, lengths, lengths, widths, st.booleans())
def test_scores_in_memory_only_add_traffic(
    batch: int, heads: tuple[int, int], queries: int, keys: int, width: int, causal: bool
) -> None:
    tiled, naive = (
        ph.attention(
            batch, heads[0], queries, keys, width, kv_heads=heads[1], causal=causal, naive=naive
        )
        for naive in (False, True)
    )
    assert math.isclose(naive.bytes - tiled.bytes, 8 * batch * heads[0] * queries * keys)
    # The naive form computes the masked pairs too.
    assert naive.flops == tiled.flops * (2 if causal else 1)


@given(batches, st.sampled_from([1, 2, 4, 8]), lengths, widths)
def test_heads_that_share_keys_read_fewer_of_them(
    batch: int, sharing: int, keys: int, width: int
) -> None:
    own, grouped = (
        ph.attention(batch, 32, 1, keys, width, kv_heads=kept) for kept in (None, 32 // sharing)
    )
    assert math.isclose(grouped.cache_bytes * sharing, own.cache_bytes)
    assert grouped.flops == own.flops
    # A long cache is read once for all heads that share it: an operation per byte for each.
    assert grouped.intensity <= sharing
