"""A server as a process of ours: start it, wait until it answers, stop it and its children."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Final, Self
from urllib.request import HTTPSHandler, OpenerDirector, ProxyHandler, build_opener

from mlsys_widgets.files import held, open_no_follow

#: Seconds that a start may take on a cold disk.
_START: Final = 120.0
#: Seconds that a clean stop may take, because it waits for the servers of all users.
_STOP: Final = 60.0
#: Seconds that a server may take to end after the process that started it was killed.
_KILLED: Final = 2.0
#: Bytes of a log in which its last lines are looked for.
_TAIL: Final = 100_000
#: Bytes after which a log begins again.
_LONGEST_LOG: Final = 50_000_000


def hold_folder(
    lock: Path, what: str, patience: float = _KILLED
) -> AbstractContextManager[IO[str]]:
    """Lock a folder for one process, because two would corrupt each other's database.

    The server process inherits the lock, so the folder stays locked until the server has ended as
    well.
    """

    def refusal(pid: str) -> str:
        whose = f" (process {pid}); stop it with: kill {pid}" if pid else "; stop it first"
        return f"{what} already runs from {lock.parent}{whose}"

    lock.touch()
    lock.chmod(0o600)
    return held(lock, refusal, patience=patience)


@contextmanager
def interruptible() -> Iterator[None]:
    """Treat SIGTERM, and a terminal that is closed, like Ctrl-C; under nohup it may close.

    A shell lets what it starts in the background ignore SIGINT, and nohup lets it ignore SIGHUP.
    Both are caught all the same: ignored, they would be ignored by everything that we start, and
    JupyterHub stops its servers and services with SIGINT.
    """

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    may_close = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    before = {each: signal.signal(each, interrupt) for each in (signal.SIGINT, signal.SIGTERM)}
    before[signal.SIGHUP] = signal.signal(
        signal.SIGHUP, (lambda *_: None) if may_close else interrupt
    )
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def write_pid(lock: IO[str], pid: int) -> None:
    """Write into the lock file which process to stop."""
    lock.seek(0)
    lock.truncate()
    lock.write(f"{pid}\n")
    lock.flush()


def check_port(ip: str, port: int) -> None:
    """Refuse an address that nobody can listen on."""
    family = socket.AF_INET6 if ":" in ip else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((ip, port))
        except OSError as problem:
            raise ValueError(
                f"cannot listen on {ip}, port {port}: {problem.strerror or problem}; choose"
                " another with --port, or --ip"
            ) from None


def is_free(port: int) -> bool:
    """Whether a port of the loopback is free; 0 is not a port."""
    try:
        check_port("127.0.0.1", port)
    except ValueError:
        return False
    return port > 0


def free_port(first: int, *, but: Sequence[int] = ()) -> int:
    """Return the first free port of the loopback, starting at a given one."""
    found = (each for each in range(first, first + 1000) if each not in but and is_free(each))
    port = next(found, None)
    if port is None:
        raise ValueError(f"no port of the loopback is free from {first} to {first + 999}")
    return port


def ending_with_its_parent(how: str = "TERM") -> list[str]:
    """Return a prefix for a command, so that it gets a signal when what started it is gone."""
    setpriv = shutil.which("setpriv", path="/usr/bin:/bin")
    return [setpriv, "--pdeathsig", how] if setpriv else []


class ServerProcess:
    """A server in its own session, so that Ctrl-C in the terminal reaches only us.

    If we are killed and cannot stop it, it gets the signal `when_killed`. After it was asked to
    stop, `leftovers` ends what it has started and not ended.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        log: Path,
        lock: IO[str],
        folder: Path,
        when_killed: str = "TERM",
        leftovers: Callable[[], None] = lambda: None,
    ) -> None:
        self.log = log
        self._leftovers = leftovers
        with open(log, "ab", opener=open_no_follow) as output:
            self._from = output.tell()
            self.process = subprocess.Popen(
                [*ending_with_its_parent(when_killed), *command],
                env=dict(environment), cwd=folder,
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                start_new_session=True, pass_fds=(lock.fileno(),),
            )  # fmt: skip
        write_pid(lock, self.process.pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def wait_until_ready(self, url: str) -> None:
        """Wait until an address answers; `OSError` if the server ends or takes too long."""
        deadline = time.monotonic() + _START
        while time.monotonic() < deadline and self.process.poll() is None:
            if answers(url):
                return
            time.sleep(0.25)
        ended = self.process.poll() is not None
        why = "ended while it started" if ended else f"did not answer within {_START:.0f} s"
        raise OSError(f"the server {why}; the end of {self.log}:\n{self.last_lines()}")

    def last_lines(self, lines: int = 15) -> str:
        """Return the last lines that this server wrote to its log."""
        with self.log.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            # The log may have begun again since, and students can make it long.
            begin = self._from if self._from <= size else 0
            file.seek(max(begin, size - _TAIL))
            text = file.read(_TAIL).decode(errors="replace")
        return "\n".join(text.splitlines()[-lines:])

    def serve(self, until: Callable[[], bool] = lambda: False) -> int:
        """Wait until somebody stops us, or the server ends by itself; return its exit code.

        `until` is asked again and again; if it returns `True`, this returns 0.
        """
        try:
            while self.process.poll() is None:
                if until():
                    return 0
                shorten_log(self.log)
                time.sleep(0.2)
        except KeyboardInterrupt:
            print("\nStopping …", flush=True)
            return 0
        return self.process.returncode

    def stop(self) -> None:
        """Stop the server, wait until it has cleaned up after itself, and end what is left."""
        if self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(_STOP)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):  # asked twice: at once
            self.process.kill()
            self.process.wait()
        self._leftovers()


def shorten_log(log: Path, longest: int = _LONGEST_LOG) -> None:
    """Begin a log again when it is long; the lines before stay beside it, as ``hub.log.1``.

    Hub, proxy and the servers of students have the file open, and servers keep running when the hub
    is killed, so it cannot be replaced below them: it is copied and emptied, and writers, which
    append, continue at its new end. Students can make it as long as they like, so no more than
    twice the bound is read. On a full disk it is emptied all the same.
    """
    with suppress(OSError), open(log, "r+b", opener=open_no_follow) as file:
        size = file.seek(0, os.SEEK_END)
        if size < longest:
            return
        left = 2 * longest
        file.seek(max(0, size - left))  # what was written last is worth most
        try:
            with open(log.with_name(f"{log.name}.1"), "wb", opener=open_no_follow) as older:
                while left and (piece := file.read(min(left, _TAIL))):
                    older.write(piece)
                    left -= len(piece)
        finally:
            file.truncate(0)


@cache
def local_opener() -> OpenerDirector:
    """Return what opens addresses of this machine; their certificates do not matter here."""
    unchecked = ssl.create_default_context()
    unchecked.check_hostname, unchecked.verify_mode = False, ssl.CERT_NONE
    # No proxy from the environment: it could not reach an address of this machine.
    return build_opener(ProxyHandler({}), HTTPSHandler(context=unchecked))


def answers(url: str) -> bool:
    """Whether a server on this machine answers."""
    try:
        with local_opener().open(url, timeout=5):
            return True
    except OSError:
        return False
