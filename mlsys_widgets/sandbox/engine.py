"""Where submissions run: on this machine, or on a Dask cluster that already exists.

Whoever has something to run calls `run` from a thread of its own and waits there. Parcels and
reports are files that nobody here looks into; on a cluster they travel as bytes, so that a worker
needs the package and nothing else.
"""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, Final, Protocol

from mlsys_widgets import __version__
from mlsys_widgets.notebooks.remarks import Remark, RemarkKind
from mlsys_widgets.sandbox.fork_client import ForkServer, ForkServerLost
from mlsys_widgets.sandbox.isolation import CannotIsolate
from mlsys_widgets.sandbox.job import KILLED, Ending, Parcel
from mlsys_widgets.sandbox.packing import pack_parcel, pack_report, unpack_parcel, unpack_report
from mlsys_widgets.sandbox.process_pool import PoolClosed, ProcessPool

LOCAL: Final = "local"
SLURM: Final = "slurm"
#: Submissions under way for each worker of a cluster: one runs, one waits.
_AHEAD: Final = 2
#: Seconds to wait for a scheduler that does not answer, and for its first worker.
_PATIENCE: Final = 10
#: Jobs of Slurm, if nobody says how many, and seconds to wait for the first: it may be full.
_WORKERS: Final = 4
_QUEUE: Final = 600
#: Seconds between counts of a cluster's workers: some may join later.
_LOOK: Final = 5.0
#: Dask keeps no long history of what was sent, because submissions are large and many.
_FRUGAL: Final = {"distributed.admin.low-level-log-length": 20}

Outcome = tuple[Ending, tuple[Remark, ...]]


class NotRun(RuntimeError):
    """A submission that could not be run; the message says why, for whoever grades."""


class Engine(Protocol):
    """Runs parcels."""

    @property
    def slots(self) -> int:
        """How many submissions can run at a time."""

    @property
    def lanes(self) -> int:
        """How many should be under way, so that no slot waits."""

    def why_not_isolated(self) -> str | None:
        """Say why submissions cannot be isolated; `None` if they can."""

    def run(self, parcel: Parcel, report: Path) -> Outcome:
        """Run a parcel, and write what it reports into a file.

        `NotRun` if it cannot be run, which is this submission's alone; `ValueError` if nothing can
        be run any more.
        """

    def running(self) -> dict[str, float]:
        """Return whose submissions are under way, and for how many seconds."""

    def close(self) -> None:
        """End everything that was started here, under whoever waits for it."""


def open_engine(
    address: str = LOCAL, workers: int | None = None, *, only_functions: bool = False
) -> Engine:
    """Open an engine.

    ``address`` is ``local``, ``slurm`` for jobs of its own on a cluster, or that of a Dask
    scheduler: ``tcp://…``. Without ``workers`` there are as many as cores. Where it will call
    ``only_functions`` and run no notebook, less has to start.
    """
    if address == LOCAL:
        return LocalEngine(workers, only_functions=only_functions)
    return SlurmEngine(workers) if address == SLURM else ClusterEngine(address, workers)


class LocalEngine:
    """Fork servers on this machine, one for each submission that runs at a time."""

    def __init__(self, workers: int | None = None, *, only_functions: bool = False) -> None:
        self.slots = workers or os.cpu_count() or 1
        #: One more than run, so that the next is ready when one ends.
        self.lanes = self.slots + 1
        self._since: dict[str, float] = {}
        # They import for a second, all at the same time.
        start = partial(ForkServer, only_functions=only_functions)
        self._pool = ProcessPool(start, self.slots)

    def why_not_isolated(self) -> str | None:
        """Wait until one has started; say why it cannot isolate."""
        try:
            return self._pool.run(lambda server, _: server.cannot_isolate)
        except ForkServerLost as lost:
            raise ValueError(
                f"submissions cannot be run here: {lost} while it started, twice. If nothing above"
                " says why, the machine is short of memory or processes: use fewer --workers"
            ) from None

    def run(self, parcel: Parcel, report: Path) -> Outcome:
        """Run a parcel in a child of a fork server."""
        with report.open("w+b") as file:
            return _run(parcel, file, self._pool, self._since)

    def running(self) -> dict[str, float]:
        """Return who is in a child now."""
        return _ages(self._since)

    def close(self) -> None:
        """End all fork servers."""
        self._pool.close()


