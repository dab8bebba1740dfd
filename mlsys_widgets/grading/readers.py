"""Readers: limited processes of our own code, the only ones that read what a submission brings.

A file that a student wrote can be small and yet cost hours or gigabytes to read. So the coordinator
reads none. At its start, while it has a single thread, it forks a few readers; a reader forks a
child for every request, which has the lab, the checks and the blueprint in memory already, and
limits of its own. Whatever becomes of that child is about one submission, and a sentence.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import gc
import json
import os
import queue
import resource
import select
import signal
import socket
import sys
import tempfile
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.sandbox.limits import address_space
from mlsys_widgets.sandbox.wire import receive, send

Request = Mapping[str, Any]
Reply = dict[str, Any]
Work = Callable[[Request], Reply]

_PR_SET_PDEATHSIG: Final = 1
_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)
#: What to do about a submission that is too much for a reader.
_ASK: Final = "ask for a notebook without outputs and extra cells, or look at it by hand"


@dataclass(frozen=True)
class ReadingLimits:
    """What reading, judging and writing one submission may use.

    Parameters
    ----------
    wall, cpu
        Seconds, and seconds of processor time.
    memory
        Bytes of address space beyond what a reader has.
    file
        Bytes of the largest file that is written.
    reply
        Bytes that are told to the coordinator.
    """

    wall: float = 120.0
    cpu: int = 30
    memory: int = 1_500_000_000
    file: int = 300_000_000
    reply: int = 2_000_000


class CannotRead(RuntimeError):
    """A submission that was too much for a reader; the message says in what way, and what to do."""


class _Killed(RuntimeError):
    """A reader, or its child, that somebody else has ended."""


class Readers:
    """A few readers, for several threads.

    Parameters
    ----------
    work
        What is done with a request. It runs in a child of its own, and what it returns is plain.
    count
        How many requests at a time.
    scratch
        A folder for temporary files, whatever becomes of the processes that make them.
    limits
        What one request may use.
    """

    def __init__(
        self, work: Work, count: int, scratch: Path, limits: ReadingLimits | None = None
    ) -> None:
        self._work, self._scratch, self._limits = work, scratch, limits or ReadingLimits()
        self.count = count
        self._lock = threading.Lock()
        self._readers: set[_Reader] = set()
        self._free: queue.SimpleQueue[_Reader] = queue.SimpleQueue()
        self._end = weakref.finalize(self, _close_all, self._readers)
        for _ in range(count):
            self._free.put(self._new())

    def ask(self, request: Request) -> Reply:
        """Have a request done, when a reader is free.

        Raises
        ------
        CannotRead
            If it takes too much, or fails.
        ValueError
            If there is no room on the disk.
        """
        with self._one() as reader:
            for _ in range(2):
                try:
                    return reader().ask(request)
                except _Killed:
                    continue
        raise CannotRead(
            "the process that reads it was killed twice, as a system does that is short of memory;"
            " grade it again with fewer --workers"
        )

    def close(self) -> None:
        """End all of them, under whoever waits for them."""
        self._end()

    @contextlib.contextmanager
    def _one(self) -> Iterator[Callable[[], _Reader]]:
        """A reader that nobody else has; a new one in its place when it is gone."""
        have = [self._free.get()]

        def reader() -> _Reader:
            if not self._end.alive:
                raise CannotRead("grading ends here")
            if not have[0].alive:
                have[0] = self._new()
            return have[0]

        try:
            yield reader
        finally:
            self._free.put(have[0])

    def _new(self) -> _Reader:
        with self._lock:
            for gone in [each for each in self._readers if not each.alive]:
                self._readers.discard(gone)
            reader = _Reader(self._work, self._scratch, self._limits)
            self._readers.add(reader)
            return reader


def _close_all(readers: set[_Reader]) -> None:
    while readers:
        readers.pop().close()


class _Reader:
    """One reader, from the coordinator's side."""

    def __init__(self, work: Work, scratch: Path, limits: ReadingLimits) -> None:
        self._line, theirs = socket.socketpair()
        owner = os.getpid()
        with warnings.catch_warnings():
            # When a reader is replaced there are threads; the new one uses nothing of theirs.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pid = os.fork()
        if not self._pid:
            try:
                _be_a_reader(theirs, owner, work, scratch, limits)
            finally:
                os._exit(1)
        theirs.close()
        self._to, self._from = self._line.makefile("wb"), self._line.makefile("rb")
        self.alive = True

    def ask(self, request: Request) -> Reply:
        try:
            send(self._to, request)
            told = receive(self._from)
        except (OSError, ValueError):
            told = None
        if told is None:
            self.close()
            raise _Killed
        if told.get("killed"):
            raise _Killed
        if "problem" in told:
            raise CannotRead(told["problem"])
        if "full" in told:  # which is nobody's alone
            raise ValueError(
                f"nothing more can be written ({told['full']}); what is graded is kept: make room"
                " and continue with --resume"
            )
        reply: Reply = told["reply"]
        return reply

    def close(self) -> None:
        """End it, and whoever waits for it."""
        if not self.alive:
            return
        self.alive = False
        with contextlib.suppress(OSError):
            self._line.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._pid, 0)
        for each in (self._to, self._from, self._line):
            with contextlib.suppress(OSError):
                each.close()


