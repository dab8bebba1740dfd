"""Matrix products: square ones over N in every precision, and the projection [M, D] x [D, D]."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from ..recorder import Skip, Value
from .drawn_sizes import SEED, draw, odd
from .timing import GpuBench, checked

# Powers of two, their thirds, sizes around tile and wave boundaries of 132 multiprocessors
# (1408 = 11·128, 2816 = 22·128), the 279 of the labs, and misaligned 1023 and 2049.
SIZES = [
    128, 160, 192, 224, 256, 279, 280, 320, 384, 448, 512, 576, 640, 768, 896, 1023, 1024, 1152,
    1280, 1408, 1440, 1536, 1664, 1792, 2048, 2049, 2176, 2304, 2560, 2816, 2944, 3072, 3328, 3584,
    4096, 4224, 4608, 5120, 6144, 7168, 8192,
]  # fmt: skip
FEWER = [
    128, 192, 256, 272, 384, 448, 512, 640, 768, 896, 1024, 1152, 1280, 1408, 1536, 1792, 2048,
    2304, 2560, 2816, 3072, 3584, 4096, 5120, 6144, 8192,
]  # fmt: skip
QUICK = [256, 1024, 4096, 8192]
# Odd ones that nobody picked, in fp16: what a size costs that is no multiple of anything.
_chance = random.Random(SEED)
ODD = sorted({odd(_chance, 200, 7000) for _ in range(12)})
# Even ones that are no multiple of the 16 bytes that tensor cores want.
EVEN = sorted({4 * draw(_chance, 50, 1700) + 2 for _ in range(12)})
ROWS = [
    1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 320, 384, 512, 768, 1024, 1280, 1536, 2048, 3072,
    4096, 6144, 8192, 12288, 16384,
]  # fmt: skip
WIDTH = 4096
# Multiples of 8, because tensor cores want 16 bytes: up to where one product alone fills the chip.
BATCHED = [
    64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 448, 512, 576, 640, 768, 896, 1024,
]  # fmt: skip
# Bytes of a batch, all of which pass through memory: many times the last cache.
BATCH_BYTES = 3e9
WRONG = "the product is wrong"

Product = Callable[[Any, Any, Any], Any]


def _operands(bench: GpuBench, precision: str) -> tuple[Any, Any, bool, Product]:
    """Operand type, result type, whether B is stored transposed, and the product itself."""
    torch = bench.torch
    if precision in ("fp32", "tf32"):
        torch.set_float32_matmul_precision("highest" if precision == "fp32" else "high")
        return torch.float32, torch.float32, False, lambda a, b, out: torch.mm(a, b, out=out)
    if precision in ("fp16", "bf16"):
        dtype = torch.float16 if precision == "fp16" else torch.bfloat16
        return dtype, dtype, False, lambda a, b, out: torch.mm(a, b, out=out)
    if precision == "int8":
        return torch.int8, torch.int32, True, lambda a, b, out: torch._int_mm(a, b, out=out)
    if precision == "fp8":
        if bench.cuda and torch.cuda.get_device_capability() < (8, 9):
            raise Skip("this GPU has no fp8 matrix units")
        one = torch.ones((), device=bench.device)

        def scaled(a: Any, b: Any, out: Any) -> Any:
            return torch._scaled_mm(
                a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True
            )

        return torch.float8_e4m3fn, torch.bfloat16, True, scaled
    raise ValueError(f"precision must be fp32, tf32, fp16, bf16, int8 or fp8, got {precision!r}")


def product(
    bench: GpuBench,
    precision: str,
    m: int,
    n: int,
    k: int,
    kind: str = "gemm",
    *,
    linear: bool = False,
) -> None:
    """Measure one product, launched one by one and replayed as a graph, after checking it.

    A `linear` one has its weight stored as a layer stores it, transposed, says so in its shape, and
    is only replayed.
    """
    torch = bench.torch
    dtype, result, transposed, multiply = _operands(bench, precision)
    size, wide = (torch.empty(0, dtype=t).element_size() for t in (dtype, result))
    if size == 1 and (m % 16 or n % 16 or k % 16):
        raise Skip("8-bit matrix units want multiples of 16")
    traffic = size * (m * k + k * n) + wide * m * n
    sets = bench.sets(traffic)
    bench.fits(traffic * sets)
    a = bench.random(sets, (m, k), dtype)
    # The projection is stored as nn.Linear stores its weight: [out, in], used transposed.
    transposed = transposed or linear or kind == "projection"
    stored = bench.random(sets, (n, k) if transposed else (k, n), dtype)
    b = [w.t() for w in stored] if transposed else stored
    c = bench.empty(sets, (m, n), result)

    def call(i: int) -> object:
        j = i % sets
        return multiply(a[j], b[j], c[j])

    error = None
    if max(m, n, k) <= 1024 or (m <= 256 and n * k <= 1 << 24 and (linear or kind == "projection")):
        reference = a[0].float().double() @ b[0].float().double()
        error = checked(torch, multiply(a[0], b[0], c[0]), reference, 0.1, WRONG)
        del reference
    shape: dict[str, Value] = {"m": m, "n": n, "k": k, "result": str(result).removeprefix("torch.")}
    if precision == "fp8":
        shape["fast_accumulation"] = True
    if linear:
        shape["transposed"] = True
    counts: dict[str, Any] = {
        "flops": 2 * m * n * k,
        "bytes": size * (m * n + n * k + m * k),
        "traffic": traffic,
        "kernels": None,
        "error": error,
    }
    if not linear:
        eager = bench.wall(call, hold=sets)
        bench.recorder.add(kind, "eager", precision, shape, eager, **counts)
    graph = bench.replay(call, sets, hold=sets)
    bench.recorder.add(kind, "graph", precision, shape, graph, **counts)


def squares(bench: GpuBench, precisions: list[str]) -> None:
    """Measure square products, large and small."""
    for precision in precisions:
        full = SIZES if precision in ("fp16", "bf16") else FEWER
        if precision == "fp16":
            full = sorted({*full, *ODD, *EVEN})
        for n in bench.pick(full, QUICK, [32, 48]):
            with bench.recorder.attempt(f"gemm {precision} N = {n}"):
                product(bench, precision, n, n, n, "gemm")
            if n >= 2048:
                bench.release()
    bench.torch.set_float32_matmul_precision("highest")


def projections(bench: GpuBench, precisions: list[str]) -> None:
    """Measure the projection of M tokens of width D."""
    width = 64 if bench.dry else WIDTH
    for precision in precisions:
        for m in bench.pick(ROWS, [1, 128, 4096], [1, 16]):
            with bench.recorder.attempt(f"projection {precision} M = {m}"):
                product(bench, precision, m, width, width, "projection")
    bench.release()


def batches(bench: GpuBench) -> None:
    """Measure many small square products in one call, in fp16: each has matrices of its own."""
    for n in bench.pick(BATCHED, [256, 1024], [32, 48]):
        with bench.recorder.attempt(f"batch of gemm fp16 N = {n}"):
            _batch(bench, n, 2 if bench.dry else int(BATCH_BYTES / (3 * 2 * n * n)))
        bench.release()


def _batch(bench: GpuBench, n: int, count: int) -> None:
    torch, dtype = bench.torch, bench.torch.float16
    moved = 3 * 2 * n * n * count
    bench.fits(moved)
    (a,), (b,) = (bench.random(1, (count, n, n), dtype) for _ in range(2))
    (c,) = bench.empty(1, (count, n, n), dtype)
    reference = a[:2].float().double() @ b[:2].float().double()
    error = checked(torch, torch.bmm(a[:2], b[:2]), reference, 0.1, WRONG)
    seconds = bench.replay(lambda _: torch.bmm(a, b, out=c), 1)
    bench.recorder.add(
        "batched_gemm", "graph", "fp16", {"n": n, "batch": count}, seconds,
        flops=2 * n**3 * count, bytes=moved, traffic=moved, kernels=None, error=error,
    )  # fmt: skip
