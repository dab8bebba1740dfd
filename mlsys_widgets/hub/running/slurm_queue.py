"""What Slurm says about the jobs of a hub: asked once for everybody, however many want to know."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Final

#: Seconds for which an answer is good enough.
_FRESH: Final = 1.0
_PENDING: Final = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD")
_RUNNING: Final = ("RUNNING", "COMPLETING", "STOPPED", "SUSPENDED", "SIGNALING", "STAGE_OUT")
#: The reasons for waiting that mean that others have what is wanted.
_FULL: Final = ("Resources", "Priority")


class SlurmSilent(OSError):
    """Slurm did not answer; jobs may be well."""


@dataclass(frozen=True)
class QueuedJob:
    """A job, as ``squeue`` shows it.

    Examples
    --------
    >>> job = QueuedJob.read("17|PENDING|Resources|")
    >>> job.pending, job.running, job.full
    (True, False, True)
    """

    id: str
    state: str
    reason: str
    node: str

    @classmethod
    def read(cls, line: str) -> QueuedJob:
        return cls(*line.strip().split("|", 3))

    @property
    def pending(self) -> bool:
        """Whether it waits to be started."""
        return self.state in _PENDING

    @property
    def running(self) -> bool:
        """Whether it is there, or just ending."""
        return self.state in _RUNNING

    @property
    def full(self) -> bool:
        """Whether it waits because there is no room."""
        return self.pending and self.reason in _FULL


class SlurmQueue:
    """All jobs of one name."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: dict[str, QueuedJob] = {}
        self._asked = -_FRESH
        self._alone = asyncio.Lock()

    async def find(self, id: str) -> QueuedJob | None:
        """Return a job; `None` if Slurm does not know it any more."""
        found = (await self.jobs()).get(id)
        # It may have been submitted since, so look again before it is given up.
        return found or (await self.jobs(fresh=0)).get(id)

    async def jobs(self, fresh: float = _FRESH) -> dict[str, QueuedJob]:
        """Return all jobs by id, oldest first, also those that ended a while ago."""
        async with self._alone:
            if time.monotonic() - self._asked >= fresh:
                said = await _ask(
                    "squeue", "--noheader", "--states=all", "--sort=i", f"--name={self._name}",
                    "--format=%i|%T|%r|%B",
                )  # fmt: skip
                self._jobs = {job.id: job for job in map(QueuedJob.read, said.splitlines())}
                self._asked = time.monotonic()
            return self._jobs


async def address_of(node: str) -> str:
    """Return where a node is reached: its name need not mean anything to others than Slurm."""
    said = await _ask("sinfo", "--noheader", f"--nodes={node}", "--format=%o")
    return said.split()[0] if said.split() else node


async def _ask(*command: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    said, complained = await process.communicate()
    if process.returncode:
        raise SlurmSilent(complained.decode(errors="replace").strip())
    return said.decode(errors="replace")
