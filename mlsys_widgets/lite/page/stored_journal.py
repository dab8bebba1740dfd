"""A ledger in a browser's storage, which takes a file only whole and may refuse or lose it.

`fsync` stores nothing there: a file is stored when it is closed, as one transaction. So an event
counts as saved only once the whole file was written, read again and found to be the same.
"""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from mlsys_widgets.ledger.errors import Busy, Unreadable
from mlsys_widgets.ledger.journal import PATIENCE, Journal, signature_of
from mlsys_widgets.lite.page.tab import Tab


class StoredJournal(Journal):
    """The journal of a file that only one tab writes."""

    def __init__(self, path: Path, tab: Tab, *, patience: float = PATIENCE) -> None:
        super().__init__(path, patience=patience)
        self.tab = tab

    @property
    def hindrance(self) -> str | None:
        return self.tab.hindrance(self.path.parent)

    def _open_alone(self, *, create: bool) -> int:
        if words := self.hindrance:
            raise Busy(f"Nothing was saved: {words}")
        if create and not self.path.exists():
            os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        # What is open here is a copy, which is only read.
        return self._open(os.O_RDONLY)

    def _add(self, handle: int, lines: bytes) -> None:
        before = read_whole(self.path)[: self._end]
        try:
            write_behind(self.path, before, lines)
            if read_whole(self.path) != before + lines:
                raise OSError(errno.EIO, "the browser has not kept what was written")
        except BaseException:
            with contextlib.suppress(OSError):
                self._cut(handle)
            raise
        self._seen = signature_of(self.path.stat())

    def _unreadable(self, error: OSError) -> Unreadable:
        return Unreadable(
            f"Nothing was saved: the browser does not give {self.path.name} back"
            f" ({error.strerror or error}), as after its storage was cleared. Load the page again;"
            " a record that you have downloaded can be opened there."
        )

    def _cut(self, handle: int) -> None:
        os.truncate(self.path, self._end)


def read_whole(path: Path) -> bytes:
    """Read a file as it is stored."""
    with path.open("rb") as file:
        return file.read()


def write_behind(path: Path, before: bytes, lines: bytes) -> None:
    """Store a file with what it held before and lines behind that.

    Never emptied first: whoever ends the tab in between would lose all of it.
    """
    handle = os.open(path, os.O_RDWR)
    try:
        os.lseek(handle, len(before), os.SEEK_SET)
        while lines:
            lines = lines[os.write(handle, lines) :]
    finally:
        os.close(handle)  # which stores it, and raises if that fails
