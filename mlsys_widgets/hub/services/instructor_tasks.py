"""Enters students and releases labs with the instructor's own rights.

Run as ``python -m mlsys_widgets.hub.services.instructor_tasks COURSE [TRIAL ACCOUNT …]``, with
the class as JSON on standard input; it prints what it did, as JSON. Root creates the
course and hands it over. From then on its gradebook and what it releases belong to its instructor.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mlsys_widgets.courses.first_releases import note_release, releases
from mlsys_widgets.files import OWN_FOLDER, held
from mlsys_widgets.wording.system_errors import error_sentence

if TYPE_CHECKING:
    from mlsys_widgets.courses import RosterEntry

#: Who releases labs holds this file, and others wait that many seconds: all labs of a course.
_RELEASING: Final = "releasing.lock"
_PATIENCE: Final = 300.0


@dataclass(frozen=True)
class TaskReport:
    """The result of entering students and releasing labs."""

    #: Labs that students can fetch now, and could not before.
    released: list[str]
    #: Labs that differ from what students have.
    changed: list[str]
    #: Labs that were released before and that students can no longer fetch.
    withdrawn: list[str]
    #: Students who are new in the gradebook.
    added: list[str]
    #: Labs that open later, each with the time.
    waiting: dict[str, str] = field(default_factory=dict)
    #: Why the calendar cannot be read, and nothing new was released; empty if it can.
    problem: str = ""


def main(course: Path, students: list[RosterEntry], trial: Sequence[str] = ()) -> TaskReport:
    """Enter students, and release the labs that were never released and whose time has come.

    The grades of `trial` accounts are nobody's.
    """
    from mlsys_widgets.course.course import Course
    from mlsys_widgets.course.trial_accounts import note_trial_accounts
    from mlsys_widgets.courses import enter_students
    from mlsys_widgets.hub.backup.gradebook_upgrade import upgrade_gradebook

    os.chdir(course)  # where nbgrader looks for its settings
    upgrade_gradebook(Course(course))
    added = enter_students(Course(course), students).added if students else ()
    note_trial_accounts(course, trial, enrolled=[e.id for e in students if e.id not in trial])
    return release_labs(course, added)


def release_labs(course: Path, added: Sequence[str] = ()) -> TaskReport:
    """Release labs that were never released and whose time has come.

    A lab that was released stays as it is, because students are working on it; one that was
    withdrawn stays withdrawn, because somebody decided that. Without a calendar that can be read,
    nothing new is released: a lab that comes too early cannot be taken back.
    """
    # When a hub starts, its course service does the same at the same time.
    busy = "labs are being released by somebody else; try again"
    with held(course / OWN_FOLDER / _RELEASING, busy, patience=_PATIENCE):
        return _release_labs(course, added)


def _release_labs(course: Path, added: Sequence[str]) -> TaskReport:
    from nbgrader.apps import NbGrader
    from nbgrader.apps.api import NbGraderAPI

    from mlsys_widgets.course.course import Course

    calendar, problem, now = None, "", datetime.now(UTC)
    try:
        calendar = Course.at(course).calendar
    except ValueError as why:
        problem = str(why)
    app = NbGrader()
    app.load_config_file()
    config = app.config
    outbound = Path(config.Exchange.root) / config.CourseDirectory.course_id / "outbound"
    released, changed, withdrawn = [], [], []
    waiting: dict[str, str] = {}
    for folder in sorted((course / "release").glob("*/")):
        lab = folder.name
        if (outbound / lab).is_dir():
            # In the formgrader: what is there was released some time.
            note_release(course, lab, (outbound / lab).stat().st_mtime)
            if _differs(folder, outbound / lab):
                changed.append(lab)
        elif lab in (releases(course) or ()):
            withdrawn.append(lab)
        elif calendar is None:
            continue
        elif not calendar.is_open(lab, now):
            opens = calendar.opens(lab)
            waiting[lab] = opens.isoformat() if opens else ""
        else:
            _release(NbGraderAPI(config=config), lab)
            note_release(course, lab)
            released.append(lab)
        _notice(course, lab)
    return TaskReport(released, changed, withdrawn, list(added), waiting, problem)


def _release(api: Any, lab: str) -> None:
    api.log.setLevel(logging.CRITICAL)  # the answer contains its messages
    answer = api.release_assignment(lab)
    if not answer["success"]:
        reason = (answer.get("error") or answer.get("log") or "no reason given").strip()
        raise ValueError(f"{lab} could not be released: {reason.splitlines()[-1]}")


def _differs(release: Path, outbound: Path) -> bool:
    """Whether what is built is another version than what students have."""
    from mlsys_widgets.course.lab_versions import version_in

    built, there = (version_in(each, release.name) for each in (release, outbound))
    return built is not None and built != there


def _notice(course: Path, lab: str) -> None:
    """Keep the version that students can fetch, whoever released it."""
    from mlsys_widgets.course.course import Course
    from mlsys_widgets.courses.lab_releases import notice_release

    with suppress(ValueError):  # of settings that the doctor complains about
        notice_release(Course.at(course), lab)


if __name__ == "__main__":
    from mlsys_widgets.courses import RosterEntry

    try:
        entries = [RosterEntry(**each) for each in json.load(sys.stdin)]
        done = main(Path(sys.argv[1]), entries, sys.argv[2:])
    except (ValueError, OSError) as problem:
        sys.exit(error_sentence(problem))
    print(json.dumps(asdict(done)))
