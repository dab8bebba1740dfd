"""Nothing is lost: whoever is killed, and whenever, the class ends as if nothing had happened."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from mlsys_widgets.course.course import Course
from mlsys_widgets.grading import coordinator
from mlsys_widgets.grading.coordinator import CannotGrade, GradingRun, Plan
from mlsys_widgets.grading.gradebook.gradebook_writer import LabGradebook
from mlsys_widgets.grading.gradebook.graded_log import GradedLog
from mlsys_widgets.grading.messages import PrepareRun
from mlsys_widgets.grading.reading.allowance import Allowance
from mlsys_widgets.grading.reading.readers import PutOff, Readers
from mlsys_widgets.notebooks.remarks import RemarkKind
from mlsys_widgets.sandbox import isolation
from mlsys_widgets.sandbox.engine import LocalEngine
from mlsys_widgets.sandbox.usage import children
from tests.grading.classroom import (
    LAB,
    classroom,
    fingerprint,
    grade,
    hand_in,
    quiet,
    record,
    rows,
    running,
)
from tests.grading.test_differential import plain
from tests.labs.rehearsal import ROOT, Workshop
from tests.sampling import sample
from tests.waiting import PATIENCE

STUDENTS = ("ann", "bob", "cat", "dan")


class Killed(BaseException):
    """Stands for the end of the process: nothing handles it."""


class Canned:
    """An engine that has run everything before."""

    slots = lanes = 1

    def __init__(self, told) -> None:
        self._told = told

    def why_not_isolated(self) -> None:
        return None

    def run(self, parcel, told):
        report, sentence = self._told[parcel.student]
        told.write_bytes(sentence)
        return report

    def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A class that was graded, what its workers told, and how it looks."""
    course = classroom(tmp_path_factory.mktemp("undisturbed") / "course")
    told = {}
    for number, name in enumerate(STUDENTS):
        right = course.asked(name).right()
        answers = dict(list(right.items())[: number % 3])
        # With code of their own, so that all of them run.
        code = running("x = 1")
        hand_in(course, name, code, answers, ledger=number == 1, essay="x" * number)
    run = LocalEngine.run

    def keeping(self, parcel, path):
        report = run(self, parcel, path)
        told[parcel.student] = report, path.read_bytes()
        return report

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LocalEngine, "run", keeping)
        grade(course)
    assert set(told) == set(STUDENTS)
    return course, told


def look(course: Workshop) -> dict[str, object]:
    return {"rows": rows(course.root), "files": fingerprint(course.root / "autograded")}


def again(undisturbed, tmp_path: Path, monkeypatch) -> Workshop:
    """The same class, not graded yet."""
    course, told = undisturbed
    fresh = classroom(tmp_path / "course")
    (fresh.root / "submitted").mkdir()
    for name in STUDENTS:
        _copy(course.work(name), fresh.work(name))
    monkeypatch.setattr(coordinator, "open_engine", lambda *_: Canned(told))
    return fresh


def _copy(origin: Path, target: Path) -> None:
    target.mkdir(parents=True)
    for path in origin.iterdir():
        (target / path.name).write_bytes(path.read_bytes())


def _dying(function, when: str, times: list[int], at: int):
    def wrapped(*arguments, **more):
        times[0] += 1
        if times[0] == at and when == "before":
            raise Killed
        done = function(*arguments, **more)
        if times[0] == at and when == "after":
            raise Killed
        return done

    return wrapped


MOMENTS = {
    "before the gradebook": (LabGradebook, "write", "before", 2),
    "after the gradebook": (LabGradebook, "write", "after", 2),
    "in the middle of a transaction": (LabGradebook, "_write_first", "after", 2),
    "with the new files aside": (GradingRun, "_put_in_place", "before", 2),
    "after the files": (GradingRun, "_put_in_place", "after", 2),
    "after the log": (GradedLog, "add", "after", 2),
}


