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
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from mlsys_widgets.files import (
    LEDGER,
    TIMESTAMP,
    acquire,
    open_folder,
    open_no_follow,
    signature_of,
    user_named,
)
from mlsys_widgets.hub.services.watched_files import read_end
from mlsys_widgets.ledger.events import LONGEST_LINE, Malformed, from_line
from mlsys_widgets.ledger.hand_in_notes import HandInNote, read_notes
from mlsys_widgets.ledger.verification import Head

#: Seconds that copying a submission may take; then what is there is noted.
_PATIENCE: Final = 60.0
#: Bytes of a timestamp that are kept.
_LONGEST_TIME: Final = 100
#: Folders of one user that are opened in one look; a student hands in once a minute at most.
_MOST_OF_ONE: Final = 20


@dataclass
class _NewFolder:
    """A folder that is not noted yet."""

    #: Its number, which a listing tells without asking for more, and whose it is.
    number: int
    owner: int
    #: When it was first seen, and in which look it was last opened.
    since: float = field(default_factory=time.monotonic)
    opened: int = 0


class HandInWatch:
    """Looks into the exchange, which may not exist yet, and notes what is new.

    Whoever may read the folder of the notes may read the file.
    """

    def __init__(
        self, inbound: Path, notes: Path, named: Callable[[int], str | None] = user_named
    ) -> None:
        self._inbound, self._notes, self._named = inbound, notes, named
        self._seen = {note.folder for note in read_notes(notes)}
        self._read = signature_of(self._notes)
        self._new: dict[str, _NewFolder] = {}
        #: What lay there, complete, before anybody looked; `None` until the first look.
        self._before: set[str] | None = None
        self._looks = 0

    def look(self) -> list[HandInNote]:
        """Note hand-ins that are new and complete, a few of each user; return the notes."""
        if not self._inbound.is_dir():
            self._before = set()
            return []
        self._learn_renamed()
        with open_folder(self._inbound) as inbound:
            found = [n for name in self._turns(inbound) if (n := self._note(inbound, name))]
        return self._write(found) if found else []

    def _learn_renamed(self) -> None:
        """Read the notes again if somebody else wrote them, as when a student is renamed."""
        found = signature_of(self._notes)
        if found != self._read:
            self._seen |= {note.folder for note in read_notes(self._notes)}
        self._read = found

    def _turns(self, inbound: int) -> list[str]:
        """Return what to open in this look: a few of each user, the longest unopened first.

        Whoever puts thousands of folders there waits for them alone. Turns go by the folder's
        owner: everybody may make a folder that bears another's name.
        """
        self._looks += 1
        with os.scandir(inbound) as entries:
            names = {each.name: each for each in entries if each.name not in self._seen}
        self._before = set(names) if self._before is None else self._before & names.keys()
        self._new = {name: self._known(entry) for name, entry in names.items()}
        of_user: defaultdict[int, list[str]] = defaultdict(list)
        for name in sorted(self._new, key=lambda each: (self._new[each].opened, each)):
            of_user[self._new[name].owner].append(name)
        chosen = [name for theirs in of_user.values() for name in theirs[:_MOST_OF_ONE]]
        for name in chosen:
            self._new[name].opened = self._looks
        return sorted(chosen)

    def _known(self, entry: os.DirEntry[str]) -> _NewFolder:
        """Return what is known of a folder, with its owner asked for only once."""
        known, number = self._new.get(entry.name), entry.inode()
        if known is not None and known.number == number:
            return known
        try:
            return _NewFolder(number, entry.stat(follow_symlinks=False).st_uid)
        except OSError:  # it is gone
            return _NewFolder(number, -1)

    def _note(self, inbound: int, name: str) -> HandInNote | None:
        """Return a note on one folder, unless it is none, or still being copied.

        Only what was noted is never looked at again: something else may take its place.
        """
        student, _, rest = name.partition("+")
        before = self._before or set()
        # Nothing else than a folder can be opened so: a link or a file is not noted.
        with suppress(OSError), open_folder(name, dir_fd=inbound) as folder:
            uid = os.fstat(folder).st_uid
            if self._named(uid) != student:
                return None  # nbgrader asks whether that is an attempt to cheat
            end = read_end(folder, TIMESTAMP, uid, _LONGEST_TIME)
            says = end.decode("utf-8", "replace").strip()
            if not says and time.monotonic() - self._new[name].since < _PATIENCE:
                before.discard(name)
                return None  # nbgrader writes it last
            lab, head, watched = rest.partition("+")[0], head_of(folder, uid), name not in before
            return HandInNote(student, lab, name, head, datetime.now(UTC), says, watched)
        return None

    def _write(self, found: list[HandInNote]) -> list[HandInNote]:
        """Add notes, but those that were there all along; they are on the disk on return."""
        with notes_locked(self._notes):
            self._learn_renamed()  # a folder that got another name was noted under the first
            new = [note for note in found if note.folder not in self._seen]
            if new:
                self._append(b"".join(note.to_line() for note in new))
            self._read = signature_of(self._notes)
        self._seen |= {note.folder for note in found}
        return new

    def _append(self, lines: bytes) -> None:
        handle = open_no_follow(self._notes, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o640)
        try:
            # Whoever may look into the folder may read the file.
            os.fchown(handle, -1, self._notes.parent.stat().st_gid)
            size = os.fstat(handle).st_size
            # After a line that broke off, as on a full disk, a new one begins.
            torn = size and os.pread(handle, 1, size - 1) != b"\n"
            lines = b"\n" * bool(torn) + lines
            if os.write(handle, lines) < len(lines):
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
