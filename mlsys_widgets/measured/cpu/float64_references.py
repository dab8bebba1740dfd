"""Plain references in float64, one formula each, that the timed kernels are held against."""

from __future__ import annotations

import numpy as np

from .numpy_kernels import EPSILON
from .timing import Array

TOLERANCE = 1e-4


def relative_difference(result: Array, reference: Array) -> float:
    """Norm of the difference over the norm of the reference.

    `RuntimeError` if it is not small: the result is wrong, and its time means nothing.
    """
    error = float(np.linalg.norm(result - reference) / np.linalg.norm(reference))
    if not error < TOLERANCE:
        raise RuntimeError(f"the result is wrong: relative error {error:.3g}")
    return error


def plain_softmax(x: Array) -> Array:
    """Softmax along the last axis."""
    raised = np.exp(x.astype(float) - np.max(x, axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def plain_rms_norm(x: Array) -> Array:
    """RMS norm along the last axis, with a gain of one."""
    x = x.astype(float)
    return np.asarray(x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + EPSILON))


def plain_layer_norm(x: Array) -> Array:
    """Layer norm along the last axis, with a gain of one and no bias."""
    x = x.astype(float)
    variance = np.var(x, axis=-1, keepdims=True)
    return np.asarray((x - x.mean(axis=-1, keepdims=True)) / np.sqrt(variance + EPSILON))


def plain_rotary(x: Array, positions: Array, base: float = 10_000.0) -> Array:
    """Rotary embedding of x [tokens, heads, head_width] as a turn of complex numbers."""
    half = x.shape[-1] // 2
    pairs = x[..., :half].astype(float) + 1j * x[..., half:].astype(float)
    pairs = (
        pairs
        * np.exp(1j * np.multiply.outer(positions, base ** (-np.arange(half) / half)))[:, None]
    )
    return np.concatenate([pairs.real, pairs.imag], axis=-1)


def plain_gated(both: Array) -> Array:
    """silu(gate) · up of the two halves."""
    gate, up = np.split(both.astype(float), 2, axis=-1)
    return np.asarray(gate / (1 + np.exp(-gate)) * up)


def plain_attention(q: Array, k: Array, v: Array, causal: bool = False) -> Array:
    """Attention of one head: q [queries, width] over k and v [keys, width].

    If causal, the last query is the last key's, so that one query alone sees all the keys.
    """
    scores = q.astype(float) @ k.astype(float).T / np.sqrt(q.shape[-1])
    if causal:
        later = np.arange(len(k)) > np.arange(len(k) - len(q), len(k))[:, None]
        scores[later] = -np.inf
    return np.asarray(plain_softmax(scores) @ v.astype(float))
