"""A changed key, applied to a class without a submission being there any more."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

from mlsys_widgets.course.course import Course
from mlsys_widgets.grading.gradebook.graded_log import GradedLog
from tests.grading.classroom import LAB, autograded, fingerprint, grade, of, rows, shown
from tests.grading.regrading import (
    CHOICE,
    ESSAY,
    NUMBER,
    by_hand,
    change_key,
    graded_course,
    history,
    regrade,
)
from tests.grading.simulated import sql
from tests.labs.rehearsal import ROOT


@pytest.fixture
def course(tmp_path):
    return graded_course(tmp_path / "course")


def wider(course):
    change_key(course, "tolerance=0.02", "tolerance=0.05")


def test_it_is_shown_first_and_changes_nothing(course):
    wider(course)
    before = fingerprint(course.root)
    proposal = regrade(course).propose()
    assert fingerprint(course.root) == before
    (cat,) = proposal.changes
    assert (cat.student, cat.before, cat.after) == ("cat", 40, 80)
    assert cat.questions == {NUMBER: (0, 40)}
    assert len(proposal.grades) == 3


def test_applying_it_gives_what_grading_again_gives_with_no_submission_left(course, tmp_path):
    other = graded_course(tmp_path / "other")
    change_key(course, "credit=0.5,", "credit=0.75,")
    shutil.rmtree(course.root / "submitted")
    proposal = regrade(course).apply("a belief is worth more")
    assert [(each.student, each.after) for each in proposal.changes] == [("bob", 70)]
    change_key(other, "credit=0.5,", "credit=0.75,")
    grade(other, force=True)
    assert rows(course.root) == rows(other.root)
    assert autograded(course, "bob") == autograded(other, "bob")
    assert f"{NUMBER}: 30 of 40 points." in shown(autograded(course, "bob"), f"check_{NUMBER}")
    theirs, ours = (GradedLog(each.root, LAB).read() for each in (other, course))
    for student, line in ours.items():
        same = ("scores", "version", "digest", "head", "parameters")
        assert {n: line[n] for n in same} == {n: theirs[student][n] for n in same}
    assert regrade(course).propose().changes == []


def test_points_that_a_person_gave_stay(course):
    by_hand(course, "cat", ESSAY, manual_score=17, extra_credit=1)
    by_hand(course, "cat", NUMBER, manual_score=33)
    by_hand(course, "ann", ESSAY, manual_score=12)
    wider(course)
    before = of("ann", rows(course.root))
    (cat,) = regrade(course).apply("tolerance").changes
    assert (cat.before, cat.after, cat.by_person) == (91, 91, (NUMBER,))
    found = {row[1]: row[2:] for row in of("cat", rows(course.root))["grade"]}
    assert found[NUMBER] == (40, 33, None, 1)  # waits for another look, as nbgrader has it
    assert found[ESSAY] == (0, 17, 1, 0)
    assert of("ann", rows(course.root)) == before


def test_a_late_penalty_is_taken_off_the_new_points(course):
    settings = course.root / "assignments" / "course.toml"
    settings.write_text(f"[late]\nper_day = 10\n[labs.{LAB}]\ndue = {'2026-01-01T00:00:00Z'}\n")
    sql(course.root, "update submitted_assignment set timestamp = '2026-01-01 12:00:00.000000'")
    wider(course)
    proposal = regrade(course).propose()
    points = {each.student: (each.before, each.after) for each in proposal.changes}
    assert points == {"ann": (80, 72), "bob": (60, 54), "cat": (40, 72)}
    regrade(course).apply("late and a tolerance")
    assert of("cat", rows(course.root))["notebook"][0][1] == pytest.approx(8)


def test_every_change_is_in_the_history_with_its_reason(course):
    by_hand(course, "bob", ESSAY, manual_score=5)
    wider(course)
    regrade(course).apply("the tolerance was too small")
    changes, problems = history(course).read()
    assert problems == []
    told = [(c.student, c.what, c.total) for c in changes]
    assert told[:3] == [
        (s, "graded", (None, p)) for s, p in (("ann", 80), ("bob", 60), ("cat", 40))
    ]
    assert told[3:] == [("bob", "by hand", (60, 65)), ("cat", "regraded", (40, 80))]
    last = changes[-1]
    assert (last.why, last.cells) == ("the tolerance was too small", {NUMBER: {"auto": (0, 40)}})
    assert last.who


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ("right = 1 / 0", "its check fails: ZeroDivisionError: division by zero"),
        ("right = given.p.nowhere", "the lab has no parameter 'nowhere'"),
        ("right = len((given.folder / 'machine.json').read_text())", "autograded folder is gone"),
    ],
)
def test_a_check_that_fails_costs_nobody_points(course, broken, why):
    change_key(course, "right = _fused(side)", broken)
    shutil.rmtree(course.root / "autograded")
    before = rows(course.root)
    proposal = regrade(course).apply("a slip")
    assert proposal.changes == []
    assert all(why in each.kept[NUMBER] for each in proposal.grades)
    assert rows(course.root) == before


def test_a_check_that_is_gone_or_a_log_without_answers_keeps_the_points(course):
    change_key(course, "def limit", "def _limit")
    log = course.root / ".mlsys" / f"grade-{LAB}.jsonl"
    unknown, *lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines))  # as after nbgrader's own autograde
    proposal = regrade(course).propose()
    assert list(proposal.not_kept) == [json.loads(unknown)["student"]]
    assert all("no check of that name" in each.kept[CHOICE] for each in proposal.grades)
    assert proposal.changes == []


def test_only_those_who_are_named(course):
    wider(course)
    assert regrade(course, "a*").propose().changes == []
    with pytest.raises(ValueError, match="nobody whose name fits 'x"):
        regrade(course, "x*").propose()


#: Applies a regrade and ends without a word at one of its steps.
_KILLED = """
import os, sys
from pathlib import Path
from mlsys_widgets.grading.regrading.regrade import Regrade
from mlsys_widgets.course.course import Course
step = sys.argv[2]
def die(*_): os.kill(os.getpid(), 9)
setattr(Regrade, step, die)
Regrade(Course.at(Path(sys.argv[1])), "{lab}").apply("a reason that is not lost")
"""


@pytest.mark.parametrize("step", ["_write_gradebook", "_write_notebooks", "_write_log"])
def test_whoever_is_killed_in_the_middle_is_finished_by_the_next(course, step):
    wider(course)
    done = subprocess.run(
        [sys.executable, "-c", _KILLED.format(lab=LAB), str(course.root), step],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL
    regrade(course).apply("once more")
    found = {row[1]: row[2] for row in of("cat", rows(course.root))["grade"]}
    assert found[NUMBER] == 40
    assert f"{NUMBER}: 40 of 40 points." in shown(autograded(course, "cat"), f"check_{NUMBER}")
    line = GradedLog(course.root, LAB).read()["cat"]
    assert {s["name"]: s["auto"] for s in line["scores"]}[NUMBER] == 40
    changes, problems = history(course).read()
    why = "once more" if step == "_write_gradebook" else "a reason that is not lost"
    assert problems == []
    assert [(c.student, c.what, c.why) for c in changes[3:]] == [("cat", "regraded", why)]


def test_two_at_a_time_are_refused(course):
    with (
        GradedLog(course.root, LAB).alone(),
        pytest.raises(ValueError, match="is being graded by another"),
    ):
        regrade(course).apply("never")


def test_a_lab_that_is_not_there_is_named(course):
    from mlsys_widgets.grading.regrading.regrade import Regrade

    with pytest.raises(ValueError, match="there is no assignments/lab_99"):
        Regrade(Course.at(course.root), "lab_99")
