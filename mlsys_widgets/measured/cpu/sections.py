"""Sections measured on a CPU: streams, matrix products, elementwise work, call overhead, fusion."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..recorder import Skip, Value
from .timing import Array, Call, CpuBench

BLOCK = 1 << 15
PRECISIONS = {"fp32": "float32", "fp64": "float64"}


def _threads(bench: CpuBench) -> list[int]:
    return sorted({1, bench.cores})


def streams(bench: CpuBench) -> None:
    """Copy and triad over arrays that fill the arena, with one thread and with all.

    numpy has no operation that multiplies and adds, so triad comes twice: as STREAM's add, one
    operation that moves what triad moves, and as triad itself in blocks.
    """
    for kind, variant, operation, arrays, flops, work in (
        ("copy", "numpy", "a = b", 2, 0, _copy),
        ("triad", "add", "a = b + c", 3, 1, _add),
        ("triad", "blocked", "a = b + 3c", 3, 2, _triad),
    ):
        elements = bench.arena // (8 * arrays) // 1024 * 1024 - 1024
        parts = bench.cut("float64", [elements] * (arrays - 1), [elements])
        bench.fill("float64")
        for threads in _threads(bench):
            with bench.recorder.attempt(f"{kind} {variant} with {threads} threads"):
                seconds = bench.time(work(bench, parts, threads), loop=0.0)
                moved = 8 * arrays * elements
                shape: dict[str, Value] = {
                    "operation": operation,
                    "elements": elements,
                    "array_bytes": 8 * elements,
                    "threads": threads,
                }
                bench.recorder.add(
                    kind, variant, "fp64", shape, seconds,
                    flops=flops * elements, bytes=moved, throughput=moved / seconds.median,
                )  # fmt: skip


def _copy(bench: CpuBench, parts: list[Array], threads: int) -> Call:
    source, target = parts

    def work(part: int) -> None:
        lower, upper = bench.bounds(source.size, part, threads)
        np.copyto(target[lower:upper], source[lower:upper])

    return lambda i: bench.together(work, threads)


def _add(bench: CpuBench, parts: list[Array], threads: int) -> Call:
    b, c, a = parts

    def work(part: int) -> None:
        lower, upper = bench.bounds(a.size, part, threads)
        np.add(b[lower:upper], c[lower:upper], out=a[lower:upper])

    return lambda i: bench.together(work, threads)


def _triad(bench: CpuBench, parts: list[Array], threads: int) -> Call:
    """Triad, a = b + 3c, in blocks that stay in a cache: each array crosses memory once."""
    b, c, a = parts

    def work(part: int) -> None:
        lower, upper = bench.bounds(a.size, part, threads)
        scaled = np.empty(BLOCK)
        for start in range(lower, upper, BLOCK):
            stop = min(upper, start + BLOCK)
            piece = scaled[: stop - start]
            np.multiply(c[start:stop], 3.0, out=piece)
            np.add(piece, b[start:stop], out=a[start:stop])

    return lambda i: bench.together(work, threads)


def products(bench: CpuBench) -> None:
    """Square matrix products with numpy's BLAS, which uses every core."""
    full = [32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072]
    for precision, dtype in PRECISIONS.items():
        bench.fill(dtype)
        for n in [64, 256, 1024, 1536] if bench.quick else full:
            square_product(bench, precision, n)
    for precision, reason in (
        (
            "fp16",
            "numpy has no BLAS for it and would convert each element: no rate of the CPU",
        ),
        ("bf16", "numpy has no such type"),
        ("int8", "numpy multiplies integers without BLAS: no rate of the CPU"),
    ):
        bench.recorder.skip(f"gemm {precision}", reason)


def square_product(bench: CpuBench, precision: str, n: int) -> None:
    """One size of matrix product, from an arena that was filled with numbers of its precision."""
    dtype = PRECISIONS[precision]
    item = np.dtype(dtype).itemsize
    with bench.recorder.attempt(f"gemm {precision} N = {n}"):
        if not bench.sets(dtype, [n * n] * 2, [n * n]):
            raise Skip("too little memory")

        def call(i: int) -> object:
            sides = bench.cut(dtype, [n * n] * 2, [n * n], i)
            a, b, c = (x.reshape(n, n) for x in sides)
            return np.matmul(a, b, out=c)

        seconds = bench.time(call)
        flops = 2 * n**3
        bench.recorder.add(
            "gemm", "numpy", precision, {"m": n, "n": n, "k": n, "threads": bench.cores},
            seconds, flops=flops, bytes=3 * item * n * n, error=_error(bench, dtype, n),
        )  # fmt: skip


def _error(bench: CpuBench, dtype: str, n: int) -> float | None:
    """Return the relative error of the row sums of a product, computed independently in float64."""
    if n > 1024:
        return None
    a, b, c = (x.reshape(n, n) for x in bench.cut(dtype, [n * n] * 2, [n * n]))
    np.matmul(a, b, out=c)
    ones = np.ones(n)
    wanted = a.astype(np.float64) @ (b.astype(np.float64) @ ones)
    error = float(np.linalg.norm(c.astype(np.float64) @ ones - wanted) / np.linalg.norm(wanted))
    if not error < 1e-4:
        raise RuntimeError(f"the product is wrong: relative error {error:.3g}")
    return error


