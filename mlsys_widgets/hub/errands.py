"""What is done for the instructor with the instructor's own rights: enter students, release labs.

Run as ``python -m mlsys_widgets.hub.errands COURSE``, with the class as JSON on standard input. It
prints, as JSON, what it did. Root makes the course and hands it over; from then on its gradebook
and what it releases belong to its instructor.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mlsys_widgets.courses import Student


@dataclass(frozen=True)
class Done:
    """What was done: labs that were released, labs that differ from what students have."""

    released: list[str]
    changed: list[str]
    added: list[str]


def main(course: Path, students: list[Student]) -> Done:
    """Enter students, and release the labs that were never released."""
    from mlsys_widgets.courses import enter_students

    os.chdir(course)  # where nbgrader looks for its settings
    added = enter_students(course, students).added if students else ()
    released, changed = release_labs(course)
    return Done(released, changed, list(added))


def release_labs(course: Path) -> tuple[list[str], list[str]]:
    """Release labs that students cannot fetch yet; say which ones were built anew since.

    A lab that was released stays as it is: students are working on it.
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
            released.append(lab)
        elif _notebooks(folder) != _notebooks(outbound / lab):
            changed.append(lab)
    return released, changed


def _release(api: Any, lab: str) -> None:
    api.log.setLevel(logging.CRITICAL)  # its words are in the answer
    answer = api.release_assignment(lab)
    if not answer["success"]:
        said = (answer.get("error") or answer.get("log") or "no reason given").strip().splitlines()
        raise ValueError(f"{lab} could not be released: {said[-1]}")


def _notebooks(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.ipynb")}


if __name__ == "__main__":
    # A parser of web addresses that jsonschema imports where it is installed takes two seconds.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    from mlsys_widgets.courses import Student

    try:
        done = main(Path(sys.argv[1]), [Student(**each) for each in json.load(sys.stdin)])
    except (ValueError, OSError) as problem:
        sys.exit(str(problem))
    print(json.dumps(asdict(done)))
