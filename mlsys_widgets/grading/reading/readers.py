"""Readers: limited processes of our own code, the only ones that read what a submission brings.

A file that a student wrote can be small and yet cost hours or gigabytes to read. So the coordinator
reads none. At its start, while it has a single thread, it forks a few readers; a reader forks a
child, which has the lab, the checks and the blueprint in memory already, and limits of its own for
every submission. A child goes on with the next one as long as nothing out of the ordinary happens.
What fails in a child that has read others is read again in a new one: whatever becomes of that is
about one submission, and a sentence.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import gc
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
from math import ceil
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.sandbox.limits import address_space
from mlsys_widgets.sandbox.wire import framed, receive, send, unframed

Request = Mapping[str, Any]
Reply = dict[str, Any]
Work = Callable[[Request], Reply]

_PR_SET_PDEATHSIG: Final = 1
#: Seconds of processor time, and growth of the child's memory, up to which a submission is an
#: ordinary one. Ours take a twentieth of both.
_ORDINARY_SECONDS: Final = 1.0
_ORDINARY_BYTES: Final = 100_000_000
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
        What is done with a request. It runs in a child, and what it returns is plain.
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
    child: _Child | None = None
    with line.makefile("rb") as requests, line.makefile("wb") as replies:
        while (request := receive(requests)) is not None:
            reply, child = _answer(request, child, work, limits)
            send(replies, reply)
    os._exit(0)


def _answer(
    request: Request, child: _Child | None, work: Work, limits: ReadingLimits
) -> tuple[Reply, _Child | None]:
    """What a child says to a request, and the child if it may have another one.

    Whatever goes wrong in a child that has done others is tried again in one that has not, so that
    nothing is said about a submission that is not its own. Time is: it is counted for each.
    """
    if child is not None:
        said = child.ask(request, limits)
        if said.get("ordinary"):
            return said, child
        child.close()
        if "reply" in said or said.get("too_long"):
            return said, None
    child = _Child(work, limits)
    said = child.ask(request, limits)
    if said.get("ordinary"):
        return said, child
    child.close()
    return said, None


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


class _Child:
    """A child of a reader, from the reader's side.

    It does one request after another as long as they are ordinary ones: forking costs as much as
    reading does. After one that was not, it ends.
    """

    def __init__(self, work: Work, limits: ReadingLimits) -> None:
        self._line, theirs = socket.socketpair()
        reader = os.getpid()
        self._pid = os.fork()
        if not self._pid:
            try:
                self._line.close()
                _end_with(reader)
                _be_a_child(theirs, work, limits)
            finally:
                os._exit(1)
        theirs.close()

    def ask(self, request: Request, limits: ReadingLimits) -> Reply:
        """What it says to a request; or what became of it."""
        with contextlib.suppress(OSError):  # it was ended while it waited
            self._line.sendall(framed(request))
        said, in_time = self._hear(limits)
        if said is not None:
            return said
        if not in_time:
            self._kill()
        status = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        self._pid = 0
        if not in_time or -status == signal.SIGXCPU:
            sentence = f"reading it takes longer than {limits.cpu} s; {_ASK}"
            return {"problem": sentence, "too_long": True}
        if -status == signal.SIGKILL:
            return {"killed": True}
        how = signal.Signals(-status).name if status < 0 else f"exit {status}"
        return {"problem": f"reading it ended the process that read it ({how}); {_ASK}"}

    def close(self) -> None:
        """End it."""
        self._line.close()
        if self._pid:
            self._kill()
            os.waitpid(self._pid, 0)

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)

    def _hear(self, limits: ReadingLimits) -> tuple[Reply | None, bool]:
        """A whole message, if one comes before the end; and whether something came in time."""
        said, deadline = bytearray(), time.monotonic() + limits.wall
        while (left := deadline - time.monotonic()) > 0:
            ready, _, _ = select.select([self._line], [], [], left)
            if not ready:
                continue
            try:
                piece = self._line.recv(1 << 16)
            except OSError:
                piece = b""
            if not piece:
                return None, True
            said += piece
            if (message := unframed(said)) is not None:
                return message, True
        return None, False


# What runs in a child.


def _be_a_child(line: socket.socket, work: Work, limits: ReadingLimits) -> None:
    """Do requests until the reader has none. Never returns."""
    before = address_space()
    with line.makefile("rb") as requests:
        while (request := receive(requests)) is not None:
            began = time.process_time()
            told = _do(request, work, limits)
            told["ordinary"] = (
                "reply" in told
                and time.process_time() - began < _ORDINARY_SECONDS
                and address_space() - before < _ORDINARY_BYTES
            )
            line.sendall(framed(told))
    os._exit(0)


def _do(request: Request, work: Work, limits: ReadingLimits) -> Reply:
    """Do a request within the limits, and tell what came of it."""
    gigabytes = f"{limits.memory / 1e9:g} GB"
    for which, most in (
        (resource.RLIMIT_AS, address_space() + limits.memory),
        (resource.RLIMIT_FSIZE, limits.file),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, ceil(time.process_time()) + limits.cpu),
    ):
        with contextlib.suppress(ValueError, OSError):  # where the system knows no such limit
            resource.setrlimit(which, (most, resource.getrlimit(which)[1]))
    try:
        told = {"reply": work(request)}
        if len(framed(told)) > limits.reply:
            raise OverflowError("there is too much to say about it")
    except CannotRead as problem:
        return {"problem": str(problem)}
    except MemoryError:
        return {"problem": f"reading it takes more than {gigabytes}; {_ASK}"}
    except RecursionError:
        return {"problem": f"it is nested too deeply; {_ASK}"}
    except OSError as problem:
        what = "full" if problem.errno in _NO_ROOM else "problem"
        return {what: f"{problem.strerror or problem}"[:300]}
    except Exception as problem:
        return {"problem": f"{type(problem).__name__}: {problem}"[:300]}
    return told
