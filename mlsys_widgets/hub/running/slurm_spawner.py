"""Starts students' servers as jobs of a Slurm cluster; those who teach stay on the hub's machine.

Course, gradebook and the sockets of the hub's service are on that machine, so every command of a
course works there as without a cluster. Homes, the exchange and the environment are in the hub's
folder, which nodes must see under the same path.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Final

from batchspawner import JobStatus, SlurmSpawner
from batchspawner.api import BatchSpawnerAPIHandler
from jupyterhub.apihandlers import default_handlers
from tornado.web import HTTPError
from traitlets import Integer, Unicode, default

from mlsys_widgets.hub.accounts.run_as import umask_of
from mlsys_widgets.hub.running.slurm_queue import QueuedJob, SlurmQueue, SlurmSilent, address_of
from mlsys_widgets.hub.running.spawner import CourseSpawner
from mlsys_widgets.wording.plurals import counted

#: Kernels have sockets in a folder of the node, which must have a short path. When a job ends, its
#: server gets SIGTERM, and so does this shell, which stays to remove that folder.
_SCRIPT: Final = """\
#!/bin/bash
#SBATCH --job-name={{jobname}}
#SBATCH --chdir="{{homedir}}"
#SBATCH --output="{{homedir}}/.mlsys_server.log"
#SBATCH --open-mode=truncate
#SBATCH --export={{keepvars}}
#SBATCH --no-requeue
#SBATCH --nodes=1
#SBATCH --time={{runtime}}
#SBATCH --mem={{memory}}
#SBATCH --cpus-per-task={{nprocs}}
{% if partition %}#SBATCH --partition={{partition}}
{% endif %}{% if options %}#SBATCH {{options}}
{% endif %}
trap : TERM
umask {{umask}}
ulimit -c 0
ulimit -u {{processes}}
export JUPYTER_RUNTIME_DIR="$(mktemp -d /tmp/mlsys-XXXXXXXX)"
{{cmd}}
rm -rf "$JUPYTER_RUNTIME_DIR"
"""
#: Why a server is gone, by the state of its job. Whoever stopped it knows.
_ENDED: Final = {
    "TIMEOUT": "Your last server ended because its time was up ({runtime}).",
    "NODE_FAIL": "The machine that your last server ran on failed.",
    "OUT_OF_MEMORY": "Your last server ended because it needed more than its memory ({memory}).",
    "PREEMPTED": "Your last server had to make room for other work on the cluster.",
}
_KEPT: Final = " What you had recorded and saved is kept."


class NoServer(RuntimeError):
    """A server that could not be started, with a sentence for its student."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.jupyterhub_message = sentence


class PortHandler(BatchSpawnerAPIHandler):
    """Hears from a job on which port its server listens, and takes nothing else.

    batchspawner's own sets whatever attribute of the spawner a student's token names: the commands
    that the hub runs as root are among them.
    """

    def get_json_body(self) -> dict[str, int]:
        body = super().get_json_body()
        port = body.get("port") if isinstance(body, dict) else None
        if type(port) is not int or not 1024 <= port < 65536 or len(body) != 1:
            raise HTTPError(400, "only a port")
        return {"port": port}


_PATH: Final = r"/api/batchspawner"
default_handlers[:] = [each for each in default_handlers if each[0] != _PATH]
default_handlers.append((_PATH, PortHandler))


