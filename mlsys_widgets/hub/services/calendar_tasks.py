"""Follows the calendar of the course with the instructor's own rights, while a hub runs.

Run as ``python -m mlsys_widgets.hub.services.calendar_tasks COURSE``, with names as JSON on
standard input: ``{"students": […], "trial": […]}``. It releases labs whose time has come, brings
the gradebook up to date, and prints everybody's own dates as JSON for the hub, which writes them
where each student finds them.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from mlsys_widgets.wording.system_errors import error_sentence


@dataclass(frozen=True)
class CalendarReport:
    """The result of following the calendar, for the hub."""

    #: Labs that students can fetch now, and could not before.
    released: list[str] = field(default_factory=list)
    #: When the next lab opens, in UTC; empty if none does.
    next: str = ""
    #: The dates of each student, as `OwnDates` writes them.
    dates: Mapping[str, str] = field(default_factory=dict)
    #: Why it could not be done, in a sentence; then the dates from before still hold.
    problem: str = ""


def main(course: Path, students: Sequence[str], trial: Sequence[str]) -> CalendarReport:
    """Do what is to be done now; `trial` accounts are there to try the course with."""
    from mlsys_widgets.course.course import Course
    from mlsys_widgets.course.own_dates import OwnDates
    from mlsys_widgets.course.trial_accounts import note_trial_accounts
    from mlsys_widgets.courses.calendar_sync import follow_calendar
    from mlsys_widgets.courses.lab_releases import lab_titles, withdrawn_labs
    from mlsys_widgets.hub.services.instructor_tasks import release_labs

    os.chdir(course)  # where nbgrader looks for its settings
    now = datetime.now(UTC)
    found = Course.at(course)
    calendar = found.calendar
    titles, gone = lab_titles(found), withdrawn_labs(found)
    dates = {name: OwnDates.of(calendar, titles, name, gone).as_text() for name in students}
    opens = calendar.next_release(now)
    following = opens.astimezone(UTC).isoformat() if opens else ""
    released: list[str] = []
    problem = ""
    try:
        note_trial_accounts(course, trial)
        # First, because a released lab brings its dates along.
        follow_calendar(found)
        released = release_labs(course).released
    except (ValueError, OSError) as why:  # dates are right even where a release fails
        problem = error_sentence(why)
    return CalendarReport(released, following, dates, problem)


if __name__ == "__main__":
    try:
        asked = json.load(sys.stdin)
        done = main(Path(sys.argv[1]), asked["students"], asked["trial"])
    except (ValueError, OSError) as why:
        done = CalendarReport(problem=error_sentence(why))
    print(json.dumps(asdict(done)))
