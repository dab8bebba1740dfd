"""Everybody in a course beside one lab: who handed in nothing, and who is at risk.

Who is at risk is decided by pace and missing work, and never by points: somebody with few points
who works through every lab learns, and somebody who stops does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from mlsys_widgets.classes.course_totals import CourseTotals, LabGrades, course_totals
from mlsys_widgets.classes.statistics import median
from mlsys_widgets.classes.summary import ClassMember, MemberState, SubmissionRow
from mlsys_widgets.course.course import Course
from mlsys_widgets.course.due_words import in_words
from mlsys_widgets.course.grading_shares import read_shares

#: How many labs must be missing, and which fraction of a lab's points must be blank.
_MISSING: Final = 2
_BLANK: Final = 0.5
RULE: Final = (
    "At risk is whoever handed in nothing in two or more labs up to this one, left half or more of"
    " its points blank, was late in it and in the lab before, or began it when less time was left"
    " than half of the class needs for it. How many points somebody has plays no role."
)


def class_members(
    course: Course,
    lab: str,
    rows: Mapping[str, SubmissionRow],
    blank: Mapping[str, float],
    *,
    names: bool,
    now: datetime | None = None,
) -> tuple[ClassMember, ...]:
    """Say of everybody in the course how they stand in a lab; named only if `names` says so.

    `rows` has the graded submissions, and `blank` the fraction of the lab's points left blank in
    each.
    """
    if not rows:
        return ()
    totals, shares = course_totals(course, now), read_shares(course.home, lab)
    order = [each.name for each in totals.labs]
    so_far = totals.labs[: order.index(lab) + 1]
    usual = median([row.minutes for row in rows.values() if row.minutes is not None])
    return tuple(
        ClassMember(
            each.id if names else "",
            f"{each.first_name} {each.last_name}".strip() if names else "",
            totals.sections[each.id],
            _ta(course, each.id, shares) if names else "",
            _state(course, totals, so_far[-1], each.id),
            (
                *_signs(course, totals, so_far, each.id, blank.get(each.id, 0.0)),
                *_began_late(rows.get(each.id), usual),
            ),
            rows.get(each.id),
        )
        for each in totals.people
    )


def _ta(course: Course, student: str, shares: Mapping[str, str]) -> str:
    """Return who was given a student's work; before the work is split, who has the section."""
    section = course.calendar.section(student)
    of_section = (ta.name for ta in course.people.tas() if section in ta.sections)
    return shares.get(student) or ", ".join(of_section)


def _state(course: Course, totals: CourseTotals, lab: LabGrades, student: str) -> MemberState:
    if student in lab.standings:
        return "graded"
    if course.work("submitted", student, lab.name).is_dir():
        return "not graded"
    return "missing" if lab.name in totals.counts[student] else "has time"


def _signs(
    course: Course, totals: CourseTotals, so_far: Sequence[LabGrades], student: str, blank: float
) -> Iterator[str]:
    missing = [e.name for e in so_far if _state(course, totals, e, student) == "missing"]
    if len(missing) >= _MISSING:
        yield f"handed in nothing in {', '.join(missing)}"
    if blank >= _BLANK:
        yield f"left {blank:.0%} of the points blank"
    here, before = so_far[-1], so_far[-2:-1]
    if before and _is_late(course, here, student) and _is_late(course, before[0], student):
        yield f"late here and in {before[0].name}"


def _began_late(row: SubmissionRow | None, usual: float | None) -> Iterator[str]:
    if row is None or row.began is None or usual is None or 60 * row.began >= usual:
        return
    if row.began < 0:
        yield "began after it was due"
    else:
        left = in_words(3600 * row.began)
        yield f"began with {left} left, and half of the class needs {usual:.0f} minutes or more"


def _is_late(course: Course, lab: LabGrades, student: str) -> bool:
    grace = course.calendar.dates(lab.name, student).late.grace_minutes
    standing = lab.standings.get(student)
    return standing is not None and standing.seconds_late > 60 * grace