class ClusterEngine:
    """The workers of a Dask cluster.

    ``place`` is the cluster itself, if an address alone does not let us in; ``patience`` is for its
    first worker, in seconds.
    """

    def __init__(
        self, address: str, workers: int | None = None, *, place: Any = None,
        patience: float = _PATIENCE,
    ) -> None:  # fmt: skip
        import dask.config
        from distributed import Client

        self._address, self._most = address, workers
        self._looked, self._slots = -_LOOK, 1
        self._since: dict[str, float] = {}
        try:
            with dask.config.set(_FRUGAL):
                self._client = Client(place or address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError) as problem:
            raise ValueError(
                f"no Dask scheduler answers at {address} ({problem}); start one, or use"
                " --engine local"
            ) from None
        try:
            self._client.wait_for_workers(1, timeout=patience)
        except TimeoutError:
            self._client.close()
            raise ValueError(
                f"the Dask scheduler at {address} has no workers; start some there: dask worker"
                f" {address}"
            ) from None

    @property
    def slots(self) -> int:
        """How many submissions can run at a time; workers may come and go."""
        if time.monotonic() - self._looked > _LOOK:
            threads = max(1, sum(self._client.nthreads().values()))
            self._slots = min(threads, self._most) if self._most else threads
            self._looked = time.monotonic()
        return self._slots

    @property
    def lanes(self) -> int:
        """Two for each slot."""
        return self.slots * _AHEAD

    def why_not_isolated(self) -> str | None:
        """Ask every thread of every worker.

        `ValueError` if a worker cannot run submissions at all.
        """
        futures = {
            self._client.submit(
                _hello, key=f"mlsys-hello-{os.urandom(16).hex()}", pure=False, workers=[worker],
                allow_other_workers=False, retries=1,
            ): worker
            for worker, threads in self._client.nthreads().items()
            for _ in range(threads)
        }  # fmt: skip
        refusal: str | None = None
        for future, worker in futures.items():
            try:
                hello: dict[str, Any] = json.loads(future.result())
            except Exception as problem:  # whatever happens over there, in one sentence
                raise ValueError(
                    f"the worker {worker} cannot run submissions ({problem}); it and its scheduler"
                    f" need mlsys-widgets[student] {__version__}"
                ) from None
            if hello["version"] != __version__:
                raise ValueError(
                    f"the worker {worker} has mlsys-widgets {hello['version']}, and here is"
                    f" {__version__}; install the same on both"
                )
            refusal = refusal or hello["cannot_isolate"]
        return refusal

    def run(self, parcel: Parcel, report: Path) -> Outcome:
        """Run a parcel on some worker."""
        with _noted(self._since, parcel.student):
            return self._submit(parcel, report)

    def running(self) -> dict[str, float]:
        """Return who was handed to the cluster."""
        return _ages(self._since)

    def _submit(self, parcel: Parcel, report: Path) -> Outcome:
        # Dask groups tasks by the part before the digits, so it holds no student's name.
        key = f"mlsys-grade-{os.urandom(16).hex()}"
        future = self._client.submit(_work, pack_parcel(parcel), key=key, pure=False)
        try:
            packed = future.result()
        except BaseException as problem:  # Dask's own cancellation is no Exception
            if future.status == "error":
                raise NotRun(f"{type(problem).__name__}: {problem}") from None
            raise ValueError(
                f"the Dask scheduler at {self._address} is gone; what is graded is kept: start"
                " it again and continue with --resume"
            ) from None
        finally:
            future.release()
        ending, remarks, content = unpack_report(packed)
        report.write_bytes(content)
        return ending, remarks

    def close(self) -> None:
        """Let go of the cluster."""
        self._client.close()


class SlurmEngine(ClusterEngine):
    """Workers that Slurm starts now and that end with the engine."""

    def __init__(self, workers: int | None = None) -> None:
        from mlsys_widgets.sandbox.slurm_workers import start_workers

        # On a disk that nodes see, too, and closed to everybody else.
        self._keys = TemporaryDirectory(prefix=".mlsys_grading_", dir=Path.home())
        self._cluster = start_workers(workers or _WORKERS, Path(self._keys.name))
        try:
            address = self._cluster.scheduler_address
            super().__init__(address, workers, place=self._cluster, patience=_QUEUE)
        except ValueError:
            self._cluster.close()
            self._keys.cleanup()
            raise ValueError(
                f"Slurm gave no worker a place within {_QUEUE // 60} minutes; squeue"
                " --me shows what waits. Or use --engine local"
            ) from None

    def close(self) -> None:
        """Let go of the cluster, and end its jobs."""
        super().close()
        self._cluster.close()
        self._keys.cleanup()


@contextmanager
def _noted(since: dict[str, float], student: str) -> Iterator[None]:
    since[student] = time.monotonic()
    try:
        yield
    finally:
        since.pop(student, None)


def _ages(since: dict[str, float]) -> dict[str, float]:
    now = time.monotonic()
    return {student: now - began for student, began in since.copy().items()}


def _run(
    parcel: Parcel, report: BinaryIO, pool: ProcessPool[ForkServer], since: dict[str, float]
) -> Outcome:
    """Run a parcel with a fork server; once more if that is lost, or the child was killed.

    The second run gets exactly what the first one had, and it is said. Who has seen hidden tests
    is not started again: it could have left them somewhere for itself to find.
    """

    def deliver(server: ForkServer, again: bool) -> Outcome:
        report.seek(0)
        report.truncate()
        with _noted(since, parcel.student):
            ending = server.deliver(parcel, report)
        if ending.ended == KILLED:
            raise ForkServerLost("its process was killed", too_late=ending.late_from is not None)
        report.flush()
        return ending, (Remark(RemarkKind.RUN_AGAIN),) if again else ()

    try:
        return pool.run(deliver)
    except ForkServerLost as lost:
        times = "after it had its hidden tests" if lost.too_late else "twice"
        raise NotRun(
            f"{lost}, {times}; if the machine is short of memory, use fewer --workers"
        ) from None
    except (CannotIsolate, PoolClosed) as problem:
        raise NotRun(str(problem)) from None


# What runs on a worker of a cluster.

_here: Final = ProcessPool(ForkServer)


def _hello() -> str:
    with _here.one() as server:
        return json.dumps({"version": __version__, "cannot_isolate": server.cannot_isolate})


def _work(packed: bytes) -> bytes:
    report = io.BytesIO()
    ending, remarks = _run(unpack_parcel(packed), report, _here, {})
    return pack_report(ending, remarks, report.getvalue())
