"""What a served language model keeps in memory, and how fast it reads and writes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph


@given(st.integers(1, 4096), st.integers(1, 131_072), st.sampled_from([8, 32]))
def test_out_of_memory_and_the_batch_that_fits(batch: int, sequence: int, heads: int) -> None:
    need = ph.footprint("llama31-8b", "h100-sxm", batch, sequence, kv_heads=heads)
    assert need.out_of_memory == (need.headroom < 0) == (need.largest_batch < batch)
    fitting = need.largest_batch
    if fitting >= 1:
        assert not ph.footprint(
            "llama31-8b", "h100-sxm", fitting, sequence, kv_heads=heads
        ).out_of_memory
    over = ph.footprint("llama31-8b", "h100-sxm", fitting + 1, sequence, kv_heads=heads)
    assert over.out_of_memory


@given(st.integers(1, 1024), st.integers(1, 131_072), st.booleans())
def test_reading_is_never_slower_than_writing(batch: int, sequence: int, attention: bool) -> None:
    write, read = (
        step("llama31-8b", "h100-sxm", batch, sequence, attention=attention)
        for step in (ph.decode, ph.prefill)
    )
    assert read.tokens_per_second >= write.tokens_per_second * (1 - 1e-9)
    for step in (write, read):
        assert step.time == max(step.memory_time, step.compute_time)


def test_the_cache_grows_with_every_token_of_every_sequence() -> None:
    one = ph.kv_cache("llama31-8b", 1, 1)
    assert ph.kv_cache("llama31-8b", 64, 2048) == pytest.approx(64 * 2048 * one)


def test_nothing_fits_where_the_weights_do_not() -> None:
    need = ph.footprint("llama31-8b", "mobile-npu", 1, 128)
    assert need.out_of_memory is True
    assert (need.largest_batch, need.largest_sequence) == (0, 0)


def test_attention_adds_operations_and_no_traffic() -> None:
    for step in (ph.decode, ph.prefill):
        without, counted = (
            step("llama31-8b", "h100-sxm", 4, 8192, attention=attention)
            for attention in (False, True)
        )
        assert counted.flops > without.flops
        assert counted.bytes == without.bytes
