"""Attention over a prompt: tiles that walk over keys, and what they leave of the peak."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.physics.attention_law import AttentionTiles, PromptAttentionLaw
from tests.physics.laws import LESS, MEASURED, seconds, takes_no_less
from tests.physics.strategies import whole

shapes = st.fixed_dictionaries(
    {
        "batch": whole(256),
        "heads": whole(64),
        "tokens": whole(32_768),
        "head_width": st.integers(16, 256),
    }
)


def prompt(batch: int, heads: int, tokens: int, head_width: int, *, causal: bool) -> ph.Kernel:
    return ph.attention(batch, heads, tokens, tokens, head_width, causal=causal)


@given(shapes, st.booleans(), st.sampled_from(["batch", "heads", "tokens", "head_width"]))
def test_more_of_anything_never_takes_less(shape: dict[str, int], causal: bool, name: str) -> None:
    def make(**sizes: int) -> ph.Kernel:
        return prompt(**sizes, causal=causal)

    assert takes_no_less(make, shape, {name: shape[name] + 1}, "prompt attention")


@given(shapes)
def test_a_mask_never_costs_time(shape: dict[str, int]) -> None:
    masked, all_pairs = (
        seconds(prompt(**shape, causal=causal), "prompt attention") for causal in (True, False)
    )
    assert masked <= all_pairs / LESS


@given(shapes, st.booleans())
def test_never_faster_than_the_textbook(shape: dict[str, int], causal: bool) -> None:
    timed = MEASURED.time(prompt(**shape, causal=causal), "prompt attention")
    assert timed.time >= LESS * timed.textbook


@given(whole(64), whole(64), whole(32_768), st.sampled_from([0.5, 1.0]))
def test_tiles_cover_every_pair(batch: int, heads: int, tokens: int, seen: float) -> None:
    tiles = AttentionTiles(
        batch=batch,
        heads=heads,
        queries=tokens,
        keys=tokens,
        seen_share=seen,
        units=132,
        tile=128,
        tile_cost=0,
        tail=0,
        head_width=128,
        half_width=0,
        best=1,
    )
    pairs = batch * heads * tokens**2 * seen
    assert tiles.steps * tiles.units * tiles.tile**2 >= LESS * pairs
    assert 0 < tiles.share <= 1 / LESS


def test_the_tail_shows_where_there_is_little_else() -> None:
    law = MEASURED.law("prompt attention", "fp16")
    assert isinstance(law, PromptAttentionLaw)
    alone, many = (
        MEASURED.time(prompt(batch, 32, 1024, 128, causal=True), law.key).compute_efficiency
        for batch in (1, 64)
    )
    assert alone < many < law.compute_share


def test_wide_heads_hide_the_exponents() -> None:
    law = MEASURED.law("prompt attention", "fp16")
    assert isinstance(law, PromptAttentionLaw)
    narrow, wide = (
        MEASURED.time(prompt(8, 16, 4096, width, causal=False), law.key).compute_efficiency
        for width in (32, 256)
    )
    left = [width / (width + law.half_width) for width in (32, 256)]
    assert wide / narrow == pytest.approx(left[1] / left[0])
    assert narrow < wide
