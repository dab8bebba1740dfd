"""A process that imports everything once and forks a child for each submission.

It is a program of its own (``python -m mlsys_widgets.sandbox.fork_server``), because a process that
forks must have one thread and no event loop. It reads jobs from the socket that is its standard
input and writes how each one ended to its standard output.

Everything in its memory is in the memory of every child. So it never sees a submission, an answer
or a hidden test: with each job comes a line to whoever gave it, which is handed on to the child,
and all of that goes over this line. The nursery watches what the child uses, and ends it.
"""

from __future__ import annotations

import base64
import ctypes
import fcntl
import gc
import json
import os
import random
import resource
import select
import shutil
import signal
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

from mlsys_widgets.files import lay_out
from mlsys_widgets.sandbox.isolation import Limits, limit, shut_in, why_not

_LENGTH: Final = struct.Struct(">I")
_POLL: Final = 0.1
_PAGE: Final = os.sysconf("SC_PAGESIZE")
_libc: Final = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def send(stream: BinaryIO, message: Mapping[str, Any]) -> None:
    """Write one message."""
    body = json.dumps(message).encode()
    stream.write(_LENGTH.pack(len(body)) + body)
    stream.flush()


def receive(stream: BinaryIO) -> dict[str, Any] | None:
    """Read one message; none at the end."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (size,) = _LENGTH.unpack(head)
    body = stream.read(size)
    if len(body) < size:
        return None
    message: dict[str, Any] = json.loads(body)
    return message


#: What a word to a nursery begins with: a job, or that the child of this one tells too much.
JOB, ENOUGH = b"J", b"!"


def send_job(to: socket.socket, job: Mapping[str, Any], line: socket.socket) -> None:
    """Give a nursery a job, and the line on which its child is told the rest."""
    body = json.dumps(job).encode()
    socket.send_fds(to, [JOB], [line.fileno()])
    to.sendall(_LENGTH.pack(len(body)) + body)


def _receive_job(jobs: socket.socket) -> tuple[dict[str, Any], int] | None:
    """Read one job and its line; none when there are no more."""
    word, lines, _, _ = socket.recv_fds(jobs, 1, 1)
    while word == ENOUGH:  # it came too late
        word, lines, _, _ = socket.recv_fds(jobs, 1, 1)
    if word != JOB or not lines:
        return None
    (size,) = _LENGTH.unpack(jobs.recv(_LENGTH.size, socket.MSG_WAITALL))
    body = jobs.recv(size, socket.MSG_WAITALL)
    return (json.loads(body), lines[0]) if len(body) == size else None


def main() -> int:
    """Serve jobs until there are no more."""
    jobs, results = socket.socket(fileno=os.dup(0)), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):
        os.dup2(null, standard)  # what is imported below may print
    # What children leave behind is inherited by the nursery, and ended.
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    from mlsys_widgets.sandbox import shell as child

    shell = child.make_shell()
    _warm_up()
    root = Path(tempfile.mkdtemp(prefix="mlsys-root-"))
    root.chmod(0o755)
    try:
        send(results, {"ready": True, "cannot_isolate": why_not(root)})
        while (job := _receive_job(jobs)) is not None:
            send(results, _raise(*job, shell, root, jobs))
    except OSError:
        return 1  # nobody is left to tell
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return 0


#: What notebooks do first and what is slow the first time. It is their code and not grading's:
#: grading itself uses neither widgets nor measurements.
_WARM_UP: Final = """
import mlsys_widgets
from mlsys_widgets.measured import available, ceilings, findings

for name in mlsys_widgets.__all__:
    getattr(mlsys_widgets, name)
for name in available():
    ceilings(name)
