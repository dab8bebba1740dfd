"""Grading a class of Lab 07: stock nbgrader and ``mlsys grade`` on the same class, in one run.

Seconds depend on the machine and on what else it does, so what counts are ratios: the two ways take
turns, and the load is printed. The class comes from ``mlsys simulate``, without broken notebooks,
because nbgrader does not run those. ``--quick`` takes a few submissions, for a look.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from mlsys_widgets.classes.simulation import simulate
from mlsys_widgets.grading import coordinator
from mlsys_widgets.labs.course import Course
from mlsys_widgets.sandbox import engine


ROOT = Path(__file__).resolve().parent.parent
LAB = "lab_07_kernel_fusion"
HONEST = ("right", "mostly-right", "misconceived", "partly-done", "late")
ISOLATED = ("isolated = ", "c.Execute.enabled", "c.Autograde.autograde_preprocessors")
CLUSTER = 8  # machines of the projection
CLASS = 10_000


def course(folder: Path, students: int) -> Path:
    """A course with Lab 07, in nbgrader's gradebook, and a class that has handed it in."""
    for name in ("assignments", "source", "release"):
        shutil.copytree(ROOT / name / LAB, folder / name / LAB)
    shutil.copyfile(ROOT / "assignments" / "course.toml", folder / "assignments" / "course.toml")
    shutil.copyfile(ROOT / "nbgrader_config.py", folder / "nbgrader_config.py")
    run(folder, "nbgrader", "generate_assignment", LAB, "--force")
    simulate(folder, LAB, students, seed=7, kinds=HONEST)
    return folder


def run(folder: Path, module: str, *words: str, check: bool = True) -> float:
    """Run a program in a course; seconds."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if check and done.returncode not in (0, 3):
        sys.exit(f"{module} {' '.join(words)} fails:\n{done.stderr[-2000:]}")
    return time.perf_counter() - began


def environment() -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}


def copy_of(folder: Path, name: str) -> Path:
    """The course before anything was graded."""
    target = folder.parent / name
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder, target)
    return target


def against_stock(folder: Path, students: int, rounds: int) -> None:
    ours, one = [], []
    for _ in range(rounds):
        ours.append(run(copy_of(folder, "ours"), "mlsys_widgets", "grade", LAB))
        one.append(run(copy_of(folder, "one"), "mlsys_widgets", "grade", LAB, *first()))
    stock = run(copy_of(folder, "stock"), "nbgrader", "autograde", LAB)
    stock_one = run(copy_of(folder, "one"), "nbgrader", "autograde", LAB, *first("--student"))
    target = copy_of(folder, "isolated")
    config = target / "nbgrader_config.py"
    content = config.read_text()
    for line in ISOLATED:
        content = content.replace(f"# {line}", line)
    config.write_text(content)
    child = run(target, "nbgrader", "autograde", LAB)
    for _ in range(rounds):
        ours.append(run(copy_of(folder, "ours"), "mlsys_widgets", "grade", LAB))
        one.append(run(copy_of(folder, "one"), "mlsys_widgets", "grade", LAB, *first()))
    mine, mine_one = statistics.median(ours), statistics.median(one)
    print(f"{students} submissions, from the command to its end")
    print(f"  nbgrader autograde                 {stock:8.1f} s")
    print(f"  nbgrader autograde, ExecuteIsolated{child:8.1f} s   {stock / child:5.1f}×")
    print(
        f"  mlsys grade, sandbox on            {mine:8.1f} s   {stock / mine:5.1f}×"
        "   goal: 20×, at least 10×"
    )
    each, stock_each = (mine - mine_one) / (students - 1), (stock - stock_one) / (students - 1)
    print(f"  one more submission: {stock_each:.2f} s and {each:.3f} s, {stock_each / each:.1f}×")


def first(option: str = "--students") -> tuple[str, str]:
    return option, "student-001"


def overhead(folder: Path) -> float:
    """What a submission costs besides its own cells; seconds of the coordinator for each."""
    target = copy_of(folder, "overhead")
    worker: list[float] = []
    own: list[float] = []
    judge: list[float] = []
    work, write = engine._work, coordinator.GradingRun._write

    def timed_work(packed: bytes, plan: bytes) -> str:
        began = time.perf_counter()
        told = work(packed, plan)
        worker.append(time.perf_counter() - began)
        own.append(json.loads(told)["own"])
        return told

    def timed_write(self, submission, ran):  # type: ignore[no-untyped-def]
        began = time.perf_counter()
        graded = write(self, submission, ran)
        judge.append(time.perf_counter() - began)
        return graded

    # Under its own name, because Dask looks a function up by it.
    timed_work.__module__, timed_work.__qualname__ = work.__module__, work.__qualname__
    engine._work, coordinator.GradingRun._write = timed_work, timed_write
    try:
        plan = coordinator.Plan(Course(target), LAB, workers=1)
        for _ in coordinator.GradingRun(plan).grade():
            pass
    finally:
        engine._work, coordinator.GradingRun._write = work, write
    beyond = [total - mine for total, mine in zip(worker, own, strict=True)]
    around, judged = statistics.median(beyond), statistics.median(judge)
    print("one submission, in the median")
    print(f"  its own cells                      {statistics.median(own) * 1e3:8.0f} ms")
    print(f"  fork, isolation, notebook          {around * 1e3:8.0f} ms")
    print(f"  judging, gradebook, files          {judged * 1e3:8.0f} ms")
    print(f"  beyond its own cells               {(around + judged) * 1e3:8.0f} ms   goal: 100 ms")
    return judged


def start_up(folder: Path, rounds: int) -> None:
    times = []
    for _ in range(rounds):
        target = copy_of(folder, "start")
        for at, line, _ in graded(target, *first()):
            times.append(at - line["seconds"])
    print(f"start-up to the first submission running {statistics.median(times):.1f} s   goal: 3 s")


def graded(folder: Path, *words: str) -> Iterator[tuple[float, dict, int]]:
    """Seconds since the start, the line, and the coordinator's memory, for each submission."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "mlsys_widgets", "grade", LAB, "--json", *words],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout
    for line in process.stdout:
        status = Path(f"/proc/{process.pid}/status").read_text()
        resident = int(status.split("VmRSS:")[1].split()[0])
        yield time.perf_counter() - began, json.loads(line), resident
    process.wait()


