"""Enters students and releases labs with the instructor's own rights.

Run as ``python -m mlsys_widgets.hub.instructor_tasks COURSE``, with a `TaskList` as JSON on
standard input; it prints a `TaskReport`, as JSON. Root creates the course and hands it over. From
then on its gradebook and what it releases belong to its instructor.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class TaskList:
    """What there is to do.

    Parameters
    ----------
    students
        The class, to be entered.
    released
        Labs that were released before: they are not released again.
    """

    students: list[dict[str, str]]
    released: list[str]


@dataclass(frozen=True)
class TaskReport:
    """What was done, and what somebody should know.

    Parameters
    ----------
    released
        Labs that students can fetch now, and could not before.
    changed
        Labs that differ from what students have.
    withdrawn
        Labs that were released before and that students can no longer fetch.
    ever_released
        Labs that were released at any time, for the next start.
    added
        Students who are new in the gradebook.
    """

    released: list[str]
    changed: list[str]
    withdrawn: list[str]
    ever_released: list[str]
    added: list[str]


def main(course: Path, tasks: TaskList) -> TaskReport:
    """Enter students, and release the labs that were never released."""
    from mlsys_widgets.courses import RosterEntry, enter_students
    from mlsys_widgets.labs.course import Course

    os.chdir(course)  # where nbgrader looks for its settings
    students = [RosterEntry(**each) for each in tasks.students]
    added = enter_students(Course(course), students).added if students else ()
    return release_labs(course, tasks.released, added)


def release_labs(course: Path, before: Sequence[str] = (), added: Sequence[str] = ()) -> TaskReport:
    """Release labs that were never released.

    A lab that was released stays as it is, because students are working on it; one that was
    withdrawn stays withdrawn, because somebody decided that.

    Parameters
    ----------
    course
        The course.
    before
        Labs that were released earlier.
    added
        Students who were entered, for the report.
    """
    from nbgrader.apps import NbGrader
    from nbgrader.apps.api import NbGraderAPI

    app = NbGrader()
    app.load_config_file()
    config = app.config
    outbound = Path(config.Exchange.root) / config.CourseDirectory.course_id / "outbound"
    released, changed, withdrawn = [], [], []
    for folder in sorted((course / "release").glob("*/")):
        lab = folder.name
        if not (outbound / lab).is_dir() and lab in before:
            withdrawn.append(lab)
        elif not (outbound / lab).is_dir():
            _release(NbGraderAPI(config=config), lab)
            released.append(lab)
        elif _notebooks(folder) != _notebooks(outbound / lab):
            changed.append(lab)
    ever = sorted({*before, *(path.name for path in outbound.glob("*/"))})
    return TaskReport(released, changed, withdrawn, ever, list(added))


def _release(api: Any, lab: str) -> None:
    api.log.setLevel(logging.CRITICAL)  # the answer contains its messages
    answer = api.release_assignment(lab)
    if not answer["success"]:
        said = (answer.get("error") or answer.get("log") or "no reason given").strip().splitlines()
        raise ValueError(f"{lab} could not be released: {said[-1]}")


def _notebooks(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.ipynb")}


if __name__ == "__main__":
    # jsonschema imports a parser of web addresses where it is installed, which takes two seconds.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    try:
        done = main(Path(sys.argv[1]), TaskList(**json.load(sys.stdin)))
    except (ValueError, OSError) as problem:
        sys.exit(str(problem))
    print(json.dumps(asdict(done)))
