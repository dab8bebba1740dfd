"""A fork server and its children, from the side of whoever has something to run."""

from __future__ import annotations

import base64
import io
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, BinaryIO, Final

from mlsys_widgets.sandbox.isolation import CannotIsolate
from mlsys_widgets.sandbox.job import ChildReport, Ending, FunctionCall, Job, Parcel
from mlsys_widgets.sandbox.process_pool import ProcessLost
from mlsys_widgets.sandbox.wire import (
    ENOUGH,
    LEAVE,
    ONLY_FUNCTIONS,
    framed,
    receive,
    send,
    send_job,
)

#: What a fork server gets of the grader's environment.
_ENVIRONMENT: Final = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "HOME")
#: The line with which a child says that all answers are settled.
_ANSWERED_LINE: Final = b'{"answered": true}\n'


def child_content(
    home: str,
    files: Mapping[str, bytes],
    cells: Sequence[str | None],
    watched: Mapping[int, str],
    hidden: Mapping[int, str],
    calls: Mapping[str, FunctionCall] | None = None,
) -> bytes:
    """Pack what a child is sent: files, cells, which answer is read after which cell, and calls.

    See `ForkServer.run` for the arguments; of ``hidden`` the child only learns the numbers.
    """
    return framed(
        {
            "cells": list(cells),
            "files": {n: base64.b64encode(c).decode() for n, c in files.items()},
            "watched": {str(number): name for number, name in watched.items()},
            "home": home,
            "late": sorted(hidden),
            "calls": {name: asdict(each) for name, each in (calls or {}).items()},
        }
    )


def split_report(report: bytes, late_from: int | None) -> tuple[list[str], list[str]]:
    """Split what a child reported into complete lines, before and after its hidden tests."""
    if late_from is None:
        return _lines(report), []
    return _lines(report[: late_from - len(_ANSWERED_LINE)]), _lines(report[late_from:])


def _lines(report: bytes) -> list[str]:
    return report.decode("utf-8", "replace").split("\n")[:-1]


class ForkServerLost(ProcessLost):
    """The fork server is gone, and with it the child it was watching.

    It is ``too_late`` to start the child again once it had its hidden tests.
    """


class ForkServer:
    """A fork server, seen from the side of whoever has something to run.

    One for ``only_functions`` runs no cells; it is small, and forks sooner.
    """

    def __init__(self, *, only_functions: bool = False) -> None:
        self._jobs, theirs = socket.socketpair()
        options = [ONLY_FUNCTIONS] if only_functions else []
        self._process = subprocess.Popen(
            # -P: nothing is imported from the folder in which a TA happens to grade.
            [sys.executable, "-P", "-m", "mlsys_widgets.sandbox.fork_server", *options],
            stdin=theirs.fileno(),
            stdout=subprocess.PIPE,
            # A child can read the environment with which its fork server was started.
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            process_group=0,  # interrupting the grader in a terminal must not reach it
        )
        theirs.close()
        self._hello: dict[str, Any] | None = None

    @property
    def cannot_isolate(self) -> str | None:
        """Why it cannot isolate children; `None` if it can. Waits until it has started."""
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
        calls: Mapping[str, FunctionCall] | None = None,
    ) -> ChildReport:
        """Run cells in a child, and return what it reported and how it ended.

        Names in ``watched`` are read after their cells. ``hidden`` is the complete code of cells
        whose hidden tests are not in ``cells``: the child gets it when it has reported all answers,
        and what it reports from then on is ``late``. Then ``calls`` calls functions of the
        student's; the reply is reported under its name.
        """
        home = f"{job.student}/{job.lab}"
        content = child_content(home, files, cells, watched, hidden or {}, calls)
        parcel = Parcel(job.student, content, hidden or {}, job.isolate, job.limits)
        report = io.BytesIO()
        ending = self.deliver(parcel, report)
        lines, late = split_report(report.getvalue(), ending.late_from)
        return ChildReport(lines, late, ending)

    def deliver(self, parcel: Parcel, report: BinaryIO) -> Ending:
        """Have a child do what is in a parcel; nothing in it, or of what comes back, is read here.

        `ForkServerLost` if the fork server is gone.
        """
        refusal = self.cannot_isolate
        if parcel.isolate and refusal:
            raise CannotIsolate(0, refusal)
        line, theirs = socket.socketpair()
        with line, line.makefile("wb") as out:
            try:
                with theirs:
                    how = {"limits": asdict(parcel.limits), "isolate": parcel.isolate}
                    send_job(self._jobs, how, theirs)
            except OSError:
                self.close()
                raise ForkServerLost("the fork server takes no more jobs") from None
            with suppress(OSError):  # it has ended; the fork server says how
                _send_content(line, parcel.content)
            listener = _Listener(line, out, parcel, report, self._jobs)
            listener.listen()
        try:
            ending = Ending(**self._receive())
        except ForkServerLost as lost:
            lost.too_late = listener.late_from is not None
            raise
        ended = "too much output" if listener.cut else ending.ended
        return replace(ending, ended=ended, late_from=listener.late_from)

    def close(self) -> None:
        """End it."""
        self._jobs.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        # Last, because a thread that still reads from it holds it until the process has ended.
        if self._process.stdout:
            self._process.stdout.close()

    def _receive(self) -> dict[str, Any]:
        stream: BinaryIO = self._process.stdout  # type: ignore[assignment]
        message = receive(stream)
        if message is None:
            self.close()
            raise ForkServerLost(f"the fork server ended ({self._process.returncode})")
        return message


