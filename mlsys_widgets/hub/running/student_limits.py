"""What one student may use of the machine, in all processes together: the kernel's control groups.

A group is a folder; a process that is written into its file ``cgroup.procs`` stays in it with all
that it starts. Groups are beside those of systemd, because servers outlive the service that started
them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

GIB: Final = 1 << 30
_ROOT: Final = Path("/sys/fs/cgroup")
#: Microseconds in which a group may use its part of the processors.
_PERIOD: Final = 100_000


@dataclass(frozen=True)
class StudentLimits:
    """Limits of each student; 0: none."""

    #: GiB. A kernel that needs more is ended; a lab needs 1.25 with its measurement (docs, sizing).
    memory: float = 2.0
    #: Processors. Who has fewer than that to share gets an equal part.
    cores: float = 2.0
    #: GiB of a home. More is not refused, but told in the log.
    disk: float = 5.0


class ControlGroups:
    """The groups of a hub's students, in either version of the kernel's interface.

    The folder of this name holds a folder for each student.
    """

    def __init__(self, name: str, root: Path = _ROOT) -> None:
        self._name, self._root = name, root
        self._unified = (root / "cgroup.controllers").is_file()

    def why_not(self) -> str | None:
        """Prepare them; return why that cannot be done, or `None` if it is."""
        try:
            for folder in self._folders():
                folder.mkdir(exist_ok=True)
                if not (folder / "cgroup.procs").exists():
                    return f"{folder.parent} does not hold control groups"
            if self._unified:
                for above in (self._root, self._root / self._name):
                    (above / "cgroup.subtree_control").write_text("+cpu +memory")
        except OSError as problem:
            return f"{problem.filename or self._root}: {problem.strerror}"
        return None

    def open(self, student: str, limits: StudentLimits) -> list[Path]:
        """Make the group of a student; return the files through which a process joins it.

        Raises `OSError` if the kernel does not take it.
        """
        self.close(student)
        joining = []
        for folder in self._folders():
            group = folder / student
            group.mkdir(exist_ok=True)
            for name, value in self._settings(folder, limits):
                # Memory that was swapped out is not accounted for everywhere.
                if "sw" not in name or (group / name).exists():
                    (group / name).write_text(value)
            joining.append(group / "cgroup.procs")
        return joining

    def close(self, student: str) -> None:
        """Remove the group of a student, if nothing runs in it."""
        for folder in self._folders():
            with suppress(OSError):
                (folder / student).rmdir()

    def remove(self) -> None:
        """Remove all groups in which nothing runs."""
        for folder in self._folders():
            with suppress(OSError):
                for group in folder.iterdir():
                    if group.is_dir():
                        self.close(group.name)
                folder.rmdir()

    def _folders(self) -> list[Path]:
        above = [self._root] if self._unified else [self._root / "memory", self._root / "cpu"]
        return [each / self._name for each in above]

    def _settings(self, folder: Path, limits: StudentLimits) -> Iterator[tuple[str, str]]:
        memory, quota = int(limits.memory * GIB), int(limits.cores * _PERIOD)
        if self._unified:
            yield "memory.max", str(memory or "max")
            yield "memory.swap.max", "0" if memory else "max"
            yield "cpu.max", f"{quota or 'max'} {_PERIOD}"
        elif folder.parent.name == "memory":
            yield "memory.limit_in_bytes", str(memory or -1)
            yield "memory.memsw.limit_in_bytes", str(memory or -1)
        else:
            yield "cpu.cfs_period_us", str(_PERIOD)
            yield "cpu.cfs_quota_us", str(quota or -1)
