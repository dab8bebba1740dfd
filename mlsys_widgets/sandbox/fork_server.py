"""A process that imports once what submissions need, and forks a child for each of them.

It is a program of its own (``python -m mlsys_widgets.sandbox.fork_server``), because a process that
forks must have one thread and no event loop. It reads jobs from the socket that is its standard
input and writes how each one ended to its standard output. With ``--functions`` its children run
no notebooks: they call functions of students, for which a much smaller process is enough.

Everything in its memory is in the memory of every child. So it never sees a submission, an answer
or a hidden test: each job comes with a socket to whoever sent it, which is handed on to the child,
and all of that goes over this socket. The fork server watches what the child uses, and ends it.
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
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy.random

from mlsys_widgets.files import lay_out
from mlsys_widgets.sandbox.function_calling import call_functions, report_end
from mlsys_widgets.sandbox.isolation import isolate, prepare, why_not
from mlsys_widgets.sandbox.job import FINISHED, KILLED, YIELDED, Ending, FunctionCall
from mlsys_widgets.sandbox.leftovers import own_folder
from mlsys_widgets.sandbox.limits import Limits, enforce
from mlsys_widgets.sandbox.usage import Meter, descendants
from mlsys_widgets.sandbox.wire import (
    ENOUGH,
    LEAVE,
    ONLY_FUNCTIONS,
    STARTED,
    receive,
    receive_job,
    send,
)

#: Why a child is ended when its owner says so.
_ORDERS: Final = {ENOUGH: "too much output", LEAVE: YIELDED}
#: Seconds between looks at what a child uses.
_POLL: Final = 0.1
_libc: Final = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def main() -> int:
    """Serve jobs until there are no more."""
    jobs, results = socket.socket(fileno=os.dup(0)), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):
        os.dup2(null, standard)  # what is imported below may print
    # Processes that children leave behind become this one's, and are ended.
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    shell = None if ONLY_FUNCTIONS in sys.argv else _warm_shell()
    exec(_DRIVERS, {})
    prepare()
    # What is here already is never garbage: looking for it would copy its pages in every child.
    gc.collect()
    gc.freeze()
    root = own_folder("root")
    root.chmod(0o755)
    try:
        send(results, {"ready": True, "cannot_isolate": why_not(root)})
        while (job := receive_job(jobs)) is not None:
            send(results, asdict(_run_in_child(*job, shell, root, jobs)))
    except OSError:
        return 1  # nobody is left to tell
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return 0


#: What notebooks do first and what is slow the first time. It is their code and not grading's:
#: grading itself uses neither widgets nor measurements.
_WARM_UP: Final = """
from IPython import get_ipython

import mlsys_widgets
from mlsys_widgets.instruments.instrument import Instrument
from mlsys_widgets.measured import available, ceilings

formatter = get_ipython().display_formatter

for name in available():
    ceilings(name)
public = [getattr(mlsys_widgets, name) for name in mlsys_widgets.__all__]
for made in (kind() for kind in public if Instrument in getattr(kind, "__mro__", ())[1:]):
    if hasattr(made, "measured"):
        made.set(measured=True)
    formatter.format(made)
    for result in made.explanations.values():
        result.derivation().to_html()
