"""What a worker does with one submission: make it fit, have it run, and hand back data.

A worker needs the package and nothing else: no gradebook, no checks, no shared disk. It keeps one
nursery, which it starts when it is first needed and anew when it is gone.
"""

from __future__ import annotations

import base64
import json
import math
import os
import re
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any, BinaryIO, Final

import nbformat

from mlsys_widgets.sandbox.blueprint import Blueprint
from mlsys_widgets.sandbox.fork_server import ENOUGH, receive, send, send_job
from mlsys_widgets.sandbox.isolation import CannotIsolate, Limits
from mlsys_widgets.sandbox.sanitizing import Unreadable, grade_id, read, sanitize

#: How a submission ended when all of its cells were run.
FINISHED: Final = "finished"
#: How it ended when it could not be run at all, through no fault of its own that we know of.
LOST: Final = "lost"
#: As nbgrader limits what a cell puts out.
_MOST_LINES, _MOST_FRAMES = 1000, 100
_JSON_KIND: Final = re.compile(r"application/(.*\+)?json")
#: What a nursery gets of the grader's environment.
_ENVIRONMENT: Final = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "HOME")
_ANSWERED: Final = re.compile(rb'^\{"answered": true\}\n', re.M)
_LENGTH: Final = 20
#: As nbgrader marks the part of a test that students do not get.
HIDDEN: Final = re.compile(
    r"^[^\n]*BEGIN HIDDEN TESTS[^\n]*$.*?(^[^\n]*END HIDDEN TESTS[^\n]*$|\Z)", re.M | re.S
)


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
    own
        Seconds inside its cells, as it says itself: for a benchmark, and nothing else.
    """

    student: str
    notebook: str = ""
    answers: Mapping[str, Any] = field(default_factory=dict)
    ended: str = FINISHED
    remarks: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    seconds: float = 0.0
    cpu: float = 0.0
    own: float = 0.0


def _lines(told: bytes | bytearray) -> list[str]:
    """Complete lines only."""
    return bytes(told).decode("utf-8", "replace").split("\n")[:-1]


class NurseryLost(RuntimeError):
    """The nursery is gone, and with it what it was doing."""


class Nursery:
    """A nursery process, from the side of whoever has something to run."""

    def __init__(self) -> None:
        self._jobs, theirs = socket.socketpair()
        self._process = subprocess.Popen(
            # -P: the folder in which a TA grades is no place to import from.
            [sys.executable, "-P", "-m", "mlsys_widgets.sandbox.fork_server"],
            stdin=theirs.fileno(),
            stdout=subprocess.PIPE,
            # A child can read the environment with which its nursery was started.
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            process_group=0,  # who interrupts the grader in a terminal interrupts no nursery
        )
        theirs.close()
        self._hello: dict[str, Any] | None = None

    @property
    def cannot_isolate(self) -> str | None:
        """Why it cannot shut children in; none if it can. Waits until it has started."""
        if self._hello is None:
            self._hello = self._receive()
        return self._hello["cannot_isolate"]

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
        hidden: Mapping[int, str] | None = None,
    ) -> dict[str, Any]:
        """Run cells in a child, and hand back what the nursery tells of it.

        Parameters
        ----------
        job
            Whose, and how.
        files
            What lies beside the notebook.
        cells
            The code of each cell.
        watched
            Before which cells which name is looked at.
        hidden
            The complete code of cells whose hidden tests are not in ``cells``. The child gets it
            when it has told all answers; what it tells from then on is under ``late``.
        """
        refusal = self.cannot_isolate
        if job.isolate and refusal:
            raise CannotIsolate(0, refusal)
        content = {
            "cells": list(cells),
            "files": {n: base64.b64encode(c).decode() for n, c in files.items()},
            "watched": {str(number): name for number, name in watched.items()},
            "home": f"{job.student}/{job.lab}",
            "late": sorted(hidden or ()),
        }
        line, theirs = socket.socketpair()
        with line, line.makefile("wb") as out:
            try:
                with theirs:
                    limits = {"limits": asdict(job.limits), "isolate": job.isolate}
                    send_job(self._jobs, limits, theirs)
            except OSError:
                raise NurseryLost("the nursery takes no more jobs") from None
            with suppress(OSError):  # it has ended; how is told below
                send(out, content)
            lines, late, all_of_it = self._listen(line, out, hidden or {}, job.limits.output)
        told = self._receive()
        return {
            "lines": lines,
            "late": late,
            **told,
            "ended": told["ended"] if all_of_it else "too much output",
        }

    def _listen(
        self, line: socket.socket, out: BinaryIO, hidden: Mapping[int, str], most: int
    ) -> tuple[list[str], list[str], bool]:
        """What a child tells before and after it gets the hidden tests, and whether that is all."""
        before: list[str] | None = None
        told = bytearray()
        while True:
            try:
                piece = line.recv(1 << 20)
            except OSError:
                piece = b""
            told += piece
            most -= len(piece)
            if before is None and hidden:
                # Looked for where it can be new; what comes before it is settled.
                found = _ANSWERED.search(told, max(0, len(told) - len(piece) - _LENGTH))
                if found:
                    before = _lines(told[: found.start()])
                    del told[: found.end()]
                    with suppress(OSError):
                        send(out, {str(number): hidden[number] for number in sorted(hidden)})
            if most < 0:
                with suppress(OSError):
                    self._jobs.send(ENOUGH)
            if not piece or most < 0:
                rest = _lines(told)
                return (rest, [], most >= 0) if before is None else (before, rest, most >= 0)

    def close(self) -> None:
        """End it."""
        self._jobs.close()
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
    watched, hidden = _watched(book, blueprint), _hidden(book, blueprint)
    others = {n: content for n, content in job.files.items() if n != name}
    ran = run_notebook(book, replace(job, files=others), nursery, watched, hidden, sane.missing)
    return replace(
        ran,
        # Not nbformat.writes: what it checks besides was checked output by output.
        notebook=nbformat.v4.writes_json(book) + "\n",
        remarks=tuple(dict.fromkeys((*sane.remarks, *ran.remarks))),
    )


def run_notebook(
    book: Any,
    job: Job,
    nursery: Nursery,
    watched: Mapping[int, str],
    hidden: Mapping[int, str],
    missing: Sequence[str] = (),
) -> Ran:
    """Run a notebook that is fit to run, and put its outputs into it.

    Parameters
    ----------
    book
        The notebook; it is changed.
    job
        Whose, with what beside the notebook.
    nursery
        Where.
    watched
        Before which cells which answer is written down.
    hidden
        Cells with hidden tests, complete.
    missing
        Answers whose graded cell is gone; they are looked at when everything has run.
    """
    cells = [_code(cell) for cell in book.cells]
    cells = [HIDDEN.sub("", c) if c and n in hidden else c for n, c in enumerate(cells)]
    cells += [""] * len(missing)
    watched = {**watched, **{len(book.cells) + k: each for k, each in enumerate(missing)}}
    told = nursery.run(job, job.files, cells, watched, hidden)
    remarks: list[str] = []
    visible = {n for n, cell in enumerate(book.cells) if cell.cell_type == "code"} - set(hidden)
    answers = _put_together(book, visible, told["lines"], remarks)
    _put_together(book, set(hidden), told["late"], remarks)
    ended = told["ended"]
    last = (told["late"] or told["lines"])[-1:]
    if ended == FINISHED and not (last and last[0].startswith('{"done": true')):
        ended = "it ended itself"
    if ended != FINISHED:
        remarks.append(f"it did not run to its end: {ended}")
    return Ran(
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


def _put_together(
    book: Any, cells: Set[int], lines: Sequence[str], remarks: list[str]
) -> dict[str, list[str]]:
    """Put the outputs of some cells into a notebook; the answers that were told."""
    answers: dict[str, list[str]] = {}
    for line in lines:
        try:
            match json.loads(line):
                case {"answer": str() as name, "value": [*value]} if _are_short(value):
                    answers.setdefault(name, value)
                case {"cell": number, "outputs": [*outputs], "count": count}:
                    if number not in cells or type(number) is not int or not _counts(count):
                        raise ValueError(number)
                    shown = _limited([_output(each) for each in outputs])
                    book.cells[number].outputs = [nbformat.from_dict(each) for each in shown]
                    book.cells[number].execution_count = count
                case {"failed": str() as said}:
                    remarks.append(f"it could not be started: {_text(said)[:200]}")
                case {"done": True}:
                    pass
                case _:
                    raise ValueError(line[:20])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            remarks.append("something that it wrote about itself was left out")
    return answers


def _are_short(value: Sequence[Any]) -> bool:
    return len(value) <= 2 and all(isinstance(w, str) and len(w) < 20_000 for w in value)


def _counts(number: Any) -> bool:
    return type(number) is int and 0 <= number < 1_000_000_000


def _output(told: Any) -> dict[str, Any]:
    """An output as a notebook may have it, whatever was told."""
    match told:
        case {"output_type": "stream", "name": name, "text": str() as words}:
            which = "stderr" if name == "stderr" else "stdout"
            return {"output_type": "stream", "name": which, "text": _text(words)}
        case {
            "output_type": "error",
            "ename": str() as name,
            "evalue": str() as value,
            "traceback": [*frames],
        }:
            shown = [_text(str(frame)) for frame in frames]
            said = {"ename": _text(name), "evalue": _text(value), "traceback": shown}
            return {"output_type": "error", **said}
        case {
            "output_type": "display_data" | "execute_result" as kind,
            "data": {**data},
            "metadata": {**metadata},
        }:
            output = {"output_type": kind, "data": _bundle(data), "metadata": _data(metadata)}
            if kind == "execute_result":
                count = told["execution_count"]
                output["execution_count"] = count if _counts(count) else None
            return output
    raise ValueError("no output of a notebook")


def _bundle(data: Mapping[Any, Any]) -> dict[str, Any]:
    """What is shown, by its kind: JSON where the kind is JSON, and text everywhere else."""
    shown: dict[str, Any] = {}
    for kind, value in data.items():
        if _JSON_KIND.fullmatch(kind):
            shown[_text(kind)] = _data(value)
        elif isinstance(value, str):
            shown[_text(kind)] = _text(value)
        elif isinstance(value, list) and all(isinstance(line, str) for line in value):
            shown[_text(kind)] = _text("".join(value))
    return shown


def _data(value: Any, depth: int = 0) -> Any:
    """JSON that every browser can read: no NaN, no halves of characters, not too deep."""
    if depth > 50:
        raise ValueError("nested too deeply")
    match value:
        case str():
            return _text(value)
        case dict():
            return {_text(key): _data(each, depth + 1) for key, each in value.items()}
        case list():
            return [_data(each, depth + 1) for each in value]
        case float() if not math.isfinite(value):
            return None
    return value


def _text(words: str) -> str:
    return words.encode("utf-8", "replace").decode()


def _limited(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of too many lines the first, of too long a traceback both ends, as nbgrader does it."""
    shown, count = [], 0
    for output in outputs:
        if output["output_type"] == "stream":
            if count == _MOST_LINES:
                continue
            lines = output["text"].split("\n")
            if len(lines) + count > _MOST_LINES:
                lines = [*lines[: _MOST_LINES - count - 1], "... Output truncated ..."]
            count += len(lines)
            output["text"] = "\n".join(lines)
        elif output["output_type"] == "error" and len(output["traceback"]) > _MOST_FRAMES:
            frames, half = output["traceback"], _MOST_FRAMES // 2
            cut = [*frames[:half], "... Traceback truncated ...", *frames[1 - half :]]
            output["traceback"] = cut
        shown.append(output)
    return shown
