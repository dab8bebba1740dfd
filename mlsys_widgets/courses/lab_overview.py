"""Where each lab of a course stands: who handed in, what is graded, and what waits for a person."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from mlsys_widgets.authoring import labs_of
from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.first_releases import releases
from mlsys_widgets.courses.lab_releases import outbound_of
from mlsys_widgets.courses.term import state_of
from mlsys_widgets.grading.feedback.second_looks import SecondLooks
from mlsys_widgets.grading.gradebook.gradebook_writer import LabGradebook
from mlsys_widgets.grading.gradebook.graded_log import GradedLog
from mlsys_widgets.grading.gradebook.lab_grades import LabGrade
from mlsys_widgets.grading.reading.submissions import students
from mlsys_widgets.labs.about_lab import title_of


@dataclass(frozen=True)
class LabOverview:
    """One lab of a course, as it is now."""

    lab: str
    title: str
    #: Whether it is open, in words.
    state: str
    due: datetime | None
    #: Whether students can fetch it; `None` in a course without an exchange.
    released: bool | None
    #: Who handed in, as the course and as the exchange have it; and whose work was graded since,
    #: which is more than what a hub judges at the hand-in.
    collected: frozenset[str]
    in_exchange: frozenset[str]
    graded: frozenset[str]
    grades: Mapping[str, LabGrade]
    #: What a person should look at, a few sentences for each student concerned.
    flags: Mapping[str, tuple[str, ...]]
    #: How many second looks are open.
    looks: int

    @property
    def handed_in(self) -> int:
        """How many students handed in."""
        return len(self.collected | self.in_exchange)

    @property
    def waiting(self) -> int:
        """How many submissions have a written answer that nobody has read."""
        return sum(any(c.waiting for c in each.cells.values()) for each in self.grades.values())

    @property
    def ungraded(self) -> int:
        """How many handed in and were not graded."""
        return len((self.collected | self.in_exchange) - self.graded)

    @property
    def next_step(self) -> str:
        """What is to be done about it, in a word; empty if nothing is."""
        if self.ungraded:
            return "grade"
        if self.waiting:
            return "essays"
        if self.grades:
            return "feedback"
        return "release" if self.released is False else ""


def overview(course: Course) -> list[LabOverview]:
    """Return where each lab stands, in order."""
    open_looks = [each.lab for each in SecondLooks(course).read() if each.is_open]
    return [_overview(course, lab, open_looks.count(lab)) for lab in labs_of(course)]


def _overview(course: Course, lab: str, looks: int) -> LabOverview:
    outbound, dates, now = outbound_of(course, lab), course.calendar.dates(lab), datetime.now(UTC)
    released = outbound.is_dir() if outbound else None
    state = state_of(dates, now)
    if released is False and dates.is_released(now):
        state = "withdrawn" if lab in (releases(course.home) or ()) else "not released"
    grades: Mapping[str, LabGrade] = {}
    with suppress(ValueError):  # a lab that the gradebook does not know yet
        grades = LabGradebook(course.db_url, lab).grades()
    flags = {
        name: tuple(dict.fromkeys(flag.sentence for flag in line["flags"]))
        for name, line in GradedLog(course.home, lab).read().items()
        if line["flags"]
    }
    return LabOverview(
        lab, title_of(course.folder("release", lab)) or lab, state, dates.due,
        released, frozenset(students(course, lab)), _in_exchange(course, lab),
        frozenset(name for name in grades if course.work("autograded", name, lab).is_dir()),
        grades, flags, looks,
    )  # fmt: skip


def who_handed_in(course: Course, lab: str) -> frozenset[str]:
    """Return who handed in, whether it is collected or not."""
    return frozenset(students(course, lab)) | _in_exchange(course, lab)


def _in_exchange(course: Course, lab: str) -> frozenset[str]:
    """Return who handed in: nbgrader names their folders ``student+lab+time+random``."""
    outbound = outbound_of(course, lab)
    inbound = outbound.parent.parent / "inbound" if outbound else None
    try:
        names = [each.name.split("+") for each in inbound.iterdir()] if inbound else []
    except OSError:  # nobody has handed in, or we may not look
        names = []
    return frozenset(parts[0] for parts in names if len(parts) > 2 and parts[1] == lab)
