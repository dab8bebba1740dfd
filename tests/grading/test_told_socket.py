"""The service as a hub starts it: the judge, and the socket that tells each student alone."""

from __future__ import annotations

import getpass
import json
import subprocess
import sys
from contextlib import contextmanager

import pytest

from mlsys_widgets.course.exchange_place import TOLD_SOCKET
from mlsys_widgets.files import OWN_FOLDER
from mlsys_widgets.grading.gradebook.grade_history import GradeHistory
from mlsys_widgets.grading.telling.judged_hand_ins import JudgedHandIns
from tests.grading.classroom import LAB
from tests.grading.telling import CHANCE, ToldClass, in_days
from tests.waiting import wait_for


@pytest.fixture
def told_class(tmp_path):
    return ToldClass(tmp_path, 'feedback = "at hand-in"', CHANCE, f"due = {in_days(1)}")


def names(told_class):
    return list(told_class.right("ann"))


@contextmanager
def service(told_class):
    """The service as a hub's course service starts it."""
    door = told_class.inbound.parent / TOLD_SOCKET
    door.unlink(missing_ok=True)
    with subprocess.Popen(
        [sys.executable, "-m", "mlsys_widgets.grading.telling.service", told_class.root]
    ) as process:
        try:
            wait_for(lambda: door.exists() or process.poll() is not None)
            assert process.poll() is None
            yield process
        finally:
            process.kill()


def test_the_service_tells_whoever_asks_about_themselves(told_class):
    student = getpass.getuser()
    first = names(told_class)[0]
    told_class.hand_in("ann", told_class.wrong("ann"))
    with service(told_class):
        time = told_class.hand_in(student, told_class.right(student))
        reply = told_class.ask((time / "timestamp.txt").read_text())
        assert (reply["judged"], reply["feedback"]) == (True, "at hand-in")
        assert reply["told"]["student"] == student
        (told,) = (q for q in reply["told"]["questions"] if q["name"] == first)
        assert told["credit"] == 1
        # Whatever else stands in a question: it is about whoever asks, or about nothing.
        line = json.dumps({"lab": LAB, "since": "", "student": "ann", "uid": 0}).encode() + b"\n"
        assert told_class.ask(line=line)["told"]["student"] == student
        for lab in ("../secrets", "lab_99", "", "."):
            assert told_class.ask(lab=lab)["told"] is None
        for line in (b"[]\n", b"{}\n", b"\xff\n", b"[" * 900 + b"\n", b"x" * 2000):
            assert told_class.ask(line=line) == {}
        assert told_class.ask()["told"]["student"] == student


@pytest.mark.timeout(300)
def test_a_class_is_told_once_though_the_service_is_killed_in_the_middle(told_class):
    students = [f"s{k:02}" for k in range(20)]
    first = names(told_class)[0]
    kept = JudgedHandIns(told_class.root, LAB)

    def judged():
        return [each for each in students if kept.of_student(each).last]

    for name in students:
        told_class.hand_in(name, {first: told_class.right(name)[first]})
    with service(told_class):
        wait_for(judged)
    before = {name: told_class.report(name) for name in judged()}
    with service(told_class):
        wait_for(lambda: len(judged()) == len(students))
    assert {name: told_class.report(name) for name in before} == before
    lines = (told_class.root / OWN_FOLDER / f"told-{LAB}.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["student"] for line in lines) == students
    assert all(told_class.told(name)[first]["credit"] == 1 for name in students)
    assert all(told_class.points(name)[first] for name in students)
    assert GradeHistory(told_class.root, LAB).read()[1] == []
