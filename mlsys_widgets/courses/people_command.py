"""``mlsys course people`` and the commands that change who is in a course, while it runs.

Each of them changes the gradebook, ``course.toml`` and folders. On a hub they wait until the hub
has followed: accounts are root's.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mlsys_widgets.course.course import Course
from mlsys_widgets.course.staff import CoursePeople, OtherNames, StaffMember
from mlsys_widgets.courses.change_history import ChangeHistory
from mlsys_widgets.courses.enrollment import enter_students
from mlsys_widgets.courses.hub_link import HUB_NOT_RUNNING, HubLink, HubReply, HubRequest
from mlsys_widgets.courses.people_moves import (
    MERGED,
    exchange_of,
    labs_with_work,
    move_inbound,
    move_work,
    rename_in_records,
    set_work_aside,
)
from mlsys_widgets.courses.plain_terminal import agreed
from mlsys_widgets.courses.roster import RosterEntry, hub_remarks, login_problem
from mlsys_widgets.courses.settings_editor import SettingsEditor
from mlsys_widgets.courses.student_rows import (
    gradebook,
    move_submission,
    remove_student,
    remove_submission,
    rename_student,
    rows_of,
    students,
    submissions,
)
from mlsys_widgets.files import write_whole
from mlsys_widgets.grading.patient_console import print_plain
from mlsys_widgets.wording.plurals import counted


def run_people(arguments: argparse.Namespace) -> int:
    """Show everybody: who teaches, who studies, in which section, and how they stand."""
    course, console = Course.at(arguments.folder), Console()
    status = HubLink(course.home).status()
    table = Table(
        "login", "name", "role", "section", "labs", "standing", "", box=None, header_style="bold"
    )
    for each in people_of(course, status):
        table.add_row(*map(Text, astuple(each)))
    console.print(table)
    for words in status.problems if status else ():
        print_plain(console, f"The hub says: {words}")
    return 0


@dataclass(frozen=True)
class Person:
    """Somebody in the course, in words: who they are, with how many labs, and how they stand."""

    login: str
    name: str
    role: str
    section: str
    labs: str
    standing: str
    remark: str


def people_of(course: Course, status: HubReply | None) -> Iterator[Person]:
    """Yield everybody in the course: first who teaches, then who studies."""
    people, calendar = course.people, course.calendar
    owner = _owner(course)
    first = {owner: StaffMember(owner, "instructor")} if owner else {}
    for name, member in sorted({**first, **people.staff}.items()):
        remark = "owns the course" if name == owner else ""
        sections = ", ".join(member.sections)
        yield Person(name, "", member.role, sections, "", _on_hub(status, name), remark)
    with gradebook(course) as db:
        for name, row in students(db).items():
            full = f"{row['first_name']} {row['last_name']}".strip()
            section = calendar.section(name) or ""
            count = str(len(submissions(db, name)))
            standing = standing_of(people, name) or _on_hub(status, name) or "active"
            yield Person(name, full, "student", section, count, standing, _remark(course, name))


def _owner(course: Course) -> str:
    """Return who owns the course's folder: its first instructor, whom no setting names."""
    try:
        return course.home.owner()
    except (KeyError, OSError):  # a number without a name, as in a container
        return ""


def standing_of(people: CoursePeople, name: str) -> str:
    """Whether a student is dropped or locked, in a word; empty if not.

    Examples
    --------
    >>> standing_of(CoursePeople(locked=("ada",)), "ada")
    'locked'
    """
    if name in people.dropped:
        return "dropped"
    return "locked" if name in people.locked else ""


def _remark(course: Course, name: str) -> str:
    other = course.people.names.get(name)
    remarks = [f"before: {', '.join(filter(None, (other.numbers, *other.also)))}"] if other else []
    longer = sum(1 for each in course.calendar.extensions if each.student == name)
    remarks += [counted(longer, "extension")] if longer else []
    return "; ".join(remarks)


