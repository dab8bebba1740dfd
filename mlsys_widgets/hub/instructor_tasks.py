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
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlsys_widgets.files import OWN_FOLDER, RELEASED, write_whole

if TYPE_CHECKING:
    from mlsys_widgets.courses import RosterEntry


@dataclass(frozen=True)
class TaskReport:
    """What was done: labs released now, labs that differ from what students have, new students."""

    released: list[str]
    changed: list[str]
    added: list[str]


def main(course: Path, students: list[RosterEntry]) -> TaskReport:
    """Enter students, and release the labs that were never released."""
    from mlsys_widgets.courses import enter_students
    from mlsys_widgets.labs.course import Course

    os.chdir(course)  # where nbgrader looks for its settings
    added = enter_students(Course(course), students).added if students else ()
    released, changed = release_labs(course)
    return TaskReport(released, changed, list(added))


def release_labs(course: Path) -> tuple[list[str], list[str]]:
    """Release labs that students cannot fetch yet; return them, and those rebuilt since.

    A lab that was released stays as it is, because students are working on it.
    """
    from nbgrader.apps import NbGrader
    from nbgrader.apps.api import NbGraderAPI

    app = NbGrader()
    app.load_config_file()
    config = app.config
    outbound = Path(config.Exchange.root) / config.CourseDirectory.course_id / "outbound"
    released, changed = [], []
    for folder in sorted((course / "release").glob("*/")):
        lab = folder.name
        if not (outbound / lab).is_dir():
            _release(NbGraderAPI(config=config), lab)
            note_release(course, lab)
            released.append(lab)
        elif _notebooks(folder) != _notebooks(outbound / lab):
            changed.append(lab)
    return released, changed


def note_release(course: Path, lab: str) -> None:
    """Write down when a lab was released, the first time: no work on it is older."""
    path = course / OWN_FOLDER / RELEASED
    try:
        said = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    except ValueError:
        said = None
    if not isinstance(said, dict):
        return  # an instructor's own file, which grading complains about
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    path.parent.mkdir(exist_ok=True)
    write_whole(path, json.dumps({lab: now, **said}, indent=1) + "\n")


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