def many(folder: Path, students: int) -> float:
    """Time and memory while a large class is graded; submissions a second."""
    target = copy_of(folder, "many")
    shutil.rmtree(target / "submitted")
    simulate(target, LAB, students, seed=8, kinds=HONEST)
    curve = []
    for number, (at, _, resident) in enumerate(graded(target), 1):
        if number == 1 or number % (students // 10) == 0:
            curve.append((number, at, resident / 1024))
    print(f"{students} submissions")
    print("  graded   " + "".join(f"{number:8}" for number, _, _ in curve))
    print("  seconds  " + "".join(f"{at:8.1f}" for _, at, _ in curve))
    print("  MiB      " + "".join(f"{memory:8.0f}" for _, _, memory in curve))
    half = len(curve) // 2
    (n0, t0, m0), (n1, t1, _), (n2, t2, m2) = curve[0], curve[half], curve[-1]
    early, late = (n1 - n0) / (t1 - t0), (n2 - n1) / (t2 - t1)
    print(
        f"  {early:.2f} a second in the first half, {late:.2f} in the second;"
        f" memory from {m0:.0f} to {m2:.0f} MiB"
    )
    return (n2 - n0) / (t2 - t0)


def projection(folder: Path, rate: float, judged: float, students: int) -> None:
    """A cluster of such machines; checked with workers that only take as long as real ones."""
    cores = os.cpu_count() or 1
    most = 1 / judged
    machines = min(CLUSTER * rate, most)
    print(
        f"{CLASS:,} submissions on {CLUSTER} machines with {cores} cores: {CLUSTER * rate:.0f} a"
        f" second run, one coordinator writes at most {most:.0f}: {CLASS / machines / 60:.1f} min"
    )
    answer: dict[str, str] = {}
    work = engine._work
    seconds = cores / rate

    def first_work(packed: bytes, plan: bytes) -> str:
        student = unpack_job(packed).student
        answer[student] = work(packed, plan)
        return answer[student]

    def waits(packed: bytes, _plan: bytes) -> str:
        time.sleep(seconds)
        return answer[unpack_job(packed).student]

    for each in (first_work, waits):
        each.__module__, each.__qualname__ = work.__module__, work.__qualname__
    target = copy_of(folder, "cluster")
    try:
        for workers, stand_in in ((cores, first_work), (4, waits), (CLUSTER * cores, waits)):
            engine._work = stand_in
            plan = coordinator.Plan(Course(target), LAB, workers=workers, force=True)
            times = [time.perf_counter() for _ in coordinator.GradingRun(plan).grade()]
            if stand_in is waits and len(times) > workers:
                # From when the first round is over: before, nothing can have been finished.
                found = (len(times) - workers) / (times[-1] - times[workers - 1])
                expected = min(workers / seconds, most)
                print(
                    f"  {workers:2} workers that take {seconds:.2f} s: {found:5.1f} a second,"
                    f" {found / expected:4.0%} of what the projection says"
                )
    finally:
        engine._work = work


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a few submissions, for a look")
    parser.add_argument("--only", choices=("stock", "overhead", "start", "many"), help="one part")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of Dask, about ports
    students, large, rounds = (6, 40, 1) if arguments.quick else (40, 1000, 2)
    load, cores = os.getloadavg()[0], os.cpu_count()
    print(f"{cores} cores; the load before this was {load:.1f}")
    with TemporaryDirectory(prefix="mlsys-bench-") as aside:
        folder = course(Path(aside) / "course", students)
        wanted = arguments.only
        if wanted in (None, "start"):
            start_up(folder, rounds)
        judged = overhead(folder) if wanted in (None, "overhead", "many") else 0.0
        if wanted in (None, "stock"):
            against_stock(folder, students, rounds)
        if wanted in (None, "many"):
            projection(folder, many(folder, large), judged, students)


if __name__ == "__main__":
    main()