def run_add(arguments: argparse.Namespace) -> int:
    """Add a student, or take back one who was dropped."""
    course = _course(arguments)
    name = arguments.student
    _check_new_login(course, name)
    first, _, last = (arguments.name or "").strip().rpartition(" ")
    entry = RosterEntry(name, first or "", last or "", arguments.email or "")
    _refuse_staff(course, name)
    section = course.calendar.section(name)
    edit = SettingsEditor(course.root)
    edit.mark(name, added=HubLink(course.home).exists, locked=False, dropped=False)
    if arguments.section:
        edit.put_into(name, arguments.section)
    edit.write()
    done = enter_students(course, [entry])
    if done.added or standing_of(course.people, name):
        words = f"{name} is {'added' if done.added else 'in the course again'}."
        return _done(course, name, words, "drop", name)
    # They were here all the time.
    words = f"{name} is in the section {arguments.section}." if arguments.section \
        else f"{name} is in the course."  # fmt: skip
    return _done(course, name, words, *(["add", name, f"--section={section}"] if section else []))


def run_drop(arguments: argparse.Namespace) -> int:
    """Let a student leave: no login, no section; work and grades are kept."""
    course = _course(arguments)
    _check_known(course, arguments.student)
    section = course.calendar.section(arguments.student)
    back = ["add", arguments.student, *([f"--section={section}"] if section else [])]
    edit = SettingsEditor(course.root)
    edit.take_out(arguments.student)
    edit.mark(arguments.student, locked=False, dropped=True)
    edit.write()
    words = f"{arguments.student} is dropped; work and grades are kept."
    return _done(course, arguments.student, words, *back)


def run_lock(arguments: argparse.Namespace) -> int:
    """Let a student not log in for now."""
    return _set_locked(arguments, locked=True)


def run_unlock(arguments: argparse.Namespace) -> int:
    """Let a student log in again."""
    return _set_locked(arguments, locked=False)


def _set_locked(arguments: argparse.Namespace, *, locked: bool) -> int:
    course, name = _course(arguments), arguments.student
    _check_known(course, name)
    if name in course.people.dropped:
        raise ValueError(f"{name} was dropped; take them back first: mlsys course add {name}")
    edit = SettingsEditor(course.root)
    edit.mark(name, locked=locked)
    edit.write()
    back = ("unlock" if locked else "lock", name)
    return _done(course, name, f"{name} is {'locked' if locked else 'unlocked'}.", *back)


def run_staff(arguments: argparse.Namespace) -> int:
    """Let somebody teach, or no longer."""
    course, name = _course(arguments), arguments.name
    if problem := login_problem(name):
        raise ValueError(problem)
    _refuse_foreign_login(course, name)
    with gradebook(course) as db:
        if name in students(db) and not arguments.remove:
            raise ValueError(
                f"{name} is a student of this course; somebody who teaches needs another login"
            )
    edit = SettingsEditor(course.root)
    member = None
    if not arguments.remove:
        if arguments.role is None:
            raise ValueError("give a role: --role instructor or --role ta")
        member = StaffMember(name, arguments.role, tuple(arguments.section))
    elif name not in course.people.staff:
        raise ValueError(f"{name} does not teach in this course; mlsys course people shows who")
    edit.set_staff(name, member)
    edit.write()
    what = f"is now {'an instructor' if member.role == 'instructor' else 'a TA'}" if member \
        else "no longer teaches"  # fmt: skip
    before = course.people.staff.get(name)
    back = ["--remove"] if before is None else [f"--role={before.role}"]
    back += [f"--section={each}" for each in before.sections] if before else []
    return _done(course, name, f"{name} {what}.", "staff", name, *back)


