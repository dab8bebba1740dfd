"""What a student is told, beside the feedback page: for labs that no hub tells about.

Put beside the notebook, it opens in the student's cards.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from mlsys_widgets.course.course import Course
from mlsys_widgets.grading.gradebook.graded_log import GradedLog
from mlsys_widgets.grading.judging.lab_copies import keys_of
from mlsys_widgets.grading.judging.scoring import Score
from mlsys_widgets.grading.telling.told_report import told_report
from mlsys_widgets.labs import load
from mlsys_widgets.labs.attempts import Attempts
from mlsys_widgets.notebooks.cell_metadata import cell_metadata, grade_id


def told_file(root: Path, lab: str, student: str, book: Any) -> bytes | None:
    """Return the file for a student whose feedback page is made; `None` if nothing was judged.

    Parameters
    ----------
    book
        The graded notebook with the points of the gradebook: what a person changed there holds.
    """
    try:
        course = Course.at(root)
        line = _graded(course.home, lab, GradedLog(course.home, lab).signature).get(student)
        if line is None:
            return None
        declared = load(keys_of(course, lab))
        points = {grade_id(cell): cell_metadata(cell).get("score") for cell in book.cells}
        scores = [_as_graded(Score.from_data(each), points) for each in line["scores"]]
        owner = course.people.worked_as(student, None)
        attempts = Attempts(declared, owner, course.edition, course.variants)
        dates = course.calendar.dates(lab, student)
        told = told_report(declared, student, scores, line["parameters"], attempts, dates, None)
    except (ValueError, OSError, TypeError, KeyError):  # a page without it is still a page
        return None
    return json.dumps(told).encode()


@lru_cache(maxsize=1)
def _graded(root: Path, lab: str, _signature: object) -> Mapping[str, Mapping[str, Any]]:
    """Read the log once for a class: feedback is made student by student."""
    return GradedLog(root, lab).read()


def _as_graded(score: Score, points: Mapping[str | None, Any]) -> Score:
    earned = points.get(score.name)
    if score.auto is None or not isinstance(earned, int | float):
        return score
    return replace(score, auto=float(earned))
