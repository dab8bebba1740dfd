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

from mlsys_widgets import physics as ph

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
PEAK, BANDWIDTH = 989e12, 3.35e12


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


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    pairs = {
        "gemm": (core_gemm, bare_gemm),
        "roofline": (core_roofline, bare_roofline),
        "forward_pass, async": (core_async_pass, bare_async_pass),
        "break_even": (core_break_even, bare_break_even),
    }
    print(f"{CASES:,} cases a call, median of {ROUNDS} rounds in turns; ratio core / bare numpy")
    for name, (core, bare) in pairs.items():
        core(), bare()
        rounds = [(seconds(core), seconds(bare)) for _ in range(ROUNDS)]
        ours, theirs = (statistics.median(times) for times in zip(*rounds, strict=True))
        print(f"  {name:20} {ours / theirs:5.2f}×   (goal: at most 2)")


if __name__ == "__main__":
    main()
