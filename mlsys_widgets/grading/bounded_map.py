"""Doing the same with many things, a few at a time, in threads that mostly wait for processes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Final, TypeVar

_MOST_THREADS: Final = 512
#: Seconds after which the number of lanes is looked up again, though nothing has ended.
_LOOK: Final = 1.0

Thing = TypeVar("Thing")
Done = TypeVar("Done")


def map_bounded(
    work: Callable[[Thing], Done], waiting: deque[Thing], lanes: Callable[[], int]
) -> Iterator[tuple[Thing, Done]]:
    """Work on things that wait; yield each with what came of it, in the order in which they end.

    What ``work`` raises in its thread is raised here. Things may be added to ``waiting``, and the
    number of ``lanes`` may change, while this goes on.
    """
    threads = ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="mlsys-lane")
    under_way: dict[Future[Done], Thing] = {}
    try:
        while waiting or under_way:
            while waiting and len(under_way) < lanes():
                thing = waiting.popleft()
                under_way[threads.submit(work, thing)] = thing
            done, _ = wait(under_way, timeout=_LOOK, return_when=FIRST_COMPLETED)
            for future in done:
                yield under_way.pop(future), future.result()
    finally:
        # Whoever is left ends when what it waits for is closed.
        threads.shutdown(wait=False, cancel_futures=True)
