"""Grading a class of Lab 07: stock nbgrader and ``mlsys grade`` on the same class, in one run.

Seconds depend on the machine and on what else it does, so what counts are ratios: the ways take
turns, and the load is printed. The class comes from ``mlsys simulate``, without broken notebooks,
because nbgrader does not run those; every record is complete, so that the class can be graded in
both ways, and every notebook is saved with the outputs that a student would have seen. ``--quick``
takes a few submissions, for a look.

The course is one that an instructor has: its version of the lab is kept, which ``mlsys build`` and
``mlsys course init`` do, and Python may keep compiled modules, as it has those of an installed
package. At its end the benchmark holds four numbers against their goals.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

import findings
import regrading

from mlsys_widgets.authoring.version_keeper import keep_version
from mlsys_widgets.classes.simulation import simulate
from mlsys_widgets.course.course import Course
from mlsys_widgets.grading import coordinator
from mlsys_widgets.grading.gradebook.autograded import fresh_beside
from mlsys_widgets.grading.gradebook.gradebook_writer import LabGradebook
from mlsys_widgets.grading.gradebook.graded_log import GradedLog
from mlsys_widgets.grading.judging import marking
from mlsys_widgets.grading.judging.marking import CONTENT, REPORT, Marking, RunState
from mlsys_widgets.grading.judging.scoring import Judge
from mlsys_widgets.grading.messages import (
    JudgeByRecord,
    JudgedSubmission,
    JudgeRun,
    ReadyToRun,
)
from mlsys_widgets.grading.reading.readers import Readers
from mlsys_widgets.sandbox.engine import Engine, LocalEngine, open_engine
from mlsys_widgets.sandbox.job import Parcel

ROOT = Path(__file__).resolve().parent.parent
LAB = "lab_07_kernel_fusion"
GRADE = ("grade", LAB)
NO_AUDIT = ("--audit", "0%")
HONEST = ("right", "mostly-right", "misconceived", "late")
ISOLATED = ("isolated = ", "c.Execute.enabled", "c.Autograde.autograde_preprocessors")
CLUSTER = 8  # machines of the projection
CLASS = 10_000
#: Times stock nbgrader for 40 submissions, and seconds for 1,000, on two quiet cores of 2.5 GHz.
GOAL_RECORD, GOAL_RUN, GOAL_MANY, GOAL_REGRADE = 45, 20, 30, 10


def course(folder: Path, students: int) -> Path:
    """A course with Lab 07, in nbgrader's gradebook, and a class that has handed it in."""
    for name in ("assignments", "source", "release"):
        shutil.copytree(ROOT / name / LAB, folder / name / LAB)
    shutil.copyfile(ROOT / "assignments" / "course.toml", folder / "assignments" / "course.toml")
    shutil.copyfile(ROOT / "nbgrader_config.py", folder / "nbgrader_config.py")
    run(folder, "nbgrader", "generate_assignment", LAB, "--force")
    keep_version(Course.at(folder), LAB)
    hand_in(folder, students, seed=7)
    return folder


def hand_in(folder: Path, students: int, seed: int) -> None:
    """Have a class hand in its work: complete records, and notebooks with outputs."""
    made = simulate(folder, LAB, students + students // 3 + 3, seed=seed, kinds=HONEST)
    gradebook = (folder / "gradebook.db").read_bytes()
    one = made[0].student
    run(folder, "mlsys_widgets", *GRADE, "--run", "--students", one)
    graded = json.loads((folder / "autograded" / one / LAB / f"{LAB}.ipynb").read_text())
    outputs = {
        cell["id"]: (cell["outputs"], cell["execution_count"])
        for cell in graded["cells"]
        if cell["cell_type"] == "code" and not cell["id"].startswith("check_")
    }
    ways = {line["student"]: line["way"] for _, line, _ in graded_lines(folder, "--force")}
    complete = [name for name, way in sorted(ways.items()) if way == "record"][:students]
    for name in ways:
        path = folder / "submitted" / name / LAB / f"{LAB}.ipynb"
        if name not in complete:
            shutil.rmtree(path.parent.parent)
            continue
        book = json.loads(path.read_text())
        for cell in book["cells"]:
            if cell["id"] in outputs:
                cell["outputs"], cell["execution_count"] = outputs[cell["id"]]
        path.write_text(json.dumps(book))
    if len(complete) < students:
        sys.exit(f"only {len(complete)} records are complete")
    shutil.rmtree(folder / "autograded")
    for log in (folder / ".mlsys").glob(f"*-{LAB}.*"):
        log.unlink()
    (folder / "gradebook.db").write_bytes(gradebook)


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
    inherited = {n: v for n, v in os.environ.items() if n != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, "PATH": path, "PYTHONPATH": str(ROOT)}


def copy_of(folder: Path, name: str) -> Path:
    """The course before anything was graded."""
    target = folder.parent / name
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder, target)
    return target


