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
import resource
import select
import signal
import socket
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec

from mlsys_widgets.grading.reading.allowance import Allowance
from mlsys_widgets.sandbox.limits import address_space
from mlsys_widgets.sandbox.process_pool import PoolClosed, ProcessLost, ProcessPool
from mlsys_widgets.sandbox.wire import framed, receive, send, unframed

_PR_SET_PDEATHSIG: Final = 1
#: Seconds of processor time, and growth of the child's memory, up to which a submission is an
#: ordinary one. Ours take a twentieth of both.
_ORDINARY_SECONDS: Final = 1.0
_ORDINARY_BYTES: Final = 100_000_000
#: What is said to a reader beside a request: seconds of processor time while others wait, or none.
_HURRIED: Final = "hurried"
_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)
#: What to do about a submission that is too much for a reader.
_ASK: Final = "ask for a notebook without outputs and extra cells, or look at it by hand"


class ReaderMessage:
    """What one process tells another: a dataclass of plain data, which travels as JSON."""

    _kinds: ClassVar[dict[str, type[ReaderMessage]]] = {}

    def __init_subclass__(cls) -> None:
        """Know it by its name."""
        ReaderMessage._kinds[cls.__name__] = cls

    def as_data(self) -> dict[str, Any]:
        """Return the message as JSON has it."""
        fields = msgspec.to_builtins(self, str_keys=True, enc_hook=_path_as_text)
        return {"message": type(self).__name__, **fields}

    @staticmethod
    def learn_all() -> None:
        """Learn the fields of every message, before several threads read any.

        msgspec keeps in a class what it has learned about it, and the process of a thread that
        finds this half done crashes.
        """
        for kind in ReaderMessage._kinds.values():
            with contextlib.suppress(msgspec.ValidationError):
                msgspec.convert({}, kind, str_keys=True)

    @staticmethod
    def from_data(data: Mapping[str, Any]) -> ReaderMessage:
        """Read what `as_data` returned; `ValueError` if a field is not what it must be."""
        kind = ReaderMessage._kinds[data["message"]]
        return msgspec.convert(data, kind, str_keys=True, dec_hook=_path_from_text)


def _path_as_text(value: Any) -> str:
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"a {type(value).__name__} is no plain data")


def _path_from_text(kind: type, text: str) -> Path:
    assert kind is Path, kind
    return Path(text)


Work = Callable[[Any], ReaderMessage]


@dataclass(frozen=True)
class ReadingLimits:
    """What reading, judging and writing one submission may use."""

    #: Seconds, and seconds of processor time.
    wall: float = 120.0
    cpu: int = 30
    #: Seconds of processor time while others wait; less once it is known what others take, and
    #: more for who was put off before.
    hurried: float = 2.0
    #: Bytes of address space beyond what a reader has.
    memory: int = 1_500_000_000
    #: Bytes of the largest file that is written.
    file: int = 300_000_000
    #: Bytes that are told to the coordinator.
    reply: int = 2_000_000


class CannotRead(RuntimeError):
    """A submission that was too much for a reader; the message says in what way, and what to do."""


class TookTooLong(CannotRead):
    """A submission that took more processor time than it may."""


class PutOff(TookTooLong):
    """A submission that took more than it may while others wait; it can be asked for again."""


class Readers:
    """A few readers, for several threads.

    ``work`` runs in a child: it takes a message and returns one. ``scratch`` has the temporary
    files, whatever becomes of the processes that make them. ``usual`` is the processor time of a
    request in seconds.
    """

    def __init__(
        self,
        work: Work,
        count: int,
        scratch: Path,
        limits: ReadingLimits | None = None,
        usual: float = 0.0,
    ) -> None:
        self.count = count
        ReaderMessage.learn_all()
        limits = limits or ReadingLimits()
        self._cpu, self._allowance = limits.cpu, Allowance(limits.hurried, usual)
        self._pool = ProcessPool(partial(_Reader, work, scratch, limits), count)

    def ask(self, request: ReaderMessage, *, turn: int | None = None) -> ReaderMessage:
        """Have a request done, when a reader is free.

        ``turn`` says how often it was put off before, where others wait for the reader, so that it
        gets less time. `CannotRead` if it takes too much or fails: `TookTooLong` if what it takes
        is time, and `PutOff` if it gets more in a later turn. `ValueError` if there is no room on
        the disk.
        """
        allowance = None if turn is None else self._allowance.seconds(turn)
        if allowance is not None and allowance >= self._cpu:
            allowance = None  # it gets all there is
        try:
            reply, seconds = self._pool.run(lambda reader, _: reader.ask(request, allowance))
            if turn == 0:
                self._allowance.learn(seconds)
            return reply
        except TookTooLong as problem:
            if allowance is None:
                raise
            if turn == 0:
                self._allowance.learn(allowance)
            raise PutOff(str(problem)) from None
        except ProcessLost:
            raise CannotRead(
                "the process that reads it was killed twice, as a system does that is short of"
                " memory; grade it again with fewer --workers"
            ) from None
        except PoolClosed as problem:
            raise CannotRead(str(problem)) from None

    def close(self) -> None:
        """End all of them, under whoever waits for them."""
        self._pool.close()