@pytest.mark.parametrize(
    "plainly", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["--resume", "plain"]
)
@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_at_any_moment_it_continues(undisturbed, tmp_path, monkeypatch, moment, plainly):
    """With --resume, and also by whoever just starts it again."""
    course = again(undisturbed, tmp_path, monkeypatch)
    owner, name, when, at = MOMENTS[moment]
    with monkeypatch.context() as patch:
        function = getattr(owner, name)
        patch.setattr(owner, name, _dying(function, when, [0], at))
        with pytest.raises(Killed):
            list(GradingRun(Plan(Course(course.root), LAB)).grade())
    rest = {
        each.student
        for each in GradingRun(Plan(Course(course.root), LAB, resume=not plainly)).grade()
    }
    assert len(rest) < len(STUDENTS), "what was done is not done again"
    assert look(course) == look(undisturbed[0])
    left = GradingRun(Plan(Course(course.root), LAB, resume=True)).students
    # Without --resume nbgrader's rule holds: whoever has a folder is graded.
    assert left == (["bob"] if plainly and moment == "after the files" else [])


def test_killed_between_two_renames(undisturbed, tmp_path, monkeypatch):
    """The one moment at which neither the old nor the new folder is there."""
    course = again(undisturbed, tmp_path, monkeypatch)
    list(GradingRun(Plan(Course(course.root), LAB)).grade())
    rename, times = Path.rename, [0]
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", _dying(rename, "after", times, 3))
        with pytest.raises(Killed):
            list(GradingRun(Plan(Course(course.root), LAB, force=True)).grade())
    assert not (course.root / "autograded" / "bob" / LAB).exists()
    assert [
        each.student for each in GradingRun(Plan(Course(course.root), LAB, resume=True)).grade()
    ] == ["bob"]
    assert look(course) == look(undisturbed[0])


@pytest.mark.parametrize("cut", [2, 20, 200])
def test_a_torn_line_was_never_written(undisturbed, tmp_path, monkeypatch, cut):
    course = again(undisturbed, tmp_path, monkeypatch)
    list(GradingRun(Plan(Course(course.root), LAB)).grade())
    journal = course.root / ".mlsys" / f"grade-{LAB}.jsonl"
    journal.write_bytes(journal.read_bytes()[:-cut])
    assert [e.student for e in GradingRun(Plan(Course(course.root), LAB, resume=True)).grade()] == [
        "dan"
    ]
    assert set(GradedLog(course.root, LAB).read()) == set(STUDENTS)
    assert look(course) == look(undisturbed[0])


def test_what_was_handed_in_again_or_is_checked_otherwise_is_graded_again(
    undisturbed, tmp_path, monkeypatch
):
    course = again(undisturbed, tmp_path, monkeypatch)
    list(GradingRun(Plan(Course(course.root), LAB)).grade())
    (course.work("cat") / "notes.txt").write_text("new")
    assert GradingRun(Plan(Course(course.root), LAB, resume=True)).students == ["cat"]
    checks = course.root / "assignments" / LAB / "checks.py"
    checks.write_text(checks.read_text() + "\n# another word\n")
    assert GradingRun(Plan(Course(course.root), LAB, resume=True)).students == list(STUDENTS)


def test_nobody_grades_the_same_lab_at_the_same_time(undisturbed, tmp_path, monkeypatch):
    course = again(undisturbed, tmp_path, monkeypatch)
    first = GradingRun(Plan(Course(course.root), LAB)).grade()
    next(first)
    with pytest.raises(ValueError, match="being graded by another"):
        list(GradingRun(Plan(Course(course.root), LAB, force=True)).grade())
    assert len(list(first)) == len(STUDENTS) - 1


# Who runs when.


def test_a_sleeper_leaves_its_place_to_those_who_have_not_run(tmp_path, monkeypatch):
    course = classroom(tmp_path / "course")
    hand_in(course, "ann", running("import time\ntime.sleep(2)"), course.asked("ann").right())
    for name in ("cat", "dan"):
        hand_in(course, name, answers=course.asked(name).right())
    judge, hurried = GradingRun._judge, []

    def allowing(self, student, way, fresh, turns):
        """Only she has less than she takes, however slow the machine is."""
        if way is PrepareRun:
            hurried.append((student, turns.of(student) == 0))
        now.student = student
        return judge(self, student, way, fresh, turns)

    now = threading.local()
    monkeypatch.setattr(GradingRun, "_judge", allowing)
    monkeypatch.setattr(GradingRun, "_usual", lambda _: 1.0 if now.student == "ann" else PATIENCE)
    # Nobody is slow to read, which would be another reason to come later.
    monkeypatch.setattr(Allowance, "seconds", lambda *_: PATIENCE)
    graded = grade(course, workers=1)
    # One is read while another runs, so only who was begun last is certain, not who ended last.
    assert [limited for student, limited in hurried if student == "ann"] == [True, False]
    assert hurried[-1] == ("ann", False)
    assert {*graded} == {"ann", "cat", "dan"}
    assert {each.earned for each in graded.values()} == {60}
    assert [remark.kind for remark in graded["ann"].remarks] == [RemarkKind.RUN_LATER]
    assert not any(graded[name].remarks for name in ("cat", "dan"))


