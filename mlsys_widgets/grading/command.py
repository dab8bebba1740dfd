"""``mlsys grade``: the class, seen from a terminal."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
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
    track,
)
from rich.table import Table
from rich.text import Text

from mlsys_widgets.course.course import Course
from mlsys_widgets.files import FULL_DISK
from mlsys_widgets.grading.coordinator import GradingRun, Plan
from mlsys_widgets.grading.feedback.second_looks import SecondLooks
from mlsys_widgets.grading.feedback.student_table import StudentRow, print_students, short_name
from mlsys_widgets.grading.gradebook.graded_submission import (
    AUDITED,
    BY_RECORD,
    RUN,
    GradedSubmission,
)
from mlsys_widgets.grading.gradebook.late_penalty import Lateness, penalty_words
from mlsys_widgets.grading.patient_console import PatientConsole, print_plain, silence_stdout
from mlsys_widgets.grading.reading.archives import take_in
from mlsys_widgets.grading.reading.class_list import ClassList
from mlsys_widgets.grading.telling.told_file import write_told_files
from mlsys_widgets.notebooks.remarks import printable
from mlsys_widgets.sandbox.engine import Engine
from mlsys_widgets.wording.plurals import counted

#: Exit code when everything was graded and something needs a person.
NEEDS_A_TA: Final = 3
#: Seconds after which it is shown who is running, and how many are named.
_SLOW: Final = 5.0
_MOST_NAMED: Final = 3
#: How many are named whom an interrupted run has flagged.
_MOST_FLAGGED: Final = 10
_CONTINUE: Final = "To continue, repeat the command with --resume"


def run(arguments: argparse.Namespace, course: Course, engine: Engine | None = None) -> int:
    """Grade a class, and summarize the result.

    An ``engine`` that was started already runs submissions.
    """
    if arguments.workers is not None and arguments.workers < 1:
        raise ValueError(f"--workers is {arguments.workers}; it must be at least 1")
    console = PatientConsole(stderr=arguments.json)
    if course.is_practice(arguments.lab):
        print_plain(
            console,
            f"There is nothing to grade: {arguments.lab} is practice in this course"
            " (way in course.toml), so each answer was judged when it was recorded.",
        )
        return 0
    to_look_at = False
    if arguments.handed_in is not None:
        to_look_at = _take_in(console, arguments, course)
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
    work = GradingRun(plan, engine)
    # What an interrupted run has flagged belongs to the one that continues it.
    flagged = work.flagged_before() if plan.resume else []
    for sentence in work.lost:
        print_plain(console, f"! {sentence}.")
    to_look_at = to_look_at or bool(work.lost)
    if not work.students:
        console.print(_nothing_new(work), highlight=False)
        _flagged_before(console, flagged, arguments.lab)
        return NEEDS_A_TA if to_look_at or flagged else 0
    graded: list[_Line] = []
    try:
        _with_progress(work, console, arguments, graded)
        graded = [_also_flagged(each, work) for each in graded]
    except KeyboardInterrupt:
        print(f"mlsys: interrupted; {_kept(graded, work)}. {_CONTINUE}", file=sys.stderr)
        return 130
    except OSError as problem:
        if problem.errno not in FULL_DISK:
            raise
        where = f" at {problem.filename}" if problem.filename else ""
        raise ValueError(
            f"the disk is full{where}; {_kept(graded, work)}. Free some space, then repeat the"
            " command with --resume"
        ) from None
    if arguments.handed_in is not None:
        _write_told(console, course, arguments.lab, work, graded)
    closed = _closed_to_requests(course)
    if not arguments.json:
        _summary(console, graded)
        _ways(console, graded, plan.skip)
        if work.not_audited:
            print_plain(
                console,
                "None of them was run to compare: submissions cannot be isolated here:"
                f" {work.not_audited}.",
            )
        _students(console, graded, arguments.lab)
        _flagged_before(console, flagged, arguments.lab)
        if closed:
            print_plain(console, f"! {closed}.")
    return NEEDS_A_TA if to_look_at or flagged or any(each.flags for each in graded) else 0


def _write_told(
    console: Console, course: Course, lab: str, work: GradingRun, graded: Sequence[_Line]
) -> None:
    """Write what opens in the cards of those whose files were taken in: no hub tells them."""
    theirs = {each.student for each in graded if each.earned is not None}
    grades = {name: grade for name, grade in work.grades().items() if name in theirs}
    if example := write_told_files(course, lab, grades):
        place = example.relative_to(course.home)
        print_plain(console, f"Feedback for their cards, one file for each: {place}")


def _closed_to_requests(course: Course) -> str:
    """Let students ask about what they get to read; say why they cannot, if they cannot."""
    try:
        SecondLooks(course).open_box()
    except ValueError as why:
        return str(why)
    return ""


def _nothing_new(work: GradingRun) -> str:
    """Say why there is nothing to do; a key that was fixed since is no reason to be silent."""
    changed = len(work.graded_before_a_change())
    if not changed:
        return "Nothing to do: everything is graded. --force grades it again."
    verb = "was" if changed == 1 else "were"
    return (
        f"Nothing new was handed in, but {counted(changed, 'submission')} {verb} graded before the"
        " lab or its keys were changed. mlsys regrade shows what other keys change, and applies"
        " them without running anything; --force grades again with what there is now."
    )


def _flagged_before(console: Console, names: Sequence[str], lab: str) -> None:
    """Name whom the interrupted run has flagged."""
    if not names:
        return
    more = f" and {len(names) - _MOST_FLAGGED} more" if len(names) > _MOST_FLAGGED else ""
    who = ", ".join(short_name(name) for name in names[:_MOST_FLAGGED])
    print_plain(
        console,
        f"To look at from before the interruption: {who}{more}. mlsys report {lab} --names lists"
        " all flags.",
    )


def _kept(graded: Sequence[_Line], work: GradingRun) -> str:
    """Return how much is done and stays done."""
    done = sum(each.earned is not None for each in graded)
    verb = "is" if done == 1 else "are"
    of = counted(len(work.students), "submission")
    return f"{done} of {of} {verb} graded and kept"


def _fraction(text: str | None) -> float | None:
    """Read a percentage, such as 5%."""
    if text is None:
        return None
    try:
        percent = float(text.strip().removesuffix("%"))
    except ValueError:
        percent = -1.0
    if not 0 <= percent <= 100:
        raise ValueError(f"--audit is {text!r}; it must be a percentage from 0% to 100%")
    return percent / 100


def _take_in(console: Console, arguments: argparse.Namespace, course: Course) -> bool:
    """Take in the files that students made; whether some were refused."""
    known = None if arguments.strangers else ClassList.of(course.db_url)
    taken = take_in(
        course,
        arguments.lab,
        arguments.handed_in,
        known=known,
        replace=arguments.force,
        counted=partial(track, description="Reading", console=console, transient=True),
    )
    console.print(
        f"{counted(len(taken.students), 'submission')} taken in,"
        f" {len(taken.known)} known already, {len(taken.refused)} refused.",
        highlight=False,
    )
    for name, why in taken.refused.items():
        console.print(f"{short_name(name, 60)}: {why}", highlight=False, markup=False)
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
    late: Lateness | None = None
    version: str = ""

    @classmethod
    def of(cls, graded: GradedSubmission) -> _Line:
        earned = graded.earned if graded.scores else None
        flags, remarks = (
            tuple(dict.fromkeys(note.sentence for note in notes))
            for notes in (graded.flags, graded.remarks)
        )
        return cls(
            graded.student, earned, graded.by_hand, flags, remarks, graded.way, graded.late,
            graded.version,
        )  # fmt: skip


def _also_flagged(line: _Line, work: GradingRun) -> _Line:
    """Add what was found when somebody else was graded."""
    flag = work.class_flags.later.get(line.student)
    return replace(line, flags=(*line.flags, flag.sentence)) if flag else line


class _RunningColumn(ProgressColumn):
    """Whose submissions are running, and for how long."""

    def __init__(self, work: GradingRun) -> None:
        super().__init__()
        self._work = work

    def render(self, _task: Task) -> Text:
        return Text(running_in_words(self._work.running()), overflow="ellipsis", no_wrap=True)


def running_in_words(running: Sequence[tuple[str, float]]) -> str:
    """Return who is running and for how long, once that is long enough to wonder about.

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
    versions = Counter(each.version for each in graded if each.earned is not None)
    if len(versions) > 1:
        counts_of = [f"{number} as version {name}" for name, number in versions.most_common()]
        console.print(f"Judged {', '.join(counts_of)}.", highlight=False)
    if skipped:
        console.print(f"Left out: {', '.join(skipped)}.", highlight=False, markup=False)


