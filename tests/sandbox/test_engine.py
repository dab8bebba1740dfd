"""Where submissions run: here, and on a real Dask cluster whose workers come and die."""

from __future__ import annotations

import base64
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import distributed
import nbformat
import psutil
import pytest

from mlsys_widgets.course.course import Course
from mlsys_widgets.grading.bounded_map import map_bounded
from mlsys_widgets.grading.coordinator import GradingRun, Plan
from mlsys_widgets.grading.gradebook.graded_log import GradedLog
from mlsys_widgets.notebooks.remarks import RemarkKind
from mlsys_widgets.sandbox import engine as engines
from mlsys_widgets.sandbox import fork_client
from mlsys_widgets.sandbox.engine import LocalEngine, NotRun, open_engine
from mlsys_widgets.sandbox.fork_client import _Listener, child_content, split_report
from mlsys_widgets.sandbox.job import FINISHED, YIELDED, Parcel
from mlsys_widgets.sandbox.packing import unpack_parcel
from mlsys_widgets.sandbox.usage import children, descendants
from tests.grading.classroom import LAB, LIMITS, classroom, hand_in, quiet, rows
from tests.labs.rehearsal import ROOT, Workshop
from tests.waiting import PATIENCE, wait_for

pytestmark = pytest.mark.timeout(600)


