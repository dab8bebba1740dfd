"""The grades of a whole course: every lab, and a total by the weights of the calendar.

A lab counts for a student once it is handed in, or once its due time has passed for that student,
and then with no points. A lab without a due time counts as soon as it is graded for anybody.
Before that it is in no total, so that nobody reads a bad grade in the middle of a term.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from mlsys_widgets.classes.gradebook_reader import GradebookStudent, Grades, Standing, grades
from mlsys_widgets.course.calendar import LabDates
from mlsys_widgets.course.course import Course


@dataclass(frozen=True)
class LabGrades:
    """One lab in the grades of a course."""

    name: str
    most: float
    #: Its share of the total, against that of other labs.
    weight: float
    #: What each student has who handed in, by their id.
    standings: Mapping[str, Standing]
    #: Its dates for whoever has no others.
    dates: LabDates = field(default_factory=LabDates)


@dataclass(frozen=True)
class CourseTotals:
    """Everybody in all labs."""

    #: The labs that are graded, in order.
    labs: tuple[LabGrades, ...]
    #: Everybody in the gradebook, without accounts that only try the course.
    people: tuple[GradebookStudent, ...]
    #: Which labs count for each student, by their id.
    counts: Mapping[str, frozenset[str]]
    sections: Mapping[str, str] = field(default_factory=dict)
    trial: tuple[str, ...] = ()
    #: Labs of the calendar that nobody is graded in.
    ungraded: tuple[str, ...] = ()

    def standings_of(self, student: str) -> list[Standing | None]:
        """Return what a student has in each lab, in order; `None` where nothing was handed in."""
        return [lab.standings.get(student) for lab in self.labs]

    def percent(self, student: str) -> float | None:
        """Return the weighted total of a student, in percent; `None` while nothing counts."""
        counted = [lab for lab in self.labs if lab.name in self.counts.get(student, ())]
        weights = sum(lab.weight for lab in counted)
        if not weights:
            return None
        earned = sum(
            lab.weight * standing.total / lab.most
            for lab in counted
            if (standing := lab.standings.get(student)) and lab.most
        )
        return round(100 * earned / weights, 2)


def course_totals(course: Course, now: datetime | None = None) -> CourseTotals:
    """Read the grades of all labs of a course; `ValueError` if nothing is graded yet."""
    moment, calendar = now or datetime.now(UTC), course.calendar
    found: dict[str, Grades] = {}
    ungraded = []
    for home in sorted((course.root / "assignments").glob("*/lab.py")):
        lab = home.parent.name
        try:
            known = grades(course, lab)
        except ValueError:  # the gradebook does not know it
            ungraded.append(lab)
            continue
        if known.standings:
            found[lab] = known
        else:
            ungraded.append(lab)
    if not found:
        raise ValueError("nothing is graded yet; grade a lab first: mlsys grade LAB")
    last = next(reversed(found.values()))
    counts: dict[str, frozenset[str]] = {}
    for person in last.people:
        labs = set()
        for lab, known in found.items():
            due = calendar.dates(lab, person.id).due
            if person.id in known.standings or due is None or moment > due:
                labs.add(lab)
        counts[person.id] = frozenset(labs)
    sections = {each.id: calendar.section(each.id) or "" for each in last.people}
    return CourseTotals(
        tuple(
            LabGrades(
                lab,
                round(sum(known.most.values()), 2),
                calendar.dates(lab).weight,
                known.standings,
                calendar.dates(lab),
            )
            for lab, known in found.items()
        ),
        last.people,
        counts,
        sections,
        last.trial,
        tuple(ungraded),
    )
