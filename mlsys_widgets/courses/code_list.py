"""``mlsys course codes``: the code that each student draws with on a page without a server."""

from __future__ import annotations

import argparse
import csv
import sys

from mlsys_widgets.course.course import Course
from mlsys_widgets.course.student_codes import code_of
from mlsys_widgets.courses.student_rows import gradebook, students


def run(arguments: argparse.Namespace) -> int:
    """Write login and code of the named students, or of everybody in the gradebook, as CSV."""
    course = Course.at(arguments.folder)
    if not course.draws_by_code:
        raise ValueError(
            "this course draws without codes; write student_codes = true at the top of"
            " assignments/course.toml (everybody's numbers change with it), and run: mlsys build"
        )
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(("login", "code"))
    for login in arguments.students or _everybody(course):
        table.writerow((login, code_of(course.edition, login)))
    return 0


def _everybody(course: Course) -> list[str]:
    with gradebook(course) as db:
        logins = list(students(db))
    if not logins:
        raise ValueError("nobody is in the gradebook; name the students: mlsys course codes LOGIN")
    return logins
