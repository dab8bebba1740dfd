"""The cost of a launch, and the time of n kernels, one by one and as a replayed graph."""

from __future__ import annotations

import math
import time
from typing import Any

from ..recorder import Skip, Spread, Value, spread
from .timing import Call, GpuBench

COUNTS = [10, 30, 100, 300, 1000, 3000, 10000]
LENGTHS = {"tiny": 0.0, "5us": 5e-6, "20us": 20e-6, "100us": 100e-6}
TINY = 1024
ROUNDS = 4


def launches(bench: GpuBench) -> None:
    """Measure the launch of a tiny kernel, timed in every way."""
    torch, recorder = bench.torch, bench.recorder
    x = bench.random(1, (TINY,), torch.float32)[0]

    def tiny(i: int) -> object:
        return x.neg_()

    def record(variant: str, seconds: Spread, **more: Any) -> None:
        shape: dict[str, Value] = {"operation": more.pop("operation", "neg"), "elements": TINY}
        recorder.add("launch", variant, "fp32", shape, seconds, **{"kernels": 1, **more})

    with recorder.attempt("time to enqueue a tiny kernel"):
        record("enqueue", bench.enqueue(tiny))
    with recorder.attempt("time to enqueue a kernel with no operator around it"):
        if not bench.cuda:
            raise Skip("only a GPU has a queue")
        record("enqueue_bare", bench.enqueue(lambda i: torch.cuda._sleep(1)), operation="spin")
    with recorder.attempt("period of a stream of tiny kernels"):
        record("period", _stream(bench, tiny, 20 if bench.dry else 10000, 7)[0])
    with recorder.attempt("a tiny kernel alone, synchronized"):
        record("round_trip", bench.latency(tiny))
    with recorder.attempt("period of tiny kernels in a replayed graph"):
        record("graph", bench.replay(tiny, 4 if bench.dry else 4000))
    with recorder.attempt("launch of a graph of one kernel"):
        again = bench.capture(tiny, 1)
        record("graph_enqueue", bench.enqueue(lambda i: again()), operation="graph of one neg")
        record("graph_round_trip", bench.latency(lambda i: again()), operation="graph of one neg")
    with recorder.attempt("duration of a tiny kernel by the profiler"):
        seen = [bench.profile(tiny, 50).busy for _ in range(5)]
        durations = [busy for busy in seen if busy is not None]
        if not durations:
            raise Skip("the profiler reports no device time here")
        record("kernel", spread(durations), gpu_busy=spread(durations).median)
    with recorder.attempt("an empty synchronization"):
        record("synchronize", bench.latency(lambda i: None), operation="nothing", kernels=0)


def _stream(bench: GpuBench, call: Call, n: int, repetitions: int) -> tuple[Spread, Spread]:
    """Wall (final synchronization included) and enqueue seconds per kernel of n kernels.

    The quietest of a few rounds: others share the host.
    """
    rounds = range(1 if bench.dry else ROUNDS)
    return min((_round(bench, call, n, repetitions) for _ in rounds), key=lambda r: r[0].median)


def _round(bench: GpuBench, call: Call, n: int, repetitions: int) -> tuple[Spread, Spread]:
    walls, enqueues = [], []
    for _ in range(2 if bench.dry else repetitions):
        bench.synchronize()
        began = time.perf_counter()
        for i in range(n):
            call(i)
        returned = time.perf_counter()
        bench.synchronize()
        walls.append((time.perf_counter() - began) / n)
        enqueues.append((returned - began) / n)
    return spread(walls), spread(enqueues)


def _sized(bench: GpuBench, target: float) -> tuple[int, float]:
    """Elements of a negation in place that keeps the GPU busy for about `target` seconds."""
    torch = bench.torch
    elements = TINY
    if target and not bench.dry:
        elements = int(target * 2.5e12 / 8)  # a first guess, from a few TB/s
    best = (elements, math.inf)
    for _ in range(8):
        x = bench.random(1, (elements,), torch.float32)[0]

        def negate(i: int, x: Any = x) -> object:
            return x.neg_()

        seconds = bench.replay(negate, 2 if bench.dry else 50).median
        if abs(seconds - target) < abs(best[1] - target):
            best = (elements, seconds)
        if not target or bench.dry or abs(seconds / target - 1) < 0.05:
            break
        # A kernel takes a few microseconds whatever its size; only the rest scales.
        floor = 1.5e-6
        # Only the square root of the step: when a buffer outgrows the L2, whole steps overshoot.
        step = max(target - floor, 1e-7) / max(seconds - floor, 1e-7)
        elements = max(TINY, int(elements * math.sqrt(step)))
    return best


def streams(bench: GpuBench) -> None:
    """Measure streams of kernels: launched one by one, and as one replayed graph."""
    torch, recorder = bench.torch, bench.recorder
    for name, target in LENGTHS.items():
        with recorder.attempt(f"sizing the {name} kernel"):
            elements, period = _sized(bench, target)
            x = bench.random(1, (elements,), torch.float32)[0]

            def kernel(i: int, x: Any = x) -> object:
                return x.neg_()

            for n in bench.pick(COUNTS, [10, 100, 1000], [10]):
                # Ten thousand long kernels take a second each time: three repetitions are enough.
                often = max(3, min(11, int(bench.patience / (n * max(period, 5e-6)))))
                with recorder.attempt(f"{n} {name} kernels"):
                    recorder.need(5 * often * n * period)
                    _one_stream(bench, kernel, n, name, elements, often)


def _one_stream(
    bench: GpuBench, kernel: Call, n: int, name: str, elements: int, often: int
) -> None:
    recorder = bench.recorder
    shape: dict[str, Value] = {"launches": n, "length": name, "elements": elements}
    counts: dict[str, Any] = {"flops": n * elements, "bytes": 8 * n * elements, "kernels": n}
    bench.estimate(kernel)
    busy = None
    if n <= 1000:

        def whole(i: int) -> object:
            for j in range(n):
                kernel(j)
            return None

        busy = bench.profile(whole, 1).busy
    wall, enqueue = _stream(bench, kernel, n, often)
    recorder.add(
        "dispatch", "eager", "fp32", shape, _times(wall, n), enqueue=_times(enqueue, n),
        gpu_busy=busy, **counts,
    )  # fmt: skip
    again = bench.capture(kernel, n)
    if n <= 1000:
        busy = bench.profile(lambda i: again(), 1).busy
    again()
    bench.synchronize()
    wall, enqueue = _round(bench, lambda i: again(), 1, often)
    recorder.add("dispatch", "graph", "fp32", shape, wall, enqueue=enqueue, gpu_busy=busy, **counts)


def _times(value: Spread, n: int) -> Spread:
    return Spread(value.median * n, value.q25 * n, value.q75 * n, value.repetitions)