def against_stock(folder: Path, students: int, rounds: int) -> dict[str, float]:
    """Every way from the command to its end, for all and for one."""
    ways = {"by record": NO_AUDIT, "by record, audited": (), "run, sandbox on": ("--run",)}
    took: dict[str, list[float]] = {way: [] for way in ways}
    took_one: dict[str, list[float]] = {way: [] for way in ways}

    def ours() -> None:
        for _ in range(rounds):
            for way, options in ways.items():
                one = (*options, *first(folder))
                took[way].append(run(copy_of(folder, "ours"), "mlsys_widgets", *GRADE, *options))
                took_one[way].append(run(copy_of(folder, "one"), "mlsys_widgets", *GRADE, *one))

    ours()
    stock = run(copy_of(folder, "stock"), "nbgrader", "autograde", LAB)
    stock_one = run(
        copy_of(folder, "one"), "nbgrader", "autograde", LAB, *first(folder, "--student")
    )
    target = copy_of(folder, "isolated")
    config = target / "nbgrader_config.py"
    content = config.read_text()
    for line in ISOLATED:
        content = content.replace(f"# {line}", line)
    config.write_text(content)
    child = run(target, "nbgrader", "autograde", LAB)
    ours()
    print(f"{students} submissions, from the command to its end")
    print(f"  nbgrader autograde                 {stock:8.1f} s")
    print(f"  nbgrader autograde, ExecuteIsolated{child:8.1f} s   {stock / child:5.1f}×")
    stock_each = (stock - stock_one) / (students - 1)
    for way, goal in zip(ways, (GOAL_RECORD, GOAL_RECORD, GOAL_RUN), strict=True):
        mine, mine_one = statistics.median(took[way]), statistics.median(took_one[way])
        each = (mine - mine_one) / (students - 1)
        print(
            f"  mlsys grade, {way:22}{mine:8.1f} s   {stock / mine:5.1f}×   goal: {goal}×;"
            f" one more: {each * 1e3:.0f} ms, nbgrader {stock_each * 1e3:.0f} ms"
        )
    by_record, audited, with_code = (statistics.median(took[way]) for way in ways)
    return {
        "students": students,
        "stock_s": stock,
        "stock_isolated_s": child,
        "by_record_s": by_record,
        "audited_s": audited,
        "run_s": with_code,
        "stock_each_s": stock_each,
    }


def first(folder: Path, option: str = "--students") -> tuple[str, str]:
    return option, min(path.name for path in (folder / "submitted").iterdir())