class _Reader:
    """One reader, from the coordinator's side."""

    def __init__(self, work: Work, scratch: Path, limits: ReadingLimits) -> None:
        self._line, theirs = socket.socketpair()
        self._ending = threading.Lock()
        owner = os.getpid()
        with warnings.catch_warnings():
            # When a reader is replaced there are threads; the new one uses nothing of theirs.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if not self.pid:
            try:
                _reader_main(theirs, owner, work, scratch, limits)
            finally:
                os._exit(1)
        theirs.close()
        self._to, self._from = self._line.makefile("wb"), self._line.makefile("rb")
        self._ended = False

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        with self._ending:
            if not self._ended:
                with contextlib.suppress(ChildProcessError):
                    self._ended = os.waitpid(self.pid, os.WNOHANG)[0] != 0
            return not self._ended

    def ask(self, request: ReaderMessage, allowance: float | None) -> tuple[ReaderMessage, float]:
        """Have a request done; return what was replied, and the processor time that it took."""
        try:
            send(self._to, {**request.as_data(), _HURRIED: allowance})
            outcome = _Outcome(**(receive(self._from) or {}))
        except (OSError, ValueError, TypeError):
            self.close()
            raise ProcessLost from None
        match outcome.kind:
            case _Kind.DONE:
                return _read(outcome.reply), outcome.seconds
            case _Kind.KILLED:
                raise ProcessLost
            case _Kind.TOO_LONG:
                raise TookTooLong(outcome.words)
            case _Kind.DISK_FULL:  # which is nobody's alone
                raise ValueError(
                    f"nothing more can be written ({outcome.words}); what is graded is kept: make"
                    " room and continue with --resume"
                )
        raise CannotRead(outcome.words)

    def close(self) -> None:
        """End it, and whoever waits for it."""
        with contextlib.suppress(OSError):
            self._line.shutdown(socket.SHUT_RDWR)
        with self._ending:
            if not self._ended:
                self._ended = True
                with contextlib.suppress(ProcessLookupError, ChildProcessError):
                    os.kill(self.pid, signal.SIGKILL)
                    os.waitpid(self.pid, 0)
        for each in (self._to, self._from, self._line):
            with contextlib.suppress(OSError):
                each.close()


def _read(reply: Any) -> ReaderMessage:
    try:
        return ReaderMessage.from_data(reply)
    except (ValueError, LookupError, TypeError) as problem:
        raise CannotRead(f"{type(problem).__name__}: {problem}"[:300]) from None


class _Kind(StrEnum):
    """The ways in which a request can end."""

    DONE = "done"
    PROBLEM = "problem"
    TOO_LONG = "too long"
    DISK_FULL = "disk full"
    KILLED = "killed"


@dataclass(frozen=True)
class _Outcome:
    """The outcome of a request."""

    kind: str
    #: What to say about it, unless it was done.
    words: str = ""
    #: A message as data, if it was; only the coordinator looks into it.
    reply: Any = None
    #: Whether the child may have another request.
    ordinary: bool = False
    #: Seconds of processor time.
    seconds: float = 0.0


# What runs in a reader.


def _reader_main(
    line: socket.socket, owner: int, work: Work, scratch: Path, limits: ReadingLimits
) -> None:
    """Serve requests, one after another, until the owner is gone."""
    end_with(owner)
    # Ctrl-C in a terminal reaches everybody; the coordinator says what is to be done then.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _detach_files(line.fileno())
    tempfile.tempdir = str(scratch)
    # What is here already is never garbage: looking for it would copy its pages in every child.
    gc.collect()
    gc.freeze()
    child: _Child | None = None
    with line.makefile("rb") as requests, line.makefile("wb") as replies:
        while (request := receive(requests)) is not None:
            outcome, child = _answer(request, child, work, limits)
            send(replies, asdict(outcome))
    os._exit(0)