class Cluster:
    """A scheduler and workers as processes of their own, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._file = folder, folder / "scheduler.json"
        self._started: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start("dask_scheduler", "--host", "127.0.0.1", "--port", "0")
        wait_for(self._file.is_file, "no scheduler")
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
            wait_for(
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
    wait_for(
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
    """A worker gets one submission and the cells to run, and nothing else."""
    traveled = [pickle.loads(each) for each in sent if b"mlsys-grade-" in each]
    assert len(traveled) == 8
    checks = (course.root / "assignments" / LAB / "checks.py").read_bytes()
    for function, (packed,), _ in traveled:
        assert function is engines._work
        parcel = unpack_parcel(packed)
        content = json.loads(parcel.content[4:])
        files = {name: base64.b64decode(each) for name, each in content["files"].items()}
        handed_in = {path.name: path.read_bytes() for path in course.work(parcel.student).iterdir()}
        del handed_in[f"{LAB}.ipynb"]
        assert files == handed_in
        everything = b"".join((packed, *files.values()))
        others = {f"student-{k}" for k in range(8)} - {parcel.student}
        never = [str(course.root), "gradebook", "sqlite:", "HIDDEN TESTS", *others]
        assert not [words for words in never if words.encode() in everything]
        assert checks not in everything


def test_workers_that_come_later_and_another_version(cluster: Cluster, tmp_path: Path, monkeypatch):
    cluster.have(0)
    monkeypatch.setattr(engines, "_PATIENCE", 1)
    with quiet(), pytest.raises(ValueError, match=r"has no workers; start some there: dask worker"):
        open_engine(cluster.address)
    monkeypatch.undo()
    cluster.have(1)
    monkeypatch.setattr(engines, "__version__", "0.0.1")
    with quiet():
        engine = open_engine(cluster.address)
        with pytest.raises(ValueError, match=r"has mlsys-widgets .* and here is 0\.0\.1"):
            engine.why_not_isolated()
        engine.close()
    monkeypatch.undo()
    # A second worker joins while the class runs, and takes its share.
    monkeypatch.setattr(engines, "_LOOK", 0.0)
    with quiet():
        engine = open_engine(cluster.address)
        assert engine.why_not_isolated() is None
        assert (engine.slots, engine.lanes) == (1, 2)
        waiting, done = deque(range(6)), []
        for _, (ending, remarks) in map_bounded(
            lambda k: engine.run(parcel(SLOW), tmp_path / f"told-{k}"),
            waiting,
            lambda: engine.lanes,
        ):
            done.append((ending.ended, remarks))
            if len(done) == 1:
                cluster.have(2)
        assert engine.slots == 2
        assert done == [(FINISHED, ())] * 6
        assert _fork_servers_of(cluster.workers[1])
        assert all(b'"done": true' in (tmp_path / f"told-{k}").read_bytes() for k in range(6))
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


# On this machine.

SLOW = "import time; time.sleep(0.5)"


def parcel(*cells: str, student: str = "ann", hidden=None, **more) -> Parcel:
    """Some cells on their way to a child."""
    hidden = hidden or {}
    content = child_content(f"{student}/{LAB}", {}, cells, {}, hidden)
    return Parcel(student, content, hidden, limits=LIMITS, **more)


@pytest.fixture
def engine() -> Iterator[LocalEngine]:
    one = LocalEngine(workers=1)
    if one.why_not_isolated():
        one.close()
        pytest.skip("cannot isolate here")
    yield one
    one.close()


def test_what_a_child_reports_is_in_a_file(engine: LocalEngine, tmp_path: Path):
    content = tmp_path / "content"
    content.write_bytes(parcel("print('x' * 300_000)").content)
    ending, remarks = engine.run(Parcel("ann", content, limits=LIMITS), tmp_path / "told")
    assert (ending.ended, remarks, ending.late_from) == (FINISHED, (), None)
    assert b"x" * 300_000 in (tmp_path / "told").read_bytes()


def test_who_is_running_and_for_how_long(engine: LocalEngine, tmp_path: Path):
    assert engine.running() == {}
    told = tmp_path / "told"
    one = threading.Thread(target=engine.run, args=(parcel("import time; time.sleep(2)"), told))
    one.start()
    wait_for(lambda: engine.running().get("ann", 0) > 0.2, "nobody is running")
    one.join()
    assert engine.running() == {}


def test_one_that_stays_too_long_leaves_its_place(engine: LocalEngine, tmp_path: Path):
    sleeper = parcel("import time; time.sleep(60)", allowance=0.3)
    ending, _ = engine.run(sleeper, tmp_path / "told")
    assert ending.ended == YIELDED
    ending, _ = engine.run(parcel("1 + 1", allowance=30.0), tmp_path / "told")
    assert ending.ended == FINISHED


def test_who_has_hidden_tests_is_neither_sent_away_nor_started_again(
    engine: LocalEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """It could have left them somewhere for itself to find."""
    given: list[bool] = []
    give = _Listener._give_hidden_tests
    monkeypatch.setattr(
        _Listener, "_give_hidden_tests", lambda self: (given.append(True), give(self))
    )
    # All of the allowance is over at the moment at which it has them.
    clock = SimpleNamespace(monotonic=lambda: PATIENCE if given else 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(fork_client, "time", clock)
        late = {0: "import time; time.sleep(0.5); print('hidden')"}
        ending, _ = engine.run(parcel("1", hidden=late, allowance=PATIENCE), tmp_path / "told")
    assert given
    assert ending.ended == FINISHED
    before, after = split_report((tmp_path / "told").read_bytes(), ending.late_from)
    assert "hidden" not in "".join(before)
    assert "hidden" in "".join(after)
    late = {0: "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"}
    on_its_own = replace(parcel("1", hidden=late), isolate=False)
    with pytest.raises(NotRun, match="after it had its hidden tests"):
        engine.run(on_its_own, tmp_path / "told")


def fork_servers(engine: LocalEngine) -> set[int]:
    """The processes that an engine forks from."""
    return {each.pid for each in engine._pool._all}


def test_one_that_was_killed_from_outside_is_run_once_more(engine: LocalEngine, tmp_path: Path):
    (server,) = fork_servers(engine)
    told = tmp_path / "told"
    found: list = []
    one = threading.Thread(
        target=lambda: found.append(engine.run(parcel("import time; time.sleep(2)"), told))
    )
    one.start()
    wait_for(lambda: len(descendants(server)) == 3, "nothing runs")
    os.kill(descendants(server)[-1], signal.SIGKILL)
    one.join(60)
    ((ending, remarks),) = found
    assert ending.ended == FINISHED
    assert [remark.kind for remark in remarks] == [RemarkKind.RUN_AGAIN]
    suicide = parcel("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    ending, remarks = engine.run(suicide, told)
    assert (ending.ended, remarks) == (FINISHED, ()), "it is not allowed to"
    with pytest.raises(NotRun, match="its process was killed, twice"):
        engine.run(replace(suicide, isolate=False), told)


def test_a_fork_server_that_dies_is_replaced(engine: LocalEngine, tmp_path: Path):
    (server,) = fork_servers(engine)
    os.kill(server, signal.SIGKILL)
    ending, _ = engine.run(parcel("1 + 1"), tmp_path / "told")
    assert ending.ended == FINISHED
    (other,) = fork_servers(engine)
    assert other != server


def test_a_fork_server_that_dies_while_it_starts_is_replaced():
    one = LocalEngine(workers=1)
    (server,) = fork_servers(one)
    os.kill(server, signal.SIGKILL)
    one.why_not_isolated()
    assert server not in fork_servers(one)
    one.close()


def test_one_that_never_starts_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    one = LocalEngine(workers=1)
    with pytest.raises(ValueError, match=r"cannot be run here: the fork server ended \(1\)"):
        one.why_not_isolated()
    one.close()


def test_closing_ends_what_runs(tmp_path: Path):
    one = LocalEngine(workers=1)
    printed: list[str] = []

    def run() -> None:
        try:
            one.run(replace(parcel("import time; time.sleep(60)"), isolate=False), tmp_path / "t")
        except NotRun as problem:
            printed.append(str(problem))

    thread = threading.Thread(target=run)
    thread.start()
    wait_for(one.running, "nothing runs")
    one.close()
    thread.join(60)
    assert not thread.is_alive()
    assert printed


def test_memory_does_not_grow_with_the_class(engine: LocalEngine, tmp_path: Path):
    """Neither with what is sent, nor with what comes back: both stay in files."""
    content = tmp_path / "content"
    files = {"large.bin": os.urandom(5_000_000)}
    content.write_bytes(child_content(f"ann/{LAB}", files, ["print('x' * 900_000)"], {}, {}))
    resident = []
    for _ in range(6):
        engine.run(Parcel("ann", content, limits=LIMITS), tmp_path / "told")
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        resident.append(pages * os.sysconf("SC_PAGESIZE") / 1e6)
    assert resident[-1] - resident[0] < 5


def test_nobody_else_is_told_about_the_work():
    def listening() -> set[object]:
        mine = psutil.Process().net_connections("inet")
        return {each.laddr for each in mine if each.status == psutil.CONN_LISTEN}

    before = listening()  # servers of other tests in this process
    one = LocalEngine(workers=1)
    try:
        if one.why_not_isolated():
            pytest.skip("cannot isolate here")
        assert one.slots == 1
        assert listening() <= before
    finally:
        one.close()
