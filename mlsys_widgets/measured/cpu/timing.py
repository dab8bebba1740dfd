"""Timing on a CPU: one arena larger than the last cache, a thread pool, repeated loops."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..recorder import Recorder, Spread, spread

Array = NDArray[Any]
Call = Callable[[int], object]

LINE = 64
STAGGER = 17 * LINE  # arrays at the same offset in a page slow down each other's stores


class CpuBench:
    """The clock, the threads and the memory that every section of the CPU measurement shares.

    All operands are cut from one ``arena`` of so many bytes; ``patience`` is for the repetitions of
    one case, in seconds.
    """

    def __init__(
        self, recorder: Recorder, *, cores: int, arena: int, patience: float, quick: bool
    ) -> None:
        self.recorder = recorder
        self.cores = cores
        self.patience = patience
        self.quick = quick
        self.pool = ThreadPoolExecutor(cores)
        whole = np.empty(arena + LINE, dtype=np.uint8)
        start = -whole.ctypes.data % LINE
        self._bytes = whole[start : start + arena]

    @property
    def arena(self) -> int:
        """Bytes that operands may take."""
        return int(self._bytes.size)

    def close(self) -> None:
        """Release threads and memory."""
        self.pool.shutdown(wait=False, cancel_futures=True)
        self._bytes = np.empty(0, dtype=np.uint8)

    def fill(self, dtype: str, low: float = 0.5, high: float = 1.5) -> None:
        """Fill the arena with random numbers from `low` to `high`, each thread its own part."""
        self.recorder.need()
        block = np.random.default_rng(0).uniform(low, high, 1 << 17).astype(dtype)
        whole = self._bytes.view(dtype)

        def work(part: int) -> None:
            lower, upper = self.bounds(whole.size, part)
            for start in range(lower, upper, block.size):
                stop = min(upper, start + block.size)
                whole[start:stop] = block[: stop - start]

        self.together(work, self.cores)

    def cut(
        self, dtype: str, inputs: list[int], outputs: list[int], number: int = 0
    ) -> list[Array]:
        """Arrays of these element counts: set `number`, in rotation, of those the arena holds.

        Inputs lie in the lower part of the arena and outputs in the upper, so that a result is
        never an operand of a later call.
        """
        item = np.dtype(dtype).itemsize
        read, written = (sum(_step(size * item) for size in sizes) for sizes in (inputs, outputs))
        count = self.sets(dtype, inputs, outputs)
        number %= count
        return [
            *self._place(dtype, inputs, number * read),
            *self._place(dtype, outputs, count * read + number * written),
        ]

    def cut_apart(
        self, dtype: str, inputs: list[int], outputs: list[int], most: int
    ) -> list[list[Array]]:
        """At most this many sets whose results stay apart from the inputs of every other case.

        `cut` divides the arena by the sizes of one case, so results of it are inputs of a later
        case with other sizes, and numbers that go through many products overflow. Here inputs
        always lie in the lower three quarters of the arena. Empty if not even one set fits.
        """
        item = np.dtype(dtype).itemsize
        read, written = (sum(_step(size * item) for size in sizes) for sizes in (inputs, outputs))
        border = self.arena // 4 // LINE * LINE * 3
        sets, targets = border // read, (self.arena - border) // written
        if not sets or not targets:
            return []
        return [
            [
                *self._place(dtype, inputs, i * read),
                *self._place(dtype, outputs, border + i % targets * written),
            ]
            for i in range(min(most, sets))
        ]

    def _place(self, dtype: str, sizes: list[int], start: int) -> list[Array]:
        """Arrays of these element counts, one after the other."""
        item = np.dtype(dtype).itemsize
        arrays = []
        for size in sizes:
            arrays.append(self._bytes[start : start + size * item].view(dtype))
            start += _step(size * item)
        return arrays

    def sets(self, dtype: str, inputs: list[int], outputs: list[int]) -> int:
        """Count the sets of this size that the arena holds; 0 if not even one fits."""
        item = np.dtype(dtype).itemsize
        return self.arena // sum(_step(size * item) for size in inputs + outputs)

    def bounds(self, size: int, part: int, parts: int | None = None) -> tuple[int, int]:
        """Return where the part of one thread begins and ends."""
        parts = parts or self.cores
        return size * part // parts, size * (part + 1) // parts

    def together(self, work: Callable[[int], object], threads: int) -> None:
        """Run one piece of work per thread, and wait for all."""
        if threads == 1:
            work(0)
            return
        for future in [self.pool.submit(work, part) for part in range(threads)]:
            future.result()

    def time(self, call: Call, loop: float = 0.002) -> Spread:
        """Time a call: repeated loops of about `loop` seconds, after a warm-up."""
        self.recorder.need()
        began = time.perf_counter()
        call(0)
        first = time.perf_counter() - began
        began = time.perf_counter()
        number = 1
        while number < 4 and (number == 1 or time.perf_counter() - began < loop):
            call(number)
            number += 1
        one = max(min(first, (time.perf_counter() - began) / (number - 1)), 1e-8)
        calls = max(1, min(200_000, round(loop / one)))
        least = 3 if self.quick else 5
        samples: list[float] = []
        deadline = time.perf_counter() + self.patience
        while len(samples) < least or (time.perf_counter() < deadline and len(samples) < 101):
            began = time.perf_counter()
            for i in range(number, number + calls):
                call(i)
            samples.append((time.perf_counter() - began) / calls)
            number += calls
        return spread(samples)


def _step(size: int) -> int:
    """Return the bytes between starts of arrays: whole cache lines, and never whole pages."""
    step = math.ceil(size / LINE) * LINE
    return step + STAGGER if size >= 1 << 16 else step
