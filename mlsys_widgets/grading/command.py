"""``mlsys grade``: the class, seen from a terminal."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from mlsys_widgets.grading.archives import take_in
from mlsys_widgets.grading.coordinator import GradingRun, Plan
from mlsys_widgets.grading.graded_submission import AUDITED, BY_RECORD, RUN, GradedSubmission
from mlsys_widgets.labs.course import Course
from mlsys_widgets.physics import counted
from mlsys_widgets.sandbox.remarks import printable

#: Exit code when everything was graded and something needs a person.
NEEDS_A_TA: Final = 3
#: Seconds after which it is shown who is running, and how many are named.
_SLOW: Final = 5.0
_MOST_NAMED: Final = 3


def run(arguments: argparse.Namespace, course: Course) -> int:
    """Grade a class, and summarize the result."""
    if arguments.workers is not None and arguments.workers < 1:
        raise ValueError(f"--workers is {arguments.workers}; it must be at least 1")
    console = Console(stderr=arguments.json)
    refused = False
    if arguments.handed_in is not None:
        refused = _take_in(console, arguments, course)
    plan = Plan(
        course=course,
        lab=arguments.lab,
        students=arguments.students,
        engine=arguments.engine,
        workers=arguments.workers,
        isolate=arguments.sandbox == "auto",
        resume=arguments.resume,
        force=arguments.force,
        run=arguments.run_all,
        audit=_fraction(arguments.audit),
        skip=tuple(arguments.skip),
    )
    if not plan.isolate:
        console.print(
            "[bold red]Without isolation[/]: student code can read and change everything you can."
        )
    work = GradingRun(plan)
    if not work.students:
        console.print("Nothing to do: everything is graded. --force grades it again.")
        return NEEDS_A_TA if refused else 0
    graded = _with_progress(work, console, arguments)
    if not arguments.json:
        _summary(console, graded)
        _ways(console, graded, plan.skip)
    return NEEDS_A_TA if refused or any(each.flags for each in graded) else 0


def _fraction(said: str) -> float:
    """Read a percentage, such as 5%."""
    try:
        percent = float(said.strip().removesuffix("%"))
    except ValueError:
        percent = -1.0
    if not 0 <= percent <= 100:
        raise ValueError(f"--audit is {said!r}; it must be a percentage from 0% to 100%")
    return percent / 100


def _take_in(console: Console, arguments: argparse.Namespace, course: Course) -> bool:
    """Take in the files that students made; whether some were refused."""
    taken = take_in(course, arguments.lab, arguments.handed_in, replace=arguments.force)
    console.print(
        f"{counted(len(taken.students), 'submission')} taken in,"
        f" {len(taken.known)} known already, {len(taken.refused)} refused.",
        highlight=False,
    )
    for name, why in taken.refused.items():
        console.print(f"{name}: {why}", highlight=False, markup=False)
    return bool(taken.refused)


@dataclass(frozen=True)
class _Line:
    """The little that the summary needs of a submission, in a class of thousands."""

    student: str
    earned: float | None
    by_hand: int
    flags: tuple[str, ...]
    remarks: tuple[str, ...]
    way: str

    @classmethod
    def of(cls, graded: GradedSubmission) -> _Line:
        earned = graded.earned if graded.scores else None
        flags, remarks = (
            tuple(dict.fromkeys(note.sentence for note in notes))
            for notes in (graded.flags, graded.remarks)
        )
        return cls(graded.student, earned, graded.by_hand, flags, remarks, graded.way)


class _RunningColumn(ProgressColumn):
    """Whose submissions are running, and for how long."""

    def __init__(self, work: GradingRun) -> None:
        super().__init__()
        self._work = work

    def render(self, _task: Task) -> Text:
        return Text(running_in_words(self._work.running()), overflow="ellipsis", no_wrap=True)


def running_in_words(running: Sequence[tuple[str, float]]) -> str:
    """Who is running and for how long, once that is long enough to wonder about.

    Examples
    --------
    >>> running_in_words([("ann", 31.4), ("bob", 12.0), ("cat", 0.3)])
    'running: ann 31 s, bob 12 s'
    """
    slow = [f"{printable(name)} {seconds:.0f} s" for name, seconds in running if seconds >= _SLOW]
    more = f" and {len(slow) - _MOST_NAMED} more" if len(slow) > _MOST_NAMED else ""
    return f"running: {', '.join(slow[:_MOST_NAMED])}{more}" if slow else ""


def _ways(console: Console, graded: Sequence[_Line], skipped: Sequence[str]) -> None:
    """Say how many went which way, and who was left out."""
    counts = Counter(each.way for each in graded if each.earned is not None)
    by_record = counts[BY_RECORD] + counts[AUDITED]
    words = [f"{by_record} by record", f"{counts[RUN]} run"]
    words += [f"{counts[AUDITED]} of those by record run to compare"] if counts[AUDITED] else []
    console.print(f"{', '.join(words)}.", highlight=False)
    if skipped:
        console.print(f"Left out: {', '.join(skipped)}.", highlight=False, markup=False)


def _with_progress(
    work: GradingRun, console: Console, arguments: argparse.Namespace
) -> list[_Line]:
    done: list[_Line] = []
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        _RunningColumn(work),
    )
    bar_is_seen = console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=not bar_is_seen) as progress:
        bar = progress.add_task("Starting", total=len(work.students), rate="")
        for each in work.grade(lambda words: progress.update(bar, description=words)):
            done.append(_Line.of(each))
            speed = progress.tasks[0].speed
            progress.update(bar, advance=1, rate=f"{speed:.1f}/s" if speed else "")
            if arguments.json:
                sys.stdout.write(json.dumps(_as_json(each)) + "\n")
                sys.stdout.flush()
            elif arguments.verbose:
                said = "; ".join(each.sentences)
                console.print(
                    f"{each.student}: {each.earned:g} of {each.most:g}"
                    f"{f', {each.by_hand} by hand' if each.by_hand else ''}"
                    f"{f' ({said})' if said else ''}",
                    highlight=False,
                    markup=False,
                )
    return done


def _as_json(graded: GradedSubmission) -> dict[str, object]:
    return {**graded.as_data(), "earned": graded.earned, "most": graded.most}


def _summary(console: Console, graded: list[_Line]) -> None:
    points = sorted(each.earned for each in graded if each.earned is not None)
    by_hand = sum(each.by_hand > 0 for each in graded)
    flagged = [each for each in graded if each.flags]
    table = Table(show_header=False, box=None)
    table.add_row("submissions", str(len(graded)))
    if points:
        middle = median(points)
        table.add_row("points", f"{points[0]:g} to {points[-1]:g}, median {middle:g}")
    table.add_row("wait for a person", f"{by_hand} (written answers)")
    table.add_row("to look at", str(len(flagged)))
    console.print(table)
    if flagged:
        listed = Table("student", "points", "what", box=None, header_style="bold")
        for each in sorted(flagged, key=lambda one: one.student):
            earned = "–" if each.earned is None else f"{each.earned:g}"
            listed.add_row(Text(each.student), earned, Text("\n".join(each.flags)))
        console.print(listed)
    remarks = [each for each in graded if each.remarks and not each.flags]
    for each in sorted(remarks, key=lambda one: one.student):
        console.print(f"{each.student}: {'; '.join(each.remarks)}", highlight=False, markup=False)
