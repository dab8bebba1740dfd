"""``mlsys build --bundle`` and ``mlsys course``, seen from a terminal."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mlsys_widgets.authoring import Course
from mlsys_widgets.courses.bundle import default_name, pack
from mlsys_widgets.courses.doctor import Finding, examine
from mlsys_widgets.courses.enrolling import enter_students
from mlsys_widgets.courses.freshness import stale_labs
from mlsys_widgets.courses.making import init_course
from mlsys_widgets.courses.roster import hub_remarks, listed, read_roster

_SIGNS: Final = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "problem": ("✗", "bold red")}


def to_build(course: Course, named: Sequence[str]) -> list[str]:
    """Labs to build before all are packed: those that were named, and those that have changed."""
    return sorted({*named, *stale_labs(course)})


def write_bundle(course: Course, target: Path) -> int:
    """Pack a course, and say where and what for."""
    if target == Path():
        target = course.root / "build" / default_name(course.root)
    path = pack(course.root, target)
    size = f"{path.stat().st_size / 1e3:,.0f} kB"
    console = Console()
    _print(console, f"Packed {path}, {size}. It holds solutions and keys: for instructors only.")
    _print(console, f"A course from it: mlsys course init FOLDER --from {path}")
    return 0


def init(arguments: argparse.Namespace) -> int:
    """Make a course."""
    console = Console()
    remarks: list[str] = []
    with console.status("Making the course") as status:
        folder = init_course(
            arguments.folder,
            arguments.bundle,
            roster=arguments.roster,
            course_id=arguments.course_id,
            say=status.update,
            remark=remarks.append,
        )
    for words in remarks:
        _print(console, words, style="yellow")
    _print(
        console,
        f"Made {folder}: the course {Course(folder).course_id}. Its README.md says how to go on.",
    )
    _print(console, f"Is everything there that it needs? mlsys course doctor {folder}")
    return 0


def roster(arguments: argparse.Namespace) -> int:
    """Bring the gradebook up to date with a roster."""
    console = Console()
    students = read_roster(arguments.roster)
    Course.at(arguments.folder)
    for words in hub_remarks(students):
        _print(console, words, style="yellow")
    done = enter_students(arguments.folder, students)
    _print(console, f"{len(done.added)} added, {len(done.changed)} corrected, of {len(students)}.")
    if done.missing:
        words = f"Not in this roster, and kept with all grades: {listed(done.missing, most=20)}."
        _print(console, words, style="yellow")
    return 0


def doctor(arguments: argparse.Namespace) -> int:
    """Say what is wrong with a course and the machine it is on."""
    console = Console()
    with Console(stderr=True).status("Looking") as status:
        found = examine(arguments.folder, say=lambda about: status.update(f"Looking at {about}"))
    if arguments.json:
        print(json.dumps([asdict(each) for each in found], indent=1, ensure_ascii=False))
    else:
        console.print(_table(found))
        for each in found:
            if each.mend:
                # On a line of its own, so that what is to be typed can be copied.
                sign, style = _SIGNS[each.level]
                _print(console, f"{sign} {each.about}: {each.mend}", style=style)
    return 1 if any(each.level == "problem" for each in found) else 0


def _table(found: Sequence[Finding]) -> Table:
    table = Table(box=None, show_header=False)
    for _ in range(3):
        table.add_column(overflow="fold")
    for each in found:
        sign, style = _SIGNS[each.level]
        table.add_row(Text(sign, style), Text(each.about), Text(each.said))
    return table


def _print(console: Console, words: str, *, style: str | None = None) -> None:
    console.print(words, style=style, highlight=False, markup=False, soft_wrap=True)
