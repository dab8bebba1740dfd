"""``mlsys essays``: read essays, grade them by a rubric, change the rubric."""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from mlsys_widgets.course.course import Course
from mlsys_widgets.grading.essays.essay_grading import EssayAnswer, EssayGrading, NewMark
from mlsys_widgets.grading.gradebook.grade_history import who_runs
from mlsys_widgets.grading.patient_console import PatientConsole, print_plain
from mlsys_widgets.handin.second_look import clean_words
from mlsys_widgets.wording.plurals import counted


def run_list(arguments: argparse.Namespace) -> int:
    """Show rubrics and answers, those that nobody has read unless all are asked for."""
    grading, console = _grading(arguments), PatientConsole()
    names = [arguments.question] if arguments.question else [q.name for q in grading.questions()]
    for name in names:
        question, answers = grading.question(name), grading.answers(name)
        waiting = sum(each.waiting for each in answers)
        head = f"{name}: {question.title}, {counted(question.rubric.most, 'point')}"
        unread = f"{waiting} of {counted(len(answers), 'answer')} to read"
        print_plain(console, f"{head}; {unread}", style="bold")
        for item in question.rubric.items:
            print_plain(console, f"  {item.number}  {item.shown}")
        for each in answers:
            if (arguments.all or each.waiting) and (
                not arguments.mine or each.grader == who_runs()
            ):
                _print_answer(console, each, names=arguments.names)
    if not names:
        print_plain(console, "No essay of this lab gives points in this course.")
    return 0


def run_give(arguments: argparse.Namespace) -> int:
    """Grade one answer."""
    grading, name = _grading(arguments), arguments.question
    which = arguments.submission
    answers = grading.answers(name)
    found = next((each for each in answers if which in (each.alias, each.student)), None)
    if found is None:
        raise ValueError(f"there is no submission {which!r}; mlsys essays list names them")
    if not (found.waiting or arguments.again):
        who = found.mark.who if found.mark else "somebody"
        given = counted(found.points or 0, "point")
        raise ValueError(f"{who} has given it {given}; --again gives it other points")
    mark = NewMark(arguments.item, arguments.comment, found.seen, keep=arguments.keep)
    if refused := grading.give(name, {found.student: mark}):
        raise ValueError(refused[found.student])
    points = counted(grading.question(name).rubric.points(arguments.item), "point")
    print_plain(PatientConsole(), f"Saved: {points} for {which}.")
    return 0


def run_item(arguments: argparse.Namespace) -> int:
    """Change an item of a rubric for all who got it, or add one."""
    grading, number = _grading(arguments), arguments.number
    item = grading.question(arguments.question).rubric.item(number) if number else None
    if number and item is None:
        raise ValueError(f"the rubric has no item {number}; mlsys essays list shows all")
    points = arguments.points if arguments.points is not None else item.points if item else 0.0
    text = arguments.text if arguments.text is not None else item.text if item else ""
    seen = item.seen if item else ""
    said = grading.change_item(
        arguments.question, number, points, text, removed=arguments.remove, seen=seen
    )
    print_plain(PatientConsole(), said)
    return 0


def _grading(arguments: argparse.Namespace) -> EssayGrading:
    return EssayGrading(Course.at(arguments.course), arguments.lab)


def _print_answer(console: Console, each: EssayAnswer, *, names: bool) -> None:
    given = "" if each.points is None else f": {counted(each.points, 'point')}"
    print_plain(console, f"\n{each.student if names else each.alias}{given}", style="bold")
    # A stranger has written it: no control characters for a terminal.
    text = "\n".join(clean_words(line) for line in each.text.splitlines())
    for words in (text or "Nothing was written.", *([each.comment] if each.comment else [])):
        console.print(Padding(Text(words), (0, 0, 0, 4)))