def run_rename(arguments: argparse.Namespace) -> int:
    """Give a student another login; all work stays valid, with the same numbers."""
    course, old, new = _course(arguments), arguments.old, arguments.new
    known = course.people.names.get(new)
    before = course.people.names.get(old, OtherNames())
    resumed = known is not None and old == known.numbers
    if not resumed:
        _check_known(course, old)
        _check_new_login(course, new)
        _refuse_staff(course, new)
        with gradebook(course) as db:
            if new in students(db):
                raise ValueError(
                    f"{new} is somebody else in this course; if they are one person:"
                    f" mlsys course merge {old} {new}"
                )
        edit = SettingsEditor(course.root)
        edit.rename(old, new)
        names = edit.names()
        names.pop(old, None)
        names[new] = replace(before, numbers=before.numbers or old)
        edit.set_names(names)
        edit.write()
    with gradebook(course, write=True) as db:
        rename_student(db, old, new)
    for lab in labs_with_work(course, old):
        move_work(course, old, new, lab)
    rename_in_records(course, old, new)
    console = Console()
    link = HubLink(course.home)
    exchange = exchange_of(course)
    if exchange is not None and not link.exists:
        _try_exchange(console, exchange, old, new)
    whose = before.numbers or old
    words = f"{old} is now {new}. Their numbers stay those of {whose}, so what they committed"
    return _done(course, new, f"{words} stays valid.")


def run_merge(arguments: argparse.Namespace) -> int:
    """Make one student of two logins of the same person; says first what happens to each lab."""
    course, gone, stays = _course(arguments), arguments.source, arguments.into
    console = Console()
    known = course.people.names.get(stays, OtherNames())
    if gone == stays:
        raise ValueError("these are the same login; name two")
    resumed = gone in known.also
    for name in () if resumed else (gone, stays):
        _check_known(course, name)
    plan = _merge_plan(course, gone, stays)
    print_plain(console, f"{gone} becomes {stays}:")
    for lab, moves in sorted(plan.items()):
        words = (
            f"the work of {gone} moves to {stays}" if moves
            else f"the work of {stays} counts; that of {gone} is kept in {MERGED}/{gone}/{lab}"
        )  # fmt: skip
        print_plain(console, f"  {lab}: {words}")
    if not plan:
        print_plain(console, "  no lab has work of either login that would move")
    if not arguments.yes and not agreed("Merge them? Type yes: "):
        print_plain(console, "Nothing was changed.")
        return 1
    if not resumed:
        edit = SettingsEditor(course.root)
        section = course.calendar.section(gone)
        if section and course.calendar.section(stays) is None:
            edit.put_into(stays, section)
        edit.take_out(gone)
        edit.rename(gone, stays)
        names = edit.names()
        theirs = names.pop(gone, OtherNames())
        also = dict.fromkeys((*known.also, gone, *filter(None, (theirs.numbers, *theirs.also))))
        names[stays] = replace(known, also=tuple(also))
        edit.set_names(names)
        people = course.people
        edit.mark(gone, dropped=True)
        edit.mark(stays, locked=stays in people.locked, dropped=stays in people.dropped)
        edit.write()
    _merge(course, gone, stays, plan)
    link, exchange = HubLink(course.home), exchange_of(course)
    if link.exists:
        moved = [lab for lab, moves in plan.items() if moves]
        if link.ask(HubRequest("merge", [gone], into=stays, labs=moved)) is None:
            raise ValueError(
                "the hub does not answer, so what was handed in is not moved in the exchange; start"
                f" it and run this again: mlsys course merge {gone} {stays}"
            )
    elif exchange is not None:
        _try_exchange(console, exchange, gone, stays, plan)
    return _done(course, stays, f"{gone} is now {stays}.")


def _merge_plan(course: Course, gone: str, stays: str) -> dict[str, bool]:
    """For every lab with work of the login that goes: whether it moves, or loses."""
    with gradebook(course) as db:
        theirs, ours = submissions(db, gone), submissions(db, stays)
    mine = {*ours, *labs_with_work(course, stays)}
    return {lab: lab not in mine for lab in sorted({*theirs, *labs_with_work(course, gone)})}