def elementwise(bench: CpuBench) -> None:
    """ReLU and addition in one thread, from tiny arrays (overhead) to huge ones (memory)."""
    sizes = [1, 10, 100, 10**3, 10**4, 10**5, 10**6, 10**7, 3 * 10**7]
    bench.fill("float32")
    for n in [100, 10**4, 10**6, 10**7] if bench.quick else sizes:
        with bench.recorder.attempt(f"relu and add of {n:g} elements"):
            if not bench.sets("float32", [n] * 2, [n]):
                raise Skip("too little memory")
            # Cutting arrays costs as much as a tiny operation, so it is done before the timing.
            count = min(bench.sets("float32", [n] * 2, [n]), 4096)
            ready = [bench.cut("float32", [n] * 2, [n], i) for i in range(count)]

            def relu(i: int, ready: Any = ready, count: int = count) -> object:
                x, _, out = ready[i % count]
                return np.maximum(x, 0.0, out=out)

            def add(i: int, ready: Any = ready, count: int = count) -> object:
                x, y, out = ready[i % count]
                return np.add(x, y, out=out)

            for name, call, passes in (("relu", relu, 2), ("add", add, 3)):
                seconds = bench.time(call)
                shape: dict[str, Value] = {
                    "operation": name, "elements": n, "operations": 1, "threads": 1,
                }  # fmt: skip
                bench.recorder.add(
                    "elementwise", "numpy", "fp32", shape, seconds, flops=n, bytes=4 * passes * n,
                    kernels=1, throughput=4 * passes * n / seconds.median,
                )  # fmt: skip


def overhead(bench: CpuBench) -> None:
    """Measure the cost of calling a tiny operation: the CPU's own dispatch tax."""
    x, y, out = np.ones(1), np.ones(1), np.ones(1)

    def nothing(i: int) -> object:
        return None

    def add(i: int) -> object:
        return np.add(x, y, out=out)

    def allocating(i: int) -> object:
        return x + y

    for variant, call in (("loop", nothing), ("numpy", add), ("allocating", allocating)):
        with bench.recorder.attempt(f"call of a tiny operation, {variant}"):
            shape: dict[str, Value] = {
                "operation": "nothing" if variant == "loop" else "add", "elements": 1,
            }  # fmt: skip
            bench.recorder.add(
                "launch", variant, "fp64", shape, bench.time(call),
                kernels=0 if variant == "loop" else 1,
            )  # fmt: skip
    for n in [10, 1000] if bench.quick else [10, 100, 1000, 10000]:
        with bench.recorder.attempt(f"{n} tiny operations"):

            def chain(i: int, n: int = n) -> object:
                for _ in range(n):
                    np.add(x, y, out=out)
                return None

            bench.recorder.add(
                "dispatch", "numpy", "fp64", {"launches": n, "length": "tiny", "elements": 1},
                bench.time(chain), flops=n, bytes=24 * n, kernels=n,
            )  # fmt: skip


def fusion(bench: CpuBench) -> None:
    """Measure relu(x·w + b)²: with temporaries, with `out=`, in blocks that stay in a cache.

    Unfused 6 reads and 4 writes of the whole array; blocked, each external input is read once and
    the result written once.
    """
    largest = 10**7
    bench.fill("float32")
    for n in [largest] if bench.quick else [10**4, 10**5, 10**6, largest]:
        with bench.recorder.attempt(f"chain of {n:g} elements"):
            _chain(bench, n)


def _chain(bench: CpuBench, n: int) -> None:
    recorder = bench.recorder
    if not bench.sets("float32", [n] * 3, [n]):
        raise Skip("too little memory")

    def operands(i: int) -> list[Array]:
        return bench.cut("float32", [n] * 3, [n], i)

    def temporaries(i: int) -> Array:
        x, w, b, _ = operands(i)
        y = x * w
        z = y + b
        r = np.maximum(z, 0.0)
        return np.asarray(np.square(r))

    def in_place(i: int) -> Array:
        x, w, b, out = operands(i)
        np.multiply(x, w, out=out)
        np.add(out, b, out=out)
        np.maximum(out, 0.0, out=out)
        np.square(out, out=out)
        return out

    def blocks(arrays: list[Array], lower: int, upper: int) -> None:
        x, w, b, out = arrays
        for start in range(lower, upper, BLOCK):
            stop = min(upper, start + BLOCK)
            piece = out[start:stop]
            np.multiply(x[start:stop], w[start:stop], out=piece)
            np.add(piece, b[start:stop], out=piece)
            np.maximum(piece, 0.0, out=piece)
            np.square(piece, out=piece)

    def blocked(i: int) -> Array:
        arrays = operands(i)
        blocks(arrays, 0, n)
        return arrays[3]

    def by_threads(i: int) -> Array:
        arrays = operands(i)
        bench.together(lambda part: blocks(arrays, *bench.bounds(n, part)), bench.cores)
        return arrays[3]

    wanted = temporaries(0).copy()
    ways: list[tuple[str, Call, int, int]] = [
        ("temporaries", temporaries, 10, 1),
        ("out", in_place, 10, 1),
        ("blocked", blocked, 4, 1),
    ]
    if bench.cores > 1:
        ways.append(("blocked_threads", by_threads, 4, bench.cores))
    for variant, call, passes, threads in ways:
        with recorder.attempt(f"chain of {n:g} elements, {variant}"):
            if not np.array_equal(np.asarray(call(0)), wanted):
                raise RuntimeError("the chain differs from the one with temporaries")
            shape: dict[str, Value] = {
                "chain": "relu(x*w+b)**2", "elements": n, "operations": 4, "threads": threads,
            }  # fmt: skip
            seconds = bench.time(call)
            recorder.add(
                "fusion", variant, "fp32", shape, seconds, flops=4 * n, bytes=40 * n,
                traffic=4 * passes * n, throughput=4 * passes * n / seconds.median,
            )  # fmt: skip
