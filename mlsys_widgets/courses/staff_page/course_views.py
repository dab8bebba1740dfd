"""What the pages about results and about the course itself show."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.authoring import labs_of
from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.staff_page.actions import FILES
from mlsys_widgets.files import ASKS, CHECKS, COURSE_SETTINGS, LAB_TEXT

#: The files of a lab that somebody fixes, and what each holds.
_TEXTS: Final = {
    LAB_TEXT: "the text, with solutions",
    ASKS: "questions and points",
    CHECKS: "keys, tolerances, beliefs; students never get it",
}


@dataclass(frozen=True)
class MadeFile:
    """A file that a command of the page has made."""

    name: str
    bytes: int
    time: datetime


def made_files(home: Path) -> list[MadeFile]:
    """Return the files that whoever runs this can read, the latest first."""
    found = []
    with suppress(OSError):  # nobody has made one yet
        for entry in os.scandir(home / FILES):
            about = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(about.st_mode) and os.access(entry, os.R_OK):
                at = datetime.fromtimestamp(about.st_mtime, UTC)
                found.append(MadeFile(entry.name, about.st_size, at))
    return sorted(found, key=lambda each: each.time, reverse=True)


def show_results(course: Course, _: str) -> dict[str, Any]:
    """What can be made of grades, and the files that were made."""
    tas = course.people.tas()
    return {"files": made_files(course.home), "lms": bool(course.lms), "tas": tas}


def show_course(course: Course, lab: str) -> dict[str, Any]:
    """How to fix a lab, and what concerns the course as a whole."""
    labs = labs_of(course)
    chosen = lab if lab in labs else next(iter(labs), "")
    texts = [(f"assignments/{chosen}/{name}", name, words) for name, words in _TEXTS.items()]
    settings = f"assignments/{COURSE_SETTINGS}"
    return {"chosen": chosen, "texts": texts if chosen else [], "settings": settings}
