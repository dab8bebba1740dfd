"""``mlsys variant``: what a student saw in a lab, and the key to it."""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.table import Table

from mlsys_widgets.course.course import Course
from mlsys_widgets.files import LEDGER
from mlsys_widgets.grading.judging.student_view import student_view


def run(arguments: argparse.Namespace) -> int:
    """Print a student's parameters and questions, with keys and known beliefs."""
    course, student = Course.at(arguments.course), arguments.student
    work = course.root / "submitted" / student / arguments.lab
    ledger = work / LEDGER
    owner = course.people.worked_as(student, ledger.read_bytes() if ledger.is_file() else None)
    shown = student_view(
        course.folder("assignments", arguments.lab), owner,
        variants=course.variants, edition=course.edition, work=work if work.is_dir() else None,
    )  # fmt: skip
    table = Table("parameter", "value", "unit", "is", box=None, header_style="bold")
    for row in shown.parameters:
        table.add_row(*row)
    Console().print(table)
    for name, ask, key in shown.questions:
        print(f"\n{name}: {ask}\n  key: {key}")
        for belief in shown.beliefs.get(name, ()):
            print(f"    {belief}")
    return 0
