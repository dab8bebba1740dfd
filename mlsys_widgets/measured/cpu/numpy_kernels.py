"""The kernels of a language model in numpy, each with the work that it does.

Every kernel writes into arrays that it is given, as careful numpy code does: a fresh array for each
step would measure the allocator. A kernel here is several numpy operations, each of which reads its
inputs and writes its output, so `KernelWork.traffic` counts more bytes than a fused kernel moves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .timing import Array

ITEM = 4  # bytes of a float32
EPSILON = 1e-5


@dataclass(frozen=True)
class KernelWork:
    """The cost of one call: FLOP and bytes by the formula, bytes moved, and numpy operations.

    Examples
    --------
    >>> both = residual_work(2, 8) + product_work(1, 4, 8)
    >>> both.flops, both.bytes, both.operations
    (80, 368, 2)
    """

    flops: int
    bytes: int
    traffic: int
    operations: int

    def __add__(self, other: KernelWork) -> KernelWork:
        return KernelWork(
            self.flops + other.flops,
            self.bytes + other.bytes,
            self.traffic + other.traffic,
            self.operations + other.operations,
        )


def _passes(elements: int, flops: int, passes: int, operations: int, extra: int = 0) -> KernelWork:
    """Work of operations over whole arrays: `extra` elements are read or written besides."""
    moved = ITEM * (passes * elements + extra)
    return KernelWork(flops * elements, moved, moved, operations)


def softmax(x: Array, out: Array) -> Array:
    """Softmax along the last axis; `out` may be `x`."""
    np.subtract(x, x.max(axis=-1, keepdims=True), out=out)
    np.exp(out, out=out)
    np.divide(out, out.sum(axis=-1, keepdims=True), out=out)
    return out


def softmax_work(rows: int, columns: int) -> KernelWork:
    """Maximum, subtract, exponential, sum, divide: eight passes over the array."""
    return _passes(rows * columns, 5, 8, 5, extra=4 * rows)


def rms_norm(x: Array, gain: Array, out: Array) -> Array:
    """RMS norm along the last of two axes."""
    scale = np.einsum("ij,ij->i", x, x)
    scale /= x.shape[-1]
    scale += EPSILON
    np.sqrt(scale, out=scale)
    np.divide(x, scale[:, None], out=out)
    np.multiply(out, gain, out=out)
    return out


def rms_norm_work(rows: int, columns: int) -> KernelWork:
    """Sum of squares, divide, multiply: five passes; the scales take three short operations."""
    return _passes(rows * columns, 5, 5, 6, extra=8 * rows + columns)


def layer_norm(x: Array, gain: Array, bias: Array, out: Array) -> Array:
    """Layer norm along the last of two axes."""
    np.subtract(x, x.mean(axis=-1, keepdims=True), out=out)
    scale = np.einsum("ij,ij->i", out, out)
    scale /= x.shape[-1]
    scale += EPSILON
    np.sqrt(scale, out=scale)
    np.divide(out, scale[:, None], out=out)
    np.multiply(out, gain, out=out)
    np.add(out, bias, out=out)
    return out


def layer_norm_work(rows: int, columns: int) -> KernelWork:
    """Mean, subtract, sum of squares, divide, multiply, add: ten passes over the array."""
    return _passes(rows * columns, 5, 10, 9, extra=10 * rows + 2 * columns)


def rotary_tables(positions: Array, head_width: int, base: float = 10_000.0) -> tuple[Array, Array]:
    """Cosines and sines of the angles by which each position turns each pair of a head.

    Both have shape [positions, 1, head_width / 2], so that all heads share them.
    """
    if head_width % 2:
        raise ValueError(f"head_width must be even, because rotary turns pairs, not {head_width}")
    half = head_width // 2
    angles = np.multiply.outer(positions, base ** (-np.arange(half) / half))[:, None, :]
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def rotary(x: Array, cosines: Array, sines: Array, turned: Array, out: Array) -> Array:
    """Turn each pair of x [..., tokens, heads, head_width] by its angle.

    The pairs are the first and second half of a head; `turned` holds half of x for intermediates.
    """
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    for target, straight, crossed, combine in (
        (out[..., :half], first, second, np.subtract),
        (out[..., half:], second, first, np.add),
    ):
        np.multiply(straight, cosines, out=target)
        np.multiply(crossed, sines, out=turned)
        combine(target, turned, out=target)
    return out


def rotary_work(tokens: int, heads: int, head_width: int) -> KernelWork:
    """Count four products and two sums over half of the array: seven passes, and the tables."""
    return _passes(tokens * heads * head_width, 3, 7, 6, extra=2 * tokens * head_width)


def gated(both: Array, out: Array) -> Array:
    """silu(gate) · up, where gate and up are the left and right half of `both`."""
    gate, up = np.split(both, 2, axis=-1)
    np.negative(gate, out=out)
    np.exp(out, out=out)
    np.add(out, 1.0, out=out)
    np.divide(gate, out, out=out)
    np.multiply(out, up, out=out)
    return out


def gated_work(rows: int, columns: int) -> KernelWork:
    """Negate, exponential, add one, divide, multiply: twelve passes over the result."""
    return _passes(rows * columns, 5, 12, 5)


def residual_work(rows: int, columns: int) -> KernelWork:
    """Count one addition."""
    return _passes(rows * columns, 1, 3, 1)


def embedding(table: Array, rows: Array, out: Array) -> Array:
    """Copy rows; numpy would copy the result once more if it had to raise for a bad row."""
    return np.take(table, rows, axis=0, out=out, mode="clip")


def embedding_work(rows: int, columns: int) -> KernelWork:
    """Read and write each row, and read its number, which takes 8 bytes."""
    return _passes(rows * columns, 0, 2, 1, extra=2 * rows)


def product_work(m: int, n: int, k: int) -> KernelWork:
    """Count a matrix product, by the textbook."""
    moved = ITEM * (m * n + n * k + m * k)
    return KernelWork(2 * m * n * k, moved, moved, 1)


def causal_mask(length: int) -> Array:
    """Make what is added to the scores, so that no token attends to a later one."""
    return np.triu(np.full((length, length), -np.inf, dtype=np.float32), 1)


def attention(
    q: Array, k: Array, v: Array, scaled: Array, scores: Array, out: Array, mask: Array | None
) -> Array:
    """Attend, writing the scores: softmax(q kᵀ / √head_width) v.

    Shapes are [batch, heads, queries, head_width], where the heads of ``out`` may lie apart; there
    is room for the ``scaled`` queries, and for ``scores`` of [batch, heads, queries, keys].
    """
    batch, heads, queries, width = q.shape
    kv_heads, keys = k.shape[1:3]
    grouped = (batch, kv_heads, heads // kv_heads, queries)
    np.multiply(q, width**-0.5, out=scaled)
    # A view: the heads of a group meet the same keys, which are not repeated in memory.
    split = scores.reshape(*grouped, keys)
    np.matmul(scaled.reshape(*grouped, width), k[:, :, None].swapaxes(-1, -2), out=split)
    if mask is not None:
        np.add(scores, mask, out=scores)
    softmax(scores, scores)
    np.matmul(split, v[:, :, None], out=out.reshape(*grouped, width))
    return out


def attention_work(
    batch: int, heads: int, kv_heads: int, queries: int, keys: int, head_width: int, causal: bool
) -> KernelWork:
    """Count all pairs of queries and keys, masked or not; the scores are moved four times."""
    pairs = batch * heads * queries * keys
    vectors = 2 * batch * heads * queries * head_width + 2 * batch * kv_heads * keys * head_width
    scores = softmax_work(batch * heads * queries, keys).traffic
    # Besides the softmax: the scores are written once, masked if causal, and read once.
    scores += ITEM * (2 * pairs + (2 * pairs + queries * keys if causal else 0))
    moved = ITEM * (vectors + 2 * batch * heads * queries * head_width) + scores
    return KernelWork(
        4 * pairs * head_width, ITEM * (vectors + 4 * pairs), moved, 9 if causal else 8
    )


def decode_attention(
    q: Array, k: Array, v: Array, scaled: Array, scores: Array, out: Array
) -> Array:
    """Attend from one new token over a cache; heads of a group are the rows of one product.

    ``scores`` is room for [batch, kv_heads, heads / kv_heads, keys].
    """
    batch, heads, width = q.shape
    grouped = (batch, k.shape[1], heads // k.shape[1], width)
    np.multiply(q, width**-0.5, out=scaled)
    np.matmul(scaled.reshape(grouped), k.swapaxes(-1, -2), out=scores)
    softmax(scores, scores)
    np.matmul(scores, v, out=out.reshape(grouped))
    return out


def decode_attention_work(
    batch: int, heads: int, kv_heads: int, keys: int, head_width: int
) -> KernelWork:
    """The formula reads the cache once; numpy also writes the scores and reads them again."""
    whole = attention_work(batch, heads, kv_heads, 1, keys, head_width, causal=False)
    pairs = batch * heads * keys
    return KernelWork(whole.flops, whole.bytes - 4 * ITEM * pairs, whole.traffic, 8)
