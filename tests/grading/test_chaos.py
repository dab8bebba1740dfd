"""Grading while everything that takes part in it is killed, and the same gradebook in the end.

Coordinators, fork servers, readers, and the children of both end at random moments, as they do when
a machine runs out of memory. Every run continues where the last one ended, and in the end nobody
could tell that anything happened.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from mlsys_widgets.course.course import Course
from mlsys_widgets.grading.coordinator import GradingRun, Plan
from mlsys_widgets.sandbox.usage import children
from tests.grading.classroom import LAB, classroom, grade, hand_in, record, rows, running
from tests.grading.test_coordinator import plain
from tests.labs.rehearsal import ROOT, Workshop

pytestmark = [
    pytest.mark.timeout(1800),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux"),
]
STUDENTS = 18
VICTIMS = ("coordinator", "fork server", "child", "reader", "reading child")
#: Kills in one run: a submission whose processes die twice in it is left to the next one.
MOST_IN_A_RUN = 4


def names() -> list[str]:
    return [f"student-{number:02}" for number in range(STUDENTS)]


def fill(course: Workshop) -> None:
    """A class in which some are judged by their records, and some run for a while."""
    for number, name in enumerate(names()):
        right = dict(list(course.asked(name).right().items())[: number % 3])
        if number % 3 == 0:
            record(course, name, right)
        else:
            slow = running("import time\ntime.sleep(0.5)")
            hand_in(course, name, slow, right, ledger=number % 4 == 0, essay="x" * number)


def start(course: Workshop, scratch: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "mlsys_widgets", "grade", LAB, "--resume", "--json"],
        cwd=course.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(scratch)},
    )  # fmt: skip


def processes(coordinator: int) -> dict[str, list[int]]:
    """Who takes part in a run right now, by what they do."""
    found: dict[str, list[int]] = {"coordinator": [coordinator]}
    for pid in children(coordinator):
        with contextlib.suppress(OSError):
            serves = b"fork_server" in Path(f"/proc/{pid}/cmdline").read_bytes()
            found.setdefault("fork server" if serves else "reader", []).append(pid)
            found.setdefault("child" if serves else "reading child", []).extend(children(pid))
    return found


def disturbed(course: Workshop, scratch: Path, chance: random.Random, wanted: list[str]) -> int:
    """One run in which some of the next victims are killed; returns how many were."""
    process, killed = start(course, scratch), 0
    try:
        while process.poll() is None and killed < min(MOST_IN_A_RUN, len(wanted)):
            victim = wanted[killed]
            time.sleep(chance.uniform(0, 0.3))
            there = processes(process.pid).get(victim, [])
            if not there or (victim == "coordinator" and len(processes(process.pid)) < 2):
                continue  # not yet
            with contextlib.suppress(ProcessLookupError):
                os.kill(chance.choice(there), signal.SIGKILL)
                killed += 1
            if victim == "coordinator":
                break
    finally:
        process.kill()  # if it still runs, the end of this run is one more kill that is not counted
        process.wait()
    return killed


@pytest.mark.slow  # test_coordinator.py has one kill at each moment
@pytest.mark.parametrize("kills", [len(VICTIMS), 40])
def test_kills_leave_no_trace(tmp_path, kills):
    calm, scratch = classroom(tmp_path / "calm"), tmp_path / "scratch"
    scratch.mkdir()
    fill(calm)
    wild = Workshop(tmp_path / "wild", LAB)
    subprocess.run(["cp", "-a", str(calm.root), str(wild.root)], check=True)
    grade(calm, own_engine=True)
    chance = random.Random(kills)
    wanted = [VICTIMS[number % len(VICTIMS)] for number in range(kills)]
    chance.shuffle(wanted)
    counted, runs = Counter(wanted), 0
    while wanted:
        runs += 1
        assert runs < 4 * kills, f"{len(wanted)} victims were never there: {wanted}"
        del wanted[: disturbed(wild, scratch, chance, wanted)]
        if not GradingRun(Plan(Course(wild.root), LAB, resume=True)).students:
            # It was quicker than we: some of it is taken back, and it continues.
            log = wild.root / ".mlsys" / f"grade-{LAB}.jsonl"
            lines = log.read_bytes().splitlines(keepends=True)
            log.write_bytes(b"".join(lines[: len(lines) // 3]))
    assert set(counted) == set(VICTIMS)
    for _ in range(3):  # what was given up in the last one is new to the next
        assert start(wild, scratch).wait(600) in (0, 3)
    assert rows(wild.root) == rows(calm.root)
    for name in names():
        assert plain(wild.graded_work(name)) == plain(calm.graded_work(name)), name
    assert {path.name for path in (wild.root / "autograded").glob("*/.*")} == set()
    assert [path.name for path in scratch.glob("mlsys*")] == []
