"""``mlsys second-looks``: what students ask somebody to look at again, and the answers."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from mlsys_widgets.course.course import Course
from mlsys_widgets.grading.feedback.second_looks import SecondLook, SecondLooks
from mlsys_widgets.grading.feedback.student_table import short_name
from mlsys_widgets.grading.patient_console import PatientConsole, print_plain
from mlsys_widgets.wording.local_time import local_time
from mlsys_widgets.wording.plurals import counted

_CLOSE: Final = "close"


def run(arguments: argparse.Namespace) -> int:
    """List second looks, or close one with an answer."""
    course, console = Course.at(arguments.course), PatientConsole()
    looks = SecondLooks(course)
    if arguments.lab == _CLOSE:
        return _close(console, looks, arguments.words)
    if arguments.words:
        raise ValueError("name one lab, or: mlsys second-looks close NUMBER ANSWER")
    taken = looks.take_in()
    shown = [each for each in looks.read() if arguments.all or each.is_open]
    if arguments.lab is not None:
        if not (course.home / "assignments" / arguments.lab).is_dir():
            raise ValueError(f"there is no lab {arguments.lab} in this course")
        shown = [each for each in shown if each.lab == arguments.lab]
    if arguments.section is not None:
        shown = _of_section(course, arguments.section, shown)
    if arguments.json:
        for each in shown:
            console.out(json.dumps(_as_json(each)), highlight=False)
        return 0
    for each in shown:
        _print(console, each)
    number = sum(each.is_open for each in shown)
    print_plain(console, f"{counted(number, 'open second look')}.")
    for why, count in taken.refused.items():
        print_plain(console, f"{counted(count, 'request')} not taken in: {why}.")
    if looks.exchange() is None:
        print_plain(console, "There is no exchange here, so nobody can ask from the feedback page.")
    elif number:
        print_plain(console, "To answer: mlsys second-looks close NUMBER ANSWER")
    return 0


def _close(console: Console, looks: SecondLooks, words: Sequence[str]) -> int:
    if len(words) < 2 or not words[0].isascii() or not words[0].isdigit():
        raise ValueError("write it like: mlsys second-looks close 3 'You are right: 7 points.'")
    looks.take_in()
    done = looks.close(int(words[0]), " ".join(words[1:]))
    at_once = "JupyterLab now, and in " if looks.exchange() is not None else ""
    print_plain(
        console,
        f"Closed. {short_name(done.student)} reads the answer in {at_once}the feedback after:"
        f" nbgrader generate_feedback {done.lab} --force, and its release.",
    )
    return 0


def _of_section(course: Course, section: str, looks: Sequence[SecondLook]) -> list[SecondLook]:
    sections = course.calendar.sections
    if section not in sections:
        known = ", ".join(sections) or "none"
        raise ValueError(f"there is no section {section!r}; course.toml has: {known}")
    return [each for each in looks if each.student in sections[section]]


def _print(console: Console, each: SecondLook) -> None:
    head = (
        f"{each.number}  {short_name(each.student)}  {each.lab}: {each.question}"
        f"  ({local_time(each.time)})"
    )
    console.print(Text(head, style="bold"))
    console.print(Padding(Text(each.words), (0, 0, 0, 4)))
    if each.answer is not None:
        answer = f"{each.closed_by}, {local_time(each.closed or each.time)}: {each.answer}"
        console.print(Padding(Text(answer, style="dim"), (0, 0, 0, 4)))


def _as_json(each: SecondLook) -> dict[str, object]:
    return {name: value for name, value in vars(each).items() if name != "ticket"}
