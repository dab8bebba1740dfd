"""Work that is counted, or compared within one run: no test looks at a clock alone."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import cache
from types import FrameType, ModuleType
from typing import Any


def lines_run(module: ModuleType, job: Callable[[], object]) -> int:
    """Count the lines of a module that are executed while a job is done."""
    count = 0

    def local(_frame: FrameType, event: str, _arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return local

    def trace(frame: FrameType, _event: str, _arg: Any) -> Any:
        return local if frame.f_code.co_filename == module.__file__ else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        job()
    finally:
        sys.settrace(before)
    return count


def cpu_seconds(job: Callable[[], object], times: int = 1) -> float:
    """Processor time of a job, the least of several; only to compare with another one's."""
    return min(_once(job) for _ in range(times))


def effort(job: Callable[[], object]) -> float:
    """Processor time of a job, in units of a loop that is timed in the same run."""
    return cpu_seconds(job) / unit()


@cache
def unit() -> float:
    """Processor time of a million steps: about a tenth of a second."""
    return cpu_seconds(_million_steps, times=3)


def _million_steps() -> None:
    number = 0
    for k in range(1_000_000):
        number = (number * 31 + k) % 1_000_003


def _once(job: Callable[[], object]) -> float:
    began = time.process_time()
    job()
    return time.process_time() - began
