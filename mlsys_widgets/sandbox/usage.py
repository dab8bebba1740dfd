"""Memory and processor time of a process and everything below it, read from ``/proc``.

It is read from outside: a child counts for nothing what it hides from itself, such as processes
that nobody waited for and data that lies in sockets. Processes come and go while one looks: one
that has vanished uses nothing more.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from mlsys_widgets.sandbox.limits import Limits

_PAGE: Final = os.sysconf("SC_PAGESIZE")
_TICKS: Final = os.sysconf("SC_CLK_TCK")
#: Bytes that a socket holds where the system does not say.
_USUAL_SOCKET: Final = 425_984
#: What is wrong with a file of ``/proc`` whose process vanishes.
_VANISHED: Final = (OSError, IndexError, ValueError)


class Meter:
    """Watches what a child and everything below it use.

    Memory counts beyond that of the calling process, which the child shares.
    """

    def __init__(self, pid: int, limits: Limits) -> None:
        self._pid, self._limits = pid, limits
        #: Seconds of every process that was ever seen, by its number and when it started.
        self._seen: dict[tuple[int, int], float] = {}

    def over(self) -> str | None:
        """Say what was used too much of by now; `None` if nothing."""
        everyone = [self._pid, *descendants(self._pid)]
        most = self._limits.memory + _resident(os.getpid())
        # One that several processes share is one.
        in_sockets = len(set[str]().union(*map(_sockets, everyone))) * _socket_size()
        # First what is cheap to find out: here a page counts once for each process that has it.
        if (
            sum(map(_resident, everyone)) + in_sockets > most
            and sum(map(_proportional, everyone)) + in_sockets > most
        ):
            return "out of memory"
        if self._processor_time(everyone) > self._limits.cpu:
            return "out of processor time"
        return None

    def _processor_time(self, everyone: list[int]) -> float:
        """Seconds of all processes, those included that ended and whose parents never looked."""
        inherited = 0.0
        for pid in everyone:
            with suppress(*_VANISHED):
                own, children, started = _times(pid)
                self._seen[pid, started] = own
                inherited += own + children
        return max(inherited, sum(self._seen.values()))


def descendants(pid: int) -> list[int]:
    """Return all processes that come from one, whichever of its threads started them."""
    waiting, found = [pid], []
    known = {pid}
    while waiting:
        # A number may be given to another process while one looks.
        new = [each for each in children(waiting.pop()) if each not in known]
        known.update(new)
        waiting += new
        found += new
    return found


def children(pid: int) -> list[int]:
    """Return the processes that a process has started and that still run."""
    found: list[int] = []
    # Not with glob, which raises in the middle when a thread ends while it looks.
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(*_VANISHED):
                found += map(int, (thread / "children").read_text().split())
    return found


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except _VANISHED:
        return 0


def _proportional(pid: int) -> int:
    """Memory of a process, where a page that n processes have counts for an n-th."""
    with suppress(*_VANISHED):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return _resident(pid)  # a process can hide the other


def _times(pid: int) -> tuple[float, float, int]:
    """Seconds of a process, of its children that have ended, and when it started."""
    after_name = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2]
    fields = after_name.split()
    own, children = (sum(map(int, fields[n : n + 2])) / _TICKS for n in (11, 13))
    return own, children, int(fields[19])


def _sockets(pid: int) -> set[str]:
    """Return the sockets that a process has open, as the system names them."""
    found: set[str] = set()
    with suppress(OSError):
        for each in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                found.add(str(each.readlink()))
    return {name for name in found if name.startswith("socket:")}


def _socket_size() -> int:
    """Bytes that a socket can hold; no limit of a process counts them.

    That is what the system gives to a new one, and as much again for what it keeps beside the data.
    Nobody inside can ask for more: the filter of system calls sees to it.
    """
    try:
        return 2 * int(Path("/proc/sys/net/core/wmem_default").read_text())
    except _VANISHED:
        return _USUAL_SOCKET
