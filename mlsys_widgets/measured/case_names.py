"""Names of measured cases in a few words: the size of its product, or what its attention reads."""

from __future__ import annotations

from collections.abc import Mapping

from .recorder import Value

#: What a shape says besides its size.
_BESIDE = (
    "result",
    "array_bytes",
    "parameter_bytes",
    "input_bytes",
    "channels_last",
    "transposed",
    "backend",
)


def size_in_words(kind: str, shape: Mapping[str, Value]) -> str:
    """Return the size of a case, as a table or a legend names it.

    Examples
    --------
    >>> size_in_words("gemm", {"m": 4096, "n": 4096, "k": 4096})
    'N = 4,096'
    >>> size_in_words("gemm", {"m": 3, "n": 6144, "k": 4096, "transposed": True})
    '3 × 6,144 × 4,096'
    >>> heads = {"heads": 32, "kv_heads": 8, "head_width": 128}
    >>> prompt = {"batch": 2, "queries": 512, "keys": 512, "causal": True, "form": "tiled"}
    >>> size_in_words("attention", prompt | heads)
    '2 × 512 tokens, 32 heads of 128 (8 KV), causal'
    >>> size_in_words("decode_attention", {"batch": 64, "queries": 1, "keys": 4096} | heads)
    '64 × 4,096 cached tokens, 32 heads of 128 (8 KV)'
    >>> size_in_words("energy", {"work": "decode", "drawn": True, "batch": 3, "sequence": 6742})
    'decode of 3 × 6,742 tokens, drawn'
    """
    if kind in ("attention", "decode_attention"):
        return _attention(kind, shape)
    if kind == "energy" and "batch" in shape:
        drawn = ", drawn" if shape.get("drawn") else ""
        return f"{shape['work']} of {shape['batch']:,} × {shape['sequence']:,} tokens{drawn}"
    if all(side in shape for side in "mnk"):
        m, n, k = (shape[side] for side in "mnk")
        return f"N = {n:,}" if m == n == k else f"{m:,} × {n:,} × {k:,}"
    return " ".join(f"{name}={value}" for name, value in shape.items() if name not in _BESIDE)


def label_of(kind: str, shape: Mapping[str, Value]) -> str:
    """Return the size of a case in the label that distinguishes it from others of its kind.

    Examples
    --------
    >>> label_of("gemm", {"m": 256, "n": 256, "k": 256}), label_of("projection", {"m": 16})
    ('N=256', 'M=16')
    >>> label_of("gemm", {"m": 3, "n": 6144, "k": 4096, "transposed": True})
    'M=3 N=6144 K=4096'
    """
    m, n, k = (shape.get(side) for side in "mnk")
    if kind == "projection":
        return f"M={m}"
    if m is None or n is None or k is None:
        return size_in_words(kind, shape)
    return f"N={n}" if m == n == k else f"M={m} N={n} K={k}"


def _attention(kind: str, shape: Mapping[str, Value]) -> str:
    heads, kept = shape["heads"], shape["kv_heads"]
    shared = "" if kept == heads else f" ({kept} KV)"
    cached = "cached " if kind == "decode_attention" else ""
    words = [
        f"{shape['batch']:,} × {shape['keys']:,} {cached}tokens",
        f"{heads} heads of {shape['head_width']}{shared}",
    ]
    if shape.get("causal"):
        words.append("causal")
    if shape.get("form") == "naive":
        words.append("scores through memory")
    return ", ".join(words)
