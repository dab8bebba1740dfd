"""What is told about a hand-in that was judged: by the judge of a hub, and after ``mlsys grade``.

What could not be judged at the hand-in, such as a function that has to be called, is judged when
the course is graded. Whoever was told then that it waits is told once more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from mlsys_widgets.course.course import Course
from mlsys_widgets.grading.judging.marking import Marking
from mlsys_widgets.grading.judging.scoring import Score
from mlsys_widgets.grading.judging.told_answers import JudgedAnswer
from mlsys_widgets.grading.messages import JudgedSubmission
from mlsys_widgets.grading.reading.hand_in_time import read_time
from mlsys_widgets.grading.telling.judged_hand_ins import JudgedHandIn, StudentHandIns
from mlsys_widgets.grading.telling.told_report import LATER, TO_RUN, told_report
from mlsys_widgets.labs.attempts import Attempts


def first_judged(reply: JudgedSubmission, before: StudentHandIns) -> dict[str, JudgedAnswer]:
    """Return the answers that were judged for the first time, which count from then on."""
    moment = reply.entry.timestamp
    time = moment.isoformat() if moment else ""
    return {
        score.name: _as_answer(score, time)
        for score in reply.graded.scores
        if score.answered and score.name not in before.answers
    }


def report_on(
    course: Course, marking: Marking, reply: JudgedSubmission, at: datetime, later: str = ""
) -> dict[str, Any]:
    """Return all that a student is told after a hand-in, as `told_report` has it."""
    student = reply.graded.student
    lab = marking.earlier.get(reply.graded.version, marking).lab
    owner = course.people.worked_as(student, None)
    attempts = Attempts(lab, owner, course.edition, course.variants)
    dates = course.calendar.dates(lab.name, student)
    scores, p = reply.graded.scores, reply.parameters
    return told_report(lab, owner, scores, p, attempts, dates, at, later)


def after_grading(
    course: Course, marking: Marking, reply: JudgedSubmission, before: StudentHandIns, at: datetime
) -> JudgedHandIn | None:
    """Return the line that tells what had to wait until the course was graded.

    `None` where nothing waited, where this course does not tell by itself, and where something was
    handed in since this was collected: that is collected and graded, too.
    """
    last, student = before.last, reply.graded.student
    if last is None or not course.calendar.dates(marking.lab.name, student).tells_at_once(at):
        return None
    handed_in = reply.entry.timestamp
    if handed_in is None or read_time(last.says, marking.facts.zone) != handed_in:
        return None
    answers, why = first_judged(reply, before), str(last.told.get("later", ""))
    waited = why in (LATER, TO_RUN)
    if not (answers or waited or _has_waiting(last.told)):
        return None
    told = report_on(course, marking, reply, at, "" if waited else why)
    return replace(last, judged=at.isoformat(), answers=answers, seconds={}, told=told)


def _has_waiting(told: Mapping[str, Any]) -> bool:
    return any(each["kind"] == "later" for each in told.get("questions", ()))


def _as_answer(score: Score, time: str) -> JudgedAnswer:
    return JudgedAnswer(
        score.data or (), score.answer or "", score.first_credit, score.says, score.belief, time
    )
