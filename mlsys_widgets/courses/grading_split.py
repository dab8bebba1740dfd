"""``mlsys course split``: who grades whose work by hand, fairly and without changing every day."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text
from sqlalchemy import Connection, select

from mlsys_widgets.course.course import Course
from mlsys_widgets.course.grading_shares import read_shares, shares_path
from mlsys_widgets.course.staff import StaffMember
from mlsys_widgets.courses.change_history import ChangeHistory
from mlsys_widgets.courses.student_rows import gradebook
from mlsys_widgets.files import write_whole
from mlsys_widgets.grading.gradebook import gradebook_schema as t
from mlsys_widgets.grading.patient_console import print_plain
from mlsys_widgets.wording.plurals import counted

#: Pages for TAs, below the course.
PAGES: str = "grading"


@dataclass(frozen=True)
class ManualWork:
    """A submission with parts that a person grades."""

    student: str
    notebook: str
    waiting: int  # how many cells still wait for a person


def split(
    work: Sequence[ManualWork],
    tas: Sequence[StaffMember],
    sections: Mapping[str, Sequence[str]],
    before: Mapping[str, str],
) -> dict[str, str]:
    """Assign submissions to TAs: by section first, then evenly.

    Whoever had a submission keeps it. Only when TAs come or go, submissions that still wait are
    moved, and no more than needed.
    """
    of_student = {name: section for section, those in sections.items() for name in those}
    everybody = [ta.name for ta in tas]

    def of_section(student: str) -> list[str]:
        section = of_student.get(student)
        return [ta.name for ta in tas if section and section in ta.sections]

    def fitting(student: str) -> list[str]:
        return of_section(student) or everybody

    load = {ta.name: 0 for ta in tas}
    assigned: dict[str, str] = {}
    for each in sorted(work, key=lambda one: one.student):
        if before.get(each.student) in fitting(each.student):
            assigned[each.student] = before[each.student]
            load[before[each.student]] += 1
    # Those of a section come first: others can still go to whoever has fewer then.
    for each in sorted(work, key=lambda one: (not of_section(one.student), one.student)):
        if each.student not in assigned:
            name = min(fitting(each.student), key=lambda ta: (load[ta], ta))
            assigned[each.student] = name
            load[name] += 1
    _even_out([each.student for each in work if each.waiting], assigned, load, fitting)
    return dict(sorted(assigned.items()))


def _even_out(
    open_ones: Sequence[str],
    assigned: dict[str, str],
    load: dict[str, int],
    fitting: Callable[[str], list[str]],
) -> None:
    """Move open submissions from who has more to who has at least two fewer."""
    for student in sorted(open_ones, reverse=True):
        has = assigned[student]
        least = min(fitting(student), key=lambda ta: (load[ta], ta))
        if load[has] - load[least] >= 2:
            assigned[student] = least
            load[has] -= 1
            load[least] += 1


def waiting_work(db: Connection, lab: str) -> list[ManualWork]:
    """Return the submissions of a lab that have cells for a person, graded or not."""
    by_hand = {
        row.id
        for table in (t.grade_cells, t.task_cells)
        for row in db.execute(select(table.c.id, table.c.cell_type))
        if table is t.task_cells or row.cell_type == "markdown"
    }
    query = (
        select(t.submitted_assignment.c.student_id, t.submitted_notebook.c.id, t.grade.c.cell_id,
               t.grade.c.needs_manual_grade, t.grade.c.manual_score)
        .where(
            t.assignment.c.name == lab,
            t.submitted_assignment.c.assignment_id == t.assignment.c.id,
            t.submitted_notebook.c.assignment_id == t.submitted_assignment.c.id,
            t.grade.c.notebook_id == t.submitted_notebook.c.id,
        )
    )  # fmt: skip
    counts: dict[tuple[str, str], int] = {}
    for student, notebook, cell, waits, manual in db.execute(query):
        if waits or manual is not None or cell in by_hand:
            key = (student, notebook)
            counts[key] = counts.get(key, 0) + bool(waits)
    return [ManualWork(student, notebook, n) for (student, notebook), n in sorted(counts.items())]


def run(arguments: argparse.Namespace) -> int:
    """Split the grading of a lab among TAs, and say who has what."""
    course, lab, console = Course.at(arguments.folder), arguments.lab, Console()
    tas = course.people.tas()
    if not tas:
        raise ValueError(
            "this course has no TAs; name them: mlsys course staff NAME --role ta [--section S]"
        )
    if not course.folder("assignments", lab).is_dir():
        raise ValueError(f"there is no lab {lab} in {course.root / 'assignments'}")
    with gradebook(course) as db:
        work = waiting_work(db, lab)
    gone = set(course.people.dropped)
    work = [each for each in work if each.student not in gone]
    path, before = shares_path(course.home, lab), read_shares(course.home, lab)
    assigned = split(work, tas, course.calendar.sections, before)
    path.parent.mkdir(exist_ok=True)
    if assigned != before:
        write_whole(path, json.dumps(assigned, indent=1) + "\n")
        names = ", ".join(ta.name for ta in tas)
        ChangeHistory(course.home).note(f"Grading {lab} by hand is split among {names}.")
    table = Table("TA", "sections", "submissions", "open", box=None, header_style="bold")
    for ta in tas:
        mine = [each for each in work if assigned[each.student] == ta.name]
        still = sum(1 for each in mine if each.waiting)
        table.add_row(Text(ta.name), Text(", ".join(ta.sections) or "–"), str(len(mine)),
                      str(still))  # fmt: skip
        page = course.home / PAGES / lab / f"{ta.name}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        write_whole(page, ta_page(ta.name, lab, mine))
    console.print(table)
    for ta in tas:
        mine = [each for each in work if assigned[each.student] == ta.name]
        print_plain(console, f"\n{ta.name}: {PAGES}/{lab}/{ta.name}.md in JupyterLab")
        for number, each in enumerate(mine, start=1):
            whose = each.student if arguments.names else f"submission {number}"
            state = counted(each.waiting, "cell") + " open" if each.waiting else "done"
            print_plain(console, f"  {whose}: {state}  {link(ta.name, each.notebook)}")
    if not work:
        print_plain(
            console, f"Nothing of {lab} waits for a person. Grade it first: mlsys grade {lab}"
        )
    return 0


def link(ta: str, notebook: str) -> str:
    """Return where a TA grades a submission on a hub; elsewhere, what follows the server's address.

    Examples
    --------
    >>> link("mia", "5f2e")
    '/user/mia/formgrader/submissions/5f2e/?index=0'
    """
    return f"/user/{ta}/formgrader/submissions/{notebook}/?index=0"


def ta_page(ta: str, lab: str, work: Sequence[ManualWork]) -> str:
    """Write a page with links to what a TA grades; it names nobody: grading stays blind."""
    still = sum(1 for each in work if each.waiting)
    lines = [
        f"# {lab}: for {ta}",
        "",
        f"{counted(len(work), 'submission')}, {still} open. `mlsys course split {lab}` brings this"
        " page up to date.",
        "",
    ]
    for number, each in enumerate(work, start=1):
        mark = " " if each.waiting else "x"
        lines.append(f"- [{mark}] [Submission {number}]({link(ta, each.notebook)})")
    return "\n".join([*lines, ""])
