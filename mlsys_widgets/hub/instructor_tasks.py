"""Enters students and releases labs with the instructor's own rights.

Run as ``python -m mlsys_widgets.hub.instructor_tasks COURSE``, with the class as JSON on standard
input; it prints what it did, as JSON. Root creates the course and hands it over. From then on its
gradebook and what it releases belong to its instructor.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlsys_widgets.files import OWN_FOLDER, RELEASED, write_whole

if TYPE_CHECKING:
    from mlsys_widgets.courses import RosterEntry


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
    added
        Students who are new in the gradebook.
    """

    released: list[str]
    changed: list[str]
    withdrawn: list[str]
    added: list[str]


def main(course: Path, students: list[RosterEntry]) -> TaskReport:
    """Enter students, and release the labs that were never released."""
    from mlsys_widgets.courses import enter_students
    from mlsys_widgets.hub.gradebook_upgrade import upgrade_gradebook
    from mlsys_widgets.labs.course import Course

    os.chdir(course)  # where nbgrader looks for its settings
    upgrade_gradebook(Course(course))
    added = enter_students(Course(course), students).added if students else ()
    return release_labs(course, added)


def release_labs(course: Path, added: Sequence[str] = ()) -> TaskReport:
    """Release labs that were never released.

    A lab that was released stays as it is, because students are working on it; one that was
    withdrawn stays withdrawn, because somebody decided that.

    Parameters
    ----------
    course
        The course.
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
        if (outbound / lab).is_dir():
            # By an earlier version, or in the formgrader: what is there was released some time.
            note_release(course, lab, (outbound / lab).stat().st_mtime)
            if _notebooks(folder) != _notebooks(outbound / lab):
                changed.append(lab)
        elif lab in (releases(course) or ()):
            withdrawn.append(lab)
        else:
            _release(NbGraderAPI(config=config), lab)
            note_release(course, lab)
            released.append(lab)
    return TaskReport(released, changed, withdrawn, list(added))


def releases(course: Path) -> dict[str, str] | None:
    """When labs were released first, by name; `None` if that file is not understood."""
    path = course / OWN_FOLDER / RELEASED
    try:
        said = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    except ValueError:
        return None
    return said if isinstance(said, dict) else None


def note_release(course: Path, lab: str, at: float | None = None) -> None:
    """Write down when a lab was released, the first time: no work on it is older.

    Parameters
    ----------
    course, lab
        Which lab of which course.
    at
        In seconds since 1970; now if omitted.
    """
    said = releases(course)
    if said is None or lab in said:
        return  # an instructor's own file, which grading complains about, or not the first time
    moment = datetime.now(UTC) if at is None else datetime.fromtimestamp(at, UTC)
    time = moment.isoformat(timespec="seconds").replace("+00:00", "Z")
    path = course / OWN_FOLDER / RELEASED
    path.parent.mkdir(exist_ok=True)
    write_whole(path, json.dumps({**said, lab: time}, indent=1) + "\n")


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
    from mlsys_widgets.courses import RosterEntry

    try:
        done = main(Path(sys.argv[1]), [RosterEntry(**each) for each in json.load(sys.stdin)])
    except (ValueError, OSError) as problem:
        sys.exit(str(problem))
    print(json.dumps(asdict(done)))
