"""The CPU roofline that ``mlsys measure`` reports, against other tools on the same machine.

Copy and add are compared with a STREAM-like C program compiled here (gcc -O3 -fopenmp; its copy is
the C library's memcpy, as gcc makes of STREAM's); the goal is a ratio within 25 %. Shown without a
goal: the triad in blocks, because numpy has no multiply-add and a temporary goes through the cache,
and mbw, whose buffers begin at the same place of a page, where the C library's memcpy takes its
slower path. The best matrix product is compared with the best of five long runs; the goal is within
15 %. Everything runs in turns and the best round of each counts, which is STREAM's own rule: a busy
neighbor can only take time away.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from mlsys_widgets.measured import cpu, measure, points

ROUNDS = 5
STREAM = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int order(const void *x, const void *y) {
    double d = *(const double *)x - *(const double *)y;
    return d < 0 ? -1 : d > 0;
}

int main(int argc, char **argv) {
    long n = atol(argv[1]);
    size_t huge = 2 << 20, size = (8 * n + huge) / huge * huge;
    double *a = aligned_alloc(huge, size), *b = aligned_alloc(huge, size);
    double *c = aligned_alloc(huge, size);
    madvise(a, size, MADV_HUGEPAGE); /* as numpy asks for its arrays */
    madvise(b, size, MADV_HUGEPAGE);
    madvise(c, size, MADV_HUGEPAGE);
    double copy[9], add[9], triad[9];
    #pragma omp parallel for
    for (long i = 0; i < n; i++) { a[i] = 1 + i % 7; b[i] = 2 + i % 5; c[i] = 0.5; }
    for (int r = 0; r < 9; r++) {
        double t = omp_get_wtime();
        #pragma omp parallel
        {
            long p = omp_get_thread_num(), q = omp_get_num_threads();
            long from = n * p / q, to = n * (p + 1) / q;
            memcpy(c + from, a + from, 8 * (to - from));
        }
        copy[r] = omp_get_wtime() - t;
        t = omp_get_wtime();
        #pragma omp parallel for
        for (long i = 0; i < n; i++) a[i] = b[i] + c[i];
        add[r] = omp_get_wtime() - t;
        t = omp_get_wtime();
        #pragma omp parallel for
        for (long i = 0; i < n; i++) a[i] = b[i] + 3.0 * c[i];
        triad[r] = omp_get_wtime() - t;
    }
    qsort(copy, 9, sizeof(double), order);
    qsort(add, 9, sizeof(double), order);
    qsort(triad, 9, sizeof(double), order);
    printf("%.6g ", 16.0 * n / copy[4]);
    printf("%.6g %.6g %g\n", 24.0 * n / add[4], 24.0 * n / triad[4], a[n / 2]);
    return 0;
}
"""


def compile_stream(folder: Path) -> Path:
    source, program = folder / "stream.c", folder / "stream"
    source.write_text(STREAM, encoding="utf-8")
    subprocess.run(
        ["gcc", "-O3", "-march=native", "-fopenmp", str(source), "-o", str(program)], check=True
    )
    return program


def stream(program: Path, threads: int, elements: int) -> dict[str, float]:
    done = subprocess.run(
        [str(program), str(elements)], check=True, capture_output=True, text=True,
        env={**os.environ, "OMP_NUM_THREADS": str(threads)},
    )  # fmt: skip
    copy, add, triad, _ = done.stdout.split()
    return {"numpy": float(copy), "add": float(add), "blocked": float(triad)}


def mbw(megabytes: int) -> float | None:
    """Bytes per second of mbw's memcpy; mbw counts a copied byte once, STREAM twice."""
    tool = shutil.which("mbw")
    if tool is None:
        return None
    done = subprocess.run(
        [tool, "-q", "-t0", "-n", "9", str(megabytes)], check=True, capture_output=True, text=True
    )
    speeds = [float(found) for found in re.findall(r"Copy: ([0-9.]+) MiB/s", done.stdout)]
    return 2 * 2**20 * statistics.median(speeds[:9])


def ours() -> dict[tuple[str, int], float]:
    document = measure("cpu", progress=False, sections=["copy"])
    return {
        (case["variant"], case["shape"]["threads"]): case["throughput"]
        for case in document["cases"]
    }


def long_product(dtype: str, n: int, seconds: float = 3.0) -> float:
    """FLOP/s of products repeated for a few seconds."""
    random = np.random.default_rng(1)
    a, b = (random.uniform(0.5, 1.5, (n, n)).astype(dtype) for _ in range(2))
    c = np.empty_like(a)
    np.matmul(a, b, out=c)
    began, count = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        np.matmul(a, b, out=c)
        count += 1
    return 2 * n**3 * count / (time.perf_counter() - began)


def compare(what: str, mine: float, other: float, allowed: float | None) -> bool:
    ratio = mine / other
    good = allowed is None or 1 - allowed <= ratio <= 1 + allowed
    verdict = "" if allowed is None else f"{'within' if good else 'OUTSIDE'} {allowed:.0%}"
    print(f"{what:44s} {mine / 1e9:8.1f} / {other / 1e9:8.1f} = {ratio:5.2f}   {verdict}")
    return good


def main() -> int:
    cores = cpu.machine.cores()
    load = os.getloadavg()[0]
    print(f"{cpu.machine.name()}, {cores} cores, load {load:.2f} before")
    good = True
    with tempfile.TemporaryDirectory() as name:
        program = compile_stream(Path(name))
        cache = cpu.machine.last_cache()[0]
        elements = int(4.2 * cache / 24)
        mine: dict[tuple[str, int], list[float]] = {}
        theirs: dict[tuple[str, int], list[float]] = {}
        once: list[float] = []
        for _ in range(ROUNDS):
            for key, value in ours().items():
                mine.setdefault(key, []).append(value)
            for threads in sorted({1, cores}):
                for kind, value in stream(program, threads, elements).items():
                    theirs.setdefault((kind, threads), []).append(value)
            memcpy = mbw(elements * 8 >> 20)
            if memcpy is not None:
                once.append(memcpy)
    print("GB/s:                                        measured /    other")
    names = {"numpy": "copy", "add": "add", "blocked": "triad in blocks"}
    for (variant, threads), rates in mine.items():
        good &= compare(
            f"{names[variant]}, {threads} threads, STREAM in C", max(rates),
            max(theirs[variant, threads]), None if variant == "blocked" else 0.25,
        )  # fmt: skip
    if once:
        copied = max(mine["numpy", 1])
        compare("copy, 1 threads, mbw memcpy", copied, max(once), None)
    documents = [measure("cpu", progress=False, sections=["gemm"]) for _ in range(2)]
    print("GFLOP/s:                                     measured /    other")
    for precision, dtype in (("fp32", "float32"), ("fp64", "float64")):
        found = [p for d in documents for p in points(d, precision, "gemm")]
        peak = max(found, key=lambda point: point.attained)
        n = int(peak.shape["n"])
        best = max(long_product(dtype, n) for _ in range(5))
        good &= compare(
            f"gemm {precision} N = {n}, best of five long runs", peak.attained, best, 0.15
        )
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
