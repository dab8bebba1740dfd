"""A measurement of this machine in the background: started, followed, canceled.

The measuring is done by a child process, which ends when this one does; see `child_process`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from mlsys_widgets.measured.child_process import BUDGET, not_saved
from mlsys_widgets.measured.cpu.machine import is_page

#: Seconds after which a measurement that has not ended is ended.
LONGEST: Final = 120.0
_CHILD: Final = "mlsys_widgets.measured.child_process"

Outcome = Literal["running", "saved", "failed", "canceled"]


def can_measure() -> bool:
    """Whether a child can be started that measures; Python in WebAssembly has no processes."""
    return not is_page()


class BackgroundMeasurement:
    """A child process that measures this machine and saves what it found.

    The file is replaced in one step at the end, or stays as it was; it is not saved without the
    fp32 products of the ``sizes``. No case starts after ``budget`` seconds, and after the
    ``longest`` it is ended in any case.
    """

    def __init__(
        self,
        out: Path,
        *,
        sizes: Sequence[int] = (),
        sections: Sequence[str] = (),
        budget: float = BUDGET,
        longest: float = LONGEST,
    ) -> None:
        self.out = out
        self.outcome: Outcome = "running"
        #: How far along it is, from 0 to 1, and what it is doing.
        self.share, self.doing = 0.0, "starting"
        #: Why nothing was saved, as a sentence.
        self.problem = ""
        self._listeners: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._told = False
        self._longest = longest
        self._process = subprocess.Popen(
            # -P: a student's file called numpy.py in this folder is not numpy.
            [sys.executable, "-P", "-m", _CHILD, str(out), "--budget", str(budget),
             "--sizes", *map(str, sizes), "--sections", *sections],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # An interrupted cell must not interrupt the measurement; the pipe ends it.
            start_new_session=True,
            creationflags=getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0),
        )  # fmt: skip
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def follow(self, listener: Callable[[], None]) -> None:
        """Call a listener whenever something has changed, in a thread of its own.

        Whoever comes after the end is called at once.
        """
        with self._lock:
            self._listeners.append(listener)
            late = self._told
        if late:
            listener()

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self.outcome == "running"

    @property
    def pid(self) -> int:
        """The process that measures."""
        return self._process.pid

    def cancel(self) -> None:
        """End it; nothing is saved, and the file stays as it was."""
        if self.running:
            self.outcome = "canceled"
            self._end()

    def wait(self, seconds: float = LONGEST) -> Outcome:
        """Wait until it has ended and everybody was told."""
        self._thread.join(seconds)
        return self.outcome

    def _read(self) -> None:
        watchdog = threading.Timer(self._longest, self._overdue)
        watchdog.daemon = True
        watchdog.start()
        complaints: list[bytes] = []
        with self._process as child:
            assert child.stdout is not None
            assert child.stderr is not None
            # What the child complains about must not fill a pipe that nobody reads.
            errors = child.stderr
            reader = threading.Thread(target=lambda: complaints.append(errors.read()), daemon=True)
            reader.start()
            for line in child.stdout:
                self._take(line)
            code = child.wait()
            reader.join(1)
        watchdog.cancel()
        if code == 0:  # even if somebody wanted to cancel it at the last moment
            self.outcome = "saved"
        elif self.running:
            self.outcome = "failed"
        if self.outcome == "failed" and not self.problem:
            self.problem = _crashed(code, b"".join(complaints))
        with self._lock:
            self._told = True
        self._tell()

    def _take(self, line: bytes) -> None:
        try:
            news: Any = json.loads(line)
        except ValueError:  # whatever a library prints
            return
        self.problem = news.get("problem", self.problem)
        self.share = max(self.share, news.get("share", 0.0))
        self.doing = news.get("doing", self.doing)
        self._tell()

    def _tell(self) -> None:
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            listener()

    def _overdue(self) -> None:
        if self.running:
            self.outcome = "failed"
            self.problem = (
                f"The measurement did not end within {self._longest:.0f} s, so it was stopped and"
                " nothing was saved. Close other programs and measure again."
            )
            self._end()

    def _end(self) -> None:
        """Close the pipe, which interrupts the child, and kill it if it does not end then."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()


def _crashed(code: int, complaints: bytes) -> str:
    last = complaints.decode("utf-8", "replace").strip().splitlines()[-1:]
    detail = f" It said: {last[0][:200]}" if last else ""
    return f"The measuring process ended with code {code}, and nothing was saved.{detail}"


def refuse_unwritable(out: Path) -> None:
    """Find out before measuring whether the result can be saved."""
    trial = out.with_name(f".{out.name}.trial-{os.getpid()}")
    try:
        with trial.open("xb") as file:
            file.write(b"\0" * 65536)
        trial.unlink()
    except OSError as problem:
        trial.unlink(missing_ok=True)
        raise ValueError(not_saved(problem, out.name)) from None
