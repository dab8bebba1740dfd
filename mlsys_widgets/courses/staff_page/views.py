"""What the pages show, read afresh each time; nothing is kept and nothing is changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from mlsys_widgets.authoring import labs_of
from mlsys_widgets.course.calendar import Calendar, LabDates
from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.change_history import ChangeHistory, CourseChange
from mlsys_widgets.courses.hub_link import HubLink
from mlsys_widgets.courses.lab_overview import overview
from mlsys_widgets.courses.live_counts import RULE, live_counts
from mlsys_widgets.courses.people_command import people_of
from mlsys_widgets.courses.staff_page.course_views import show_course, show_results
from mlsys_widgets.courses.term import DATES
from mlsys_widgets.grading.feedback.second_looks import SecondLooks
from mlsys_widgets.grading.gradebook.grade_history import GradeHistory

#: Changes of grades that are listed.
_MOST: Final = 200

Shown = dict[str, Any]


def may_change(course: Course) -> bool:
    """Whether whoever runs this may change dates and people, and release labs."""
    return os.access(course.root / "assignments", os.W_OK) and not HubLink(course.home).closed


def show_labs(course: Course, lab: str) -> Shown:
    """Where all labs stand, or one of them."""
    labs = overview(course)
    found = next((each for each in labs if each.lab == lab), None)
    shown: Shown = {"labs": labs, **({"one": found} if found else {})}
    with suppress(OSError, ValueError):  # a lab with a mistake in its files
        shown["live"] = live_counts(course, lab) if found else None
        shown["rule"] = RULE
    return shown


def show_dates(course: Course, _: str) -> Shown:
    """The dates of all labs as forms have them, for everybody and for sections; extensions."""
    calendar, labs = course.calendar, labs_of(course)
    rows = [(lab, "", _times(calendar, calendar.labs.get(lab, LabDates()))) for lab in labs]
    for section, of in calendar.of_sections.items():
        rows += [(lab, section, _times(calendar, dates)) for lab, dates in of.items()]
    return {
        "rows": sorted(rows, key=lambda row: row[:2]), "calendar": calendar,
        "students": [each.login for each in people_of(course, None) if each.role == "student"],
    }  # fmt: skip


def _times(calendar: Calendar, dates: LabDates) -> list[tuple[str, str]]:
    """Return the times of a lab as a browser's field has them, on the clock of the course."""

    def field(at: datetime | None) -> str:
        return f"{at.astimezone(calendar.zone):%Y-%m-%dT%H:%M}" if at else ""

    return [(name, field(getattr(dates, name))) for name in DATES]


def show_people(course: Course, _: str) -> Shown:
    """Everybody in the course."""
    status = HubLink(course.home).status()
    return {
        "people": list(people_of(course, status)), "sections": list(course.calendar.sections),
        "problems": status.problems if status else (),
    }  # fmt: skip


def show_looks(course: Course, _: str) -> Shown:
    """The second looks that students ask for, those that wait first."""
    looks, problem = SecondLooks(course), ""
    try:
        looks.take_in()
    except (OSError, ValueError) as why:
        problem = str(why)
    found = sorted(looks.read(), key=lambda each: (not each.is_open, each.number))
    return {"looks": found, "problem": problem}


def show_history(course: Course, _: str) -> Shown:
    """Every change of the course, and of grades, the latest first."""
    grades = []
    for lab in labs_of(course):
        with suppress(OSError, ValueError):
            grades += [(lab, each) for each in GradeHistory(course.home, lab).read()[0]]
    grades.sort(key=lambda pair: pair[1].time, reverse=True)
    answers = (
        CourseChange(
            each.closed or "", each.closed_by or "",
            f"A second look of {each.student} is answered: {each.lab}, {each.question}.",
        )
        for each in SecondLooks(course).read() if not each.is_open
    )  # fmt: skip
    changes = sorted(
        [*ChangeHistory(course.home).read(), *answers], key=lambda each: each.time, reverse=True
    )
    return {"changes": changes, "grades": grades[:_MOST], "more": len(grades) - _MOST}


#: The pages by address, in the order of their links: what they are called, and what they show.
PAGES: Final[Mapping[str, tuple[str, Callable[[Course, str], Shown]]]] = {
    "labs": ("Labs", show_labs),
    "dates": ("Dates", show_dates),
    "people": ("People", show_people),
    "looks": ("Second looks", show_looks),
    "results": ("Results", show_results),
    "course": ("Course", show_course),
    "history": ("History", show_history),
}