def _answer(
    request: Mapping[str, Any], child: _Child | None, work: Work, limits: ReadingLimits
) -> tuple[_Outcome, _Child | None]:
    """Have a child do a request; return it too if it may have another one.

    Whatever goes wrong in a child that has done others is tried again in one that has not, so that
    nothing is said about a submission that is not its own. Time is: it is counted for each.
    """
    if child is not None:
        outcome = child.ask(request, limits)
        if outcome.ordinary:
            return outcome, child
        child.close()
        if outcome.kind in (_Kind.DONE, _Kind.TOO_LONG):
            return outcome, None
    child = _Child(work, limits)
    outcome = child.ask(request, limits)
    if outcome.ordinary:
        return outcome, child
    child.close()
    return outcome, None


def end_with(owner: int) -> None:
    """Have this process end when its owner does."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != owner:  # it was gone before that
        os._exit(1)


def _detach_files(kept: int) -> None:
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
                end_with(reader)
                _child_main(theirs, work, limits)
            finally:
                os._exit(1)
        theirs.close()

    def ask(self, request: Mapping[str, Any], limits: ReadingLimits) -> _Outcome:
        """Have it do a request, and say what became of that."""
        with contextlib.suppress(OSError):  # it was ended while it waited
            self._line.sendall(framed(request))
        message, in_time = self._hear(limits)
        if message is not None:
            return _Outcome(**message)
        if not in_time:
            self._kill()
        status = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        self._pid = 0
        if not in_time or -status in (signal.SIGXCPU, signal.SIGPROF):
            seconds = request[_HURRIED] or limits.cpu
            words = f"reading it takes longer than {seconds:g} s; {_ASK}"
            return _Outcome(_Kind.TOO_LONG, words)
        if -status == signal.SIGKILL:
            return _Outcome(_Kind.KILLED)
        how = signal.Signals(-status).name if status < 0 else f"exit {status}"
        words = f"reading it ended the process that read it ({how}); {_ASK}"
        return _Outcome(_Kind.PROBLEM, words)

    def close(self) -> None:
        """End it."""
        self._line.close()
        if self._pid:
            self._kill()
            os.waitpid(self._pid, 0)

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)

    def _hear(self, limits: ReadingLimits) -> tuple[dict[str, Any] | None, bool]:
        """Return a whole message, if one comes before the end; and whether it was in time."""
        received, deadline = bytearray(), time.monotonic() + limits.wall
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
            received += piece
            if (message := unframed(received)) is not None:
                return message, True
        return None, False


# What runs in a child.


def _child_main(line: socket.socket, work: Work, limits: ReadingLimits) -> None:
    """Do requests until the reader has none. Never returns."""
    before = address_space()
    with line.makefile("rb") as requests:
        while (request := receive(requests)) is not None:
            began = time.process_time()
            outcome = _do(request, work, limits)
            seconds = time.process_time() - began
            ordinary = (
                outcome.kind == _Kind.DONE
                and seconds < _ORDINARY_SECONDS
                and address_space() - before < _ORDINARY_BYTES
            )
            line.sendall(framed(asdict(replace(outcome, ordinary=ordinary, seconds=seconds))))
    os._exit(0)


def _do(request: Mapping[str, Any], work: Work, limits: ReadingLimits) -> _Outcome:
    """Do a request within the limits, and say what became of it."""
    gigabytes = f"{limits.memory / 1e9:g} GB"
    for which, most in (
        (resource.RLIMIT_AS, address_space() + limits.memory),
        (resource.RLIMIT_FSIZE, limits.file),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, ceil(time.process_time()) + limits.cpu),
    ):
        with contextlib.suppress(ValueError, OSError):  # where the system knows no such limit
            resource.setrlimit(which, (most, resource.getrlimit(which)[1]))
    # Nobody catches its signal, so it ends the process; the kernel's own limit has whole seconds.
    signal.setitimer(signal.ITIMER_PROF, request[_HURRIED] or 0.0)
    try:
        reply = work(ReaderMessage.from_data(request)).as_data()
        if len(framed(reply)) > limits.reply:
            raise OverflowError("there is too much to say about it")
        return _Outcome(_Kind.DONE, reply=reply)
    except CannotRead as problem:
        return _Outcome(_Kind.PROBLEM, str(problem))
    except MemoryError:
        return _Outcome(_Kind.PROBLEM, f"reading it takes more than {gigabytes}; {_ASK}")
    except RecursionError:
        return _Outcome(_Kind.PROBLEM, f"it is nested too deeply; {_ASK}")
    except OSError as problem:
        kind = _Kind.DISK_FULL if problem.errno in _NO_ROOM else _Kind.PROBLEM
        return _Outcome(kind, f"{problem.strerror or problem}"[:300])
    except Exception as problem:
        return _Outcome(_Kind.PROBLEM, f"{type(problem).__name__}: {problem}"[:300])
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
