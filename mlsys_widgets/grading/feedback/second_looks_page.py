"""What the feedback page says about second looks: how to ask for one, and what was answered."""

from __future__ import annotations

import html
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mlsys_widgets.course.course import Course
from mlsys_widgets.course.exchange_place import BOX
from mlsys_widgets.grading.feedback.second_looks import SecondLook, SecondLooks

_HOW = (
    "Does something look wrong? Press <b>Ask for a second look…</b> above this page in JupyterLab."
    " Somebody who teaches will read it."
)


def second_looks_of(config: Any, lab: str, student: str) -> str:
    """Return the paragraph for a student's page; empty if there is nothing to say."""
    try:
        looks = SecondLooks(Course.at(course_folder(config)))
        exchange = looks.exchange()
        mine = [each for each in looks.read() if (each.lab, each.student) == (lab, student)]
    except (ValueError, OSError, TypeError):  # a page without this paragraph is still a page
        return ""
    return as_html(mine, offered=exchange is not None and (exchange / BOX).is_dir())


def course_folder(config: Any) -> Path:
    """Return the folder of the course that nbgrader's settings name; otherwise this one."""
    return Path(str(config.get("CourseDirectory", {}).get("root", "") or Path.cwd()))


def as_html(looks: Iterable[SecondLook], *, offered: bool) -> str:
    """Return the paragraph; whatever a student wrote is text in it."""
    parts = [f"<p>{_HOW}</p>"] if offered else []
    for each in looks:
        answer = _text(each.answer) if each.answer is not None else "<i>not answered yet</i>"
        parts.append(
            f"<p>You asked about <code>{_text(each.question)}</code>:"
            f" <q>{_text(each.words)}</q><br><b>Answer:</b> {answer}</p>"
        )
    return "".join(parts)


def _text(words: str) -> str:
    return html.escape(words).replace("\n", "<br>")
