"""The cost of students: memory and processor time of their processes, read from /proc."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
TICK = os.sysconf("SC_CLK_TCK")
MIB = 1024  # of the kibibytes in which /proc counts


@dataclass(frozen=True)
class Memory:
    """Of some processes together, in MiB."""

    #: What they have for themselves, and their part of what several share.
    proportional: float = 0.0
    #: What would be free if they ended.
    private: float = 0.0
    #: The most that each has ever had, shared pages counted for every process.
    peak: float = 0.0

    def __add__(self, other: Memory) -> Memory:
        return Memory(
            self.proportional + other.proportional,
            self.private + other.private,
            self.peak + other.peak,
        )


def children() -> dict[int, list[int]]:
    """The processes of this machine by their parents."""
    found: dict[int, list[int]] = {}
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            try:
                parent = int(_stat(int(folder.name))[1])
            except OSError:
                continue
            found.setdefault(parent, []).append(int(folder.name))
    return found


def family(process: int, by_parent: dict[int, list[int]]) -> list[int]:
    """A process and all that came from it."""
    found = [process]
    for each in found:
        found += by_parent.get(each, [])
    return found


def memory(processes: Iterable[int]) -> Memory:
    """Memory of processes; those that have ended meanwhile count as 0."""
    total = Memory()
    for process in processes:
        try:
            rolled = _fields(PROC / str(process) / "smaps_rollup")
            status = _fields(PROC / str(process) / "status")
        except OSError:
            continue
        total += Memory(
            rolled["Pss"] / MIB,
            (rolled["Private_Clean"] + rolled["Private_Dirty"]) / MIB,
            status["VmHWM"] / MIB,
        )
    return total


def processor(processes: Iterable[int]) -> float:
    """Seconds of processor time that living processes have used."""
    total = 0
    for process in processes:
        try:
            fields = _stat(process)
        except OSError:
            continue
        total += int(fields[11]) + int(fields[12])
    return total / TICK


def started(process: int) -> int | None:
    """When a process began, in ticks since the machine did; `None` if it has ended."""
    try:
        state, *fields = _stat(process)
    except OSError:
        return None
    return None if state == "Z" else int(fields[18])


def command(process: int) -> str:
    """The command line of a process; nothing of one that has ended."""
    try:
        return (PROC / str(process) / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def available() -> float:
    """MiB that can still be given out without swapping."""
    return _fields(PROC / "meminfo")["MemAvailable"] / MIB


def installed() -> float:
    """MiB of this machine."""
    return _fields(PROC / "meminfo")["MemTotal"] / MIB


class Usage:
    """Cores in use between two moments: by everything, and by this program itself."""

    def __init__(self) -> None:
        self._began, self._own = time.perf_counter(), time.process_time()
        self._busy = _busy()

    def cores(self) -> tuple[float, float]:
        """Of the machine, and of this program alone."""
        seconds = time.perf_counter() - self._began
        return (_busy() - self._busy) / seconds, (time.process_time() - self._own) / seconds


def _busy() -> float:
    """Seconds for which the cores of this machine have worked."""
    user, nice, system, _idle, _iowait, irq, softirq, *_ = (
        int(each) for each in (PROC / "stat").read_text().split("\n", 1)[0].split()[1:]
    )
    return (user + nice + system + irq + softirq) / TICK


def _stat(process: int) -> list[str]:
    # A program's name may contain blanks and brackets, so read from the last bracket on.
    return (PROC / str(process) / "stat").read_text().rpartition(")")[2].split()


def _fields(path: Path) -> dict[str, int]:
    """Lines as ``Pss:  123 kB``; what is no number of them is left out."""
    found = {}
    for line in path.read_text().splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if words and words[0].isdigit():
            found[name] = int(words[0])
    return found


def peak_of_measuring(folder: Path) -> float:
    """MiB that ``mlsys measure --quick`` takes, which students run in Lab 11."""
    command = [sys.executable, "-m", "mlsys_widgets", "measure", "--quick", "--quiet"]
    process = subprocess.Popen([*command, "--out", folder / "measurement.json"])
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError("mlsys measure --quick failed")
    return used.ru_maxrss / 1024
