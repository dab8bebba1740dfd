"""A process that imports everything once and forks a child for each submission.

It is a program of its own (``python -m mlsys_widgets.grading.nursery``), because a process that
forks must have one thread, no event loop and no sockets. It reads a job from its standard input and
writes what came of it to its standard output, one at a time; both are length-prefixed JSON.
"""

from __future__ import annotations

import base64
import json
import os
import random
import select
import shutil
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Final

from mlsys_widgets.grading.isolation import Limits, shut_in, why_not

_PACKAGE: Final = Path(__file__).resolve().parent.parent
_LENGTH: Final = struct.Struct(">I")
_POLL: Final = 0.1


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


def main() -> int:
    """Serve jobs until there are no more."""
    jobs, results = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):
        # What is imported below may print; a child has no business with the nursery's pipes.
        if standard:
            os.dup2(null, standard)
    from mlsys_widgets.grading import child

    shell = child.make_shell()
    _warm_up()
    root = Path(tempfile.mkdtemp(prefix="mlsys-root-"))
    root.chmod(0o755)
    refusal = why_not(root)
    send(results, {"ready": True, "cannot_isolate": refusal})
    try:
        while (job := receive(jobs)) is not None:
            send(results, _raise(job, shell, root, jobs, results))
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return 0


def _warm_up() -> None:
    """Import what labs use, and make one of each thing that is slow the first time."""
    import mlsys_widgets
    from mlsys_widgets import RooflineWidget

    for name in mlsys_widgets.__all__:
        getattr(mlsys_widgets, name)
    with suppress(ImportError):
        import_module("pandas")  # bqplot imports it with the first figure
    RooflineWidget()._repr_mimebundle_()


def _raise(job: Mapping[str, Any], shell: Any, root: Path, *inherited: BinaryIO) -> dict[str, Any]:
    """Fork a child for a job, and stay with it until it ends or must be ended."""
    from mlsys_widgets.grading import child

    limits = Limits(**job["limits"])
    files = {name: base64.b64decode(content) for name, content in job["files"].items()}
    watched = {int(number): name for number, name in job["watched"].items()}
    reader, writer = os.pipe()
    began = time.monotonic()
    pid = os.fork()
    if not pid:
        try:
            os.setsid()
            os.close(reader)
            for stream in inherited:
                os.close(stream.fileno())
            null = os.open(os.devnull, os.O_RDWR)
            for standard in (0, 1, 2):
                os.dup2(null, standard)
            _own_world(job)

            def work() -> None:
                child.run(shell, job["cells"], watched, seconds=limits.cell, to=writer)

            if job["isolate"]:
                shut_in(
                    root, readable=_readable(), files=files, home=job["home"], limits=limits,
                    then=work,
                )  # fmt: skip
            else:
                _in_a_folder(files, job["home"], work)
        except BaseException as problem:
            with suppress(OSError):
                os.write(writer, json.dumps({"failed": repr(problem)}).encode() + b"\n")
        finally:
            os._exit(1)
    os.close(writer)
    try:
        lines, ended = _listen(reader, pid, limits, began)
    finally:
        os.close(reader)
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        _, status, usage = os.wait4(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    return {
        "lines": lines,
        "ended": ended or ("finished" if code == 0 else f"exit {code}"),
        "seconds": time.monotonic() - began,
        "cpu": usage.ru_utime + usage.ru_stime,
    }


def _own_world(job: Mapping[str, Any]) -> None:
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
        **job.get("environment", {}),
    )
    tempfile.tempdir = None
    random.seed()
    np.random.seed()  # noqa: NPY002 (the old generator is what students know)
    # Files of the submission can be imported, but never in place of something that is installed.
    sys.path[:] = [entry for entry in sys.path if entry]
    sys.path.append("")


def _readable() -> list[Path]:
    return list(dict.fromkeys(Path(p) for p in (sys.base_prefix, sys.prefix, _PACKAGE)))


def _in_a_folder(files: Mapping[str, bytes], home: str, work: Any) -> None:
    """Without isolation: a folder of its own, removed afterwards."""
    place = Path(tempfile.mkdtemp(prefix="mlsys-submission-"))
    inner = os.fork()
    if inner:
        status = os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1])
        shutil.rmtree(place, ignore_errors=True)
        os._exit(status if status >= 0 else 1)
    for name, content in files.items():
        path = place / home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (place / home).mkdir(parents=True, exist_ok=True)
    os.chdir(place / home)
    work()
    os._exit(0)


def _listen(reader: int, pid: int, limits: Limits, began: float) -> tuple[list[str], str | None]:
    """Take what the child tells, until it ends, tells too much, takes too long or too much."""
    told = bytearray()
    while True:
        left = began + limits.wall - time.monotonic()
        if left <= 0:
            return _lines(told), "out of time"
        ready, _, _ = select.select([reader], [], [], min(left, _POLL))
        if ready:
            piece = os.read(reader, 1 << 20)
            if not piece:
                return _lines(told), None
            told += piece
            if len(told) > limits.output:
                return _lines(told), "too much output"
        elif _memory(pid) > limits.memory + _memory_at_rest():
            return _lines(told), "out of memory"


def _lines(told: bytes | bytearray) -> list[str]:
    """Complete lines only."""
    return bytes(told).decode("utf-8", "replace").split("\n")[:-1]


def _memory_at_rest() -> int:
    return _resident("self")


def _memory(pid: int) -> int:
    """Memory of a child and everything below it that is its own."""
    waiting, total = [pid], 0
    while waiting:
        each = waiting.pop()
        total += _resident(str(each))
        with suppress(OSError):
            told = Path(f"/proc/{each}/task/{each}/children").read_text()
            waiting += [int(word) for word in told.split()]
    return total


def _resident(pid: str) -> int:
    """Private memory of a process; pages shared with the nursery cost nothing."""
    try:
        fields = Path(f"/proc/{pid}/statm").read_text().split()
    except OSError:
        return 0
    return (int(fields[1]) - int(fields[2])) * os.sysconf("SC_PAGESIZE")


if __name__ == "__main__":
    sys.exit(main())
