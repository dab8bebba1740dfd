"""What one submission may use, and the part of it that the system itself enforces."""

from __future__ import annotations

import resource
from dataclasses import dataclass
from pathlib import Path
from typing import Final

#: Address space of the imports, where the system does not say.
_USUAL_ADDRESS_SPACE: Final = 2_000_000_000


@dataclass(frozen=True)
class Limits:
    """The limits of one submission."""

    #: Seconds for one cell; it is interrupted then, and the next one runs.
    cell: float = 60.0
    #: Seconds for all of it; everything is ended then.
    wall: float = 300.0
    #: Seconds of processor time, for one process and for all of them together.
    cpu: int = 240
    #: Bytes of address space for one process beyond what the imports take, and of memory for all of
    #: them together.
    memory: int = 2_000_000_000
    #: Processes and threads at a time.
    processes: int = 64
    #: Files and sockets that one process may have open; sockets hold memory that is its own only in
    #: part.
    files: int = 128
    #: Bytes of all files together, and as many again below ``/tmp``; they lie in memory.
    disk: int = 256_000_000
    #: Bytes that come back.
    output: int = 20_000_000


def enforce(limits: Limits, *, own_user: bool = True) -> None:
    """Set the limits that the system keeps for this process.

    The processes of a user of its own can be counted.
    """
    processes = ((resource.RLIMIT_NPROC, limits.processes),) if own_user else ()
    for which, most in (
        *processes,
        (resource.RLIMIT_AS, address_space() + limits.memory),
        (resource.RLIMIT_FSIZE, limits.disk),
        (resource.RLIMIT_NOFILE, limits.files),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        resource.setrlimit(which, (most, most))
    # First comes a signal that names the reason, then the kill.
    resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu, limits.cpu + 2))


def address_space() -> int:
    """Bytes of address space that this process has now."""
    sizes = Path("/proc/self/statm")
    if not sizes.exists():
        return _USUAL_ADDRESS_SPACE
    return int(sizes.read_text().split()[0]) * resource.getpagesize()
