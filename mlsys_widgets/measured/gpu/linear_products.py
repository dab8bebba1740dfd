"""Products with a layer's weight: few rows as in decoding, many as in reading a prompt."""

from __future__ import annotations

import random

from .drawn_sizes import SEED, draw, odd, some
from .gemm import product
from .timing import GpuBench

PATIENCE = 0.12
ROWS = [1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 32, 48, 64, 96, 100, 128, 200, 256]
# Outputs and inputs of the layers of Llama-3.1-8B and of GPT-2, logits included.
LLAMA = [(6144, 4096), (4096, 4096), (28672, 4096), (4096, 14336), (128256, 4096)]
GPT2 = [(2304, 768), (3072, 768), (768, 3072), (50257, 768)]

Shape = tuple[str, int, int, int]


def drawn_weights(chance: random.Random, count: int, multiple: int = 8) -> list[tuple[int, int]]:
    """Outputs and inputs that no model has, both log-uniform."""
    return [
        (draw(chance, 700, 30000, multiple), draw(chance, 700, 15000, multiple))
        for _ in range(count)
    ]


def linear_cases() -> list[Shape]:
    """Precision, m, n and k: few rows, then many, then sizes that are odd on every side."""
    chance = random.Random(SEED + 5)
    cases: list[Shape] = []
    for n, k in [*LLAMA, *GPT2]:
        cases += [("fp16", m, n, k) for m in some(chance, ROWS, 6)]
    for n, k in drawn_weights(chance, 6):
        cases += [("fp16", m, n, k) for m in some(chance, ROWS, 2)]
    for n, k in chance.sample([*LLAMA, *GPT2], 6):
        cases.append(("bf16", chance.choice(ROWS), n, k))
    for n, k in [*LLAMA, *LLAMA[:4], *GPT2, *drawn_weights(chance, 12)]:
        cases.append(("fp16", draw(chance, 256, 16384), n, k))
    for number in range(16):
        middle = draw(chance, 300, 5000)
        m, n, k = (odd(chance, 0.7 * middle, 1.4 * middle) for _ in range(3))
        # Half of them are odd on one side only, which decides what the tensor cores can read.
        if number % 4 == 1:
            m, k = m // 8 * 8, k // 8 * 8
        elif number % 4 == 3:
            m, n = m // 8 * 8, n // 8 * 8
        cases.append(("fp16", m, n, k))
    return list(dict.fromkeys(cases))


def linear_products(bench: GpuBench) -> None:
    """Measure them all, replayed as a graph."""
    quick = [("fp16", 1, 4096, 4096), ("fp16", 32, 28672, 4096), ("fp16", 1000, 4096, 4096)]
    dry = [("fp16", 3, 40, 24), ("bf16", 2, 24, 40), ("fp16", 33, 17, 21)]
    with bench.patient(PATIENCE):
        for precision, m, n, k in bench.pick(linear_cases(), quick, dry):
            with bench.recorder.attempt(f"product {precision} of {m} x {n} x {k}"):
                product(bench, precision, m, n, k, linear=True)
            if n * max(m, k) > 1 << 24:
                bench.release()
