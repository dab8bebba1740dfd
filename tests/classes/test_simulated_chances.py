"""Second chances in a made-up class: graded, and in the report with the truth that was put in."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime, timedelta

import pytest

from mlsys_widgets.classes.simulated_chances import LEARNS, TAKES
from mlsys_widgets.classes.simulation import simulate
from mlsys_widgets.classes.summary_builder import class_summary
from mlsys_widgets.grading.gradebook.graded_log import GradedLog
from mlsys_widgets.ledger import Ledger
from tests.grading.classroom import LAB, classroom, grade

STUDENTS = 80
KINDS = ("mostly-right", "misconceived")


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    course = classroom(tmp_path_factory.mktemp("chances") / "course")
    settings = course.root / "assignments" / "course.toml"
    due = (datetime.now(UTC) - timedelta(days=3)).isoformat(timespec="seconds")
    chance = '{ share = 0.9, until = "3 days after due" }'
    text = settings.read_text() if settings.is_file() else ""
    settings.write_text(f"{text}\n[labs.{LAB}]\ndue = {due}\nsecond_chance = {chance}\n")
    with sqlite3.connect(course.root / "gradebook.db") as book:  # as after a release
        book.execute("update assignment set duedate = ?", (f"{due[:10]} {due[11:19]}.000000",))
    simulate(course.root, LAB, STUDENTS, seed=3, kinds=KINDS)
    simulate(course.root, LAB, STUDENTS, seed=4, kinds=KINDS, force=True)
    grade(course)
    return course.root


def test_both_answers_are_in_ledger_and_log_and_the_better_counts(graded):
    found = 0
    for student, line in GradedLog(graded, LAB).read().items():
        kept = Ledger.open(graded / "submitted" / student / LAB / "ledger.jsonl").state().answers
        for score in line["scores"]:
            if not (second := score.get("second")):
                continue
            found += 1
            assert {score["name"], f"again.1.{score['name']}"} <= set(kept)
            best = max(score["alone"], second["share"] * second["credit"])
            assert score["auto"] == pytest.approx(best * score["most"], abs=0.01)
    assert found > STUDENTS / 4


def test_the_report_finds_how_many_learned_and_what_it_gained(graded):
    summary = class_summary(LAB, graded)
    taken = [each.statistics for each in summary.questions if each.statistics.second]
    assert taken
    for each in taken:
        assert each.second.low <= LEARNS <= each.second.high
        assert each.gain.low <= each.gain.value <= each.gain.high
        assert each.gain.value > 0


def test_who_takes_one_is_a_share_of_those_who_missed(graded):
    lines = (graded / ".mlsys" / f"told-{LAB}.jsonl").read_text().splitlines()
    told = [json.loads(line) for line in lines]
    assert len({each["student"] for each in told}) == len(told)  # --force replaced the first class
    asked_again = {name for each in told for name in each["seconds"]}  # with other numbers to draw
    missed = sum(
        each["answers"][n]["credit"] < 1 for each in told for n in asked_again & {*each["answers"]}
    )
    took = sum(len(each["seconds"]) for each in told)
    spread = (TAKES * (1 - TAKES) * missed) ** 0.5
    assert abs(took - TAKES * missed) < 4 * spread