def _send_content(line: socket.socket, content: bytes | Path) -> None:
    if isinstance(content, bytes):
        line.sendall(content)
    else:
        with content.open("rb") as file:
            line.sendfile(file)


class _Listener:
    """Takes down what a child reports, and gives it its hidden tests once answers are settled."""

    def __init__(
        self,
        line: socket.socket,
        out: BinaryIO,
        parcel: Parcel,
        report: BinaryIO,
        jobs: socket.socket,
    ) -> None:
        self._line, self._out, self._parcel, self._report = line, out, parcel, report
        self._jobs = jobs
        #: Where the report on hidden tests begins; `None` until the child has them.
        self.late_from: int | None = None
        #: Whether there was more than is allowed.
        self.cut = False

    def listen(self) -> None:
        """Listen until the child has ended, or must end."""
        seen, carried = 0, b""
        began, allowance = time.monotonic(), self._parcel.allowance
        while True:
            left = None if allowance is None else max(0.0, began + allowance - time.monotonic())
            ready, _, _ = select.select([self._line], [], [], left)
            if not ready:
                allowance = None
                # Who has seen hidden tests is never started again, and so stays.
                if self.late_from is None:
                    self._tell(LEAVE)
                continue
            try:
                piece = self._line.recv(1 << 18)
            except OSError:
                piece = b""
            if not piece:
                return
            self._report.write(piece)
            if self.late_from is None and self._parcel.hidden:
                # Only the new part is searched, and as much before it as the line is long.
                window = carried + piece
                at = _whole_line(window, starts=not seen)
                if at is not None:
                    self.late_from = seen - len(carried) + at + len(_ANSWERED_LINE)
                    self._give_hidden_tests()
                carried = window[-len(_ANSWERED_LINE) :]
            seen += len(piece)
            if seen > self._parcel.limits.output:
                self.cut = True
                self._tell(ENOUGH)
                return

    def _give_hidden_tests(self) -> None:
        hidden = self._parcel.hidden
        with suppress(OSError):
            send(self._out, {str(number): hidden[number] for number in sorted(hidden)})

    def _tell(self, word: bytes) -> None:
        with suppress(OSError):
            self._jobs.send(word)


def _whole_line(window: bytes, *, starts: bool) -> int | None:
    """Return where the line about answers begins; it must be one of its own."""
    if starts and window.startswith(_ANSWERED_LINE):
        return 0
    at = window.find(b"\n" + _ANSWERED_LINE)
    return None if at < 0 else at + 1
