"""``mlsys push``: grades to the learning system, or first what would be sent."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from mlsys_widgets.classes.export import as_points
from mlsys_widgets.classes.gradebook_reader import Grades, grades
from mlsys_widgets.classes.lms_http import LmsClient, LmsError, LmsSilence, Patience
from mlsys_widgets.classes.lms_journal import PushJournal
from mlsys_widgets.classes.lms_key import load_key, make_key
from mlsys_widgets.classes.lms_people import match_people
from mlsys_widgets.classes.lms_push import LabPush, PushRow, Step, apply, compare
from mlsys_widgets.classes.lms_services import LmsServices
from mlsys_widgets.classes.lms_settings import lms_settings
from mlsys_widgets.classes.lms_token import TokenSource
from mlsys_widgets.course.course import Course
from mlsys_widgets.course.course_settings import LmsSettings
from mlsys_widgets.grading.patient_console import print_plain
from mlsys_widgets.wording.plurals import counted

#: What a row says, before it is sent and after.
_SAYS: Final = {
    "send": "would send",
    "sent": "sent",
    "failed": "not sent",
    "changed": "left as it is",
    "unknown": "cannot send",
    "waiting": "left out",
    "empty": "left out",
}
_STYLES: Final = {"failed": "red", "unknown": "yellow", "changed": "yellow", "waiting": "dim"}


def run(arguments: argparse.Namespace) -> int:
    """Show what differs, and send it if asked to."""
    course = Course.at(arguments.course)
    if arguments.keys:
        return _print_key(course, arguments.keys)
    if not arguments.labs:
        raise ValueError(
            "name the labs whose grades to push, such as mlsys push lab_01_magnitude; --keys prints"
            " the key for the LMS's administrator"
        )
    settings = lms_settings(course)
    key = load_key(course.root)
    # Whatever is wrong with a name is said before anything is sent.
    found = {lab: grades(course, lab) for lab in dict.fromkeys(arguments.labs)}
    journal = PushJournal(course.root)
    with journal.alone(), LmsClient(settings.lineitems_url, Patience()) as client:
        services = LmsServices(settings, client, TokenSource(settings, key, client))
        done, problems = _push_all(found, services, journal, arguments)
    if arguments.json:
        print(json.dumps([_as_data(each) for each in done], indent=1, ensure_ascii=False))
    else:
        _show(done, settings, applied=arguments.apply)
    for words in problems:
        print(f"mlsys: {words}", file=sys.stderr)
    if problems or any(each.count("failed") for each in done):
        return 1
    return 3 if any(each.count("unknown", "changed") for each in done) else 0


def _push_all(
    found: dict[str, Grades],
    services: LmsServices,
    journal: PushJournal,
    arguments: argparse.Namespace,
) -> tuple[list[LabPush], list[str]]:
    done: list[LabPush] = []
    problems: list[str] = []
    with _progress() as bar:
        task = bar.add_task("Asking the LMS", total=None)
        people = {each.id: each for of in found.values() for each in of.people}
        users = match_people(people.values(), services.members())
        for lab, of in found.items():
            bar.update(task, description=f"Comparing {lab}", total=None)
            try:
                push = compare(lab, of, users, services, journal, overwrite=arguments.overwrite)
                done.append(push)
                if arguments.apply:
                    bar.update(task, description=f"Sending {lab}")

                    def tell(count: int, total: int) -> None:
                        bar.update(task, completed=count, total=total)

                    done[-1] = apply(push, services, journal, progress=tell)
            except LmsError as problem:
                problems.append(f"{lab}: {problem}")
                if isinstance(problem, LmsSilence):
                    break  # the other labs would meet the same
    return done, problems


def _print_key(course: Course, form: str) -> int:
    key, is_new = make_key(course.root)
    if form == "pem":
        sys.stdout.write(key.pem())
    else:
        print(json.dumps(key.jwk() if form == "jwk" else key.jwks(), indent=1))
    words = "made now" if is_new else "made before"
    print(
        f"This public key, {words}, is for the LMS's administrator; the private half stays"
        " in this course.",
        file=sys.stderr,
    )
    return 0


def _show(done: Sequence[LabPush], settings: LmsSettings, *, applied: bool) -> None:
    console = Console()
    for push in done:
        column = "" if push.item else f" The column {push.lab} is not there yet."
        out_of = f"{push.lab} in {settings.name}, out of {as_points(push.most)}."
        print_plain(console, out_of + column)
        rows = [each for each in push.rows if each.step not in ("same", "empty") or each.why]
        if rows:
            console.print(_table(rows))
        print_plain(console, _summary(push))
    waiting = sum(each.count("send") for each in done)
    if not applied and waiting:
        labs = " ".join(each.lab for each in done if each.count("send"))
        print_plain(console, f"Nothing is sent yet: mlsys push {labs} --apply does it.")
    if any(each.count("changed") for each in done):
        print_plain(console, "To send also what was changed in the LMS, add --overwrite.")


def _table(rows: Sequence[PushRow]) -> Table:
    table = Table("student", "there", "here", "", box=None, header_style="bold")
    for column in table.columns[1:3]:
        column.justify = "right"
    table.columns[3].overflow = "fold"
    for each in rows:
        points = ("–" if score is None else as_points(score) for score in (each.there, each.here))
        words = f"{_SAYS[each.step]}{f': {each.why}' if each.why else ''}"
        style = _STYLES.get(each.step, "")
        table.add_row(Text(each.student), *map(Text, points), Text(words, style))
    return table


def _summary(push: LabPush) -> str:
    words_of: dict[Step, str] = {
        "sent": "sent",
        "failed": "not sent",
        "send": "to send",
        "same": "the same there",
        "changed": "left as changed there",
        "unknown": "not found there",
        "waiting": "waiting to be graded",
        "empty": "without a submission",
    }
    counts = [
        f"{number} {words}" for step, words in words_of.items() if (number := push.count(step))
    ]
    return f"{counted(len(push.rows), 'student')}: {', '.join(counts) or 'nothing to do'}."


def _as_data(push: LabPush) -> dict[str, Any]:
    rows = [asdict(each) for each in push.rows]
    for each in rows:
        handed_in = each.pop("handed_in")
        each["handed_in"] = handed_in and handed_in.isoformat()
    return {"lab": push.lab, "most": push.most, "item": push.item and push.item.id, "rows": rows}


def _progress() -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    hidden = not console.is_terminal
    return Progress(*columns, console=console, transient=True, disable=hidden)
