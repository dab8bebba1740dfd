"""Notes where each ledger ends, the moment it is handed in: a service of the hub, run by root.

A student's server runs as the student, so whatever it writes is the student's word, and a folder in
nbgrader's exchange still belongs to the student after it was handed in. This service looks into the
exchange every second. For each folder that is new there it opens the ledger by descriptor, never
through a link, reads its last line, and writes down where it ends, whose folder it is by the owner
that the kernel knows, and when that was by the hub's own clock. The grader compares.

Run as ``python -m mlsys_widgets.hub.services.hand_in_watch INBOUND NOTES``.
"""

from __future__ import annotations

import errno
import os
import pwd
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NoReturn

from mlsys_widgets.files import LEDGER, TIMESTAMP, acquire, open_no_follow, open_regular
from mlsys_widgets.hub.services.polling import poll_forever
from mlsys_widgets.ledger.events import LONGEST_LINE, Malformed, from_line
from mlsys_widgets.ledger.hand_in_notes import HandInNote, read_notes
from mlsys_widgets.ledger.verification import Head

#: Seconds between two looks.
_EVERY: Final = 1.0
#: Seconds that copying a submission may take; then what is there is noted.
_PATIENCE: Final = 60.0
#: Bytes of a timestamp that are kept.
_LONGEST_TIME: Final = 100


def user_named(uid: int) -> str | None:
    """The name of a user of this machine."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


class HandInWatch:
    """Looks into the exchange and notes what is new.

    Parameters
    ----------
    inbound
        Where nbgrader puts submissions; it may not exist yet.
    notes
        The file of notes. Its folder exists, and whoever may read that folder may read the file.
    named
        Tells the name of a user from their number.
    """

    def __init__(
        self, inbound: Path, notes: Path, named: Callable[[int], str | None] = user_named
    ) -> None:
        self._inbound, self._notes, self._named = inbound, notes, named
        self._seen = {note.folder for note in read_notes(notes)}
        self._waiting: dict[str, float] = {}
        self._read = self._version()
        self._first = True

    def look(self) -> list[HandInNote]:
        """Note every hand-in that is new and complete; returns the notes."""
        try:
            inbound = open_no_follow(self._inbound, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:  # nothing was released yet
            self._first = False
            return []
        try:
            self._learn_renamed()
            new = sorted(set(os.listdir(inbound)) - self._seen)  # noqa: PTH208
            made = [note for name in new if (note := self._noted(inbound, name)) is not None]
        finally:
            os.close(inbound)
        self._first = False
        return made

    def _learn_renamed(self) -> None:
        """Read the notes again if somebody else wrote them, as when a student is renamed."""
        found = self._version()
        if found != self._read:
            self._seen |= {note.folder for note in read_notes(self._notes)}
        self._read = found

    def _version(self) -> tuple[int, int, int] | None:
        """What changes whenever the notes do; a new file may have the number of an old one."""
        try:
            about = self._notes.stat()
        except OSError:
            return None
        return about.st_ino, about.st_size, about.st_mtime_ns

    def _noted(self, inbound: int, name: str) -> HandInNote | None:
        """Note one folder, unless it is none, or still being copied.

        Only what was noted is never looked at again: something else may take its place.
        """
        student, _, rest = name.partition("+")
        lab = rest.partition("+")[0]
        try:
            folder = open_no_follow(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=inbound)
        except OSError:  # a link, a file, or a folder that even root cannot open
            return None
        try:
            uid = os.fstat(folder).st_uid
            owner = self._named(uid)
            if owner is None or owner != student:
                return None  # nbgrader asks whether that is an attempt to cheat
            says = _read(folder, TIMESTAMP, uid, _LONGEST_TIME).decode("utf-8", "replace").strip()
            begun = self._waiting.setdefault(name, time.monotonic())
            if not says and time.monotonic() - begun < _PATIENCE:
                return None  # nbgrader writes it last
            head = head_of(folder, uid)
        finally:
            os.close(folder)
        note = HandInNote(owner, lab, name, head, datetime.now(UTC), says, not self._first)
        written = self._write(note)
        del self._waiting[name]
        self._seen.add(name)
        return note if written else None

    def _write(self, note: HandInNote) -> bool:
        """Add a note, unless it was there all along; it is on the disk when this returns."""
        with notes_locked(self._notes):
            self._learn_renamed()  # a folder that got another name was noted under the first
            if note.folder in self._seen:
                return False
            self._append(note)
            self._read = self._version()
        return True

    def _append(self, note: HandInNote) -> None:
        handle = open_no_follow(self._notes, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o640)
        try:
            # Whoever may look into the folder may read the file.
            os.fchown(handle, -1, self._notes.parent.stat().st_gid)
            size = os.fstat(handle).st_size
            # After a line that broke off, as on a full disk, a new one begins.
            torn = size and os.pread(handle, 1, size - 1) != b"\n"
            line = b"\n" * bool(torn) + note.to_line()
            if os.write(handle, line) < len(line):
                raise OSError(errno.ENOSPC, "there is no room for the notes")
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def notes_locked(notes: Path) -> Iterator[None]:
    """Keep others from writing notes: whoever renames a student rewrites them."""
    lock = notes.with_name(f"{notes.name}.lock")
    with open(lock, "ab", opener=open_no_follow) as file:
        acquire(file.fileno(), patience=_PATIENCE)
        yield


def head_of(folder: int, uid: int) -> Head | None:
    """Where the ledger in a folder ends, from its last whole line.

    Parameters
    ----------
    folder
        The open folder.
    uid
        To whom the ledger must belong.
    """
    lines = _read(folder, LEDGER, uid, 2 * LONGEST_LINE).split(b"\n")
    for line in reversed(lines):
        if line.strip():
            with suppress(Malformed):
                event = from_line(line)
                return Head(event.seq, event.hash)
            # An unfinished last line was never reported as saved; the one before it counts.
            if line is not lines[-1]:
                return None
    return None


def _read(folder: int, name: str, uid: int, most: int) -> bytes:
    """The last bytes of a file, if it is one, and its owner's."""
    try:
        with open_regular(name, dir_fd=folder) as file:
            about = os.fstat(file.fileno())
            if about.st_uid != uid:
                return b""
            return os.pread(file.fileno(), most, max(0, about.st_size - most))
    except OSError:
        return b""


def main(arguments: list[str]) -> NoReturn:
    """Look until somebody ends us."""
    watch = HandInWatch(Path(arguments[0]), Path(arguments[1]))
    poll_forever(watch.look, "hand-ins are not noted", _EVERY)


if __name__ == "__main__":
    main(sys.argv[1:])