# What runs in a reader.


def _be_a_reader(
    line: socket.socket, owner: int, work: Work, scratch: Path, limits: ReadingLimits
) -> None:
    """Serve requests, one after another, until the owner is gone."""
    _end_with(owner)
    # Ctrl-C in a terminal reaches everybody; the coordinator says what is to be done then.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _let_go_of_files(line.fileno())
    tempfile.tempdir = str(scratch)
    # What is here already is never garbage: looking for it would copy its pages in every child.
    gc.collect()
    gc.freeze()
    with line.makefile("rb") as requests, line.makefile("wb") as replies:
        while (request := receive(requests)) is not None:
            send(replies, _in_a_child(request, work, limits))
    os._exit(0)


def _end_with(owner: int) -> None:
    """Have this process end when its owner does."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != owner:  # it was gone before that
        os._exit(1)


def _let_go_of_files(kept: int) -> None:
    """Have every open file but one lead nowhere: gradebook, locks, other readers, the terminal.

    They are not closed, because objects of the coordinator, which are in memory here too, would
    close their numbers some time later, whatever these stand for then.
    """
    null = os.open(os.devnull, os.O_RDWR)
    for number in [int(each.name) for each in Path("/dev/fd").iterdir()]:
        if number not in (kept, null):
            with contextlib.suppress(OSError):
                os.fstat(number)  # the listing itself had one, too
                os.dup2(null, number)


def _in_a_child(request: Request, work: Work, limits: ReadingLimits) -> Reply:
    told, tell = os.pipe()
    reader = os.getpid()
    child = os.fork()
    if not child:
        try:
            os.close(told)
            _end_with(reader)
            _do(request, work, limits, tell)
        finally:
            os._exit(1)
    os.close(tell)
    said, in_time = _hear(told, limits)
    os.close(told)
    if not in_time:
        os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return _reply(said, status, limits, in_time=in_time)


def _do(request: Request, work: Work, limits: ReadingLimits, tell: int) -> None:
    """Do a request, and tell what came of it. Never returns."""
    gc.disable()  # whatever it leaves behind ends with it
    gigabytes = f"{limits.memory / 1e9:g} GB"
    space = address_space() + limits.memory
    for which, soft, hard in (
        (resource.RLIMIT_AS, space, space),
        (resource.RLIMIT_FSIZE, limits.file, limits.file),
        (resource.RLIMIT_CORE, 0, 0),
        # First comes a signal that names the reason, then the kill.
        (resource.RLIMIT_CPU, limits.cpu, limits.cpu + 2),
    ):
        with contextlib.suppress(ValueError, OSError):  # where the system knows no such limit
            resource.setrlimit(which, (soft, hard))
    try:
        told = json.dumps({"reply": work(request)}).encode()
        if len(told) > limits.reply:
            raise OverflowError("there is too much to say about it")
    except CannotRead as problem:
        told = json.dumps({"problem": str(problem)}).encode()
    except MemoryError:
        told = json.dumps({"problem": f"reading it takes more than {gigabytes}; {_ASK}"}).encode()
    except RecursionError:
        told = json.dumps({"problem": f"it is nested too deeply; {_ASK}"}).encode()
    except OSError as problem:
        what = "full" if problem.errno in _NO_ROOM else "problem"
        told = json.dumps({what: f"{problem.strerror or problem}"[:300]}).encode()
    except Exception as problem:
        said = f"{type(problem).__name__}: {problem}"[:300]
        told = json.dumps({"problem": said}).encode()
    while told:
        told = told[os.write(tell, told) :]
    os._exit(0)


def _hear(told: int, limits: ReadingLimits) -> tuple[bytes, bool]:
    """What a child says until it ends, and whether it ended in time."""
    said, deadline = bytearray(), time.monotonic() + limits.wall
    while (left := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select([told], [], [], left)
        if ready:
            piece = os.read(told, 1 << 16)
            if not piece:
                return bytes(said), True
            said += piece
    return bytes(said), False


def _reply(said: bytes, status: int, limits: ReadingLimits, *, in_time: bool) -> Reply:
    if status == 0 and said:
        reply: Reply = json.loads(said)
        return reply
    if not in_time or -status == signal.SIGXCPU:
        return {"problem": f"reading it takes longer than {limits.cpu} s; {_ASK}"}
    if -status == signal.SIGKILL:
        return {"killed": True}
    how = signal.Signals(-status).name if status < 0 else f"exit {status}"
    return {"problem": f"reading it ended the process that read it ({how}); {_ASK}"}
