"""A pool of processes, each for one job at a time; one that is lost is replaced."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Generic, Protocol, TypeVar


class PooledProcess(Protocol):
    """A process that a pool can look after."""

    @property
    def alive(self) -> bool:
        """Whether it still runs."""

    def close(self) -> None:
        """End it, under whoever waits for it."""


class ProcessLost(RuntimeError):
    """A job whose process is gone, through no fault of its own that we know of."""

    def __init__(self, why: str = "", *, too_late: bool = False) -> None:
        super().__init__(why)
        self.too_late = too_late


class PoolClosed(RuntimeError):
    """A job that came too late: everything is being ended."""


P = TypeVar("P", bound=PooledProcess)
R = TypeVar("R")


class ProcessPool(Generic[P]):
    """Processes for several threads.

    With a ``count``, so many start at once and so many jobs run at a time; without, there is no
    limit, and each is started when it is needed.
    """

    def __init__(self, start: Callable[[], P], count: int | None = None) -> None:
        self._start = start
        self._turns = threading.BoundedSemaphore(count) if count else nullcontext()
        self._lock = threading.Lock()
        self._all: set[P] = set()
        self._free: list[P] = []
        self._end = weakref.finalize(self, _close_all, self._all, os.getpid())
        for _ in range(count or 0):
            self._give(self._new())

    def run(self, job: Callable[[P, bool], R]) -> R:
        """Do a job with a process that nobody else has; once more if that is lost.

        ``job`` gets the process, and whether this is the second time. `ProcessLost` if it was lost
        twice or must not be started again; `PoolClosed` if the pool was closed before or under it.
        """
        with self._turns:
            try:
                with self.one() as process:
                    return job(process, False)
            except ProcessLost as lost:
                if lost.too_late:
                    raise
            with self.one() as process:
                return job(process, True)

    @contextmanager
    def one(self) -> Iterator[P]:
        """Lend a process that nobody else has."""
        process = self._take()
        try:
            yield process
        finally:
            self._give(process)

    def close(self) -> None:
        """End all of them, under whoever uses them."""
        with self._lock:
            self._free.clear()
            self._end()

    def _take(self) -> P:
        while True:
            with self._lock:
                process = self._free.pop() if self._free else None
            if process is None:
                return self._new()
            if process.alive:
                return process
            self._drop(process)

    def _new(self) -> P:
        with self._lock:
            if not self._end.alive:
                raise PoolClosed("grading ends here")
            process = self._start()
            self._all.add(process)
            return process

    def _give(self, process: P) -> None:
        if not process.alive:
            self._drop(process)
            return
        with self._lock:
            if self._end.alive:
                self._free.append(process)

    def _drop(self, process: P) -> None:
        with self._lock:
            self._all.discard(process)
        process.close()


def _close_all(processes: set[P], owner: int) -> None:
    if os.getpid() != owner:  # a process that was forked since has the same objects in memory
        return
    while processes:
        processes.pop().close()
