"""A submission before and after it runs: what a child gets of it, and what becomes of its report.

Pure, apart from `run_notebook`: whoever calls this reads what a student wrote, and so should have
limits of its own.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

import nbformat

from mlsys_widgets.notebooks.blueprint import Blueprint
from mlsys_widgets.notebooks.cell_metadata import HIDDEN, grade_id
from mlsys_widgets.notebooks.notebook_text import UnreadableNotebook
from mlsys_widgets.notebooks.remarks import Remark, RemarkKind, quoted
from mlsys_widgets.notebooks.sanitizing import read, sanitize
from mlsys_widgets.sandbox.fork_client import ForkServer
from mlsys_widgets.sandbox.job import FINISHED, ChildReport, FunctionCall, Job
from mlsys_widgets.sandbox.outputs import take_reports

_LIKE_NOTEBOOKS: Final = (".ipynb", ".ipynb.txt", ".ipynb.json", ".zip", ".html", ".pdf")


class NoUsableNotebook(ValueError):
    """A submission in which there is nothing to run."""

    def __init__(self, ended: str, remark: Remark) -> None:
        super().__init__(remark.sentence)
        self.ended, self.remark = ended, remark


@dataclass(frozen=True)
class RunnableNotebook:
    """A notebook that was made ready to run."""

    #: The notebook.
    book: Any
    #: After which cells which answer is read.
    watched: Mapping[int, str]
    #: Cells with hidden tests that only the notebook can run, complete.
    hidden: Mapping[int, str]
    #: Answers whose graded cell is gone; they are read when everything has run.
    missing: tuple[str, ...] = ()
    #: What was repaired.
    remarks: tuple[Remark, ...] = ()

    @property
    def cells(self) -> list[str | None]:
        """The code of each cell as a child gets it, and a place for each answer that is missing."""
        code = [_code(cell) for cell in self.book.cells]
        shown = [HIDDEN.sub("", c) if c and n in self.hidden else c for n, c in enumerate(code)]
        return [*shown, *[None] * len(self.missing)]

    @property
    def read_after(self) -> dict[int, str]:
        """After which cells which answer is read, those that are missing included."""
        last = len(self.book.cells)
        return {**self.watched, **{last + k: each for k, each in enumerate(self.missing)}}


@dataclass(frozen=True)
class RunResult:
    """The outcome of a submission that was run, or judged by its record."""

    #: Whose submission it was.
    student: str
    #: What was typed, as data, by the name of the answer.
    answers: Mapping[str, Any] = field(default_factory=dict)
    #: ``finished``, or why it did not get there.
    ended: str = FINISHED
    #: What a TA should know.
    remarks: tuple[Remark, ...] = ()
    #: Graded cells that are not in the notebook.
    missing: tuple[str, ...] = ()
    #: What it took.
    seconds: float = 0.0
    cpu: float = 0.0
    #: Seconds inside its cells, as it says itself: for a benchmark, and nothing else.
    own: float = 0.0


def make_runnable(lab: str, files: Mapping[str, bytes], blueprint: Blueprint) -> RunnableNotebook:
    """Make the notebook of a submission ready to run."""
    name = f"{lab}.ipynb"
    if name not in files:
        raise NoUsableNotebook("no notebook", _no_notebook(files, name))
    try:
        sane = sanitize(read(files[name]), blueprint)
    except UnreadableNotebook as problem:
        raise _unreadable(str(problem)) from None
    except nbformat.ValidationError as problem:
        why = f"its nbgrader metadata is broken: {problem.message[:200]}"
        raise _unreadable(why) from None
    book = sane.notebook
    watched, hidden = _watched(book, blueprint), _hidden(book, blueprint)
    return RunnableNotebook(book, watched, hidden, sane.missing, sane.remarks)


def apply_report(
    student: str,
    runnable: RunnableNotebook,
    report: ChildReport,
    calls: Collection[str] = (),
) -> RunResult:
    """Put the outputs that a child has reported into its notebook.

    ``calls`` names the replies that are answers, too.
    """
    book, hidden = runnable.book, runnable.hidden
    lines, late, ending = report.lines, report.late, report.ending
    remarks: list[Remark] = []
    visible = {n for n, cell in enumerate(book.cells) if cell.cell_type == "code"} - set(hidden)
    answers = take_reports(book, visible, lines, remarks)
    take_reports(book, set(hidden), late, remarks, started=True)
    known = (*runnable.read_after.values(), *calls)
    ended = _ended(report, remarks)
    return RunResult(
        student,
        answers={each: answers[each] for each in known if each in answers},
        ended=ended,
        remarks=tuple(dict.fromkeys((*runnable.remarks, *remarks))),
        missing=runnable.missing,
        seconds=ending.seconds,
        cpu=ending.cpu,
        own=_own(late or lines, ending.seconds),
    )


def apply_replies(recorded: RunResult, report: ChildReport, calls: Collection[str]) -> RunResult:
    """Add what functions replied to what was recorded; no notebook ran, so no cell is believed."""
    remarks: list[Remark] = []
    answers = take_reports(None, frozenset(), report.lines, remarks)
    ended = _ended(report, remarks)
    return replace(
        recorded,
        answers={**recorded.answers, **{name: answers[name] for name in calls if name in answers}},
        ended=ended,
        remarks=tuple(dict.fromkeys((*recorded.remarks, *remarks))),
        seconds=report.ending.seconds,
        cpu=report.ending.cpu,
    )


def _ended(report: ChildReport, remarks: list[Remark]) -> str:
    """Say how a child ended, and remark on it if that was before its end."""
    ended, last = report.ending.ended, (report.late or report.lines)[-1:]
    if ended == FINISHED and not (last and last[0].startswith('{"done": true')):
        ended = "it ended itself"
    if ended != FINISHED:
        remarks.append(Remark(RemarkKind.NOT_FINISHED, detail=ended))
    return ended


def run_notebook(
    book: Any,
    job: Job,
    server: ForkServer,
    watched: Mapping[int, str],
    hidden: Mapping[int, str],
    calls: Mapping[str, FunctionCall] | None = None,
) -> RunResult:
    """Run a sanitized notebook at once, and put its outputs into it."""
    runnable = RunnableNotebook(book, watched, hidden)
    report = server.run(job, job.files, runnable.cells, runnable.read_after, hidden, calls)
    return apply_report(job.student, runnable, report, calls or ())


def _own(lines: Sequence[str], most: float) -> float:
    with suppress(ValueError, TypeError, LookupError, RecursionError):
        own = float(json.loads(lines[-1])["own"])
        return own if 0 <= own <= most else 0.0
    return 0.0


def _no_notebook(files: Mapping[str, bytes], name: str) -> Remark:
    """Remark on what is there instead; none of it is this notebook beyond doubt."""
    others = [quoted(n) for n in sorted(files) if n.casefold().endswith(_LIKE_NOTEBOOKS)]
    listed = ", ".join(others[:4]) + (", …" if others[4:] else "")
    instead = f", only {listed}" if others else ""
    return Remark(RemarkKind.NO_NOTEBOOK, name, f"{instead}. Hand in one notebook with this name")


def _unreadable(why: str) -> NoUsableNotebook:
    return NoUsableNotebook("unreadable", Remark(RemarkKind.UNREADABLE, detail=why))


def _code(cell: Any) -> str | None:
    """Return the code of a cell, if a kernel would run it."""
    if cell.cell_type != "code" or not cell.source.strip():
        return None
    source: str = cell.source
    return source


def _watched(book: Any, blueprint: Blueprint) -> dict[int, str]:
    return {
        number: name
        for number, cell in enumerate(book.cells)
        if cell.cell_type == "code" and (name := grade_id(cell)) in blueprint.graded
    }


def _hidden(book: Any, blueprint: Blueprint) -> dict[int, str]:
    """Return the instructor's cells with hidden tests, complete."""
    return {
        number: cell.source
        for number, cell in enumerate(book.cells)
        if cell.cell_type == "code"
        and (known := blueprint.cells.get(grade_id(cell) or ""))
        and known.locked
        and HIDDEN.search(cell.source)
    }