mlsys_widgets.RooflineWidget()._repr_mimebundle_()
"""


def _warm_up() -> None:
    """Import what labs use, and make one of each thing that is slow the first time."""
    exec(_WARM_UP, {})
    # What is here already is never garbage: looking for it would copy its pages in every child.
    gc.collect()
    gc.freeze()


def _raise(
    job: Mapping[str, Any], line: int, shell: Any, root: Path, jobs: socket.socket
) -> dict[str, Any]:
    """Fork a child for a job, and stay with it until it ends or must be ended."""
    limits = Limits(**job["limits"])
    place = None if job["isolate"] else Path(tempfile.mkdtemp(prefix="mlsys-submission-"))
    began, nursery = time.monotonic(), os.getpid()
    pid = os.fork()
    if not pid:
        _be_a_child(nursery, line, shell, root, place, limits)
    os.close(line)
    try:
        ended = _watch(pid, limits, began, jobs)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        _, status, usage = os.wait4(pid, 0)
        _end_what_is_left()
        if place is not None:
            shutil.rmtree(place, ignore_errors=True)
    return {
        "ended": ended or _ending(os.waitstatus_to_exitcode(status)),
        "seconds": time.monotonic() - began,
        "cpu": usage.ru_utime + usage.ru_stime,
    }


def _be_a_child(
    nursery: int, line: int, shell: Any, root: Path, place: Path | None, limits: Limits
) -> None:
    """Take the rest of the job from the line, shut oneself in, and run it. Never returns."""
    from mlsys_widgets.sandbox import shell as child

    try:
        os.setsid()
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != nursery:  # it was gone before that
            os._exit(1)
        line = _keep_open(line)
        with os.fdopen(line, "rb", closefd=False) as stream:
            job = receive(stream) or {}
        files = {name: base64.b64decode(content) for name, content in job["files"].items()}
        watched = {int(number): name for number, name in job["watched"].items()}
        _own_world()

        def work() -> None:
            child.run(shell, job["cells"], watched, seconds=limits.cell, to=line, late=job["late"])

        if place is None:
            shut_in(root, files=files, home=job["home"], limits=limits, then=work)
        else:
            _in_a_folder(place / job["home"], files, limits)
            work()
            os._exit(0)
    except BaseException as problem:
        with suppress(OSError):
            os.write(line, json.dumps({"failed": repr(problem)[:500]}).encode() + b"\n")
    finally:
        os._exit(1)


def _keep_open(line: int) -> int:
    """Close every file but one; standard streams lead nowhere."""
    high = fcntl.fcntl(line, fcntl.F_DUPFD, 64)
    os.closerange(0, high)
    os.closerange(high + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (1, 2):
        os.dup2(null, standard)
    kept = os.dup(high)
    os.close(high)
    return kept


def _own_world() -> None:
    """Nothing of the grader's environment reaches the child, and no two children draw alike."""
    import numpy as np

    kept = {name: os.environ[name] for name in ("LANG", "LC_ALL", "TZ") if name in os.environ}
    os.environ.clear()
    os.environ.update(
        kept,
        PATH="/usr/local/bin:/usr/bin:/bin",
        HOME="/submission",
        TMPDIR="/tmp",
        NBGRADER_EXECUTION="autograde",
    )
    tempfile.tempdir = None
    random.seed()
    np.random.seed()  # noqa: NPY002 (the old generator is what students know)
    # Files of the submission can be imported, but never in place of something that is installed.
    sys.path[:] = [entry for entry in sys.path if entry]
    sys.path.append("")


def _in_a_folder(home: Path, files: Mapping[str, bytes], limits: Limits) -> None:
    """Without isolation: a folder of its own, and the limits that need no isolation."""
    lay_out(home, files)
    os.environ["HOME"] = str(home.parent.parent)
    os.chdir(home)
    limit(limits, alone=False)


def _watch(pid: int, limits: Limits, began: float, jobs: socket.socket) -> str | None:
    """Wait until a child ends; why it must be ended, if it must."""
    process = os.pidfd_open(pid)
    try:
        while (left := began + limits.wall - time.monotonic()) > 0:
            ready, _, _ = select.select([process, jobs.fileno()], [], [], min(left, _POLL))
            if process in ready:
                return None
            if jobs.fileno() in ready:
                return "too much output" if jobs.recv(1) == ENOUGH else "abandoned"
            if reason := _too_much(pid, limits):
                return reason
    finally:
        os.close(process)
    return "out of time"


def _ending(code: int) -> str:
    """How a child ended, in words; beyond 128 stands a signal, as shells tell it."""
    if code == 0:
        return "finished"
    number = -code if code < 0 else code - 128
    if number == signal.SIGXCPU:
        return "out of processor time"
    with suppress(ValueError):
        return f"ended by {signal.Signals(number).name}"
    return f"exit {code}"


def _end_what_is_left() -> None:
    """End processes that a child has left behind."""
    while True:
        for pid in _below(os.getpid()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.wait()
        except ChildProcessError:
            return


def _too_much(pid: int, limits: Limits) -> str | None:
    """What a child and everything below it have used too much of."""
    everyone = [pid, *_below(pid)]
    most = limits.memory + _resident(os.getpid())
    # First what is cheap to find out: here a page counts once for each process that has it.
    if sum(map(_resident, everyone)) > most and sum(map(_share, everyone)) > most:
        return "out of memory"
    if sum(map(_processor_time, everyone)) > limits.cpu:
        return "out of processor time"
    return None


def _below(pid: int) -> list[int]:
    """All processes that come from one, whichever of its threads started them."""
    waiting, found = [pid], []
    while waiting:
        each = waiting.pop()
        for children in Path(f"/proc/{each}/task").glob("*/children"):
            with suppress(OSError):
                new = [int(word) for word in children.read_text().split()]
                waiting += new
                found += new
    return found


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except OSError:
        return 0


def _share(pid: int) -> int:
    """Memory of a process, where a page that n processes have counts for an n-th."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return _resident(pid)  # a process can hide the other


def _processor_time(pid: int) -> float:
    """Seconds of a process and of its children that have ended."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2]
    except OSError:
        return 0.0
    return sum(map(int, after_name.split()[11:15])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
