"""Where submissions run: on this machine, or on a Dask cluster that already exists.

Submissions travel as bytes and results come back as JSON, so that a worker needs the package and
nothing else. Only as many are under way as keep all workers busy, however large the class is.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any, Final

from mlsys_widgets import __version__
from mlsys_widgets.sandbox.blueprint import Blueprint
from mlsys_widgets.sandbox.fork_client import ForkServer, ForkServerLost
from mlsys_widgets.sandbox.isolation import CannotIsolate
from mlsys_widgets.sandbox.job import LOST, Job, RunResult
from mlsys_widgets.sandbox.packing import (
    pack_blueprint,
    pack_job,
    pack_result,
    unpack_blueprint,
    unpack_job,
    unpack_result,
)
from mlsys_widgets.sandbox.remarks import Remark, RemarkKind
from mlsys_widgets.sandbox.worker import run_submission

LOCAL: Final = "local"
#: Jobs in flight for each worker: one runs, one waits.
_AHEAD: Final = 2
#: Seconds to wait for a scheduler that does not answer, and for its first worker.
_PATIENCE: Final = 10
#: Dask keeps no long history of what was sent, because submissions are large and many; it runs no
#: profiler, and serves no pages about the work, which anybody could read.
_FRUGAL: Final = {
    "distributed.admin.low-level-log-length": 20,
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
#: It opens a port for such pages anyway, so we pick one that only this machine reaches.
_NO_PAGES: Final = "127.0.0.1:0"
#: Seconds between counts of the workers: some may join later.
_LOOK: Final = 5.0

_mine = threading.local()


class Engine:
    """Runs jobs on workers.

    Parameters
    ----------
    address
        ``local``, or that of a Dask scheduler: ``tcp://…``.
    workers
        How many on this machine; as many as it has cores if left out.
    """

    def __init__(self, address: str = LOCAL, workers: int | None = None) -> None:
        self._address, self._most = address, workers
        if address == LOCAL:
            # They import for a second, and so does Dask: both at the same time.
            self._most = workers or os.cpu_count() or 1
            _start_fork_servers(self._most)
        import dask.config
        import distributed  # noqa: F401 (brings the settings of which some are changed)

        with dask.config.set(_FRUGAL):
            self._connect()
        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            self._client.close()
            raise ValueError(
                f"the Dask scheduler at {address} has no workers; start some there: dask worker"
                f" {address}"
            ) from None

    def _connect(self) -> None:
        from distributed import Client, LocalCluster

        self._cluster: Any = None
        if self._address == LOCAL:
            # Workers are threads here: what they wait for are fork servers, processes of their own.
            self._cluster = LocalCluster(
                n_workers=1,
                threads_per_worker=self._most,
                processes=False,
                dashboard_address=None,
                scheduler_kwargs={"dashboard_address": _NO_PAGES},
                worker_dashboard_address=_NO_PAGES,
                silence_logs=50,
            )
        where = self._cluster or self._address
        try:
            self._client = Client(where, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError) as problem:
            raise ValueError(
                f"no Dask scheduler answers at {self._address} ({problem}); start one, or use"
                " --engine local"
            ) from None

    @property
    def slots(self) -> int:
        """How many submissions can run at a time."""
        threads = max(1, sum(self._client.nthreads().values()))
        return min(threads, self._most) if self._most else threads

    def why_not_isolated(self) -> str | None:
        """Start the fork server of every thread of every worker; say why one cannot isolate.

        Raises
        ------
        ValueError
            If a worker cannot run submissions at all.
        """
        futures = {
            self._client.submit(
                _hello, key=f"mlsys-hello-{os.urandom(16).hex()}", pure=False, workers=[worker],
                allow_other_workers=False, retries=1,
            ): worker
            for worker, threads in self._client.nthreads().items()
            for _ in range(threads)
        }  # fmt: skip
        said: str | None = None
        for future, worker in futures.items():
            try:
                told: dict[str, Any] = json.loads(future.result())
            except Exception as problem:  # whatever happens over there, in one sentence
                raise ValueError(
                    f"the worker {worker} cannot run submissions ({problem}); it and its scheduler"
                    f" need mlsys-widgets[student] {__version__}"
                ) from None
            if told["version"] != __version__:
                raise ValueError(
                    f"the worker {worker} has mlsys-widgets {told['version']}, and here is"
                    f" {__version__}; install the same on both"
                )
            said = said or told["cannot_isolate"]
        return said

    def run(self, jobs: Iterable[Job], blueprint: Blueprint) -> Iterator[RunResult]:
        """Run jobs; yield the result of each, in the order in which they end."""
        from distributed import as_completed

        waiting, plan = iter(jobs), pack_blueprint(blueprint)
        running = as_completed(loop=self._client.loop, raise_errors=False)
        of: dict[str, str] = {}
        most, looked = self.slots * _AHEAD, time.monotonic()

        def start_more() -> None:
            while len(of) < most and (job := next(waiting, None)) is not None:
                # Dask groups tasks by the part before the digits, so it holds no student's name.
                key = f"mlsys-grade-{os.urandom(16).hex()}"
                of[key] = job.student
                running.add(self._client.submit(_work, pack_job(job), plan, key=key, pure=False))

        start_more()
        for future in running:
            if future.status not in ("finished", "error"):
                raise ValueError(
                    f"the Dask scheduler at {self._address} is gone; what is graded is kept: start"
                    " it again and continue with --resume"
                )
            student = of.pop(future.key)
            if time.monotonic() - looked > _LOOK:
                most, looked = self.slots * _AHEAD, time.monotonic()
            start_more()
            if future.status == "finished":
                yield unpack_result(future.result())
            else:
                said = f"{type(future.exception()).__name__}: {future.exception()}"
                remark = Remark(RemarkKind.NOT_RUN, detail=said)
                yield RunResult(student, ended=LOST, remarks=(remark,))
            future.release()

    def close(self) -> None:
        """End everything that was started here."""
        if self._cluster is not None:
            with suppress(Exception):
                self._client.run(_close_fork_servers)
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()


# What runs on a worker.

_all_servers: list[ForkServer] = []
#: Started, and not yet taken by a thread.
_spare: SimpleQueue[ForkServer] = SimpleQueue()
_lock = threading.Lock()
#: Set when the work here ends: a fork server that is lost then is not replaced.
_closing = threading.Event()


def _start_fork_servers(count: int) -> None:
    _closing.clear()
    for _ in range(count):
        _spare.put(_new_fork_server())


def _new_fork_server() -> ForkServer:
    if _closing.is_set():
        raise ForkServerLost("grading ends here")
    server = ForkServer()
    with _lock:
        _all_servers.append(server)
    return server


def _fork_server() -> ForkServer:
    """The fork server of this thread."""
    known: ForkServer | None = getattr(_mine, "server", None)
    while known is None or not known.alive:
        try:
            known = _spare.get_nowait()
        except Empty:
            known = _new_fork_server()
    _mine.server = known
    return known


def _hello() -> str:
    return json.dumps({"version": __version__, "cannot_isolate": _fork_server().cannot_isolate})


def _close_fork_servers() -> None:
    _closing.set()
    with _lock:
        while _all_servers:
            _all_servers.pop().close()


def _work(packed: bytes, plan: bytes) -> str:
    job, blueprint = unpack_job(packed), unpack_blueprint(plan)
    again: tuple[Remark, ...] = ()
    while True:
        server = _fork_server()
        try:
            result = run_submission(job, blueprint, server)
        except ForkServerLost:
            server.close()
            # Whoever killed it, the second run gets exactly what the first one had; and it is said.
            if again:
                raise
            again = (Remark(RemarkKind.RUN_AGAIN),)
        except CannotIsolate as problem:
            raise RuntimeError(str(problem)) from None
        else:
            return pack_result(replace(result, remarks=(*again, *result.remarks)))
