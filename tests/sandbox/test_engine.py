"""Where submissions run: a real Dask cluster on the loopback, whose workers come and die."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import distributed
import nbformat
import psutil
import pytest

from mlsys_widgets.grading.coordinator import GradingRun, Plan
from mlsys_widgets.grading.gradebook_writer import Book
from mlsys_widgets.grading.graded_log import GradedLog
from mlsys_widgets.labs.course import Course
from mlsys_widgets.sandbox import engine as engines
from mlsys_widgets.sandbox.engine import Engine
from mlsys_widgets.sandbox.job import FINISHED, Job, RunResult
from mlsys_widgets.sandbox.packing import pack_result, unpack_job
from mlsys_widgets.sandbox.usage import children
from tests.grading.classroom import LAB, LIMITS, classroom, hand_in, quiet, rows
from tests.labs.rehearsal import ROOT, Workshop
from tests.sandbox.children import wait_until

pytestmark = pytest.mark.timeout(600)


class Cluster:
    """A scheduler and workers as processes of their own, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._file = folder, folder / "scheduler.json"
        self._started: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start("dask_scheduler", "--host", "127.0.0.1", "--port", "0")
        wait_until(self._file.is_file, "no scheduler")
        with quiet(), distributed.Client(scheduler_file=str(self._file), timeout=60) as client:
            self.address = client.scheduler.address
        self.workers: list[subprocess.Popen[bytes]] = []

    def have(self, count: int) -> None:
        """Have this many workers, and wait until the scheduler knows."""
        options = ("--nthreads", "1", "--no-nanny", "--local-directory", str(self._folder))
        self.workers = [each for each in self.workers if each.poll() is None]
        for surplus in self.workers[count:]:
            surplus.kill()
            surplus.wait()
        del self.workers[count:]
        while len(self.workers) < count:
            self.workers.append(self._start("dask_worker", *options))
        with quiet(), distributed.Client(self.address, timeout=60) as client:
            wait_until(
                lambda: len(client.nthreads()) == count,
                f"the scheduler does not have {count} workers",
                seconds=120,
            )

    def _start(self, program: str, *options: str) -> subprocess.Popen[bytes]:
        words = ["--scheduler-file", str(self._file), "--no-dashboard", *options]
        with (self._folder / "log.txt").open("ab") as log:
            started = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{program}", *words],
                cwd=self._folder,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdout=log,
                stderr=log,
            )
        self._started.append(started)
        return started

    def close(self) -> None:
        """End everything."""
        for each in reversed(self._started):
            each.kill()
            each.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with closing(Cluster(tmp_path_factory.mktemp("elsewhere"))) as started:
        yield started


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """A class that keeps a cluster busy for a while."""
    made = classroom(tmp_path_factory.mktemp("engine") / "course")
    for k in range(8):
        student = f"student-{k}"
        hand_in(made, student, _slowly, made.asked(student).right(), ledger=True)
    return made


def _slowly(book: nbformat.NotebookNode, _folder: Path) -> None:
    book.cells.append(nbformat.v4.new_code_cell("import time; time.sleep(0.5)", id="slow"))


def _fork_servers_of(worker: subprocess.Popen[bytes]) -> list[int]:
    return children(worker.pid)


