"""``mlsys regrade`` and ``mlsys history``: who changes by how much, and every change there was."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from mlsys_widgets.course.course import Course
from mlsys_widgets.files import OWN_FOLDER
from mlsys_widgets.grading.feedback.student_table import short_name
from mlsys_widgets.grading.gradebook.grade_history import HISTORY, GradeChange, GradeHistory
from mlsys_widgets.grading.gradebook.gradebook_writer import LabGradebook
from mlsys_widgets.grading.gradebook.graded_log import LOG, GradedLog
from mlsys_widgets.grading.gradebook.lost_records import lost_records
from mlsys_widgets.grading.patient_console import PatientConsole, print_plain
from mlsys_widgets.grading.regrading.regrade import ProposedGrade, Regrade, RegradeProposal
from mlsys_widgets.notebooks.remarks import printable
from mlsys_widgets.wording.local_time import local_time
from mlsys_widgets.wording.plurals import counted

#: Exit code when something needs a person.
NEEDS_A_TA: Final = 3
#: How many names stand in a sentence, and characters of a reason.
_MOST_NAMED: Final = 8
LONGEST_REASON: Final = 300


def run_regrade(arguments: argparse.Namespace) -> int:
    """Show who changes by how much; with ``--apply``, do it."""
    course, console = Course.at(arguments.course), PatientConsole()
    reason = _reason(arguments)
    work = Regrade(course, arguments.lab, arguments.students)
    proposal = work.apply(reason) if arguments.apply else work.propose()
    if arguments.json:
        for each in proposal.grades:
            console.out(json.dumps(_as_json(each)), highlight=False)
    else:
        _tell(console, proposal, arguments)
    stays = any(each.kept for each in proposal.grades)
    return NEEDS_A_TA if stays or proposal.not_kept else 0


def _reason(arguments: argparse.Namespace) -> str:
    reason: str = (arguments.reason or "").strip()
    if arguments.apply and not reason:
        raise ValueError("--apply needs --reason WORDS: they are kept with every changed grade")
    if arguments.reason is not None and not arguments.apply:
        raise ValueError("--reason belongs to --apply; without it nothing is changed")
    if len(reason) > LONGEST_REASON:
        raise ValueError(
            f"--reason has {len(reason)} characters; at most {LONGEST_REASON} are kept"
        )
    return printable(reason)


def _tell(console: Console, proposal: RegradeProposal, arguments: argparse.Namespace) -> None:
    changes, lab = proposal.changes, arguments.lab
    if changes:
        table = Table("student", "old", "new", "", "questions", box=None, header_style="bold")
        for column in table.columns[1:4]:
            column.justify = "right"
        for each in changes:
            table.add_row(
                Text(short_name(each.student)), f"{each.before:g}", f"{each.after:g}",
                f"{round(each.after - each.before, 2):+g}", Text(", ".join(_questions(each))),
            )  # fmt: skip
        console.print(table)
        console.print()
    done = "changed" if arguments.apply else "would change"
    words = [f"{counted(len(proposal.grades), 'submission')} judged again: {len(changes)} {done}."]
    words += _remarks(proposal, lab)
    reworded = sum(each.only_words for each in proposal.grades)
    if reworded:
        words.append(f"In words only, {counted(reworded, 'page')} {done}.")
    if arguments.apply:
        words.append(
            f"Feedback follows with: nbgrader generate_feedback {lab} --force, then release it."
            if changes or reworded
            else "Nothing had to be changed."
        )
    elif changes or reworded:
        words.append(f"Nothing is changed yet: mlsys regrade {lab} --apply --reason WORDS does it.")
    for line in words:
        print_plain(console, line)


def _questions(each: ProposedGrade) -> Iterator[str]:
    for name, (old, new) in each.questions.items():
        stands = " (a person's points stand)" if name in each.by_person else ""
        yield f"{name} {_points(old)} → {_points(new)}{stands}"
    if not each.questions:
        yield "late penalty"


def _remarks(proposal: RegradeProposal, lab: str) -> Iterator[str]:
    if proposal.by_notebook:
        yield (
            f"Only the notebook's own tests judge {_named(proposal.by_notebook)}; what was earned"
            " there stays."
        )
    reasons = Counter((name, why) for each in proposal.grades for name, why in each.kept.items())
    for (name, why), number in reasons.items():
        yield f"{name} keeps its points in {counted(number, 'submission')}: {printable(why)}."
    if proposal.other_version:
        those = counted(len(proposal.other_version), "submission")
        yield f"{those} of an earlier version of the lab: judged with the keys of that version."
    if proposal.not_kept:
        yield (
            f"No answers were kept of {_named(proposal.not_kept)}, as after nbgrader's own"
            f" autograde; their points stay. To keep them:"
            f" mlsys grade {lab} --force --students NAME."
        )


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(short_name(each) for each in names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def _points(points: float | None) -> str:
    return "–" if points is None else f"{points:g}"


def _as_json(each: ProposedGrade) -> dict[str, object]:
    return {
        "student": each.student,
        "before": each.before,
        "after": each.after,
        "questions": each.questions,
        "by_person": each.by_person,
        "kept": each.kept,
    }


# The history.


def run_history(arguments: argparse.Namespace) -> int:
    """Show every change of a grade, after noticing what was changed by hand since."""
    course, console = Course.at(arguments.course), PatientConsole()
    labs, student = _which(course, arguments)
    found, problems = [], []
    for lab in labs:
        warnings = [f"{each}." for each in lost_records(course.home, lab)]
        warnings += _noticed(course, lab)
        changes, broken = GradeHistory(course.home, lab).read()
        found += [(lab, c) for c in changes if student is None or c.student == student]
        problems += [f"{lab}: {each}" for each in (*warnings, *broken)]
    found.sort(key=lambda pair: pair[1].time)
    if arguments.json:
        for lab, change in found:
            console.out(json.dumps({"lab": lab, **vars(change)}), highlight=False)
    elif not found:
        whose = f" of {printable(student)}" if student else ""
        console.print(f"No grade{whose} has changed yet.", highlight=False, markup=False)
    else:
        console.print(_history_table(found, many=len(labs) > 1))
    for each in problems:
        print_plain(console, f"! {each}")
    return NEEDS_A_TA if problems else 0


def _which(course: Course, arguments: argparse.Namespace) -> tuple[list[str], str | None]:
    """Return the labs and the student that are meant; one word may name either."""
    name, student = arguments.name, arguments.student
    own = course.home / OWN_FOLDER
    # Also where only the log is left.
    kept = {kind: own.glob(f"{kind}*.jsonl") for kind in (HISTORY, LOG)}
    labs = sorted({p.stem.removeprefix(kind) for kind, paths in kept.items() for p in paths})
    if name is None:
        return labs, student
    if "/" not in name and (Path(course.home) / "assignments" / name).is_dir():
        return [name], student
    if name in labs:
        return [name], student
    if student is not None:
        raise ValueError(f"there is no lab {name} in this course")
    return labs, name


def _noticed(course: Course, lab: str) -> list[str]:
    """Record what was done by hand since the last command; while a lab is graded, wait for that."""
    history = GradeHistory(course.home, lab)
    try:
        gradebook = LabGradebook(course.db_url, lab)
        with GradedLog(course.home, lab).alone():
            history.notice(gradebook.grades())
    except ValueError as problem:
        return [f"what was changed since the last command is not shown: {problem}"]
    return []


def _history_table(found: Iterable[tuple[str, GradeChange]], *, many: bool) -> Table:
    first = (Column("lab", no_wrap=True),) if many else ()
    columns = ("when", "student", "old", "new", "what", "who", "why")
    folding = (Column(header, overflow="fold") for header in columns)
    table = Table(*first, *folding, box=None, header_style="bold")
    for lab, each in found:
        about = [name for name, _ in each.cells.items()]
        what = f"{each.what}: {_named(about)}" if about and each.total[0] is not None else each.what
        row = (
            *((lab,) if many else ()), local_time(each.time), short_name(each.student),
            _points(each.total[0]), _points(each.total[1]), what, each.who, each.why,
        )  # fmt: skip
        table.add_row(*(Text(printable(str(cell))) for cell in row))
    return table
