"""The secret of a course: part of every draw, so that nobody outside can tell who has what.

It is generated once, when a course is made, and stays in its ``course.toml``. Whoever has a
notebook of the course has it too, because the notebook must draw.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from typing import Final

from mlsys_widgets.authoring.redraw import redraw
from mlsys_widgets.course.course import Course
from mlsys_widgets.files import COURSE_SETTINGS, write_whole

_REMARK: Final = (
    "# Part of every draw, and known to this course alone. It was generated when the course was"
    " made;\n# with another one, everybody's numbers change.\n"
)
_LINES: Final = re.compile(rf"(?:{re.escape(_REMARK)})?^secret\s*=.*\n+", re.M)


def give_secret(course: Course, labs: Sequence[str]) -> Course:
    """Give a course a secret, if it has none, and return it as it reads then.

    A course that was moved has one, and keeps it: its students keep their numbers.
    """
    path = course.root / "assignments" / COURSE_SETTINGS
    text = path.read_text("utf-8") if path.is_file() else ""
    if _LINES.search(text):
        return Course.at(course.root)
    # Before the first table, or the line would belong to that.
    write_whole(path, f'{_REMARK}secret = "{secrets.token_hex(16)}"\n\n{text}')
    changed = Course.at(course.root)
    for lab in labs:
        redraw(changed, lab)
    return changed


def without_secret(settings: str) -> str:
    """The settings of a course without its secret, for another class: that one gets its own."""
    return _LINES.sub("", settings)