@contextmanager
def listening(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """Everything that is handed to a cluster, as it travels."""
    sent: list[bytes] = []
    submit = distributed.Client.submit

    def heard(self, function, *arguments, **options):
        sent.append(pickle.dumps((function, arguments, options)))
        return submit(self, function, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(distributed.Client, "submit", heard)
        yield sent


def test_a_worker_dies_in_the_middle_of_a_class_and_nothing_is_lost(
    cluster: Cluster, course: Workshop, monkeypatch
):
    cluster.have(2)
    plan = Plan(Course(course.root), LAB, engine=cluster.address, limits=LIMITS, force=True)
    graded, orphans = Counter[str](), []
    with quiet(), listening(monkeypatch) as sent:
        for each in GradingRun(plan).grade():
            graded[each.student] += 1
            assert not each.flags, each
            if sum(graded.values()) == 2:
                victim = cluster.workers[0]
                orphans = _fork_servers_of(victim)
                victim.send_signal(signal.SIGKILL)
                victim.wait()
    everybody = {f"student-{k}" for k in range(8)}
    assert graded == Counter(everybody)
    assert orphans
    wait_until(
        lambda: not any(Path(f"/proc/{pid}").exists() for pid in orphans),
        "the fork server of a worker outlives it",
        seconds=30,
    )
    found = rows(course.root)
    assert {row[0] for row in found["submission"]} == everybody
    assert all(row[2] is not None for row in found["grade"] if row[1] in ("limit", "record"))
    assert set(GradedLog(course.root, LAB).read()) == everybody
    _nothing_else_travels(course, sent)


def _nothing_else_travels(course: Workshop, sent: list[bytes]) -> None:
    """A worker gets one submission, what was released, and the cells that go back into it."""
    traveled = [pickle.loads(each) for each in sent if b"mlsys-grade-" in each]
    assert len(traveled) == 8
    checks = (course.root / "assignments" / LAB / "checks.py").read_bytes()
    for function, (packed, plan), _ in traveled:
        assert function is engines._work
        job = unpack_job(packed)
        handed_in = {path.name: path.read_bytes() for path in course.work(job.student).iterdir()}
        assert dict(job.files) == handed_in
        everything = b"".join((packed, zlib.decompress(plan), *job.files.values()))
        others = {f"student-{k}" for k in range(8)} - {job.student}
        never = [str(course.root), "gradebook", "sqlite:", *others]
        assert not [words for words in never if words.encode() in everything]
        assert checks not in everything


def test_workers_that_come_later_and_another_version(
    cluster: Cluster, course: Workshop, monkeypatch
):
    cluster.have(0)
    monkeypatch.setattr(engines, "_PATIENCE", 1)
    with quiet(), pytest.raises(ValueError, match=r"has no workers; start some there: dask worker"):
        Engine(cluster.address)
    monkeypatch.undo()
    cluster.have(1)
    monkeypatch.setattr(engines, "__version__", "0.0.1")
    with quiet():
        engine = Engine(cluster.address)
        with pytest.raises(ValueError, match=r"has mlsys-widgets .* and here is 0\.0\.1"):
            engine.why_not_isolated()
        engine.close()
    monkeypatch.undo()
    # A second worker joins while the class runs, and takes its share.
    monkeypatch.setattr(engines, "_LOOK", 0.0)
    with quiet():
        engine = Engine(cluster.address)
        assert engine.why_not_isolated() is None
        assert engine.slots == 1
        done = []
        for ran in engine.run(_jobs(course, 6), _blueprint(course)):
            done.append(ran.ended)
            if len(done) == 1:
                cluster.have(2)
        assert engine.slots == 2
        assert done == [FINISHED] * 6
        assert _fork_servers_of(cluster.workers[1])
        engine.close()


def test_a_scheduler_that_goes_away_is_named(course: Workshop, tmp_path: Path):
    with closing(Cluster(tmp_path)) as cluster, quiet():
        cluster.have(1)
        plan = Plan(Course(course.root), LAB, engine=cluster.address, limits=LIMITS, force=True)
        graded = GradingRun(plan).grade()
        next(graded)
        cluster.scheduler.kill()
        cluster.scheduler.wait()
        with pytest.raises(ValueError, match=r"is gone; what is graded is kept.*--resume"):
            list(graded)


def _blueprint(course: Workshop):
    book = Book(Course(course.root).db_url, LAB)
    book.close()
    return book.blueprint


def _jobs(course: Workshop, count: int) -> Iterator[Job]:
    for k in range(count):
        student = f"student-{k % 8}"
        files = {p.name: p.read_bytes() for p in course.work(student).iterdir()}
        yield Job(student, LAB, files, limits=LIMITS)


def test_only_twice_as_many_as_run_are_taken_from_the_disk(course: Workshop):
    taken = 0

    def counted() -> Iterator[Job]:
        nonlocal taken
        for job in _jobs(course, 16):
            taken += 1
            yield job

    with quiet():
        engine = Engine(workers=2)
        try:
            assert engine.slots == 2
            for come, _ in enumerate(engine.run(counted(), _blueprint(course)), 1):
                assert taken - come <= 2 * engine.slots
        finally:
            engine.close()
    assert taken == come == 16


def test_memory_does_not_grow_with_the_class(course: Workshop, monkeypatch):
    """Nothing keeps what was sent and what came back: neither we nor a log of Dask's."""
    resident = []

    def at_once(packed: bytes, _plan: bytes) -> str:
        student = unpack_job(packed).student
        return pack_result(RunResult(student, notebook=f"{os.urandom(100_000).hex()}"))

    at_once.__module__, at_once.__qualname__ = engines.__name__, "_work"
    monkeypatch.setattr(engines, "_work", at_once)
    jobs = (Job(f"student-{k}", LAB, {"a": os.urandom(100_000)}) for k in range(400))
    with quiet():
        engine = Engine(workers=2)
        try:
            for _ in engine.run(jobs, _blueprint(course)):
                pages = int(Path("/proc/self/statm").read_text().split()[1])
                resident.append(pages * os.sysconf("SC_PAGESIZE") / 1e6)
        finally:
            engine.close()
    assert len(resident) == 400
    # Another 300 submissions of 300 kB in all would be 90 MB.
    assert max(resident[-50:]) - min(resident[50:100]) < 30


def test_a_fork_server_that_dies_is_replaced(course: Workshop):
    with quiet():
        engine = Engine(workers=1)
        try:
            assert engine.why_not_isolated() is None
            (server,) = engines._all_servers
            os.kill(server.pid, signal.SIGKILL)
            (ran,) = engine.run(_jobs(course, 1), _blueprint(course))
            assert ran.ended == FINISHED
        finally:
            engine.close()
    assert not engines._all_servers


def test_on_one_machine_nobody_else_is_told_about_the_work():
    engine = Engine(workers=1)
    try:
        listening = [
            each.laddr
            for each in psutil.Process().net_connections("inet")
            if each.status == psutil.CONN_LISTEN
        ]
        assert {each.ip for each in listening} <= {"127.0.0.1"}
        for each in listening:
            for page in ("/info/main/workers.html", "/json/counts.json", "/metrics", "/health"):
                with pytest.raises(HTTPError, match="404"):
                    urlopen(f"http://{each.ip}:{each.port}{page}", timeout=10)
    finally:
        engine.close()
