"""``mlsys course versions``, ``release`` and ``withdraw``: which versions of a lab there are.

Who has which copy is read from what was handed in and, on a hub, from what the hub notes of homes.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mlsys_widgets.course.copy_notes import UNSTAMPED, copies_beside, read_copies
from mlsys_widgets.course.course import Course
from mlsys_widgets.course.kept_versions import kept_versions
from mlsys_widgets.course.lab_versions import stamp_in, version_in
from mlsys_widgets.courses.change_history import ChangeHistory
from mlsys_widgets.courses.hub_link import HubLink
from mlsys_widgets.courses.lab_releases import (
    check_lab,
    note_version,
    notice_release,
    release_lab,
    withdraw_lab,
)
from mlsys_widgets.courses.roster import listed
from mlsys_widgets.files import open_regular
from mlsys_widgets.grading.patient_console import print_plain
from mlsys_widgets.grading.reading.submissions import students
from mlsys_widgets.wording.local_time import local_time
from mlsys_widgets.wording.plurals import counted

#: Bytes at the end of a notebook in which its stamp is looked for.
_TAIL: Final = 8 << 20


@dataclass(frozen=True)
class VersionRow:
    """One version of a lab, and who has it."""

    #: Its name; empty for copies that do not say what they are.
    version: str
    built: str = ""
    released: tuple[str, ...] = ()
    note: str = ""
    present: bool = False
    #: Whether this is what students can fetch.
    fetched: bool = False
    #: Whether the course keeps it, so that its copies are judged with their own questions.
    known: bool = True
    #: Whose submission is such a copy, and who has one in their home.
    submitted: list[str] = field(default_factory=list)
    homes: list[str] = field(default_factory=list)


def version_rows(course: Course, lab: str) -> list[VersionRow]:
    """Return every version that is kept or that somebody has, the latest last."""
    fetched = notice_release(course, lab)
    present = version_in(course.folder("release", lab), lab)
    submitted: dict[str, list[str]] = defaultdict(list)
    for student in students(course, lab):
        path = course.work("submitted", student, lab) / f"{lab}.ipynb"
        submitted[_stamp_at(path) or UNSTAMPED].append(student)
    homes: dict[str, list[str]] = defaultdict(list)
    for student, version in read_copies(copies_beside(course.home)).get(lab, {}).items():
        homes[version].append(student)
    kept = {each.version: each for each in kept_versions(course.root, lab)}
    unknown = sorted(({*submitted, *homes} - kept.keys()) - {UNSTAMPED})
    unstamped = [UNSTAMPED] if UNSTAMPED in {*submitted, *homes} else []
    rows = []
    for version in (*unstamped, *unknown, *kept):
        about = kept.get(version)
        rows.append(
            VersionRow(
                version,
                about.built if about else "",
                about.released if about else (),
                about.note if about else "",
                present=version == present,
                fetched=version == fetched,
                known=about is not None,
                submitted=sorted(submitted[version]),
                homes=sorted(homes[version]),
            )
        )
    return rows


def _stamp_at(path: Path) -> str | None:
    """Read the stamp of a handed-in notebook; no link is followed, and nothing is parsed."""
    try:
        with open_regular(path) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
            return stamp_in(file.read(_TAIL))
    except OSError:
        return None


def run_versions(arguments: argparse.Namespace) -> int:
    """List the versions of a lab, and who has which copy."""
    course = Course.at(arguments.folder)
    check_lab(course, arguments.lab)
    rows = version_rows(course, arguments.lab)
    if arguments.json:
        print(json.dumps([asdict(each) for each in rows], indent=1, ensure_ascii=False))
        return 0
    console = Console()
    if not rows:
        print_plain(console, f"{arguments.lab} is not built yet: mlsys build {arguments.lab}")
        return 0
    console.print(_table(rows, course))
    _say_who_has_old_copies(console, rows)
    return 0


def _table(rows: Iterable[VersionRow], course: Course) -> Table:
    table = Table(box=None)
    for name in ("version", "released", "homes", "handed in", "what changed"):
        table.add_column(name, overflow="fold")
    for each in rows:
        released = [local_time(time, course.calendar.zone) for time in each.released[-1:]]
        words = "".join(released) or ("built, never released" if each.known else "unknown here")
        if not each.version:
            words = "says nothing"
        name = each.version or "(no stamp)"
        marks = " ←" if each.fetched else ""
        table.add_row(
            Text(f"{name}{marks}"), Text(words), str(len(each.homes)), str(len(each.submitted)),
            Text(each.note),
        )  # fmt: skip
    return table


def _say_who_has_old_copies(console: Console, rows: list[VersionRow]) -> None:
    """Name whoever has not got what students can fetch now."""
    if not any(each.fetched for each in rows):
        print_plain(console, "The exchange does not have this lab.")
    for each in rows:
        if each.fetched:
            continue
        name = f"version {each.version}" if each.version else "a copy without a stamp"
        for who, where in ((each.homes, "In their homes"), (each.submitted, "Handed in")):
            if who:
                people = counted(len(who), "student")
                print_plain(console, f"{where}, {name}: {people}: {listed(who, most=20)}.")


def run_release(arguments: argparse.Namespace) -> int:
    """Release a lab, or note that a version was handed out."""
    console = Console()
    course = Course.at(arguments.folder)
    HubLink.of_instructor(course.home)
    lab = arguments.lab
    if arguments.version is not None:
        check_lab(course, lab)
        noted = note_version(course, lab, arguments.version, arguments.note)
        print_plain(console, f"Noted: students have version {noted.version} of {lab}.")
        return 0
    done = release_lab(course, lab, note=arguments.note)
    version = done.version.version
    undo = () if done.place is None or done.before else ("withdraw", lab)
    ChangeHistory(course.home).note(f"{lab} is released, version {version}.", *undo)
    if done.place is None:
        folder = course.folder("release", lab)
        print_plain(console, f"Noted version {version}. There is no exchange: hand out {folder}.")
    elif done.before is None:
        print_plain(console, f"Released {lab}, version {version}.")
    elif done.before == version:
        print_plain(console, f"Released {lab} again: it is version {version}, as before.")
    else:
        print_plain(
            console,
            f"Released {lab}, version {version}; it was {done.before}. Everybody who has the old"
            f" copy is told in the Lab panel. To see who that is: mlsys course versions {lab}",
        )
    return 0


def run_withdraw(arguments: argparse.Namespace) -> int:
    """Let nobody fetch a lab any more."""
    course, lab = Course.at(arguments.folder), arguments.lab
    check_lab(course, lab)
    withdraw_lab(course, lab)
    words = f"{lab} is withdrawn; copies that students have and what they handed in stay."
    ChangeHistory(course.home).note(words, "release", lab)
    print_plain(Console(), words)
    return 0
