"""One layer of a small transformer in numpy, as it serves prompts and new tokens.

The layer is the one of today's language models: RMS norm, one product for queries, keys and values,
rotary embedding, attention with grouped queries over a cache, a gated feed-forward network, and two
residual additions. Weights are stored [out, in] and used transposed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from . import numpy_kernels as nk
from .float64_references import plain_attention, plain_gated, plain_rms_norm, plain_rotary
from .timing import Array

PHASES = ("prefill", "decode")


@dataclass(frozen=True)
class SmallTransformer:
    """The sizes of a layer."""

    width: int = 512
    heads: int = 8
    kv_heads: int = 2
    head_width: int = 64
    hidden: int = 1408

    @property
    def weight_shapes(self) -> tuple[tuple[int, int], ...]:
        """Queries with keys and values, output, gate with up, down."""
        attended = self.heads * self.head_width
        return (
            (attended + 2 * self.kv_heads * self.head_width, self.width),
            (self.width, attended),
            (2 * self.hidden, self.width),
            (self.width, self.hidden),
        )

    @property
    def parameters(self) -> int:
        """Weights of the four products."""
        return sum(rows * columns for rows, columns in self.weight_shapes)

    def cache_shape(self, batch: int, sequence: int) -> tuple[int, int, int, int]:
        """Keys, or values, of all the tokens."""
        return (batch, self.kv_heads, sequence, self.head_width)


class NumpyLayer:
    """A layer for one phase, batch and sequence, with room for its intermediates.

    In ``prefill`` all the tokens of ``sequence`` are new, in ``decode`` only the last one of them.
    """

    def __init__(self, sizes: SmallTransformer, phase: str, batch: int, sequence: int) -> None:
        if phase not in PHASES:
            raise ValueError(f"phase must be {' or '.join(map(repr, PHASES))}, not {phase!r}")
        if batch < 1 or sequence < 1:
            raise ValueError(
                f"batch and sequence must be at least 1, not {batch!r} and {sequence!r}"
            )
        self.sizes, self.phase, self.batch, self.sequence = sizes, phase, batch, sequence
        self.new = sequence if phase == "prefill" else 1
        heads, kv_heads, width = sizes.heads, sizes.kv_heads, sizes.head_width
        tokens = self.tokens
        self._tables = nk.rotary_tables(np.arange(sequence - self.new, sequence), width)
        self._mask = nk.causal_mask(self.new) if self.new > 1 else None
        self._gain = np.ones(sizes.width, dtype=np.float32)
        self._normed = _room(tokens, sizes.width)
        self._qkv = _room(tokens, (heads + 2 * kv_heads) * width)
        self._turned = _room(batch, self.new, heads, width // 2)
        self._queries = _room(batch, heads, self.new, width)
        self._scaled = _room(batch, heads, self.new, width)
        self._scores = _room(batch, heads, self.new, sequence)
        self._mixed = _room(batch, self.new, heads, width)
        self._projected = _room(tokens, sizes.width)
        self._middle = _room(tokens, sizes.width)
        self._both = _room(tokens, 2 * sizes.hidden)
        self._hidden = _room(tokens, sizes.hidden)

    @property
    def tokens(self) -> int:
        """New tokens of all sequences."""
        return self.batch * self.new

    @property
    def shape(self) -> dict[str, int | str]:
        """The shape under which a measurement records this layer."""
        return {
            "model": "small-transformer",
            **asdict(self.sizes),
            "phase": self.phase,
            "batch": self.batch,
            "sequence": self.sequence,
        }

    def __call__(
        self, x: Array, weights: Sequence[Array], keys: Array, values: Array, out: Array
    ) -> Array:
        """Run the layer on x [tokens, width]; the new tokens enter the cache."""
        qkv_weight, out_weight, gate_up, down = weights
        self._attend(x, qkv_weight, keys, values)
        np.matmul(self._mixed.reshape(self.tokens, -1), out_weight.T, out=self._projected)
        np.add(x, self._projected, out=self._middle)
        nk.rms_norm(self._middle, self._gain, self._normed)
        np.matmul(self._normed, gate_up.T, out=self._both)
        nk.gated(self._both, self._hidden)
        np.matmul(self._hidden, down.T, out=self._projected)
        return np.add(self._middle, self._projected, out=out)

    def _attend(self, x: Array, qkv_weight: Array, keys: Array, values: Array) -> None:
        """Everything up to the heads' results, which end up side by side in `_mixed`."""
        heads, kv_heads = self.sizes.heads, self.sizes.kv_heads
        nk.rms_norm(x, self._gain, self._normed)
        np.matmul(self._normed, qkv_weight.T, out=self._qkv)
        split = self._qkv.reshape(self.batch, self.new, heads + 2 * kv_heads, -1)
        cosines, sines = self._tables
        # The views with swapped axes let each kernel write where the next one reads.
        q = self._queries
        nk.rotary(split[:, :, :heads], cosines, sines, self._turned, q.swapaxes(1, 2))
        added = keys[:, :, -self.new :].swapaxes(1, 2)
        turned = self._turned[:, :, :kv_heads]
        nk.rotary(split[:, :, heads : heads + kv_heads], cosines, sines, turned, added)
        np.copyto(values[:, :, -self.new :].swapaxes(1, 2), split[:, :, heads + kv_heads :])
        mixed = self._mixed.swapaxes(1, 2)
        if self.phase == "prefill":
            nk.attention(q, keys, values, self._scaled, self._scores, mixed, self._mask)
        else:
            grouped = (self.batch, kv_heads, heads // kv_heads, self.sequence)
            nk.decode_attention(
                q[:, :, 0], keys, values, self._scaled[:, :, 0], self._scores.reshape(grouped),
                mixed[:, :, 0],
            )  # fmt: skip

    @property
    def work(self) -> nk.KernelWork:
        """The sum over the kernels."""
        s, tokens = self.sizes, self.tokens
        if self.phase == "prefill":
            attended = nk.attention_work(
                self.batch, s.heads, s.kv_heads, self.new, self.sequence, s.head_width,
                causal=self._mask is not None,
            )  # fmt: skip
        else:
            attended = nk.decode_attention_work(
                self.batch, s.heads, s.kv_heads, self.sequence, s.head_width
            )
        written = 2 * nk.ITEM * tokens * s.kv_heads * s.head_width
        total = attended + nk.KernelWork(0, written, written, 1)
        for rows, columns in s.weight_shapes:
            total += nk.product_work(tokens, rows, columns)
        for _ in range(2):
            total += nk.rms_norm_work(tokens, s.width) + nk.residual_work(tokens, s.width)
        for heads in (s.heads, s.kv_heads):
            total += nk.rotary_work(tokens, heads, s.head_width)
        return total + nk.gated_work(tokens, s.hidden)


def _room(*shape: int) -> Array:
    return np.empty(shape, dtype=np.float32)


def plain_layer(
    sizes: SmallTransformer, x: Array, weights: Sequence[Array], keys: Array, values: Array
) -> Array:
    """Return the layer for one sequence in float64, head by head: the reference.

    ``x``, [tokens, width], are the new tokens, which are the last ones of the sequence. What
    ``keys`` and ``values``, [kv_heads, sequence, head_width], hold of them is ignored.
    """
    qkv_weight, out_weight, gate_up, down = (weight.astype(float) for weight in weights)
    x = x.astype(float)
    new, sequence = len(x), keys.shape[1]
    split = (plain_rms_norm(x) @ qkv_weight.T).reshape(new, -1, sizes.head_width)
    positions = np.arange(sequence - new, sequence)
    turned = plain_rotary(split[:, : sizes.heads + sizes.kv_heads], positions)
    results = []
    for head in range(sizes.heads):
        group = head // (sizes.heads // sizes.kv_heads)
        own = sizes.heads + group
        k = np.concatenate([keys[group, : sequence - new], turned[:, own]])
        v = np.concatenate([values[group, : sequence - new], split[:, own + sizes.kv_heads]])
        results.append(plain_attention(turned[:, head], k, v, causal=True))
    middle = x + np.concatenate(results, axis=-1) @ out_weight.T
    return np.asarray(middle + plain_gated(plain_rms_norm(middle) @ gate_up.T) @ down.T)
