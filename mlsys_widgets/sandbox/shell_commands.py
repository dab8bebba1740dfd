"""What ``!command`` does in a cell: it runs, and what it prints is the cell's output.

A kernel gives commands a terminal of their own. A sandbox has no terminals, so they get a pipe, and
nothing to read from. They find the interpreter first, as in a student's own environment. What pip
can only do over a network fails at once, with a sentence, and the lines after it still run.
"""

from __future__ import annotations

import codecs
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

#: Settings of pip: it neither looks for a network nor asks anybody.
_OFFLINE: Final = {"PIP_NO_INDEX": "1", "PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
_INSTALLS: Final = re.compile(r"\bpip[\d.]*\s+(?:install|download|wheel)\b")
#: pip's words for a package that it would have to download.
_NOT_HERE: Final = re.compile(r"No matching distribution found for (\S+)")


def run_command(command: str, write: Callable[[str], object]) -> int:
    """Run a command of the system's shell; returns its exit status, as subprocess gives it.

    ``write`` is called with everything that it prints, while it runs.
    """
    if not _INSTALLS.search(command):
        return _run(command, write)
    printed: list[str] = []
    status = _run(command, printed.append)
    text = "".join(printed)
    if status and (missing := _NOT_HERE.search(text)):
        text = (
            f"{missing[1]} is not installed: there is no network while submissions are graded, so"
            " pip can install nothing that the course has not installed already.\n"
        )
    write(text)
    return status


def _run(command: str, write: Callable[[str], object]) -> int:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    process = subprocess.Popen(
        ["/bin/sh", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **_OFFLINE, "PATH": path},
        start_new_session=True,
    )
    assert process.stdout is not None
    with process:
        try:
            while printed := process.stdout.read1():  # type: ignore[attr-defined]
                write(decode(printed))
            write(decode(b"", True))
        except BaseException:
            # The time of the cell is over: it and what it has started end.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode
