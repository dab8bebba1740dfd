"""What a worker does with one submission: make it fit, have it run, and hand back data.

A worker needs the package and nothing else: no gradebook, no checks, no shared disk. It keeps one
nursery, which it starts when it is first needed and anew when it is gone.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, BinaryIO, Final

import nbformat

from mlsys_widgets.grading.blueprint import Blueprint
from mlsys_widgets.grading.isolation import CannotIsolate, Limits
from mlsys_widgets.grading.nursery import receive, send
from mlsys_widgets.grading.sanitizing import Unreadable, read, sanitize

#: How a submission ended when all of its cells were run.
FINISHED: Final = "finished"
#: As nbgrader limits what a cell puts out.
_MOST_LINES, _MOST_FRAMES = 1000, 100


@dataclass(frozen=True)
class Job:
    """One submission, as it travels to a worker.

    Parameters
    ----------
    student, lab
        Whose, of what.
    files
        The submission's files, paths below its folder; those of the release put over them.
    isolate
        Whether the notebook is shut in.
    """

    student: str
    lab: str
    files: Mapping[str, bytes]
    isolate: bool = True
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Ran:
    """What came of it.

    Parameters
    ----------
    student
        Whose.
    notebook
        The notebook with outputs, as JSON; empty if it could not be read.
    answers
        What was typed, as data, by the name of the answer.
    ended
        ``finished``, or why it did not get there.
    remarks
        What a TA should know.
    missing
        Graded cells that are not in the notebook.
    seconds, cpu
        What it took.
    """

    student: str
    notebook: str = ""
    answers: Mapping[str, Any] = field(default_factory=dict)
    ended: str = FINISHED
    remarks: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    seconds: float = 0.0
    cpu: float = 0.0


class NurseryLost(RuntimeError):
    """The nursery is gone, and with it what it was doing."""


class Nursery:
    """A nursery process, from the side of whoever has something to run."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            # -P: the folder in which a TA grades is no place to import from.
            [sys.executable, "-P", "-m", "mlsys_widgets.grading.nursery"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.cannot_isolate: str | None = self._receive()["cannot_isolate"]

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def run(
        self,
        job: Job,
        files: Mapping[str, bytes],
        cells: Sequence[str | None],
        watched: Mapping[int, str],
    ) -> dict[str, Any]:
        """Run cells in a child, and hand back what the nursery tells of it."""
        if job.isolate and self.cannot_isolate:
            raise CannotIsolate(0, self.cannot_isolate)
        stream: BinaryIO = self._process.stdin  # type: ignore[assignment]
        try:
            send(
                stream,
                {
                    "cells": list(cells),
                    "files": {n: base64.b64encode(c).decode() for n, c in files.items()},
                    "watched": {str(number): name for number, name in watched.items()},
                    "limits": asdict(job.limits),
                    "isolate": job.isolate,
                    "home": f"{job.student}/{job.lab}",
                },
            )
        except OSError:
            raise NurseryLost("the nursery takes no more jobs") from None
        return self._receive()

    def close(self) -> None:
        """End it."""
        if self._process.stdin:
            self._process.stdin.close()
        if self._process.stdout:
            self._process.stdout.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _receive(self) -> dict[str, Any]:
        stream: BinaryIO = self._process.stdout  # type: ignore[assignment]
        message = receive(stream)
        if message is None:
            raise NurseryLost(f"the nursery ended ({self._process.poll()})")
        return message


def run_submission(job: Job, blueprint: Blueprint, nursery: Nursery) -> Ran:
    """Make a submission fit, run it, and put what came of it together.

    Whatever a child says is looked at with suspicion: lines that are not what they should be are
    left out, and remarked upon.
    """
    name = f"{job.lab}.ipynb"
    if name not in job.files:
        return Ran(job.student, ended="no notebook", remarks=(_no_notebook(job, name),))
    try:
        sane = sanitize(read(job.files[name]), blueprint)
    except Unreadable as problem:
        return Ran(job.student, ended="unreadable", remarks=(str(problem),))
    except nbformat.ValidationError as problem:
        said = f"its nbgrader metadata is broken: {problem.message[:200]}"
        return Ran(job.student, ended="unreadable", remarks=(said,))
    book = sane.notebook
    cells = [_code(cell) for cell in book.cells]
    watched = _watched(book, blueprint)
    # Answers whose graded cell is gone are looked at when everything has run.
    cells += [""] * len(sane.missing)
    watched |= {len(book.cells) + k: each for k, each in enumerate(sane.missing)}
    others = {n: content for n, content in job.files.items() if n != name}
    told = nursery.run(job, others, cells, watched)
    remarks = list(sane.remarks)
    answers = _put_together(book, told["lines"], remarks)
    ended = told["ended"]
    if ended != FINISHED:
        remarks.append(f"it did not run to its end: {ended}")
    return Ran(
        job.student,
        notebook=nbformat.writes(book) + "\n",
        answers=answers,
        ended=ended,
        remarks=tuple(remarks),
        missing=sane.missing,
        seconds=told["seconds"],
        cpu=told["cpu"],
    )


def _no_notebook(job: Job, name: str) -> str:
    others = sorted(n for n in job.files if n.endswith(".ipynb"))
    return f"there is no {name}" + (f", only {', '.join(others)}" if others else "")


def _code(cell: Any) -> str | None:
    """The code of a cell that a kernel would run."""
    if cell.cell_type != "code" or not cell.source.strip():
        return None
    source: str = cell.source
    return source


def _watched(book: Any, blueprint: Blueprint) -> dict[int, str]:
    return {
        number: name
        for number, cell in enumerate(book.cells)
        if cell.cell_type == "code"
        and (name := cell.metadata.get("nbgrader", {}).get("grade_id")) in blueprint.graded
    }


def _put_together(book: Any, lines: Sequence[str], remarks: list[str]) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    for line in lines:
        try:
            told = json.loads(line)
            if "answer" in told:
                answers[str(told["answer"])] = told["value"]
            elif "cell" in told and told["cell"] < len(book.cells):
                cell = book.cells[told["cell"]]
                cell.outputs = [nbformat.from_dict(_output(each)) for each in told["outputs"]]
                cell.execution_count = int(told["count"])
            elif "failed" in told:
                remarks.append(f"it could not be started: {str(told['failed'])[:200]}")
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            remarks.append("something that it wrote about itself was left out")
    return answers


def _output(told: Any) -> dict[str, Any]:
    """An output with the fields that a notebook may have, and no others."""
    kind = told["output_type"]
    if kind == "stream":
        name = "stderr" if told["name"] == "stderr" else "stdout"
        lines = str(told["text"]).split("\n")
        if len(lines) > _MOST_LINES:
            lines = [*lines[: _MOST_LINES - 1], "... Output truncated ..."]
        return {"output_type": kind, "name": name, "text": "\n".join(lines)}
    if kind == "error":
        frames = [str(line) for line in told["traceback"]]
        if len(frames) > _MOST_FRAMES:
            half = _MOST_FRAMES // 2
            frames = [*frames[:half], "... Traceback truncated ...", *frames[1 - half :]]
        return {
            "output_type": kind,
            "ename": str(told["ename"]),
            "evalue": str(told["evalue"]),
            "traceback": frames,
        }
    if kind not in ("display_data", "execute_result"):
        raise ValueError(kind)
    output = {
        "output_type": kind,
        "data": {str(k): v for k, v in dict(told["data"]).items()},
        "metadata": dict(told["metadata"]),
    }
    if kind == "execute_result":
        output["execution_count"] = int(told["execution_count"])
    return output
