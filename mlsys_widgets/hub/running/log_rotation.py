"""Keeps the log of a hub within a bound, while hub, proxy and servers write to it.

They all have the same open file and keep running when ``mlsys hub`` is killed, so the file cannot
be replaced below them. Its content is copied to ``hub.log.1`` and the file is emptied; writers
append, and so continue at its new end. A student's processes have this file open, too, and can make
it as long as they like, so never more than the bound is read.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

#: How many logs there are besides the one in use.
KEPT: Final = 4
_MEGABYTE: Final = 1_000_000


class LogRotation:
    """Looks at a log now and then, and begins a new one when it is long.

    Parameters
    ----------
    log
        The log in use.
    bound
        Bytes after which a new one begins.
    kept
        How many older ones stay.
    """

    def __init__(self, log: Path, bound: int, kept: int = KEPT) -> None:
        self._log, self._bound, self._kept = log, bound, kept

    def look(self) -> bool:
        """Begin a new log if this one is long enough; return whether it was.

        On a full disk the log is emptied all the same: there would be even less room otherwise.
        """
        try:
            handle = os.open(self._log, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            size = os.fstat(handle).st_size
            if size < self._bound:
                return False
            try:
                self._keep(handle, size)
            finally:
                os.ftruncate(handle, 0)
        except OSError:
            return False
        finally:
            os.close(handle)
        return True

    def _keep(self, handle: int, size: int) -> None:
        for number in range(self._kept, 1, -1):
            older = self._numbered(number - 1)
            if older.exists():
                older.replace(self._numbered(number))
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        target = os.open(self._numbered(1), flags, 0o600)
        try:
            # What was written last is worth most; more than twice the bound is somebody's mischief.
            at = max(0, size - 2 * self._bound)
            while piece := os.pread(handle, 1 << 20, at):
                os.write(target, piece)
                at += len(piece)
        finally:
            os.close(target)

    def _numbered(self, number: int) -> Path:
        return self._log.with_name(f"{self._log.name}.{number}")


def rotation_of(log: Path, megabytes: int) -> LogRotation:
    """A rotation with a bound in megabytes.

    Examples
    --------
    >>> rotation_of(Path("hub.log"), 0)
    Traceback (most recent call last):
    ValueError: a log needs at least 1 megabyte (--log-size)
    """
    if megabytes < 1:
        raise ValueError("a log needs at least 1 megabyte (--log-size)")
    return LogRotation(log, megabytes * _MEGABYTE)