def _with_progress(
    work: GradingRun, console: Console, arguments: argparse.Namespace, done: list[_Line]
) -> None:
    """Grade, and show how far it is; what is graded is in ``done`` however this ends."""
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
                _print_json(each)
            elif arguments.verbose:
                console.print(_in_a_line(each), highlight=False, markup=False)


def _print_json(graded: GradedSubmission) -> None:
    try:
        sys.stdout.write(json.dumps(_as_json(graded)) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()


def _in_a_line(graded: GradedSubmission) -> str:
    points = "not graded"
    if graded.scores:
        points = f"{graded.earned:g} of {graded.most:g}"
        points += f", {graded.by_hand} by hand" if graded.by_hand else ""
    late = f", {graded.late.sentence}" if graded.late else ""
    notes = "; ".join(graded.sentences)
    return f"{short_name(graded.student, 60)}: {points}{late}{f' ({notes})' if notes else ''}"


def _as_json(graded: GradedSubmission) -> dict[str, object]:
    return {**graded.as_data(), "earned": graded.earned, "most": graded.most}


def _summary(console: Console, graded: list[_Line]) -> None:
    points = sorted(each.earned for each in graded if each.earned is not None)
    by_hand = sum(each.by_hand > 0 for each in graded)
    late = [each.late for each in graded if each.late]
    table = Table(show_header=False, box=None)
    table.add_row("submissions", str(len(graded)))
    if points:
        middle = median(points)
        table.add_row("points", f"{points[0]:g} to {points[-1]:g}, median {middle:g}")
    table.add_row("wait for a person", f"{by_hand} (written answers)")
    table.add_row("to look at", str(sum(bool(each.flags) for each in graded)))
    console.print(table)
    words = penalty_words(len(late), sum(each.penalty for each in late), included=False)
    print_plain(console, words)


def _students(console: Console, graded: Sequence[_Line], lab: str) -> None:
    """List whom to look at, who was late, and about whom there is a remark."""
    rows = [
        StudentRow(
            each.student,
            each.earned,
            each.flags,
            each.remarks,
            each.late.sentence if each.late else "",
        )
        for each in graded
    ]
    print_students(console, rows, f"mlsys report {lab} --names lists all flags")
