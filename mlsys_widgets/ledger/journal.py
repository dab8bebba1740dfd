"""The file of a ledger: whole lines in, whole lines out, whatever happens in between.

Reading takes no lock and changes nothing. Writing happens under a lock, as one ``write`` to a file
opened for appending, and counts only once ``fsync`` has returned; anything less is cut off again.
What another process appended is read before anything is written.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from mlsys_widgets import files
from mlsys_widgets.ledger.errors import Busy, NotSaved, Unreadable, Vanished, not_saved

#: No lab writes this much; a larger file is not read into a kernel or a grader.
LARGEST_FILE: Final = 16 << 20
#: Nor so many lines: an event takes at least 250 bytes.
MOST_LINES: Final = LARGEST_FILE // 250
#: How long, in seconds, a write waits for its turn.
PATIENCE: Final = 10.0
#: How long a reader waits for somebody else's line to be finished.
READER_PATIENCE: Final = 1.0

_BINARY: Final = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
# So that something else of that name, such as a pipe, is noticed instead of waited for.
_AT_ONCE: Final = getattr(os, "O_NONBLOCK", 0)


class News(NamedTuple):
    """Lines of a file beyond those that were read before."""

    lines: list[bytes]
    from_start: bool  # the file is not the one we knew, so these are all of its lines


class Journal:
    """A file that only grows, and how far we have read it."""

    def __init__(self, path: Path, *, patience: float = PATIENCE) -> None:
        self.path = path
        self.patience = patience
        #: Whether writers are kept apart; false on file systems that have no locks.
        self.locks = True
        #: What comes after the last complete line: a line that was never finished.
        self.tail = b""
        #: Separates the threads of one kernel, as the lock separates processes.
        self.thread = threading.RLock()
        self._file: tuple[int, int] | None = None
        self._seen: tuple[int, ...] | None = None
        self._end = 0
        self._last = b""

    @property
    def hindrance(self) -> str | None:
        """Why nothing can be written at present, in a sentence; `None` if something can."""
        return None

    def news(self) -> News | None:
        """Read what was added since the last look; `None` if there is no file."""
        with self.thread:
            try:
                if signature_of(self.path.stat()) == self._seen:
                    return News([], from_start=False)
                handle = self._open(os.O_RDONLY)
            except FileNotFoundError:
                return None
            except OSError as error:
                raise self._unreadable(error) from error
            try:
                news = self._catch_up(handle)
                if self.tail and self._nobody_writes(handle):
                    more = self._catch_up(handle)
                    lines = more.lines if more.from_start else news.lines + more.lines
                    news = News(lines, news.from_start or more.from_start)
                return news
            except OSError as error:
                raise self._unreadable(error) from error
            finally:
                os.close(handle)

    def forget(self) -> None:
        """Start from the beginning of the file at the next look."""
        self._file = self._seen = None
        self._end, self._last, self.tail = 0, b"", b""

    def take_tail(self) -> bytes:
        """Count the unfinished line as read: only its line end is missing."""
        tail, self.tail = self.tail, b""
        self._end += len(tail)
        self._last = tail
        return tail

    @contextlib.contextmanager
    def writing(self, *, create: bool) -> Iterator[Writer]:
        """Hold the file exclusively. What others wrote meanwhile is in the writer's ``news``.

        `NotSaved` says why the file cannot be opened for writing.
        """
        with self.thread:
            try:
                handle = self._open_alone(create=create)
            except files.StillHeld:
                raise Busy(
                    f"Nothing was saved: another kernel has held {self.path.name} for"
                    f" {self.patience:g} s. Shut down other kernels of this lab and try again."
                ) from None
            except OSError as error:
                raise self._refusal(error) from error
            try:
                yield Writer(self, handle)
            except OSError as error:
                raise self._refusal(error) from error
            finally:
                os.close(handle)

    def _open(self, flags: int) -> int:
        handle = os.open(self.path, flags | _BINARY | _AT_ONCE, 0o666)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise Unreadable(f"{self.path} is not a file. Give the ledger a name of its own.")
        return handle

    def _open_alone(self, *, create: bool) -> int:
        while True:
            handle = self._open(os.O_RDWR | os.O_APPEND | (os.O_CREAT if create else 0))
            try:
                self.locks = files.acquire(handle, patience=self.patience)
                # The name may have been given to another file, or to none, while we waited.
                with contextlib.suppress(FileNotFoundError):
                    if os.path.samestat(os.fstat(handle), self.path.stat()):
                        return handle
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)

    def _add(self, handle: int, lines: bytes) -> None:
        """Write lines behind what we know; after an exception none of them is there."""
        written = 0
        try:
            # One write for all of it. Only if that falls short is there a second one, which fails
            # with the reason.
            while written < len(lines):
                written += os.write(handle, lines[written:])
            files.sync(handle)
            if self._end == 0:
                files.sync_folder(self.path.parent)
        except BaseException:
            # The caller is told that nothing was saved, so nothing may stay. Should even this fail,
            # the rest is an unfinished line, which the next write sets aside.
            with contextlib.suppress(OSError):
                # Without a lock, anything longer than our lines includes somebody else's.
                if self.locks or os.fstat(handle).st_size <= self._end + len(lines):
                    self._cut(handle)
            raise
        self._seen = signature_of(os.fstat(handle))

    def _cut(self, handle: int) -> None:
        """Cut off whatever comes behind what we know."""
        os.ftruncate(handle, self._end)
        files.sync(handle)

    def _nobody_writes(self, handle: int) -> bool:
        """Wait for a process that is in the middle of a line; `False` if we cannot tell."""
        try:
            return files.acquire(handle, shared=True, patience=READER_PATIENCE)
        except files.StillHeld:
            return False

    def _catch_up(self, handle: int) -> News:
        status = os.fstat(handle)
        if status.st_size > LARGEST_FILE:
            raise Unreadable(
                f"{self.path.name} has {status.st_size:,} bytes, more than any lab writes"
                f" (up to {LARGEST_FILE:,} are read). Move it away and start a new one."
            )
        known = self._file == (status.st_dev, status.st_ino) and self._still_there(handle)
        start = self._end if known else 0
        data = _read(handle, start, LARGEST_FILE - start)
        if (count := data.count(b"\n")) > MOST_LINES:
            raise Unreadable(
                f"{self.path.name} has {count:,} lines, more than any lab writes (up to"
                f" {MOST_LINES:,} are read). Move it away and start a new one."
            )
        whole = data.rfind(b"\n") + 1
        lines = data[:whole].split(b"\n")[:-1]
        if lines:
            self._last = lines[-1] + b"\n"
        elif not known:
            self._last = b""
        self._end, self.tail = start + whole, data[whole:]
        self._file, self._seen = (status.st_dev, status.st_ino), signature_of(status)
        return News(lines, from_start=not known)

    def _still_there(self, handle: int) -> bool:
        """Whether the last line we read is still where we read it."""
        return _read(handle, self._end - len(self._last), len(self._last)) == self._last

    def _unreadable(self, error: OSError) -> Unreadable:
        return Unreadable(
            f"{self.path} cannot be read ({error.strerror or error})."
            " Check who may read it, and open the lab again."
        )

    def _refusal(self, error: OSError) -> NotSaved:
        if isinstance(error, FileNotFoundError) and self.path.parent.is_dir():
            return Vanished(
                f"Nothing was saved: {self.path.name} is gone from {self.path.parent}. Put it back"
                " and try again, or restart the kernel to start a new one."
            )
        return not_saved(error, self.path)


class Writer:
    """The file while it is held exclusively."""

    def __init__(self, journal: Journal, handle: int) -> None:
        self._journal = journal
        self._handle = handle
        self.news = journal._catch_up(handle)

    def set_tail_aside(self) -> Path | None:
        """Move an unfinished line to a file of its own and return that; `None` if it is blank."""
        tail, path = self._journal.tail, self._journal.path
        aside = write_beside(path, "torn", tail) if tail.strip() else None
        self._journal._cut(self._handle)
        self._journal.tail = b""
        return aside

    def append(self, lines: bytes) -> None:
        """Write whole lines. On return they are on the disk; after an exception none of them is."""
        journal, handle = self._journal, self._handle
        start = journal._end
        if start + len(lines) > LARGEST_FILE:
            raise NotSaved(
                f"Nothing was saved: {journal.path.name} would grow beyond {LARGEST_FILE:,} bytes."
                " Something writes to it far too often; restart the kernel."
            )
        if journal._last and not journal._last.endswith(b"\n"):
            lines = b"\n" + lines
        journal._add(handle, lines)
        journal._end = start + len(lines)
        journal._last = lines[lines.rfind(b"\n", 0, -1) + 1 :]


#: Opens the journal of a file, for a writer with so much patience.
Keeper = Callable[[Path, float], Journal]


def in_folder(path: Path, patience: float) -> Journal:
    """Return the journal of a file in a folder, which every system with disks can keep."""
    return Journal(path, patience=patience)


#: Who keeps ledgers in this process.
_keepers: Final[list[Keeper]] = [in_folder]


def journal_at(path: Path, patience: float = PATIENCE) -> Journal:
    """Return the journal of a file, of the kind that keeps ledgers here."""
    return _keepers[-1](path, patience)


def keep_with(keeper: Keeper) -> None:
    """Have another kind of journal keep ledgers from now on, in this process."""
    _keepers[:] = [keeper]


def write_beside(path: Path, word: str, content: bytes) -> Path:
    """Write a new file ``<path>.<word>-<n>`` with the first free number."""
    for number in itertools.count(1):
        aside = path.with_name(f"{path.name}.{word}-{number}")
        with contextlib.suppress(FileExistsError):
            files.write_new(aside, content)
            break
    return aside


def move_beside(path: Path, word: str) -> Path:
    """Give a file the name ``<path>.<word>-<n>`` with the first free number."""
    for number in itertools.count(1):
        aside = path.with_name(f"{path.name}.{word}-{number}")
        if not aside.exists():
            break
    path.rename(aside)
    files.sync_folder(path.parent)
    return aside


def beside(path: Path, word: str) -> tuple[Path, ...]:
    """List the files ``<path>.<word>-<n>``, in the order of their numbers."""
    start = f"{path.name}.{word}-"
    numbered = {}
    with contextlib.suppress(OSError):
        for entry in path.parent.iterdir():
            number = entry.name.removeprefix(start)
            if entry.name.startswith(start) and number.isascii() and number.isdigit():
                numbered[int(number)] = entry
    return tuple(numbered[number] for number in sorted(numbered))


def signature_of(status: os.stat_result) -> tuple[int, ...]:
    """Return what changes whenever a file does."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _read(handle: int, start: int, most: int) -> bytes:
    os.lseek(handle, start, os.SEEK_SET)
    parts = []
    while most > 0 and (part := os.read(handle, min(most, 1 << 20))):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)
