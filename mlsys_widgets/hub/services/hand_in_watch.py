"""Notes where each ledger ends, the moment it is handed in: a job of the course service.

A student's server runs as the student, so whatever it writes is the student's word, and a folder in
nbgrader's exchange still belongs to the student after it was handed in. For each folder that is new
in the exchange this opens the ledger by descriptor, never through a link, reads its last line, and
writes down where it ends, whose folder it is by the owner that the kernel knows, and when that was
by the hub's own clock. The grader compares.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from mlsys_widgets.files import LEDGER, TIMESTAMP, acquire, open_folder, open_no_follow
from mlsys_widgets.hub.services.watched_files import read_end, signature_of, user_named
from mlsys_widgets.ledger.events import LONGEST_LINE, Malformed, from_line
from mlsys_widgets.ledger.hand_in_notes import HandInNote, read_notes
from mlsys_widgets.ledger.verification import Head

#: Seconds that copying a submission may take; then what is there is noted.
_PATIENCE: Final = 60.0
#: Bytes of a timestamp that are kept.
_LONGEST_TIME: Final = 100


class HandInWatch:
    """Looks into the exchange and notes what is new.

    Parameters
    ----------
    inbound
        Where nbgrader puts submissions; it may not exist yet.
    notes
        The file of notes; whoever may read its folder may read the file.
    named
        Tells the name of a user from their number.
    """

    def __init__(
        self, inbound: Path, notes: Path, named: Callable[[int], str | None] = user_named
    ) -> None:
        self._inbound, self._notes, self._named = inbound, notes, named
        self._seen = {note.folder for note in read_notes(notes)}
        self._waiting: dict[str, float] = {}
        self._read = signature_of(self._notes)
        self._first = True

    def look(self) -> list[HandInNote]:
        """Note every hand-in that is new and complete; return the notes."""
        made: list[HandInNote] = []
        if self._inbound.is_dir():
            self._learn_renamed()
            with open_folder(self._inbound) as inbound:
                new = sorted(set(os.listdir(inbound)) - self._seen)  # noqa: PTH208
                made = [note for name in new if (note := self._note(inbound, name)) is not None]
        self._first = False
        return made

    def _learn_renamed(self) -> None:
        """Read the notes again if somebody else wrote them, as when a student is renamed."""
        found = signature_of(self._notes)
        if found != self._read:
            self._seen |= {note.folder for note in read_notes(self._notes)}
        self._read = found

    def _note(self, inbound: int, name: str) -> HandInNote | None:
        """Note one folder, unless it is none, or still being copied.

        Only what was noted is never looked at again: something else may take its place.
        """
        student, _, rest = name.partition("+")
        note = None
        # Nothing else than a folder can be opened so: a link or a file is not noted.
        with suppress(OSError), open_folder(name, dir_fd=inbound) as folder:
            uid = os.fstat(folder).st_uid
            if self._named(uid) != student:
                return None  # nbgrader asks whether that is an attempt to cheat
            end = read_end(folder, TIMESTAMP, uid, _LONGEST_TIME)
            says = end.decode("utf-8", "replace").strip()
            begun = self._waiting.setdefault(name, time.monotonic())
            if not says and time.monotonic() - begun < _PATIENCE:
                return None  # nbgrader writes it last
            lab, head = rest.partition("+")[0], head_of(folder, uid)
            note = HandInNote(student, lab, name, head, datetime.now(UTC), says, not self._first)
        if note is None:
            return None
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
            self._read = signature_of(self._notes)
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
    with os.fdopen(open_no_follow(lock, os.O_RDWR | os.O_CREAT), "r+b") as file:
        acquire(file.fileno(), patience=_PATIENCE)
        yield


def head_of(folder: int, uid: int) -> Head | None:
    """Return where a user's ledger in an open folder ends, from its last whole line."""
    lines = read_end(folder, LEDGER, uid, 2 * LONGEST_LINE).split(b"\n")
    for line in reversed(lines):
        if line.strip():
            with suppress(Malformed):
                event = from_line(line)
                return Head(event.seq, event.hash)
            # An unfinished last line was never reported as saved; the one before it counts.
            if line is not lines[-1]:
                return None
    return None
