"""What a worker does with one submission: sanitize it, have it run, and hand back data.

A worker needs the package and nothing else: no gradebook, no checks, no shared disk.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import nbformat

from mlsys_widgets.sandbox.blueprint import Blueprint
from mlsys_widgets.sandbox.cell_metadata import HIDDEN, grade_id
from mlsys_widgets.sandbox.fork_client import ForkServer
from mlsys_widgets.sandbox.job import FINISHED, Job, RunResult
from mlsys_widgets.sandbox.notebook_text import UnreadableNotebook
from mlsys_widgets.sandbox.outputs import take_reports
from mlsys_widgets.sandbox.remarks import Remark, RemarkKind, quoted
from mlsys_widgets.sandbox.sanitizing import read, sanitize

_LIKE_NOTEBOOKS: Final = (".ipynb", ".ipynb.txt", ".ipynb.json", ".zip", ".html", ".pdf")


def run_submission(job: Job, blueprint: Blueprint, server: ForkServer) -> RunResult:
    """Sanitize a submission, run it, and put its outputs into its notebook."""
    name = f"{job.lab}.ipynb"
    if name not in job.files:
        return RunResult(job.student, ended="no notebook", remarks=(_no_notebook(job, name),))
    try:
        sane = sanitize(read(job.files[name]), blueprint)
    except UnreadableNotebook as problem:
        return _unreadable(job, str(problem))
    except nbformat.ValidationError as problem:
        return _unreadable(job, f"its nbgrader metadata is broken: {problem.message[:200]}")
    book = sane.notebook
    watched, hidden = _watched(book, blueprint), _hidden(book, blueprint)
    others = {n: content for n, content in job.files.items() if n != name}
    result = run_notebook(book, replace(job, files=others), server, watched, hidden, sane.missing)
    return replace(
        result,
        # Not nbformat.writes: what it would validate was checked output by output.
        notebook=nbformat.v4.writes_json(book) + "\n",
        remarks=tuple(dict.fromkeys((*sane.remarks, *result.remarks))),
    )


def run_notebook(
    book: Any,
    job: Job,
    server: ForkServer,
    watched: Mapping[int, str],
    hidden: Mapping[int, str],
    missing: Sequence[str] = (),
) -> RunResult:
    """Run a sanitized notebook, and put its outputs into it.

    Parameters
    ----------
    book
        The notebook; it is changed.
    job
        Whose, with what beside the notebook.
    server
        Where it runs.
    watched
        After which cells which answer is read.
    hidden
        Cells with hidden tests, complete.
    missing
        Answers whose graded cell is gone; they are read when everything has run.
    """
    cells = [_code(cell) for cell in book.cells]
    cells = [HIDDEN.sub("", c) if c and n in hidden else c for n, c in enumerate(cells)]
    cells += [None] * len(missing)
    watched = {**watched, **{len(book.cells) + k: each for k, each in enumerate(missing)}}
    told = server.run(job, job.files, cells, watched, hidden)
    remarks: list[Remark] = []
    visible = {n for n, cell in enumerate(book.cells) if cell.cell_type == "code"} - set(hidden)
    answers = take_reports(book, visible, told["lines"], remarks)
    take_reports(book, set(hidden), told["late"], remarks, started=True)
    ended = told["ended"]
    last = (told["late"] or told["lines"])[-1:]
    if ended == FINISHED and not (last and last[0].startswith('{"done": true')):
        ended = "it ended itself"
    if ended != FINISHED:
        remarks.append(Remark(RemarkKind.NOT_FINISHED, detail=ended))
    return RunResult(
        job.student,
        answers={each: answers[each] for each in watched.values() if each in answers},
        ended=ended,
        remarks=tuple(dict.fromkeys(remarks)),
        missing=tuple(missing),
        seconds=told["seconds"],
        cpu=told["cpu"],
        own=_own(told["late"] or told["lines"], told["seconds"]),
    )


def _own(lines: Sequence[str], most: float) -> float:
    with suppress(ValueError, TypeError, LookupError, RecursionError):
        own = float(json.loads(lines[-1])["own"])
        return own if 0 <= own <= most else 0.0
    return 0.0


def _no_notebook(job: Job, name: str) -> Remark:
    """What is there instead; none of it is this notebook beyond doubt, or it would be in place."""
    others = [quoted(n) for n in sorted(job.files) if n.casefold().endswith(_LIKE_NOTEBOOKS)]
    listed = ", ".join(others[:4]) + (", …" if others[4:] else "")
    instead = f", only {listed}" if others else ""
    return Remark(RemarkKind.NO_NOTEBOOK, name, f"{instead}. Hand in one notebook with this name")


def _unreadable(job: Job, why: str) -> RunResult:
    return RunResult(
        job.student, ended="unreadable", remarks=(Remark(RemarkKind.UNREADABLE, detail=why),)
    )


def _code(cell: Any) -> str | None:
    """The code of a cell, if a kernel would run it."""
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
    """The instructor's cells with hidden tests, complete."""
    return {
        number: cell.source
        for number, cell in enumerate(book.cells)
        if cell.cell_type == "code"
        and (known := blueprint.cells.get(grade_id(cell) or ""))
        and known.locked
        and HIDDEN.search(cell.source)
    }
