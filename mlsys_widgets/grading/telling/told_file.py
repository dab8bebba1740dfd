"""What a student is told, as a file: for labs that no hub tells about.

Put beside the notebook, it opens in the student's cards. ``mlsys grade --from`` writes it when what
was mailed is judged, and the feedback page has it beside it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.course.course import Course
from mlsys_widgets.files import TOLD, lay_out
from mlsys_widgets.grading.gradebook.graded_log import GradedLog
from mlsys_widgets.grading.gradebook.lab_grades import LabGrade
from mlsys_widgets.grading.judging.lab_copies import keys_of
from mlsys_widgets.grading.judging.scoring import Score
from mlsys_widgets.grading.telling.told_report import told_report
from mlsys_widgets.labs import load
from mlsys_widgets.labs.attempts import Attempts

#: Where the files lie, beside ``submitted`` and ``feedback``.
FILES: Final = "told"


def told_file(root: Path, lab: str, student: str, points: Mapping[str, float]) -> bytes | None:
    """Return the file for a student whose work is graded; `None` if nothing was judged.

    Parameters
    ----------
    points
        Those of the gradebook, by the name of the cell: what a person changed there holds.
    """
    try:
        course = Course.at(root)
        line = _graded(course.home, lab, GradedLog(course.home, lab).signature).get(student)
        if line is None:
            return None
        declared = load(keys_of(course, lab))
        scores = [_as_graded(Score.from_data(each), points) for each in line["scores"]]
        owner = course.people.worked_as(student, None)
        attempts = Attempts(declared, owner, course.edition, course.variants)
        dates = course.calendar.dates(lab, student)
        told = told_report(declared, owner, scores, line["parameters"], attempts, dates, None)
    except (ValueError, OSError, TypeError, KeyError):  # a page without it is still a page
        return None
    return json.dumps(told).encode()


def write_told_files(course: Course, lab: str, grades: Mapping[str, LabGrade]) -> Path | None:
    """Write the files of students who handed in without a hub; return where one of them is."""
    written = None
    for student, grade in grades.items():
        if content := told_file(course.root, lab, student, grade.earned_by_cell):
            folder = course.work(FILES, student, lab)
            lay_out(folder, {TOLD: content}, mode=course.permissions)
            written = folder / TOLD
    return written


@lru_cache(maxsize=1)
def _graded(root: Path, lab: str, _signature: object) -> Mapping[str, Mapping[str, Any]]:
    """Read the log once for a class: feedback is made student by student."""
    return GradedLog(root, lab).read()


def _as_graded(score: Score, points: Mapping[str, float]) -> Score:
    earned = points.get(score.name)
    return score if score.auto is None or earned is None else replace(score, auto=earned)
