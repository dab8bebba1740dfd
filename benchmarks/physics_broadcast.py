"""One call of the core over a million cases, against the bare numpy expression.

The core checks every input and keeps the intermediate quantities; the bare expression does
neither. Both run side by side, in turns, and the ratio of their medians is reported. The goal is
at most 2.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mlsys_widgets import physics as ph
from mlsys_widgets.physics.attention_law import PromptAttentionLaw
from mlsys_widgets.physics.product_laws import TILES, ProductLaw

Array = NDArray[np.float64]

CASES = 1_000_000
ROUNDS = 15

random = np.random.default_rng(0)
m, n, k = (random.integers(1, 8192, CASES).astype(float) for _ in range(3))
intensity = random.uniform(0.1, 1000, CASES)
kernels = random.integers(1, 10_000, CASES).astype(float)
compute = random.uniform(1e-6, 1e-3, CASES)
launch = random.uniform(1e-6, 1e-4, CASES)
memory = random.uniform(1e-6, 1e-3, CASES)
compile_time = random.uniform(1, 300, CASES)
eager = random.uniform(1, 1e4, CASES)
compiled = eager * random.uniform(0.9, 3, CASES)
batch = random.integers(1, 256, CASES).astype(float)
keys = random.integers(1, 32_768, CASES).astype(float)
PEAK, BANDWIDTH = 989e12, 3.35e12
HEADS, KEPT, WIDTH = 32.0, 8.0, 128.0
h200 = ph.calibration_of("h200-sxm")
tiled, aligned = h200.law("prompt attention", "fp16"), h200.law("products", "fp16")
assert isinstance(tiled, PromptAttentionLaw)
assert isinstance(aligned, ProductLaw)


def core_gemm() -> object:
    kernel = ph.gemm(m, n, k, bytes_per_element=2)
    return kernel.flops, kernel.bytes, kernel.intensity


def bare_gemm() -> object:
    flops = 2 * m * n * k
    moved = 2 * (m * n + n * k + m * k)
    return flops, moved, flops / moved


def core_roofline() -> object:
    roof = ph.roofline(intensity, PEAK, BANDWIDTH)
    return roof.attainable, roof.ridge, roof.mfu, roof.memory_bound


def bare_roofline() -> object:
    attainable = np.minimum(PEAK, BANDWIDTH * intensity)
    ridge = PEAK / BANDWIDTH
    return attainable, ridge, attainable / PEAK, intensity < ridge


def core_async_pass() -> object:
    done = ph.forward_pass(kernels, compute, launch, memory, launch="async")
    return done.compute, done.total, done.dispatch, done.utilization


def bare_async_pass() -> object:
    busy = kernels * compute
    each = (busy + memory) / kernels
    total = launch + each + (kernels - 1) * np.maximum(launch, each)
    return busy, total, total - busy - memory, busy / total


def core_break_even() -> object:
    return ph.break_even(compile_time, eager, compiled)


def bare_break_even() -> object:
    saved = 1 / eager - 1 / compiled
    with np.errstate(divide="ignore"):
        return np.where(saved > 0, compile_time / saved, np.inf)


def core_product() -> object:
    kernel = ph.product(m, n, k, "fp16")
    return kernel.flops, kernel.bytes, kernel.intensity


bare_product = bare_gemm  # in one width, a product is a plain matrix product


def core_attention() -> object:
    kernel = ph.attention(batch, HEADS, 1, keys, WIDTH, kv_heads=KEPT)
    return kernel.flops, kernel.bytes, kernel.intensity


def bare_attention() -> object:
    flops = 4 * batch * HEADS * keys * WIDTH
    moved = 4 * batch * HEADS * WIDTH + 4 * batch * KEPT * keys * WIDTH
    return flops, moved, flops / moved


def calibrated(
    law: ph.Law, flops: Array, moved: Array, floor: Array | float, share: Array, peak: float
) -> Array:
    """The calibrated time as one writes it without the core."""
    memory = moved / (h200.device.bandwidth * law.bandwidth_share)
    computing = flops / (peak * share)
    return floor + np.maximum(memory, computing) + law.exposed * np.minimum(memory, computing)


def core_product_law() -> object:
    return h200.time(ph.product(m, n, k, "fp16"), "products").time


def bare_product_law() -> object:
    flops, units = 2 * m * n * k, h200.units
    moved = 2 * (m * n + n * k + m * k)
    share = np.zeros(CASES)
    for rows, columns in TILES:
        waves = np.ceil(np.ceil(m / rows) * np.ceil(n / columns) / units)
        reuse = rows * columns / (rows + columns)
        rate = aligned.compute_share * reuse / (reuse + aligned.half_tile)
        share = np.maximum(share, rate * m * n / (waves * units * rows * columns))
    few = n / 128 * np.ceil(m / 128) < units
    floor = np.where(few, aligned.floor + aligned.split_time, aligned.floor)
    return calibrated(aligned, flops, moved, floor, share, h200.device.peak("fp16"))


def core_attention_law() -> object:
    prompt = ph.attention(batch, HEADS, keys, keys, WIDTH, kv_heads=KEPT, causal=True)
    return h200.time(prompt, "prompt attention").time


def bare_attention_law() -> object:
    pairs = 0.5 * batch * HEADS * keys * keys
    moved = 4 * batch * HEADS * keys * WIDTH + 4 * batch * KEPT * keys * WIDTH
    longest = np.ceil(keys / 128)
    walks = batch * HEADS * longest
    steps = walks * (longest * 0.5 + 0.5 + tiled.tile_cost) / h200.units + tiled.tail * longest
    slots = steps * h200.units * 128**2 * (WIDTH + tiled.half_width)
    share = tiled.compute_share * pairs * WIDTH / slots
    peak = h200.device.peak("fp16")
    return calibrated(tiled, 4 * pairs * WIDTH, moved, tiled.floor, share, peak)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def outputs(work: Callable[[], object]) -> tuple[object, ...]:
    given = work()
    return given if isinstance(given, tuple) else (given,)


def main() -> None:
    pairs = {
        "gemm": (core_gemm, bare_gemm),
        "roofline": (core_roofline, bare_roofline),
        "forward_pass, async": (core_async_pass, bare_async_pass),
        "break_even": (core_break_even, bare_break_even),
        "product": (core_product, bare_product),
        "attention": (core_attention, bare_attention),
        "law of products": (core_product_law, bare_product_law),
        "law of attention": (core_attention_law, bare_attention_law),
    }
    print(f"{CASES:,} cases a call, median of {ROUNDS} rounds in turns; ratio core / bare numpy")
    for name, (core, bare) in pairs.items():
        # One expression with two ways to write it, or the ratio means nothing.
        assert all(np.allclose(*both) for both in zip(outputs(core), outputs(bare), strict=True))
        rounds = [(seconds(core), seconds(bare)) for _ in range(ROUNDS)]
        ours, theirs = (statistics.median(times) for times in zip(*rounds, strict=True))
        print(f"  {name:20} {ours / theirs:5.2f}×   (goal: at most 2)")


if __name__ == "__main__":
    main()