def overhead(folder: Path) -> dict[str, float]:
    """What a submission that runs costs besides its own cells."""
    target = copy_of(folder, "overhead")
    took: dict[str, list[float]] = {"read": [], "run": [], "write": []}
    own: list[float] = []
    ask, deliver = Readers.ask, LocalEngine.run
    write = coordinator.GradingRun._write

    def timed(what, function):  # type: ignore[no-untyped-def]
        def wrapped(*arguments):  # type: ignore[no-untyped-def]
            began = time.perf_counter()
            told = function(*arguments)
            took[what].append(time.perf_counter() - began)
            if isinstance(told, JudgedSubmission):
                own.append(told.own_seconds)
            return told

        return wrapped

    Readers.ask, LocalEngine.run = timed("read", ask), timed("run", deliver)
    coordinator.GradingRun._write = timed("write", write)
    try:
        plan = coordinator.Plan(Course(target), LAB, workers=1, run=True)
        for _ in coordinator.GradingRun(plan).grade():
            pass
    finally:
        Readers.ask, LocalEngine.run = ask, deliver
        coordinator.GradingRun._write = write
    cells, written = statistics.median(own), statistics.median(took["write"])
    around, read = statistics.median(took["run"]) - cells, 2 * statistics.median(took["read"])
    print("one submission that runs, in the median")
    print(f"  its own cells                      {cells * 1e3:8.0f} ms")
    print(f"  fork and isolation                 {around * 1e3:8.0f} ms")
    print(f"  reading, judging, its notebook     {read * 1e3:8.0f} ms")
    print(f"  gradebook, files                   {written * 1e3:8.0f} ms")
    beyond = (around + read + written) * 1e3
    print(f"  beyond its own cells               {beyond:8.0f} ms   goal: 70 ms")
    return {
        "cells_ms": cells * 1e3,
        "isolation_ms": around * 1e3,
        "reading_ms": read * 1e3,
        "writing_ms": written * 1e3,
    }


def start_up(folder: Path, rounds: int) -> dict[str, float]:
    times = []
    for _ in range(rounds):
        target = copy_of(folder, "start")
        for at, line, _ in graded_lines(target, "--run", *first(target)):
            times.append(at - line["seconds"])
    first_runs = statistics.median(times)
    print(f"start-up to the first submission running {first_runs:.1f} s   goal: 3 s")
    return {"first_runs_s": first_runs}


def graded_lines(folder: Path, *words: str) -> Iterator[tuple[float, dict, int]]:
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


