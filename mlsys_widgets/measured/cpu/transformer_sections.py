"""Sections of a language model on a CPU: attention, products with few rows, one layer.

Each section measures a short list of sizes and sizes drawn with a seed, so that odd ones and ones
that nobody would pick are among them. Inputs and results rotate through the arena; what a program
would keep and use again, such as the room for scores, is one array per case.
"""

from __future__ import annotations

import random

import numpy as np

from ...wording.plurals import counted
from ..recorder import Value
from . import numpy_kernels as nk
from .drawn_cases import DTYPE, SEED, log_uniform, operands, record
from .float64_references import plain_attention, relative_difference
from .small_transformer import NumpyLayer, SmallTransformer, plain_layer
from .timing import Array, CpuBench

#: Elements of scores, 64 MB.
MOST_SCORES = 1 << 24
#: Heads, heads of keys and values, and their width.
HEADS = ((8, 2, 64), (8, 8, 64), (12, 12, 64), (16, 4, 80), (4, 1, 128))
#: Uniform weights within this keep the scale of what they multiply in a layer of width 512.
UNIT_WEIGHT = (3 / 512) ** 0.5

Sets = list[list[Array]]


def prompt_sizes(quick: bool) -> list[tuple[int, int, int, int, int, bool]]:
    """Batch, heads, kv_heads, head_width, length, and whether causal."""
    if quick:
        return [(1, 8, 2, 64, 64, True), (1, 8, 2, 64, 384, True)]
    found = [(1, 8, 2, 64, n, False) for n in (16, 32, 64, 128, 256, 512, 1024)]
    found += [(1, 8, 2, 64, n, True) for n in (32, 128, 512, 1024)]
    chance = random.Random(SEED)
    for number in range(18):
        heads, kv_heads, width = chance.choice(HEADS)
        length = log_uniform(chance, 16, 1024)
        most = max(1, MOST_SCORES // (heads * length**2))
        batch = log_uniform(chance, 1, min(8, most))
        found.append((batch, heads, kv_heads, width, length, number % 2 == 0))
    return found


def prompts(bench: CpuBench) -> None:
    """Measure attention over a prompt, in the naive form that writes its scores."""
    bench.fill(DTYPE, -1.0, 1.0)
    for batch, heads, kv_heads, width, length, causal in prompt_sizes(bench.quick):
        what = f"attention of {batch} x {length} tokens, {heads} heads of {width}"
        with bench.recorder.attempt(what):
            q_shape, k_shape = (batch, heads, length, width), (batch, kv_heads, length, width)
            ready = operands(bench, [q_shape, k_shape, k_shape], [q_shape])
            scaled = np.empty(q_shape, dtype=DTYPE)
            scores = np.empty((batch, heads, length, length), dtype=DTYPE)
            mask = nk.causal_mask(length) if causal else None

            def call(
                i: int, ready: Sets = ready, room: tuple[Array, Array] = (scaled, scores),
                mask: Array | None = mask,
            ) -> Array:  # fmt: skip
                q, k, v, out = ready[i % len(ready)]
                return nk.attention(q, k, v, *room, out, mask)

            q, k, v, _ = ready[0]
            shape: dict[str, Value] = {
                "batch": batch, "heads": heads, "kv_heads": kv_heads, "queries": length,
                "keys": length, "head_width": width, "causal": causal, "form": "naive",
            }  # fmt: skip
            record(
                bench, "attention", shape, call,
                nk.attention_work(batch, heads, kv_heads, length, length, width, causal),
                threads=bench.cores, error=_head_error(call(0), q, k, v, causal),
            )  # fmt: skip


def _head_error(out: Array, q: Array, k: Array, v: Array, causal: bool) -> float:
    """Return the relative error of the first head of all and the last of all."""
    worst = 0.0
    for which in (0, -1):
        wanted = plain_attention(q[which, which], k[which, which], v[which, which], causal)
        worst = max(worst, relative_difference(out[which, which], wanted))
    return worst


def cache_sizes(quick: bool) -> list[tuple[int, int, int, int, int]]:
    """Batch, heads, kv_heads, head_width and keys."""
    if quick:
        return [(1, 8, 2, 64, 1024), (4, 8, 2, 64, 4096)]
    found = [(b, 8, 2, 64, n) for n in (64, 256, 1024, 4096, 16384) for b in (1, 8)]
    chance = random.Random(SEED)
    for _ in range(20):
        heads, kv_heads, width = chance.choice(HEADS)
        keys = log_uniform(chance, 64, 16384)
        found.append((log_uniform(chance, 1, 8), heads, kv_heads, width, keys))
    return found


def cached_tokens(bench: CpuBench) -> None:
    """Measure attention of one new token per sequence over a cache, with grouped queries."""
    bench.fill(DTYPE, -1.0, 1.0)
    for batch, heads, kv_heads, width, keys in cache_sizes(bench.quick):
        with bench.recorder.attempt(
            f"{counted(batch, 'new token')} over {keys} keys, {heads} heads"
        ):
            q_shape, k_shape = (batch, heads, width), (batch, kv_heads, keys, width)
            ready = operands(bench, [q_shape, k_shape, k_shape], [q_shape])
            scaled = np.empty(q_shape, dtype=DTYPE)
            scores = np.empty((batch, kv_heads, heads // kv_heads, keys), dtype=DTYPE)

            def call(
                i: int, ready: Sets = ready, room: tuple[Array, Array] = (scaled, scores)
            ) -> Array:
                q, k, v, out = ready[i % len(ready)]
                return nk.decode_attention(q, k, v, *room, out)

            q, k, v, _ = ready[0]
            error = _head_error(call(0)[:, :, None], q[:, :, None], k, v, causal=False)
            shape: dict[str, Value] = {
                "batch": batch, "heads": heads, "kv_heads": kv_heads, "queries": 1, "keys": keys,
                "head_width": width, "form": "grouped",
            }  # fmt: skip
            record(
                bench, "decode_attention", shape, call,
                nk.decode_attention_work(batch, heads, kv_heads, keys, width),
                threads=bench.cores, error=error,
            )  # fmt: skip


def product_sizes(quick: bool) -> list[tuple[int, int, int]]:
    """Rows, results and inputs of a linear layer: m, n and k."""
    if quick:
        return [(1, 2816, 512), (8, 2816, 512), (33, 1001, 777)]
    layer = [(768, 512), (512, 512), (2816, 512), (512, 1408), (4096, 1024)]
    found = [(m, n, k) for n, k in layer for m in (1, 4, 16, 64)]
    chance = random.Random(SEED)
    for _ in range(20):
        n, k = log_uniform(chance, 64, 4096), log_uniform(chance, 64, 1024)
        found.append((log_uniform(chance, 1, 64), n, k))
    return found


def few_rows(bench: CpuBench) -> None:
    """Measure products of few rows with a weight that is stored [out, in]."""
    bench.fill(DTYPE, -1.0, 1.0)
    for m, n, k in product_sizes(bench.quick):
        with bench.recorder.attempt(f"product of {counted(m, 'row')}, {n} x {k}"):
            ready = operands(bench, [(m, k), (n, k)], [(m, n)])

            def call(i: int, ready: Sets = ready) -> Array:
                x, weight, out = ready[i % len(ready)]
                return np.matmul(x, weight.T, out=out)

            x, weight, _ = ready[0]
            some = slice(None, None, max(1, n // 64))
            wanted = x.astype(float) @ weight[some].astype(float).T
            shape: dict[str, Value] = {
                "m": m, "n": n, "k": k, "result": DTYPE, "transposed": True,
            }  # fmt: skip
            record(
                bench, "gemm", shape, call, nk.product_work(m, n, k), threads=bench.cores,
                error=relative_difference(call(0)[:, some], wanted),
            )  # fmt: skip


def layer_sizes(quick: bool) -> list[tuple[str, int, int]]:
    """Phase, batch and sequence."""
    if quick:
        return [("prefill", 1, 65), ("decode", 1, 1024)]
    found = [("prefill", b, n) for b, n in ((1, 16), (1, 128), (1, 512), (1, 1024), (8, 64))]
    found += [("decode", b, n) for b, n in ((1, 128), (1, 2048), (1, 16384), (8, 512), (8, 4096))]
    chance = random.Random(SEED)
    for _ in range(7):
        length = log_uniform(chance, 16, 1024)
        found.append(("prefill", log_uniform(chance, 1, min(8, max(1, 2048 // length))), length))
        found.append(("decode", log_uniform(chance, 1, 16), log_uniform(chance, 64, 8192)))
    return found


def layers(bench: CpuBench) -> None:
    """Measure one layer of a small transformer, over prompts and for one new token per sequence."""
    sizes = SmallTransformer()
    for phase, batch, sequence in layer_sizes(bench.quick):
        with bench.recorder.attempt(f"{phase} of {batch} x {sequence} tokens"):
            # Each time: new tokens enter the cache, which is where another case has its weights.
            bench.fill(DTYPE, -UNIT_WEIGHT, UNIT_WEIGHT)
            layer = NumpyLayer(sizes, phase, batch, sequence)
            rows, cache = (layer.tokens, sizes.width), sizes.cache_shape(batch, sequence)
            # A prompt writes its cache; a new token reads what is there and adds to it.
            before, after = ([], [cache] * 2) if phase == "prefill" else ([cache] * 2, [])
            ready = operands(bench, [rows, *sizes.weight_shapes, *before], [*after, rows])

            def call(i: int, ready: Sets = ready, layer: NumpyLayer = layer) -> Array:
                x, *weights, keys, values, out = ready[i % len(ready)]
                return layer(x, weights, keys, values, out)

            x, *weights, keys, values, _ = ready[0]
            wanted = plain_layer(sizes, x[-layer.new :], weights, keys[-1], values[-1])
            record(
                bench, "layer", layer.shape, call, layer.work, threads=bench.cores,
                error=relative_difference(call(0)[-layer.new :], wanted), rate=layer.tokens,
            )  # fmt: skip
