"""Waiting for a condition, the one way to wait in tests.

How long something takes says more about the machine than about the code, so nothing is decided by a
clock: the limit only ends a test that would never end.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

#: Seconds, for a machine that is slow and busy; pytest gives a test 600.
PATIENCE = 300.0


def wait_for(
    condition: Callable[[], T],
    otherwise: str | Callable[[], str] = "it did not happen",
    seconds: float = PATIENCE,
) -> T:
    """Return the first true value of a condition; fail with a sentence if none comes."""
    limit = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > limit:
            sentence = otherwise if isinstance(otherwise, str) else otherwise()
            raise AssertionError(f"{sentence} (waited for {seconds:g} s)")
        time.sleep(0.02)
    return found
