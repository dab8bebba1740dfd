"""The folders of a course: closed to students, and with room for their work."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.doctor.finding import Finding, ok, problem, warning
from mlsys_widgets.courses.people_moves import STEPS
from mlsys_widgets.files import OWN_FOLDER

#: What holds keys, solutions and grades.
_SECRET: Final = ("assignments", "source", *STEPS, OWN_FOLDER)
#: Bytes: below the first a class will run out of room, below the second anything will.
_ROOMY, _TIGHT = 1_000_000_000, 100_000_000
_FEW_FILES: Final = 10_000


def privacy(course: Course) -> Iterator[Finding]:
    """Whether others on this machine can read keys, solutions or grades."""
    root = course.home
    if not root.stat().st_mode & stat.S_IRWXO:
        yield ok("privacy", "the course is closed to others")
        return
    gradebook = course.gradebook
    places = [root / name for name in _SECRET] + ([gradebook] if gradebook else [])
    # Whoever may pass through a folder can read the files in it whose names they know.
    open_ones = [
        each for each in places
        if each.exists() and each.stat().st_mode & (stat.S_IROTH | stat.S_IXOTH)
    ]  # fmt: skip
    if open_ones:
        names = ", ".join(str(each.relative_to(root)) for each in open_ones)
        yield problem("privacy", f"others on this machine can read {names}", f"chmod o-rwx {root}")
    else:
        yield ok("privacy", "everything secret is closed to others")


def disk(course: Course) -> Iterator[Finding]:
    """Whether there is room for the work of a class, here and for temporary files."""
    tight = []
    temporary = Path(tempfile.gettempdir())
    for about, folder in (("the course", course.home), ("temporary files", temporary)):
        held = os.statvfs(folder)
        free = held.f_bavail * held.f_frsize
        files_left = held.f_favail if held.f_files else _FEW_FILES
        if free < _TIGHT or files_left < _FEW_FILES // 100:
            yield problem(
                "disk",
                f"{free / 1e6:,.0f} MB and {files_left:,} files are left for {about}",
                f"free some space on the disk of {folder.resolve()}",
            )
            tight.append(about)
        elif free < _ROOMY or files_left < _FEW_FILES:
            yield warning(
                "disk",
                f"{free / 1e6:,.0f} MB are left for {about}",
                f"a class of 100 submits 100 MB per lab; free some space at {folder.resolve()}",
            )
            tight.append(about)
    if not tight:
        held = os.statvfs(course.home)
        free = held.f_bavail * held.f_frsize
        yield ok("disk", f"{free / 1e9:,.0f} GB are left")
