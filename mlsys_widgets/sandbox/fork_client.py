"""A fork server and its children, from the side of whoever has something to run."""

from __future__ import annotations

import base64
import os
import re
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any, BinaryIO, Final

from mlsys_widgets.sandbox.isolation import CannotIsolate
from mlsys_widgets.sandbox.job import Job
from mlsys_widgets.sandbox.wire import ENOUGH, receive, send, send_job

#: What a fork server gets of the grader's environment.
_ENVIRONMENT: Final = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "HOME")
#: The line with which a child says that all answers are settled.
_ANSWERED_LINE: Final = b'{"answered": true}\n'
_ANSWERED: Final = re.compile(b"^" + re.escape(_ANSWERED_LINE), re.M)


def _lines(told: bytes | bytearray) -> list[str]:
    """Split into complete lines."""
    return bytes(told).decode("utf-8", "replace").split("\n")[:-1]


class ForkServerLost(RuntimeError):
    """The fork server is gone, and with it the child it was watching."""


class ForkServer:
    """A fork server, seen from the side of whoever has something to run."""

    def __init__(self) -> None:
        self._jobs, theirs = socket.socketpair()
        self._process = subprocess.Popen(
            # -P: nothing is imported from the folder in which a TA happens to grade.
            [sys.executable, "-P", "-m", "mlsys_widgets.sandbox.fork_server"],
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
    ) -> dict[str, Any]:
        """Run cells in a child, and hand back what it reported and how it ended.

        Parameters
        ----------
        job
            Whose, and how.
        files
            What lies beside the notebook.
        cells
            The code of each cell.
        watched
            After which cells which name is read.
        hidden
            The complete code of cells whose hidden tests are not in ``cells``. The child gets it
            when it has reported all answers; what it reports from then on is under ``late``.
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
                raise ForkServerLost("the fork server takes no more jobs") from None
            with suppress(OSError):  # it has ended; the fork server says how
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
        """Collect what a child reports before and after it gets the hidden tests.

        The third value says whether that is all of it.
        """
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
                # Only the new part is searched; everything before the line is settled.
                found = _ANSWERED.search(told, max(0, len(told) - len(piece) - len(_ANSWERED_LINE)))
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
            raise ForkServerLost(f"the fork server ended ({self._process.poll()})")
        return message
