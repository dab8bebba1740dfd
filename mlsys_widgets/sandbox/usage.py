"""Memory and processor time of a process and everything below it, read from ``/proc``.

Processes come and go while one looks: one that has vanished uses nothing.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from mlsys_widgets.sandbox.limits import Limits

_PAGE: Final = os.sysconf("SC_PAGESIZE")
_TICKS: Final = os.sysconf("SC_CLK_TCK")


def over_limit(pid: int, limits: Limits) -> str | None:
    """Say what a child and everything below it have used too much of; `None` if nothing.

    Memory counts beyond that of the calling process, which the child shares.
    """
    everyone = [pid, *descendants(pid)]
    most = limits.memory + _resident(os.getpid())
    # First what is cheap to find out: here a page counts once for each process that has it.
    if sum(map(_resident, everyone)) > most and sum(map(_proportional, everyone)) > most:
        return "out of memory"
    if sum(map(_processor_time, everyone)) > limits.cpu:
        return "out of processor time"
    return None


def descendants(pid: int) -> list[int]:
    """All processes that come from one, whichever of its threads started them."""
    waiting, found = [pid], []
    while waiting:
        new = children(waiting.pop())
        waiting += new
        found += new
    return found


def children(pid: int) -> list[int]:
    """The processes that a process has started and that still run."""
    found: list[int] = []
    # Not with glob, which raises in the middle when a thread ends while it looks.
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                found += map(int, (thread / "children").read_text().split())
    return found


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except OSError:
        return 0


def _proportional(pid: int) -> int:
    """Memory of a process, where a page that n processes have counts for an n-th."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return _resident(pid)  # a process can hide the other


def _processor_time(pid: int) -> float:
    """Seconds of a process and of its children that have ended."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2]
    except OSError:
        return 0.0
    return sum(map(int, after_name.split()[11:15])) / _TICKS