"""


#: What the course's own part of a child imports, where a student's function plays a game.
_DRIVERS: Final = "import mlsys_widgets.physics.admission"


def _warm_shell() -> Any:
    """Import what labs use, and make one of each thing that is slow the first time."""
    from mlsys_widgets.sandbox.shell import make_shell

    shell = make_shell()
    exec(_WARM_UP, {})
    return shell


def _run_in_child(
    job: Mapping[str, Any], line: int, shell: Any, root: Path, jobs: socket.socket
) -> Ending:
    """Fork a child for a job, and watch it until it ends or must be ended."""
    limits = Limits(**job["limits"])
    place = None if job["isolate"] else own_folder("submission")
    began, parent = time.monotonic(), os.getpid()
    pid = os.fork()
    if not pid:
        _child_main(parent, line, shell, root, place, limits)
    os.close(line)
    try:
        ended = _watch(pid, limits, began, jobs)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        _, status, usage = os.wait4(pid, 0)
        _end_orphans()
        if place is not None:
            shutil.rmtree(place, ignore_errors=True)
    spent = usage.ru_utime + usage.ru_stime
    ended = ended or _ending(os.waitstatus_to_exitcode(status))
    if ended == KILLED and spent > limits.cpu:
        ended = "out of processor time"  # of a process that took no notice of the first signal
    return Ending(ended, time.monotonic() - began, spent)


def _child_main(
    parent: int, line: int, shell: Any, root: Path, place: Path | None, limits: Limits
) -> None:
    """Take the rest of the job from the socket, get isolated, and run it. Never returns."""
    try:
        os.setsid()
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it was gone before that
            os._exit(1)
        line = _keep_open(line)
        with os.fdopen(line, "rb", closefd=False) as stream:
            job = receive(stream) or {}
        files = {name: base64.b64decode(content) for name, content in job["files"].items()}
        watched = {int(number): name for number, name in job["watched"].items()}
        _clean_environment()

        def work() -> None:
            os.write(line, STARTED)
            calls = {name: FunctionCall(**each) for name, each in job["calls"].items()}
            if shell is None:
                assert not job["cells"], "children of this fork server only call functions"
                call_functions(calls, {}, seconds=limits.cell, to=line)
                report_end(line)
                return
            from mlsys_widgets.sandbox.shell import run

            run(
                shell, job["cells"], watched, seconds=limits.cell, to=line, late=job["late"],
                calls=calls,
            )  # fmt: skip

        if place is None:
            isolate(root, files=files, home=job["home"], limits=limits, then=work)
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
    """Close every file but one, and let standard streams lead nowhere."""
    high = fcntl.fcntl(line, fcntl.F_DUPFD, 64)
    os.closerange(0, high)
    os.closerange(high + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (1, 2):
        os.dup2(null, standard)
    kept = os.dup(high)
    os.close(high)
    return kept


def _clean_environment() -> None:
    """Keep the grader's environment from the child, and give it random numbers of its own."""
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
    numpy.random.seed()  # noqa: NPY002 (the old generator is what students know)
    # Files of the submission can be imported, but never in place of something that is installed.
    sys.path[:] = [entry for entry in sys.path if entry]
    sys.path.append("")


def _in_a_folder(home: Path, files: Mapping[str, bytes], limits: Limits) -> None:
    """Do without isolation: a folder of its own, and the limits that need nothing else."""
    lay_out(home, files)
    os.environ["HOME"] = str(home.parent.parent)
    os.chdir(home)
    enforce(limits, own_user=False)


def _watch(pid: int, limits: Limits, began: float, jobs: socket.socket) -> str | None:
    """Wait until a child ends; say why it must be ended, if it must."""
    process, meter = os.pidfd_open(pid), Meter(pid, limits)
    try:
        while (left := began + limits.wall - time.monotonic()) > 0:
            ready, _, _ = select.select([process, jobs.fileno()], [], [], min(left, _POLL))
            if process in ready:
                return None
            if jobs.fileno() in ready:
                return _ORDERS.get(jobs.recv(1), "abandoned")
            if reason := meter.over():
                return reason
    finally:
        os.close(process)
    return "out of time"


def _ending(code: int) -> str:
    """Say how a child ended; a code beyond 128 means a signal, as in shells."""
    if code == 0:
        return FINISHED
    number = -code if code < 0 else code - 128
    if number == signal.SIGXCPU:
        return "out of processor time"
    with suppress(ValueError):
        return f"ended by {signal.Signals(number).name}"
    return f"exit {code}"


def _end_orphans() -> None:
    """End processes that a child has left behind."""
    while True:
        for pid in descendants(os.getpid()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.wait()
        except ChildProcessError:
            return


if __name__ == "__main__":
    sys.exit(main())