class StudentsOnSlurm(SlurmSpawner, CourseSpawner):
    """Starts a student's server as a job, and anybody else's as a process of this machine."""

    patience = Integer(600, help="Seconds that a student waits for a place.").tag(config=True)
    batch_script = Unicode(_SCRIPT)
    req_jobname = Unicode()

    _queues: Final[dict[str, SlurmQueue]] = {}
    #: Of the job that starts: since when, and where it runs.
    _since = 0.0
    _address = ""
    #: Why somebody's last one ended, until it is read: a spawner ends with its server.
    _ends: Final[dict[str, str]] = {}

    @default("req_jobname")
    def _named_after_the_hub(self) -> str:
        return self.places.sockets.name

    @property
    def queue(self) -> SlurmQueue:
        """The jobs of all students of this hub."""
        return self._queues.setdefault(self.req_jobname, SlurmQueue(self.req_jobname))

    async def start(self) -> Any:
        if self.role != "student":
            self.ip = "127.0.0.1"  # only the proxy has to reach it
            return await CourseSpawner.start(self)
        self.prepare()
        self._since = time.monotonic()
        try:
            return await SlurmSpawner.start(self)
        except NoServer:
            raise
        except RuntimeError as problem:
            raise NoServer(
                f"The cluster did not start your server ({problem}). Please tell whoever runs this"
                " hub."
            ) from None

    async def query_job_status(self) -> JobStatus:
        """Say how the job is; who has waited too long for a place is sent away."""
        if not self.job_id:
            return JobStatus.NOTFOUND
        try:
            job = await self.queue.find(self.job_id)
            if job and job.running and not self.ready:
                self._address = await address_of(job.node)
        except SlurmSilent as problem:
            self.log.warning("Slurm does not answer: %s", problem)
            return JobStatus.UNKNOWN
        self.job_status = job.state if job else "gone"
        if job and job.running:
            return JobStatus.RUNNING
        if job and job.pending:
            if not self.ready and time.monotonic() - self._since > self.patience:
                await self.cancel_batch_job()
                raise NoServer(
                    "The cluster is full: there was no place for your server within"
                    f" {counted(self.patience // 60, 'minute')}. Nothing is lost; please try again"
                    " later."
                )
            return JobStatus.PENDING
        if why := _ENDED.get(self.job_status):
            self._ends[self.user.name] = why.format(**self.get_req_subvars()) + _KEPT
        self.log.info("The job %s of %s: %s", self.job_id, self.user.name, self.job_status)
        return JobStatus.NOTFOUND

    def state_gethost(self) -> str:
        return self._address

    async def poll(self) -> int | None:
        ended: int | None = await (SlurmSpawner if self.job_id else CourseSpawner).poll(self)
        return ended

    async def stop(self, now: bool = False) -> None:
        await (SlurmSpawner if self.job_id else CourseSpawner).stop(self, now)

    def make_preexec_fn(self, name: str) -> Callable[[], None]:
        return CourseSpawner.make_preexec_fn(self, name)

    def user_env(self, env: dict[str, str]) -> dict[str, str]:
        env = CourseSpawner.user_env(self, env)
        if "SLURM_CONF" in os.environ:  # a cluster whose settings are not where they usually are
            env["SLURM_CONF"] = os.environ["SLURM_CONF"]
        return env

    def get_req_subvars(self) -> dict[str, str]:
        limits = {"umask": f"{umask_of(self.role):04o}", "processes": str(self.processes)}
        return {**super().get_req_subvars(), **limits}

    def cmd_formatted_for_batch(self) -> str:
        programs = Path(self.cmd[0]).parent
        names = ("batchspawner-singleuser", "jupyterhub-singleuser")
        return shlex.join([*(str(programs / name) for name in names), *self.get_args()])

    async def progress(self) -> AsyncIterator[dict[str, str]]:
        """Tell a student who waits what for."""
        if self.role != "student":
            return
        if ended := self._ends.pop(self.user.name, ""):
            yield {"message": ended}
        said = ""
        while True:
            try:
                jobs = await self.queue.jobs()
            except SlurmSilent:
                jobs = {}
            job = jobs.get(self.job_id)
            if job and job.running:
                yield {"message": f"Your server starts on {job.node}."}
                return
            words = _waiting(job, list(jobs.values())) if job else said
            if words != said:
                said = words
                yield {"message": said}
            await asyncio.sleep(1)


def _waiting(job: QueuedJob, jobs: list[QueuedJob]) -> str:
    """Say why a job waits, to the student whose server it is.

    Examples
    --------
    >>> first, mine = (
    ...     QueuedJob("7", "PENDING", "Resources", ""),
    ...     QueuedJob("8", "PENDING", "Priority", ""),
    ... )
    >>> print(_waiting(mine, [first, mine]))
    The cluster is full. Your server starts when there is a place; 1 student waits before you.
    >>> _waiting(QueuedJob.read("8|PENDING|None|"), [])
    'Your server waits for a place on the cluster.'
    """
    if not job.full:
        return "Your server waits for a place on the cluster."
    before = sum(each.full for each in jobs[: jobs.index(job)])
    others = (
        f"{counted(before, 'student')} wait{'s' * (before == 1)} before you"
        if before
        else "you are the first in line"
    )
    return f"The cluster is full. Your server starts when there is a place; {others}."
