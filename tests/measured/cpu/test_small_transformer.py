"""A layer in numpy: held against its plain reference, prompts against new tokens, and counted."""

from __future__ import annotations

import numpy as np
import pytest

from mlsys_widgets.measured.cpu.small_transformer import NumpyLayer, SmallTransformer, plain_layer
from mlsys_widgets.measured.cpu.timing import Array

SIZES = SmallTransformer(width=24, heads=6, kv_heads=2, head_width=4, hidden=40)


def random(*shape: int, scale: float = 1.0) -> Array:
    seed = np.random.SeedSequence(shape)
    return (scale * np.random.default_rng(seed).standard_normal(shape)).astype(np.float32)


WEIGHTS = [random(*shape, scale=0.3) for shape in SIZES.weight_shapes]


def caches(batch: int, sequence: int) -> tuple[Array, Array]:
    keys, values = random(2, *SIZES.cache_shape(batch, sequence))
    return keys, values


@pytest.mark.parametrize("phase", ["prefill", "decode"])
@pytest.mark.parametrize(("batch", "sequence"), [(1, 1), (1, 9), (3, 5)])
def test_a_layer_agrees_with_its_reference(phase: str, batch: int, sequence: int) -> None:
    layer = NumpyLayer(SIZES, phase, batch, sequence)
    x = random(layer.tokens, SIZES.width)
    keys, values = caches(batch, sequence)
    out = layer(x, WEIGHTS, keys, values, np.empty_like(x)).reshape(batch, layer.new, -1)
    for number in range(batch):
        own = x.reshape(batch, layer.new, -1)[number]
        wanted = plain_layer(SIZES, own, WEIGHTS, keys[number], values[number])
        assert np.allclose(out[number], wanted, rtol=1e-4, atol=1e-4)


def test_token_by_token_is_the_same_as_all_at_once() -> None:
    """What a cache is for: decoding continues a prompt as if it had been part of it."""
    batch, sequence = 2, 6
    x = random(batch, sequence, SIZES.width)
    keys, values = (np.zeros(SIZES.cache_shape(batch, sequence), np.float32) for _ in range(2))
    prompt = NumpyLayer(SIZES, "prefill", batch, sequence)
    rows = x.reshape(-1, SIZES.width)
    wanted = prompt(rows, WEIGHTS, keys, values, np.empty_like(rows)).reshape(x.shape)
    known = [cache.copy() for cache in (keys, values)]
    for cache in (keys, values):
        cache[:, :, -1] = np.nan  # the last token has not been here yet
    token = NumpyLayer(SIZES, "decode", batch, sequence)
    last = np.ascontiguousarray(x[:, -1])
    out = token(last, WEIGHTS, keys, values, np.empty_like(last))
    assert np.allclose(out, wanted[:, -1], rtol=1e-4, atol=1e-4)
    for cache, before in zip((keys, values), known, strict=True):
        assert np.allclose(cache, before, atol=1e-5)


def test_a_layer_is_the_sum_of_its_kernels() -> None:
    sizes = SmallTransformer()
    prompt = NumpyLayer(sizes, "prefill", 2, 50).work
    products = 2 * 100 * sizes.parameters
    attention = 4 * 2 * 8 * 50 * 50 * 64
    assert prompt.flops > products + attention
    assert prompt.flops == pytest.approx(products + attention, rel=0.02)
    token = NumpyLayer(sizes, "decode", 1, 1000).work
    # A new token reads all the weights and its cache; little else.
    assert token.bytes == pytest.approx(4 * (sizes.parameters + 2 * 2 * 1000 * 64), rel=0.02)
    assert token.traffic > token.bytes
    assert NumpyLayer(sizes, "decode", 1, 2000).work.traffic > token.traffic


def test_the_shape_tells_all_the_sizes() -> None:
    assert NumpyLayer(SIZES, "decode", 3, 7).shape == {
        "model": "small-transformer", "width": 24, "heads": 6, "kv_heads": 2, "head_width": 4,
        "hidden": 40, "phase": "decode", "batch": 3, "sequence": 7,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("training", 1, 1), "phase must be 'prefill' or 'decode', not 'training'"),
        (("decode", 0, 5), "batch and sequence must be at least 1, not 0 and 5"),
    ],
)
def test_a_wrong_layer_is_refused(arguments: tuple[str, int, int], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        NumpyLayer(SIZES, *arguments)
