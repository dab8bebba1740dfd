"""Where submissions run: on this machine, or on a Dask cluster that somebody has already.

Submissions travel as bytes and results come back as JSON, so that a worker needs the package and
nothing else. Only as many are under way as keep all workers busy, however large the class is.
"""

from __future__ import annotations

import base64
import json
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Final

from mlsys_widgets.grading.blueprint import Blueprint, SourceCell
from mlsys_widgets.grading.isolation import CannotIsolate, Limits
from mlsys_widgets.grading.running import Job, Nursery, NurseryLost, Ran, run_submission

LOCAL: Final = "local"
#: Jobs under way for each worker: one runs, one waits.
_AHEAD: Final = 2

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
        from distributed import Client, LocalCluster

        self._cluster: Any = None
        if address == LOCAL:
            # Workers are threads here: what they wait for are nurseries, processes of their own.
            self._cluster = LocalCluster(
                n_workers=1,
                threads_per_worker=workers or os.cpu_count() or 1,
                processes=False,
                dashboard_address=None,
                silence_logs=50,
            )
        try:
            self._client = Client(self._cluster or address, timeout=20, set_as_default=False)
        except OSError as problem:
            raise ValueError(
                f"no Dask scheduler answers at {address}: {problem}; start one, or use"
                " --engine local"
            ) from None

    @property
    def slots(self) -> int:
        """How many submissions can run at a time."""
        return max(1, sum(self._client.nthreads().values()))

    def why_not_isolated(self) -> str | None:
        """Why workers cannot isolate; none if all of them can."""
        # Every thread that will run something starts its nursery now.
        futures = [
            self._client.submit(_why_not, key=f"mlsys-why-{k}-{os.urandom(4).hex()}", pure=False)
            for k in range(self.slots)
        ]
        said: list[str | None] = self._client.gather(futures)
        return next((each for each in said if each), None)

    def run(self, jobs: Iterable[Job], blueprint: Blueprint) -> Iterator[Ran]:
        """Run jobs; what comes of each, in the order in which they end."""
        from distributed import as_completed

        waiting, plan = iter(jobs), _pack_blueprint(blueprint)
        running = as_completed(loop=self._client.loop, raise_errors=False)
        of: dict[str, Job] = {}

        def start_next() -> None:
            with suppress(StopIteration):
                job = next(waiting)
                key = f"mlsys-grade-{job.student}-{os.urandom(4).hex()}"
                of[key] = job
                running.add(
                    self._client.submit(_work, _pack(job), plan, key=key, pure=False, retries=1)
                )

        for _ in range(self.slots * _AHEAD):
            start_next()
        for future in running:
            job = of.pop(future.key)
            start_next()
            if future.status == "finished":
                yield _unpack_ran(future.result())
            else:
                said = f"{type(future.exception()).__name__}: {future.exception()}"
                yield Ran(job.student, ended="lost", remarks=(f"it could not be run: {said}",))
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
_lock = threading.Lock()


def _nursery() -> Nursery:
    """The nursery of this thread."""
    known: Nursery | None = getattr(_mine, "nursery", None)
    if known is None or not known.alive:
        known = _mine.nursery = Nursery()
        with _lock:
            _all_nurseries.append(known)
    return known


def _why_not() -> str | None:
    return _nursery().cannot_isolate


def _close_nurseries() -> None:
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
    return json.dumps(asdict(blueprint)).encode()


def _unpack_blueprint(packed: bytes) -> Blueprint:
    said = json.loads(packed)
    said["cells"] = {name: SourceCell(**cell) for name, cell in said["cells"].items()}
    return Blueprint(**said)


def _unpack_ran(packed: str) -> Ran:
    said = json.loads(packed)
    said["remarks"], said["missing"] = tuple(said["remarks"]), tuple(said["missing"])
    return Ran(**said)
