"""One submission costs the coordinator next to nothing, whatever is in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.grading.classroom import LAB, classroom, fingerprint, hand_in, record, rows
from tests.grading.costly import KINDS
from tests.labs.rehearsal import ROOT

pytestmark = pytest.mark.timeout(900)
#: What one submission may cost the coordinator.
MOST_BYTES, MOST_EFFORT = 64_000_000, 20
#: A name that is no text.
ODD = os.fsdecode(b"eve-\xff\xfe")

#: Grades a class one by one in a process of its own, and tells what each has cost that process.
MEASURED = """
import json, resource, sys
from pathlib import Path
from mlsys_widgets.grading.coordinator import GradingRun, Plan
from mlsys_widgets.grading.reading.readers import ReadingLimits
from mlsys_widgets.course.course import Course
from tests.effort import unit

def used():
    mine = resource.getrusage(resource.RUSAGE_SELF)
    return mine.ru_utime + mine.ru_stime, mine.ru_maxrss * 1024

limits = ReadingLimits(wall=120, cpu=int(sys.argv[3]), memory=600_000_000)
plan = Plan(Course(Path(sys.argv[1])), sys.argv[2], workers=1, reading=limits)
run, before = GradingRun(plan), None
loop = unit()
for each in run.grade():
    now = used()
    seconds, size = [b - a for a, b in zip(before or now, now)]
    bill = {"earned": each.earned, "effort": seconds / loop, "size": size}
    print(json.dumps({**each.as_data(), **bill}), flush=True)
    before = now
"""


@dataclass
class Bill:
    """A class in which everybody but the first is costly, and what each has cost."""

    root: Path
    said: dict[str, dict[str, Any]]
    before: dict[str, str]


@pytest.fixture(scope="module")
def bill(tmp_path_factory) -> Bill:
    course = classroom(tmp_path_factory.mktemp("costly") / "course")
    record(course, "an-honest-one")
    for name, costly in KINDS.items():
        costly.change(record(course, name))
    hand_in(course, ODD)
    submitted = course.root / "submitted"
    about = {str(path): str(path.lstat().st_mtime_ns) for path in submitted.glob("*/*/*.*")}
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(course.root), LAB, "6"],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return Bill(course.root, {line["student"]: line for line in lines}, about)


def test_everybody_is_graded_or_named(bill):
    assert set(bill.said) == {"an-honest-one", ODD, *KINDS}
    assert bill.said["an-honest-one"]["earned"] == 80
    assert bill.said["an-honest-one"]["flags"] == []
    assert bill.said["an-honest-one"]["way"] == "record"


@pytest.mark.parametrize("name", KINDS)
def test_the_coordinator_hardly_notices(bill, name):
    assert bill.said[name]["effort"] < MOST_EFFORT, bill.said[name]
    assert bill.said[name]["size"] < MOST_BYTES, bill.said[name]


@pytest.mark.parametrize("name", [name for name, costly in KINDS.items() if costly.graded])
def test_what_can_be_graded_is(bill, name):
    assert bill.said[name]["earned"] == 80, bill.said[name]


@pytest.mark.parametrize("name", [name for name, costly in KINDS.items() if not costly.graded])
def test_the_others_get_a_sentence(bill, name):
    said = bill.said[name]
    assert said["flags"], said
    if said["scores"]:
        return  # readable after all, and flagged
    (flag,) = said["flags"]
    assert flag["kind"] == "not graded"
    assert name not in {row[0] for row in rows(bill.root)["submission"]}
    assert not (bill.root / "autograded" / name).exists()


def test_an_impossible_name_is_that_students_alone(bill):
    (flag,) = bill.said[ODD]["flags"]
    assert "cannot be the name of a student: a name has 1 to 128 printable" in flag["sentence"]


def test_files_that_are_left_out_are_counted_not_listed(bill):
    (flag,) = bill.said["extra-files"]["flags"]
    assert "19,80" in flag["sentence"]


def test_nothing_that_was_handed_in_is_changed(bill):
    submitted = bill.root / "submitted"
    assert bill.before == {
        str(path): str(path.lstat().st_mtime_ns) for path in submitted.glob("*/*/*.*")
    }
    assert not [name for name in fingerprint(bill.root / "autograded") if ".new" in name]
