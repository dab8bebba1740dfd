"""``mlsys build`` and ``mlsys course``: what they do, as seen from a terminal."""

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

from mlsys_widgets.authoring import Course, build
from mlsys_widgets.authoring.practice_copies import practice_copies
from mlsys_widgets.course.trial_accounts import note_trial_accounts
from mlsys_widgets.courses.bundle import default_name, pack
from mlsys_widgets.courses.change_history import ChangeHistory
from mlsys_widgets.courses.doctor import Finding, examine
from mlsys_widgets.courses.enrollment import enter_students
from mlsys_widgets.courses.freshness import stale_labs
from mlsys_widgets.courses.hub_link import HUB_NOT_RUNNING, HubLink, HubRequest
from mlsys_widgets.courses.new_course import init_course
from mlsys_widgets.courses.roster import hub_remarks, listed, read_roster
from mlsys_widgets.courses.settings_editor import SettingsEditor
from mlsys_widgets.grading.judging.advice import advise
from mlsys_widgets.grading.judging.shared_keys import CLASS, shared_keys
from mlsys_widgets.grading.patient_console import print_plain
from mlsys_widgets.wording.plurals import counted

_SIGNS: Final = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "problem": ("✗", "bold red")}


def run_build(arguments: argparse.Namespace) -> int:
    """Build labs, advise on their checks, and pack them if asked to."""
    console = Console()
    course = Course.at(arguments.course)
    bundling = arguments.bundle is not None
    with console.status("Building") as status:
        # A bundle holds all labs, so those that changed are built as well.
        labs = sorted({*arguments.labs, *stale_labs(course)}) if bundling else arguments.labs
        made = build(course, labs, say=status.update) if labs or not bundling else []
    if arguments.practice is not None:
        for lab in practice_copies(course, arguments.practice):
            made.append(arguments.practice / lab / f"{lab}.ipynb")
    for path in made:
        console.print(f"Wrote {path}", highlight=False)
    for lab in dict.fromkeys(path.parent.name for path in made):
        folder = course.folder("assignments", lab)
        for words in advise(folder, variants=course.variants, edition=course.edition):
            console.print(f"{lab}: {words}", style="yellow", highlight=False, markup=False)
        if course.variants:
            print_shared_keys(course, lab, console)
    if bundling:
        _write_bundle(course, arguments.bundle, console, people=not arguments.without_people)
    elif arguments.without_people:
        raise ValueError("--without-people is about a bundle; add --bundle")
    return 0


def print_shared_keys(course: Course, lab: str, console: Console) -> None:
    """Print the items whose answers a class could copy; nothing where there are none."""
    shared = shared_keys(course.folder("assignments", lab), edition=course.edition)
    columns = ("item", "different keys", "a neighbor's is accepted")
    table = Table(*columns, box=None, header_style="bold")
    for each in shared:
        if each.too_alike:
            such = each.example and f", such as {each.example[0]:.4g} for {each.example[1]:.4g}"
            table.add_row(each.item, f"{each.distinct}", f"{each.accepted:.0%}{such or ''}")
    if table.row_count:
        words = f"{lab}: in a class of {len(CLASS)}, some answers can be copied from others."
        console.print(words, style="yellow", highlight=False, markup=False)
        console.print(table, highlight=False)


def _write_bundle(course: Course, target: Path, console: Console, *, people: bool) -> None:
    """Pack a course, and say where the bundle is and what it is for."""
    if target == Path():
        target = course.root / "build" / default_name(course)
    path = pack(course, target, people=people)
    size = f"{path.stat().st_size / 1e3:,.0f} kB"
    print_plain(
        console, f"Packed {path}, {size}. It holds solutions and keys: for instructors only."
    )
    named = len(SettingsEditor(course.root).everybody()) if people else 0
    if named:
        print_plain(
            console,
            f"Its course.toml names {counted(named, 'person', 'people')}, with sections and"
            " extensions: for this class only. For another one, add --without-people.",
        )
    print_plain(console, f"To make a course from it: mlsys course init FOLDER --from {path}")


def run_init(arguments: argparse.Namespace) -> int:
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
        print_plain(console, words, style="yellow")
    course_id = Course(folder).course_id
    print_plain(console, f"Made {folder}: the course {course_id}. Its README.md says what is next.")
    print_plain(console, f"To check that nothing is missing: mlsys course doctor {folder}")
    return 0


def run_roster(arguments: argparse.Namespace) -> int:
    """Bring the gradebook up to date with a roster."""
    console = Console()
    students = read_roster(arguments.roster)
    course = Course.at(arguments.folder)
    link, remarks = HubLink.of_instructor(course.home), hub_remarks(students)
    if link.exists and remarks:
        raise ValueError("\n".join([*remarks, "So nobody was entered."]))
    for words in remarks:
        print_plain(console, words, style="yellow")
    done = enter_students(course, students)
    note_trial_accounts(course.home, (), enrolled=[each.id for each in students])
    words = f"{len(done.added)} added, {len(done.changed)} corrected, of {len(students)}."
    print_plain(console, words)
    if done.added or done.changed:
        ChangeHistory(course.home).note(f"A list of students is entered: {words}")
    if link.exists:
        _make_accounts(course, link, done.added, console)
    if done.missing:
        words = f"Not in this roster, and kept with all grades: {listed(done.missing, most=20)}."
        print_plain(console, words, style="yellow")
    return 0


def _make_accounts(course: Course, link: HubLink, names: Sequence[str], console: Console) -> None:
    """Let the hub make accounts for new students, and print their first passwords."""
    edit = SettingsEditor(course.root)
    for name in names:
        edit.mark(name, added=True)
    edit.write()
    reply = link.ask(HubRequest("follow", names))
    if reply is None:
        print_plain(console, HUB_NOT_RUNNING)
        return
    for words in reply.problems:
        print_plain(console, f"The hub says: {words}", style="yellow")
    if reply.passwords:
        print_plain(console, "Passwords until they change them:")
    for name, password in reply.passwords.items():
        print_plain(console, f"  {name}  {password}")


def run_doctor(arguments: argparse.Namespace) -> int:
    """Say what is wrong with a course and the machine it is on."""
    console = Console()
    with Console(stderr=True).status("Checking") as status:
        found = examine(arguments.folder, say=lambda about: status.update(f"Checking {about}"))
    if arguments.json:
        print(json.dumps([asdict(each) for each in found], indent=1, ensure_ascii=False))
    else:
        console.print(_table(found))
        for each in found:
            if each.fix:
                # On a line of its own, so that a command can be copied.
                sign, style = _SIGNS[each.level]
                print_plain(console, f"{sign} {each.about}: {each.fix}", style=style)
    return 1 if any(each.level == "problem" for each in found) else 0


def _table(found: Sequence[Finding]) -> Table:
    table = Table(box=None, show_header=False)
    for _ in range(3):
        table.add_column(overflow="fold")
    for each in found:
        sign, style = _SIGNS[each.level]
        table.add_row(Text(sign, style), Text(each.about), Text(each.said))
    return table