def test_one_may_run_longer_where_everybody_takes_long(tmp_path):
    course = classroom(tmp_path / "course")
    record(course, "ann")
    run = GradingRun(Plan(Course(course.root), LAB))
    assert run._usual() == coordinator._ALLOWANCE
    run._seconds += [9, 10, 99]
    assert run._usual() == 10 * coordinator._TIMES_USUAL


def test_nobody_leaves_where_nobody_waits(tmp_path, monkeypatch):
    monkeypatch.setattr(coordinator, "_ALLOWANCE", 0.1)
    course = classroom(tmp_path / "course")
    hand_in(course, "ann", running("import time\ntime.sleep(1)"), course.asked("ann").right())
    graded = grade(course)["ann"]
    assert (graded.earned, graded.remarks) == (60, ())


@pytest.mark.parametrize("by_record", [True, False])
def test_who_is_slow_to_read_is_read_after_those_who_wait(tmp_path, monkeypatch, by_record):
    """The others do not wait for what ann's files take, and she gets what she has earned."""
    course = classroom(tmp_path / "course")
    for name in STUDENTS:
        record(course, name)
    ask, asked = Readers.ask, []

    def slowly(self, request, *, turn=None):
        asked.append((request.student, turn == 0))
        if request.student == "ann" and turn == 0:
            raise PutOff("reading it takes longer than 2 s")
        return ask(self, request, turn=turn)

    monkeypatch.setattr(Readers, "ask", slowly)
    plan = Plan(Course(course.root), LAB, workers=1, run=not by_record)
    graded = {each.student: each for each in GradingRun(plan).grade()}
    assert set(graded) == set(STUDENTS)
    assert len({each.earned for each in graded.values()}) == 1
    assert ("ann", True) in asked, "she comes first in the class"
    before = {name for name, _ in asked[: asked.index(("ann", False))]}
    assert before >= {"ann", "bob", "cat"}, "dan may be read beside her"


def test_a_student_can_be_skipped(tmp_path):
    course = classroom(tmp_path / "course")
    for name in ("ann", "bob"):
        record(course, name)
    assert set(grade(course, skip=("bob",))) == {"ann"}
    with pytest.raises(CannotGrade, match="--skip names bo, and nobody of that name"):
        grade(course, skip=("bo",))
    assert set(grade(course)) == {"bob"}


def test_by_record_nothing_is_started(tmp_path, monkeypatch):
    """No sandbox is needed for it, so a machine without one will do."""
    course = classroom(tmp_path / "course")
    for name in STUDENTS:
        record(course, name)
    monkeypatch.setattr(coordinator, "open_engine", None)
    words: list[str] = []
    run = GradingRun(Plan(Course(course.root), LAB))
    graded = {each.student: each for each in run.grade(words.append)}
    assert {name: (each.way, each.earned) for name, each in graded.items()} == dict.fromkeys(
        STUDENTS, ("record", 80)
    )
    assert words == ["by record"]
    assert run.running() == []


def test_an_engine_that_was_started_already_is_used(undisturbed, tmp_path, monkeypatch):
    course = again(undisturbed, tmp_path, monkeypatch)
    monkeypatch.setattr(coordinator, "open_engine", None)
    plan = Plan(Course(course.root), LAB, run=True)
    graded = GradingRun(plan, Canned(undisturbed[1])).grade()
    assert {each.student: each.way for each in graded} == dict.fromkeys(STUDENTS, "run")


@pytest.fixture(scope="module")
def by_record(tmp_path_factory):
    """A class that was graded by record."""
    course = classroom(tmp_path_factory.mktemp("by-record") / "course")
    for name in STUDENTS:
        record(course, name)
    list(GradingRun(Plan(Course(course.root), LAB)).grade())
    return course