def _merge(course: Course, gone: str, stays: str, plan: Mapping[str, bool]) -> None:
    aside = course.home / MERGED / gone
    with gradebook(course, write=True) as db:
        kept = rows_of(db, gone)
        if kept["student"]:
            aside.mkdir(parents=True, exist_ok=True)
            text = json.dumps(kept, indent=1, ensure_ascii=False, default=str) + "\n"
            write_whole(aside / "gradebook.json", text)
        for lab, submission in submissions(db, gone).items():
            if plan.get(lab, False):
                move_submission(db, submission, stays)
            else:
                remove_submission(db, submission)
        remove_student(db, gone)
    for lab, moves in plan.items():
        if moves:
            move_work(course, gone, stays, lab)
        else:
            set_work_aside(course, gone, lab)
    moved = [lab for lab, moves in plan.items() if moves]
    if moved:
        rename_in_records(course, gone, stays, moved)


# What all of them do.


def _course(arguments: argparse.Namespace) -> Course:
    course = Course.at(arguments.folder)
    HubLink.of_instructor(course.home)
    return course


def _check_known(course: Course, name: str) -> None:
    with gradebook(course) as db:
        known = students(db)
    if name not in known:
        raise ValueError(
            f"there is no student {name} in this course; mlsys course people shows who there is"
        )


def _check_new_login(course: Course, name: str) -> None:
    if problem := login_problem(name):
        raise ValueError(problem)
    if HubLink(course.home).exists and (remarks := hub_remarks([RosterEntry(name)])):
        raise ValueError(remarks[0])
    _refuse_foreign_login(course, name)
    owner = course.people.login_of(name)
    if owner != name:
        raise ValueError(
            f"{name} is an earlier name of {owner}, whose numbers are drawn from it; choose"
            " another login"
        )


def _refuse_staff(course: Course, name: str) -> None:
    if name in course.people.staff:
        raise ValueError(f"{name} teaches in this course; a student needs another login")


def _refuse_foreign_login(course: Course, name: str) -> None:
    """Refuse, before anything is changed, a login that the machine has for something else."""
    link = HubLink(course.home)
    status = link.status()
    if status is None or name in status.people:
        return
    import pwd

    try:
        pwd.getpwnam(name)
    except KeyError:
        return
    raise ValueError(
        f"this machine has a user {name} that the hub did not create; choose another login"
    )


def _done(course: Course, name: str, words: str, *undo: str) -> int:
    """Note and say what was done, wait for the hub if there is one, and say what that did."""
    console = Console()
    ChangeHistory(course.home).note(words, *undo)
    print_plain(console, words)
    link = HubLink(course.home)
    if not link.exists:
        return 0
    status = link.ask(HubRequest("follow", [name]))
    if status is None:
        print_plain(console, HUB_NOT_RUNNING)
        return 0
    about = [each for each in status.problems if name in each]
    for each in about:
        print_plain(console, f"The hub says: {each}")
    found = status.people.get(name)
    if found:
        print_plain(console, f"On the hub: {found['role']}, {found['standing']}.")
    if name in status.passwords:
        print_plain(console, f"Password until they change it: {status.passwords[name]}")
    return 1 if about else 0


def _on_hub(status: HubReply | None, name: str) -> str:
    return status.people.get(name, {}).get("standing", "") if status else ""


def _try_exchange(
    console: Console, exchange: Path, old: str, new: str, plan: Mapping[str, bool] | None = None
) -> None:
    keep = (lambda _: True) if plan is None else (lambda lab: plan.get(lab, True))
    try:
        move_inbound(exchange.resolve() / "inbound", old, new, keep=keep)
    except OSError as problem:
        words = f"What {old} handed in could not be renamed in {exchange}: {problem.strerror}"
        print_plain(console, f"{words}; do that as its owner.")
