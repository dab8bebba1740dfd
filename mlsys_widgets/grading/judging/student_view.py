"""``mlsys variant``: a lab as one student saw it, with the key, for a TA who is asked about it."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_uppercase

from rich.console import Console
from rich.table import Table

from mlsys_widgets.course.course import Course
from mlsys_widgets.files import LEDGER
from mlsys_widgets.grading.reading.submissions import collect
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.judging.keys import Given, Key, NumberKey
from mlsys_widgets.labs import Choice, Number, Prediction, Reflection, load
from mlsys_widgets.wording.units import format_quantity


@dataclass(frozen=True)
class StudentView:
    """A student's parameters and questions, for people."""

    #: Name, value, unit and meaning of each.
    parameters: tuple[tuple[str, str, str, str], ...]
    #: Name, question and key of each graded answer, prediction and reflection; options as the
    #: student saw them, with the key of each in the ledger.
    questions: tuple[tuple[str, str, str], ...]
    #: By the name of the answer: what each known belief leads to.
    beliefs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def student_view(
    folder: Path,
    student: str,
    *,
    variants: bool = True,
    edition: str = "",
    work: Path | None = None,
) -> StudentView:
    """Show what a student saw.

    ``student`` is the name under which nbgrader files the submission; some keys depend on something
    in the ``work``.
    """
    lab, checks = load(folder), load_checks(folder)
    p = lab.draw(student, variants=variants, edition=edition)
    given = Given(p, work or folder)
    parameters = tuple(
        (name, format_quantity(v) if isinstance(v := p[name], int | float) else v, each.unit,
         each.about)
        for name, each in lab.parameters.items()
    )  # fmt: skip
    questions, beliefs = [], {}
    for name, item in lab.items(p).items():
        if isinstance(item, Reflection) and item.options:
            right = f'"{item.right}"' if item.right else "none"
            questions.append((name, _asked(item.question, item.options), right))
        elif isinstance(item, Number | Choice | Prediction) and name in checks:
            try:
                key = checks[name](given)
            except ValueError as reason:  # of an answer about something that is not there
                words = f"depends on the submission ({reason})"
            else:
                words = _in_words(key, item)
                beliefs[name] = tuple(f"{_shown(b.value)}: {b.name}" for b in key.beliefs)
            ask = item.question if isinstance(item, Prediction) else item.ask
            questions.append((name, _asked(ask, getattr(item, "options", None)), words))
    return StudentView(parameters, tuple(questions), beliefs)


def _asked(ask: str, options: Mapping[str, str] | None) -> str:
    """A question as the student saw it, the first option first."""
    rows = (
        f'  {letter}. {words} ("{key}")'
        for letter, (key, words) in zip(ascii_uppercase, (options or {}).items(), strict=False)
    )
    return "\n".join((inspect.cleandoc(ask), *rows))


def _shown(value: float | str) -> str:
    return f'"{value}"' if isinstance(value, str) else f"{value:.4g}"


def _in_words(key: Key, item: Number | Choice | Prediction) -> str:
    if not isinstance(key, NumberKey):
        return f'"{key.value}"'
    if isinstance(item, Prediction):
        return format_quantity(key.value, item.unit)
    within = f"within {key.tolerance:.1%}" if key.tolerance else f"within {key.absolute:g}"
    return f"{format_quantity(key.value)} {item.unit}, {within}"


def run(arguments: argparse.Namespace) -> int:
    """Print a student's parameters and questions, with keys and known beliefs."""
    course, student = Course.at(arguments.course), arguments.student
    work = course.root / "submitted" / student / arguments.lab
    handed_in = collect(course, arguments.lab, student)
    owner = course.people.worked_as(student, handed_in.files.get(LEDGER))
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