# The way into the gradebook is the same as above: half of the moments in each run.
@pytest.mark.parametrize("moment", sample([*MOMENTS][::-1], 3))
def test_killed_by_record_it_continues(by_record, tmp_path, monkeypatch, moment):
    wild = classroom(tmp_path / "wild")
    for name in STUDENTS:
        _copy(by_record.work(name), wild.work(name))  # what is recorded anew differs in its times
    owner, name, when, at = MOMENTS[moment]
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, _dying(getattr(owner, name), when, [0], at))
        with pytest.raises(Killed):
            list(GradingRun(Plan(Course(wild.root), LAB)).grade())
    rest = list(GradingRun(Plan(Course(wild.root), LAB, resume=True)).grade())
    assert len(rest) < len(STUDENTS)
    assert look(wild) == look(by_record)


# What must hold before anything runs.


def test_sandbox_none_grades_the_same(tmp_path):
    course = classroom(tmp_path / "course")
    for name in ("ann", "bob"):
        hand_in(course, name, answers=course.asked(name).right(), ledger=True)
    isolated, open_ = (grade(course, isolate=isolate, force=True) for isolate in (True, False))
    for name in ("ann", "bob"):
        assert isolated[name].scores == open_[name].scores
        assert open_[name].earned == 80


def test_a_course_inside_what_submissions_see_is_refused(tmp_path, monkeypatch):
    course = classroom(tmp_path / "course")
    hand_in(course, "ann")
    monkeypatch.setattr(isolation.sys, "prefix", str(tmp_path))
    with pytest.raises(CannotGrade, match="move it to a folder of its own"):
        grade(course)


def test_a_reason_of_any_worker_stops_everything(tmp_path, monkeypatch):
    course = classroom(tmp_path / "course")
    hand_in(course, "ann")
    monkeypatch.setattr(LocalEngine, "why_not_isolated", lambda _: "the reason")
    with pytest.raises(CannotGrade, match=r"the reason.*--sandbox none"):
        grade(course, run=True)


# Really killed.


def chaos(place: Path, kills: int, students: int) -> None:
    """Kill coordinators, fork servers and children of a class at random, then compare."""
    calm = classroom(place / "calm")
    for number in range(students):
        name = f"student-{number:02}"
        right = list(calm.asked(name).right().items())
        slow = running("import time\ntime.sleep(0.4)")
        hand_in(calm, name, slow, dict(right[: number % 3]), ledger=number % 4 == 0)
    wild = Workshop(place / "wild", LAB)
    subprocess.run(["cp", "-a", str(calm.root), str(wild.root)], check=True)
    with quiet():
        grade(calm)
    chance, done, runs = random.Random(kills), 0, 0
    while done < kills:
        runs += 1
        assert runs < 4 * kills + 10
        done += _disturbed(wild, chance, kills - done)
        if not GradingRun(Plan(Course(wild.root), LAB, resume=True)).students:
            # It was quicker than we: some of it is taken back, and it continues.
            journal = wild.root / ".mlsys" / f"grade-{LAB}.jsonl"
            lines = journal.read_bytes().splitlines(keepends=True)
            journal.write_bytes(b"".join(lines[: len(lines) // 2]))
    last = _start(wild)
    assert last.wait(300) in (0, 3)
    assert rows(wild.root) == rows(calm.root)
    for name in (f"student-{number:02}" for number in range(students)):
        assert plain(wild.graded_work(name)) == plain(calm.graded_work(name)), name
    left = {p.name for p in (wild.root / "autograded").glob("*/.*")}
    assert left == set()


def _start(course: Workshop) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "mlsys_widgets", "grade", LAB, "--resume", "--json"],
        cwd=course.root, env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def _disturbed(course: Workshop, chance: random.Random, most: int) -> int:
    """One run, in which a child, a fork server or in the end the coordinator is killed."""
    process, killed = _start(course), 0
    try:
        while process.poll() is None and killed < most:
            servers = children(process.pid)
            if not servers:
                time.sleep(0.02)
                continue
            time.sleep(chance.uniform(0.1, 1.5))
            victim = chance.choice(["coordinator", "fork server", "child"])
            if victim == "coordinator":
                process.kill()
                killed += 1
                break
            server = chance.choice(servers)
            below = children(server)
            target = chance.choice(below) if victim == "child" and below else server
            try:
                os.kill(target, signal.SIGKILL)
                killed += 1
            except ProcessLookupError:
                continue
            if killed > 2:  # a submission whose workers die twice is given up in this run
                process.kill()
                break
    finally:
        process.kill()
        process.wait()
    return killed


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_chaos(tmp_path):
    chaos(tmp_path, kills=4, students=6)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_more_chaos(tmp_path):
    chaos(tmp_path, kills=20, students=30)
