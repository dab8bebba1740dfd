"""Where submissions run: on this machine, or on a Dask cluster that somebody has already.

Submissions travel as bytes and results come back as JSON, so that a worker needs the package and
nothing else. Only as many are under way as keep all workers busy, however large the class is.
"""

from __future__ import annotations

import base64
import json
import os
import threading
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from functools import lru_cache
from queue import Empty, SimpleQueue
from typing import Any, Final

from mlsys_widgets import __version__
from mlsys_widgets.sandbox.blueprint import Blueprint, SourceCell
from mlsys_widgets.sandbox.isolation import CannotIsolate, Limits
from mlsys_widgets.sandbox.worker import LOST, Job, Nursery, NurseryLost, Ran, run_submission

LOCAL: Final = "local"
#: Jobs under way for each worker: one runs, one waits.
_AHEAD: Final = 2
#: Seconds to wait for a scheduler that does not answer, and for its first worker.
_PATIENCE: Final = 10
#: What Dask does without: long memories of what was sent, since a submission is large and a class
#: long; its profiler; and pages about the work, which it would show to whoever asks.
_FRUGAL: Final = {
    "distributed.admin.low-level-log-length": 20,
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
#: It opens a port for such pages all the same: then one that only this machine reaches.
_NO_PAGES: Final = "127.0.0.1:0"
#: Seconds between looks at how many workers there are: some may come later.
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
            # They import for a second, and so does Dask.
            self._most = workers or os.cpu_count() or 1
            _start_nurseries(self._most)
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
            # Workers are threads here: what they wait for are nurseries, processes of their own.
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
        """Have every thread of every worker start its nursery; why one of them cannot isolate.

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

    def run(self, jobs: Iterable[Job], blueprint: Blueprint) -> Iterator[Ran]:
        """Run jobs; what comes of each, in the order in which they end."""
        from distributed import as_completed

        waiting, plan = iter(jobs), _pack_blueprint(blueprint)
        running = as_completed(loop=self._client.loop, raise_errors=False)
        of: dict[str, str] = {}
        most, looked = self.slots * _AHEAD, time.monotonic()

        def start_more() -> None:
            while len(of) < most and (job := next(waiting, None)) is not None:
                # Dask counts by what stands before the digits, so there is no name in it.
                key = f"mlsys-grade-{os.urandom(16).hex()}"
                of[key] = job.student
                running.add(
                    self._client.submit(_work, _pack(job), plan, key=key, pure=False, retries=1)
                )

        start_more()
        for future in running:
            if future.status not in ("finished", "error"):
                raise ValueError(
                    f"the Dask scheduler at {self._address} is gone; what is graded is kept: start"
                    " it again and go on with --resume"
                )
            student = of.pop(future.key)
            if time.monotonic() - looked > _LOOK:
                most, looked = self.slots * _AHEAD, time.monotonic()
            start_more()
            if future.status == "finished":
                yield _unpack_ran(future.result())
            else:
                said = f"{type(future.exception()).__name__}: {future.exception()}"
                yield Ran(student, ended=LOST, remarks=(f"it could not be run: {said}",))
            future.release()

    def close(self) -> None:
        """End what was started here."""
        if self._cluster is not None:
            with suppress(Exception):
                self._client.run(_close_nurseries)
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()


# What runs on a worker.

_all_nurseries: list[Nursery] = []
#: Started, and not yet of a thread.
_spare: SimpleQueue[Nursery] = SimpleQueue()
_lock = threading.Lock()
#: Whether what still runs here is not to be started anew.
_closing = threading.Event()


def _start_nurseries(count: int) -> None:
    _closing.clear()
    for _ in range(count):
        _spare.put(_new_nursery())


def _new_nursery() -> Nursery:
    if _closing.is_set():
        raise NurseryLost("grading ends here")
    nursery = Nursery()
    with _lock:
        _all_nurseries.append(nursery)
    return nursery


def _nursery() -> Nursery:
    """The nursery of this thread."""
    known: Nursery | None = getattr(_mine, "nursery", None)
    while known is None or not known.alive:
        try:
            known = _spare.get_nowait()
        except Empty:
            known = _new_nursery()
    _mine.nursery = known
    return known


def _hello() -> str:
    return json.dumps({"version": __version__, "cannot_isolate": _nursery().cannot_isolate})


def _close_nurseries() -> None:
    _closing.set()
    with _lock:
        while _all_nurseries:
            _all_nurseries.pop().close()


def _work(packed: bytes, plan: bytes) -> str:
    nursery = _nursery()
    try:
        ran = run_submission(_unpack(packed), _unpack_blueprint(plan), nursery)
    except NurseryLost:
        nursery.close()
        raise
    except CannotIsolate as problem:
        raise RuntimeError(str(problem)) from None
    return json.dumps(asdict(ran))


# How things travel.


def _pack(job: Job) -> bytes:
    said = asdict(job)
    said["files"] = {n: base64.b64encode(c).decode() for n, c in job.files.items()}
    return json.dumps(said).encode()


def _unpack(packed: bytes) -> Job:
    said = json.loads(packed)
    said["files"] = {n: base64.b64decode(c) for n, c in said["files"].items()}
    said["limits"] = Limits(**said["limits"])
    return Job(**said)


def _pack_blueprint(blueprint: Blueprint) -> bytes:
    return zlib.compress(json.dumps(asdict(blueprint)).encode())


@lru_cache(maxsize=4)  # it is the same for a whole class
def _unpack_blueprint(packed: bytes) -> Blueprint:
    said = json.loads(zlib.decompress(packed))
    said["cells"] = {name: SourceCell(**cell) for name, cell in said["cells"].items()}
    return Blueprint(**said)


def _unpack_ran(packed: str) -> Ran:
    said = json.loads(packed)
    said["remarks"], said["missing"] = tuple(said["remarks"]), tuple(said["missing"])
    return Ran(**said)
