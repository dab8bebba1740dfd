"""``mlsys course progress``: how far a class is with a lab while it still works on it. For staff.

Homes are private, so what is counted is what the hub notes about them, and what was handed in. Of a
student who has a lab and has handed in nothing, nobody knows how far they are.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mlsys_widgets.course.copy_notes import copies_beside, read_copies
from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.lab_overview import who_handed_in
from mlsys_widgets.courses.lab_releases import check_lab
from mlsys_widgets.courses.student_rows import gradebook, students
from mlsys_widgets.courses.term import state_of
from mlsys_widgets.grading.judging.lab_copies import keys_of
from mlsys_widgets.grading.patient_console import print_plain
from mlsys_widgets.grading.telling.judged_hand_ins import JudgedHandIns, StudentHandIns
from mlsys_widgets.judging.verdicts import Verdict
from mlsys_widgets.labs import Choice, Number, load
from mlsys_widgets.wording.plurals import counted

#: What fraction of a lab somebody may be behind the fraction of its time that is over.
_BEHIND: Final = 0.5
_UNJUDGED: Final = (
    "No answer is judged yet, so nobody knows how the questions stand: students of this lab are"
    " told later than at the hand-in, or not by a hub."
)
RULE: Final = (
    "Behind is whoever has answered less of the lab than of its time is over, by more than half:"
    " from half of the time on, whoever has not even fetched it. Points play no role."
)


@dataclass(frozen=True)
class QuestionCount:
    """A question: how many answers were judged, and how many of them were right at first."""

    title: str
    answered: int
    right: int


@dataclass(frozen=True)
class Behind:
    """Somebody who is far behind the time."""

    student: str
    why: str


@dataclass(frozen=True)
class LiveCounts:
    """How far a class is with a lab."""

    students: int
    #: How many have fetched it; `None` where no hub looks.
    started: int | None
    handed_in: int
    questions: tuple[QuestionCount, ...]
    behind: tuple[Behind, ...]

    @property
    def unjudged(self) -> str:
        """Why nobody knows how the questions stand; empty if some answer was judged."""
        judged = any(each.answered for each in self.questions)
        return _UNJUDGED if self.handed_in and not judged else ""

    @property
    def sentence(self) -> str:
        """The counts in words."""
        begun = "" if self.started is None else f"{self.started:,} fetched it and "
        return f"Of {counted(self.students, 'student')}, {begun}{self.handed_in:,} handed in."


def live_counts(course: Course, lab: str, now: datetime | None = None) -> LiveCounts:
    """Count how far a class is with a lab."""
    with gradebook(course) as db:
        people = [*students(db)]
    active = [name for name in people if name not in course.people.dropped]
    told, handed_in = JudgedHandIns(course.home, lab), who_handed_in(course, lab)
    judged = {name: told.of_student(name) for name in active}
    copies = copies_beside(course.home)
    started = {*read_copies(copies).get(lab, {}), *handed_in} if copies.is_file() else None
    declared = load(keys_of(course, lab))
    questions = {
        name: item.title
        for name, item in declared.items(declared.draw("", variants=False)).items()
        if isinstance(item, Number | Choice) and item.points
    }
    return LiveCounts(
        len(active),
        None if started is None else sum(name in started for name in active),
        sum(name in handed_in for name in active),
        tuple(_count(judged, name, title) for name, title in questions.items()),
        tuple(_behind(course, lab, judged, questions, started, now or datetime.now(UTC))),
    )


def _count(judged: Mapping[str, StudentHandIns], name: str, title: str) -> QuestionCount:
    answers = [each.answers[name].first for each in judged.values() if name in each.answers]
    right = sum(Verdict(each.credit, "").right for each in answers)
    return QuestionCount(title, len(answers), right)


def _behind(
    course: Course,
    lab: str,
    judged: Mapping[str, StudentHandIns],
    questions: Mapping[str, str],
    started: set[str] | None,
    now: datetime,
) -> Iterator[Behind]:
    """Yield who is behind, as far as it can be known."""
    for name, hand_ins in judged.items():
        dates = course.calendar.dates(lab, name)
        if not dates.release or not dates.due or not dates.release < now < dates.due:
            continue
        gone = (now - dates.release) / (dates.due - dates.release)
        done = sum(each in hand_ins.answers for each in questions)
        if hand_ins.last is not None and questions:
            if done / len(questions) < gone - _BEHIND:
                yield Behind(name, f"answered {done} of {counted(len(questions), 'question')}")
        elif started is not None and name not in started and gone > _BEHIND:
            yield Behind(name, "has not fetched it")


def run(arguments: argparse.Namespace) -> int:
    """Print the counts of a lab."""
    course, lab = Course.at(arguments.folder), arguments.lab
    check_lab(course, lab)
    counts, console = live_counts(course, lab), Console()
    state = state_of(course.calendar.dates(lab), datetime.now(UTC))
    print_plain(console, f"{lab}: {state}. {counts.sentence}")
    if counts.unjudged:
        print_plain(console, counts.unjudged)
    elif counts.handed_in:
        table = Table(box=None)
        table.add_column("question", overflow="fold")
        table.add_column("answered", justify="right")
        table.add_column("right at first", justify="right")
        for each in counts.questions:
            table.add_row(Text(each.title), f"{each.answered:,}", f"{each.right:,}")
        console.print(table)
    for behind in counts.behind:
        print_plain(console, f"behind: {behind.student} {behind.why}")
    if counts.behind:
        print_plain(console, RULE)
    return 0
