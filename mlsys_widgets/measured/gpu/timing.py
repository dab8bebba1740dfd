"""Timing on a GPU: warm, synchronized, with too many operands to stay in the cache.

Every section of the GPU measurement works with a `GpuBench`. A *call* is a function of one
integer, the number of the call, by which it picks its operands from the rotating sets.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ..recorder import Recorder, Skip, Spread, spread

Call = Callable[[int], object]
T = TypeVar("T")

MOST_SETS = 8192
ALIGNMENT = 512
LONG = 0.05


@dataclass(frozen=True)
class Profile:
    """One call as the profiler saw it: kernels, copies, and seconds with the GPU at work."""

    kernels: int
    copies: int
    busy: float | None


class GpuBench:
    """A device, its clock and the record that timings go to.

    ``torch`` is handed in so that nothing here imports it, and the ``device`` is ``cpu`` only for a
    ``dry`` rehearsal with toy sizes. ``patience`` is for the repetitions of one case, in seconds;
    operands rotate through more than four times the ``cache``, the bytes of the last one.
    """

    def __init__(
        self,
        torch: Any,
        recorder: Recorder,
        *,
        device: str = "cuda",
        patience: float = 0.12,
        cache: int = 64 << 20,
        quick: bool = False,
        dry: bool = False,
    ) -> None:
        self.torch = torch
        self.recorder = recorder
        self.device = device
        self.cuda = device.startswith("cuda")
        self.patience = patience
        self.cache = cache
        self.quick = quick
        self.dry = dry
        self.compiler_warm = False
        self.cache_attention: Any = None  # the fastest way over a KV cache, once it was tried

    def pick(self, full: Iterable[Any], quick: Iterable[Any], dry: Iterable[Any]) -> list[Any]:
        """Return the sizes to measure, by how thorough this run is."""
        return list(dry if self.dry else quick if self.quick else full)

    def sets(self, set_bytes: float) -> int:
        """Count the operand sets that together exceed four times the last cache."""
        self.recorder.need()
        if self.dry:
            return 2
        return max(2, min(MOST_SETS, math.ceil(4 * self.cache / max(set_bytes, 1)) + 1))

    def fits(self, needed: float) -> None:
        """Skip the case if the device has no room for it."""
        if self.cuda:
            free, _ = self.torch.cuda.mem_get_info()
            if needed > 0.8 * free:
                raise Skip(f"needs {needed / 1e9:.1f} GB and {free / 1e9:.1f} GB are free")

    def random(self, sets: int, shape: tuple[int, ...], dtype: Any) -> list[Any]:
        """`sets` random tensors in one allocation, each aligned as one of its own would be."""
        torch = self.torch
        size, step = self._step(shape, dtype)
        total = sets * step
        if dtype == torch.int8:
            flat = torch.randint(-127, 128, (total,), dtype=torch.int8, device=self.device)
        elif size == 1:
            flat = torch.empty(total, dtype=dtype, device=self.device)
            piece = 1 << 26  # converted in pieces, so that the wide copy stays small
            for start in range(0, total, piece):
                wide = torch.randn(min(piece, total - start), device=self.device)
                flat[start : start + piece] = wide.to(dtype)
        else:
            flat = torch.randn(total, dtype=dtype, device=self.device)
        return _cut(flat, sets, step, shape)

    def empty(self, sets: int, shape: tuple[int, ...], dtype: Any) -> list[Any]:
        """`sets` tensors for results."""
        _, step = self._step(shape, dtype)
        flat = self.torch.empty(sets * step, dtype=dtype, device=self.device)
        return _cut(flat, sets, step, shape)

    def _step(self, shape: tuple[int, ...], dtype: Any) -> tuple[int, int]:
        """Bytes of an element, and elements from the start of one tensor to that of the next."""
        size = self.torch.empty(0, dtype=dtype).element_size()
        return size, math.ceil(math.prod(shape) * size / ALIGNMENT) * ALIGNMENT // size

    def synchronize(self) -> None:
        """Wait until the device is idle."""
        if self.cuda:
            self.torch.cuda.synchronize()

    def release(self) -> None:
        """Release cached memory to make room for a large case."""
        if self.cuda:
            self.torch.cuda.empty_cache()

    @contextlib.contextmanager
    def patient(self, seconds: float) -> Iterator[None]:
        """Spend at most this many seconds on the repetitions of a case."""
        before = self.patience
        self.patience = min(before, seconds)
        try:
            yield
        finally:
            self.patience = before

    def estimate(self, call: Call) -> float:
        """Rough seconds of a call, after warming it up."""
        self.recorder.need()
        once = math.inf
        for i in range(3):
            self.synchronize()
            began = time.perf_counter()
            call(i)
            self.synchronize()
            once = time.perf_counter() - began
            if i and once > LONG:
                return once  # the first call may load code, the second no longer does
        best = math.inf
        for _ in range(2):
            began = time.perf_counter()
            for i in range(4):
                call(i)
            self.synchronize()
            best = min(best, (time.perf_counter() - began) / 4)
        return max(best, 1e-7)

    def warm(self, call: Call, seconds: float = 0.3) -> None:
        """Repeat a call until clocks, caches and the host have settled."""
        deadline = time.perf_counter() + (0.0 if self.dry else seconds)
        number = 0
        while number < 3 or time.perf_counter() < deadline:
            call(number)
            self.synchronize()
            number += 1

    def repetitions(self, one: float, least: int = 9, most: int = 41) -> int:
        """Count the repetitions that patience allows if one of them takes `one` seconds."""
        if self.dry:
            return 2
        return max(
            min(least, max(3, int(4 * self.patience / one))), min(most, int(self.patience / one))
        )

    def wall(self, call: Call, hold: int = 0) -> Spread:
        """Time a loop per call, synchronized before and after, by the host's clock.

        The last `hold` results are kept alive, so that results rotate through memory too.
        """
        estimate = self.estimate(call)
        calls = 2 if self.dry else max(1, min(4000, math.ceil(0.005 / estimate)))
        held: deque[object] = deque(maxlen=hold)
        samples, number = [], 0
        for _ in range(self.repetitions(calls * estimate)):
            self.synchronize()
            began = time.perf_counter()
            for i in range(number, number + calls):
                held.append(call(i))
            self.synchronize()
            samples.append((time.perf_counter() - began) / calls)
            number += calls
        return spread(samples)

    def latency(self, call: Call) -> Spread:
        """Time one call alone, synchronized before and after."""
        estimate = self.estimate(call)
        samples = []
        for i in range(self.repetitions(estimate, most=101)):
            self.synchronize()
            began = time.perf_counter()
            call(i)
            self.synchronize()
            samples.append(time.perf_counter() - began)
        return spread(samples)

    def enqueue(self, call: Call, calls: int = 200) -> Spread:
        """Time the host per call while the queue has room and nothing waits."""
        self.estimate(call)
        samples = []
        for _ in range(self.repetitions(calls * 5e-6)):
            self.synchronize()
            began = time.perf_counter()
            for i in range(calls):
                call(i)
            samples.append((time.perf_counter() - began) / calls)
        self.synchronize()
        return spread(samples)

    def steps(self, call: Call) -> tuple[Spread, Spread]:
        """Wall seconds per call as `wall` takes them, and the host's share before it waits."""
        estimate = self.estimate(call)
        calls = 2 if self.dry else max(1, math.ceil(0.005 / estimate))
        walls, enqueues = [], []
        for _ in range(self.repetitions(calls * estimate)):
            self.synchronize()
            began = time.perf_counter()
            for i in range(calls):
                call(i)
            returned = time.perf_counter()
            self.synchronize()
            walls.append((time.perf_counter() - began) / calls)
            enqueues.append((returned - began) / calls)
        return spread(walls), spread(enqueues)

    def quiet_steps(self, call: Call, chunks: int) -> tuple[Spread, Spread]:
        """As `steps`, in several chunks one after the other, of which the quietest is taken."""
        taken = [self.steps(call) for _ in range(1 if self.dry else chunks)]
        return min(taken, key=lambda each: each[0].median)

    def host_steps(self, calls: Mapping[T, Call]) -> dict[T, tuple[Spread, Spread]]:
        """As `steps`, for calls that wait for the host: each in ten rounds, the quietest taken.

        A host that others share is up to twice as slow for some seconds. Rounds over all calls put
        those seconds between two tries of the same one. A call that waits for the device instead
        is timed once.
        """
        found: dict[T, tuple[Spread, Spread]] = {}
        for _ in range(1 if self.dry else 10):
            for key, call in calls.items():
                if key in found and found[key][1].median < 0.7 * found[key][0].median:
                    continue
                with self.recorder.attempt(f"{key}, one by one"):
                    taken = self.steps(call)
                    if key not in found or taken[0].median < found[key][0].median:
                        found[key] = taken
        return found

    def capture(self, call: Call, calls: int, hold: int = 0) -> Callable[[], None]:
        """Return a function that replays `calls` calls as one CUDA graph."""
        held: deque[object] = deque(maxlen=hold)
        if not self.cuda:

            def again() -> None:
                for i in range(calls):
                    held.append(call(i))

            return again
        torch = self.torch
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for i in range(2):
                call(i)
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            for i in range(calls):
                held.append(call(i))
        replay: Callable[[], None] = graph.replay
        return replay

    def replay(self, call: Call, sets: int, hold: int = 0) -> Spread:
        """Time the device per call, by CUDA events around replays of a graph of many calls."""
        estimate = self.estimate(call)
        calls = 2 if self.dry else min(MOST_SETS, max(sets, math.ceil(0.002 / estimate), 2))
        again = self.capture(call, calls, hold)
        for _ in range(2):
            again()
        self.synchronize()
        began = time.perf_counter()
        again()
        self.synchronize()
        one = time.perf_counter() - began
        return spread([s / calls for s in self.events(again, self.repetitions(one))])

    def events(self, action: Callable[[], object], repetitions: int) -> list[float]:
        """Time the device in each of several back-to-back runs of an action."""
        if not self.cuda:
            samples = []
            for _ in range(repetitions):
                began = time.perf_counter()
                action()
                samples.append(time.perf_counter() - began)
            return samples
        torch = self.torch
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(repetitions + 1)]
        self.synchronize()
        action()  # ahead of the first mark: the queue is never empty while the clock runs
        marks[0].record()
        for mark in marks[1:]:
            action()
            mark.record()
        self.synchronize()
        return [a.elapsed_time(b) / 1e3 for a, b in itertools.pairwise(marks)]

    def profile(self, call: Call, calls: int = 5) -> Profile:
        """Kernels and GPU-busy seconds per call, from a profile of several calls."""
        profiler = self.torch.profiler
        activity = profiler.ProfilerActivity
        for i in range(2):
            call(i)
        self.synchronize()
        with profiler.profile(activities=[activity.CUDA if self.cuda else activity.CPU]) as seen:
            for i in range(calls):
                call(i)
            self.synchronize()
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "trace.json"
            seen.export_chrome_trace(str(trace))
            events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
        if not self.cuda:
            operations = sum(e.get("cat") == "cpu_op" for e in events)
            return Profile(max(1, round(operations / calls)), 0, None)
        spans, kernels, copies = [], 0, 0
        for event in events:
            category = event.get("cat")
            if category == "kernel":
                kernels += 1
            elif category in ("gpu_memcpy", "gpu_memset"):
                copies += 1
            else:
                continue
            spans.append((float(event["ts"]), float(event["ts"]) + float(event["dur"])))
        if not spans:
            raise Skip("the profiler saw no kernel")
        return Profile(round(kernels / calls), round(copies / calls), union(spans) * 1e-6 / calls)

    def kernels(self, call: Call) -> int | None:
        """Kernels of one call by the profiler, if it saw any."""
        try:
            return self.profile(call, 2).kernels
        except Skip:
            return None


def _cut(flat: Any, sets: int, step: int, shape: tuple[int, ...]) -> list[Any]:
    count = math.prod(shape)
    return [flat[i * step : i * step + count].view(shape) for i in range(sets)]


def union(spans: list[tuple[float, float]]) -> float:
    """Length covered by intervals that may overlap."""
    covered, end = 0.0, -math.inf
    for start, stop in sorted(spans):
        covered += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return covered


def relative_error(torch: Any, result: Any, reference: Any) -> float:
    """Norm of the difference over the norm of the reference, in float64."""
    reference = reference.double()
    difference = torch.linalg.vector_norm(result.double() - reference)
    return float(difference / torch.linalg.vector_norm(reference))


def checked(torch: Any, result: Any, reference: Any, most: float, wrong: str) -> float:
    """Return the relative error; one that is not below the most refuses the result."""
    error = relative_error(torch, result, reference)
    if not error < most:
        raise RuntimeError(f"{wrong}: relative error {error:.3g}")
    return error