def many(folder: Path, students: int, *options: str) -> dict[str, Any]:
    """Time and memory while a large class is graded."""
    target = copy_of(folder, "many-graded")
    curve = []
    for number, (at, _, resident) in enumerate(graded_lines(target, *options), 1):
        if number == 1 or number % (students // 10) == 0:
            curve.append((number, at, resident / 1024))
    way = "run" if "--run" in options else f"by record, goal: 1,000 in {GOAL_MANY} s"
    print(f"{students} submissions, {way}")
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
    return {"students": students, "curve": curve, "per_second": (n2 - n0) / (t2 - t0)}


#: Where the processor time of a submission that is judged by its record goes, in order. What runs
#: inside of an earlier one is not counted again.
PHASES: dict[str, tuple[tuple[Any, str], ...]] = {
    "reading what was handed in": ((Marking, "_collect"),),
    "the notebook: checked, repaired, restored": ((marking, "make_runnable"),),
    "the student's numbers and questions": ((Marking, "_items"),),
    "the ledger: read and verified": ((Judge, "read_ledger"),),
    "whether the record is enough; what it says": (
        (marking, "saved_cells"), (marking, "why_run"), (marking, "result_by_record"),
    ),
    "judging the answers": ((Judge, "score"),),
    "the notebook for people: verdicts, inert, blind, written": ((Marking, "_write_notebook"),),
    "copies of the other files": ((Marking, "_lay_out"),),
    "gradebook": ((LabGradebook, "write"),),
    "its folder put in place": ((coordinator, "put_in_place"),),
    "log": ((GradedLog, "add"),),
    "what is kept while functions are called": ((Marking, "_ready"), (RunState, "load")),
}  # fmt: skip
#: In a process of its own, so that its time is told and not taken here.
CALLED = "the student's functions: forked, isolated, called"


def profile(folder: Path, students: int) -> dict[str, Any]:
    """Where the processor time of grading by record goes: at the start, and for a submission.

    Readers and coordinator are one process here, so that one clock counts both.
    """
    target = copy_of(folder, "profile")
    code = (
        "import time; began = time.process_time(); import mlsys_widgets.grading.command;"
        " print(time.process_time() - began)"
    )
    imports = [
        float(subprocess.check_output([sys.executable, "-c", code], env=environment()))
        for _ in range(3)
    ]
    began = time.process_time()
    work = coordinator.GradingRun(coordinator.Plan(Course.at(target), LAB, workers=1))
    ready = time.process_time() - began
    spent, inside = dict.fromkeys((*PHASES, CALLED), 0.0), [0]

    def timed(phase, function):  # type: ignore[no-untyped-def]
        def wrapped(*arguments, **named):  # type: ignore[no-untyped-def]
            inside[0] += 1
            start = time.process_time()
            try:
                return function(*arguments, **named)
            finally:
                inside[0] -= 1
                if not inside[0]:
                    spent[phase] += time.process_time() - start

        return wrapped

    known = [(of, name, getattr(of, name)) for places in PHASES.values() for of, name in places]
    for phase, places in PHASES.items():
        for of, name in places:
            setattr(of, name, timed(phase, getattr(of, name)))
    # As a reader does: what is here already is never garbage.
    gc.collect()
    gc.freeze()
    callers = open_engine(workers=1, only_functions=True)
    aside = mkdtemp(dir=folder.parent)
    try:
        began = time.process_time()
        for number, student in enumerate(work.students):
            spent[CALLED] += graded_here(work, student, callers, Path(aside) / str(number))
        total = time.process_time() - began + spent[CALLED]
    finally:
        for of, name, function in known:
            setattr(of, name, function)
        callers.close()
        work._readers.close()
        work._gradebook.close()
    spent["all else"] = total - sum(spent.values())
    milliseconds = {phase: 1e3 * seconds / students for phase, seconds in spent.items()}
    found = {
        "imports_s": statistics.median(imports),
        "ready_s": ready,
        "submission_ms": 1e3 * total / students,
        "phases_ms": milliseconds,
    }
    print("processor time of grading by record")
    print(f"  importing the command              {found['imports_s']:8.2f} s")
    print(f"  lab, gradebook, settings, readers  {ready:8.2f} s")
    print(f"  a submission                       {found['submission_ms']:8.1f} ms, of which")
    for phase, each in sorted(milliseconds.items(), key=lambda pair: -pair[1]):
        print(f"    {phase:58}{each:6.1f} ms")
    return found


def graded_here(work: Any, student: str, callers: Engine, place: Path) -> float:
    """Grade one submission in this process; the processor time of the one that calls functions."""
    fresh, cpu = fresh_beside(work._target(student)), 0.0
    reply = work._marking(JudgeByRecord(student, fresh, (), place))
    if isinstance(reply, ReadyToRun):
        ending, told = callers.run(Parcel(student, place / CONTENT, reply.hidden), place / REPORT)
        cpu = ending.cpu
        reply = work._marking(JudgeRun(student, fresh, (), place, ending, told))
    work._write(student, reply)
    return cpu


def summarize(told: dict[str, dict[str, Any]]) -> None:
    """Hold what was measured against the goals."""
    print("against the goals")
    if stock := told.get("stock"):
        for way, goal in (("by_record", GOAL_RECORD), ("run", GOAL_RUN)):
            ratio = stock["stock_s"] / stock[f"{way}_s"]
            print(f"  {stock['students']} {way.replace('_', ' '):32}{ratio:8.1f}×   goal: {goal}×")
    if large := told.get("many"):
        number, seconds = large["students"], large["curve"][-1][1]
        print(f"  {number:,} by record  {seconds:25.1f} s   goal: {GOAL_MANY} s")
    if regraded := told.get("regrade"):
        number, seconds = regraded["students"], regraded["apply_s"]
        print(f"  {number:,} regraded   {seconds:25.1f} s   goal: {GOAL_REGRADE} s")


class Cluster:
    """An engine whose workers take as long as real ones, and tell what real ones have told."""

    def __init__(self, slots: int, seconds: float, told: dict) -> None:  # type: ignore[type-arg]
        self.slots, self.lanes = slots, 2 * slots
        self._turns, self._seconds, self._told = threading.Semaphore(slots), seconds, told

    def why_not_isolated(self) -> None:
        return None

    def running(self) -> dict[str, float]:
        return {}

    def run(self, parcel: Parcel, path: Path):  # type: ignore[no-untyped-def]
        with self._turns:
            time.sleep(self._seconds)
        report, said = self._told[parcel.student]
        path.write_bytes(said)
        return report

    def close(self) -> None:
        pass


def projection(folder: Path, rate: float) -> dict[str, Any]:
    """A cluster of such machines; checked with workers that only take as long as real ones."""
    cores = os.cpu_count() or 1
    seconds, told = cores / rate, {}
    target = copy_of(folder, "cluster")
    deliver, open_engine = LocalEngine.run, coordinator.open_engine

    def keeping(self, parcel, path):  # type: ignore[no-untyped-def]
        report = deliver(self, parcel, path)
        told[parcel.student] = report, path.read_bytes()
        return report

    LocalEngine.run = keeping
    rates, reached = [], {}
    try:
        for slots in (0, 4, CLUSTER * cores):
            if slots:
                coordinator.open_engine = lambda *_, n=slots: Cluster(n, seconds, told)
            plan = coordinator.Plan(Course(target), LAB, force=True, run=True)
            times = [time.perf_counter() for _ in coordinator.GradingRun(plan).grade()]
            if slots and len(times) > slots:
                # From when the first round is over: before, nothing can have been finished.
                found = (len(times) - slots) / (times[-1] - times[slots - 1])
                rates.append(found)
                reached[slots] = found * seconds / slots
                print(
                    f"  {slots:2} workers that take {seconds:.2f} s: {found:5.1f} a second,"
                    f" {found * seconds / slots:4.0%} of what they could"
                )
    finally:
        LocalEngine.run, coordinator.open_engine = deliver, open_engine
    print(
        f"{CLASS:,} submissions on {CLUSTER} machines with {cores} cores:"
        f" {CLASS / rates[-1] / 60:.1f} min"
    )
    return {"machines": CLUSTER, "class": CLASS, "per_second": rates[-1], "reached": reached}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a few submissions, for a look")
    parts = ("start", "overhead", "profile", "stock", "many", "regrade", "many-run")
    parser.add_argument("--only", choices=parts, nargs="+", help="some parts")
    parser.add_argument("--publish", action="store_true", help="for the pages to quote")
    arguments = parser.parse_args()
    students, large, rounds = (6, 40, 1) if arguments.quick else (40, 1000, 2)
    under = findings.conditions()
    print(f"{under['cores']} cores; the load before this was {under['load_before']}")
    told: dict[str, dict[str, Any]] = {}

    def show(part: str, found: dict[str, Any], of: str = "grading") -> dict[str, Any]:
        if arguments.publish and not arguments.quick:  # a quick look is nothing to publish
            findings.keep(of, "class" if of == "regrading" else part, found, under)
        told[part] = found
        return found

    with TemporaryDirectory(prefix="mlsys-bench-") as aside:
        folder = course(Path(aside) / "course", students)
        wanted = set(arguments.only or parts)
        if "start" in wanted:
            show("start", start_up(folder, rounds))
        if "overhead" in wanted:
            show("overhead", overhead(folder))
        if "profile" in wanted:
            show("profile", profile(folder, students))
        if "stock" in wanted:
            show("stock", against_stock(folder, students, rounds))
        if wanted & {"many", "many-run"}:
            class_of = copy_of(folder, "many")
            shutil.rmtree(class_of / "submitted")
            hand_in(class_of, large, seed=8)
        if "many" in wanted:
            show("many", many(class_of, large, *NO_AUDIT))
        if "regrade" in wanted:
            graded = Path(aside) / "regrade"
            regrading.course(graded, large)
            show("regrade", regrading.measure(graded, large), "regrading")
        if "many-run" in wanted:
            rate = show("many-run", many(class_of, large, "--run"))["per_second"]
            show("projection", projection(folder, rate))
    summarize(told)


if __name__ == "__main__":
    main()
