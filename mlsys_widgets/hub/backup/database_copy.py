"""A consistent copy of a SQLite database that others are writing, taken with its owner's rights.

SQLite opens a database by its path and creates journals beside it, so it cannot be told to follow
no link. A child process therefore gives up root's rights for those of the owner before it opens
anything: what the owner cannot read does not get into the copy.
"""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
from pathlib import Path
from typing import Final

#: What every SQLite database begins with.
MAGIC: Final = b"SQLite format 3\0"
#: Files that SQLite keeps beside a database. With a copy they would be wrong: it is complete.
COMPANIONS: Final = ("-journal", "-wal", "-shm")
#: Seconds that a writer may hold the database, and that a copy may take in all.
_PATIENCE: Final = 30.0
_LONGEST: Final = 300
#: Bytes of memory for a copy; a gradebook has about 70 kB per student.
_MEMORY: Final = 4 << 30


class CannotCopy(OSError):
    """A database that could not be copied."""


def copy_database(path: Path, uid: int, gid: int) -> bytes:
    """Return a database as it is at one moment, as a file would hold it.

    Parameters
    ----------
    path
        The database.
    uid, gid
        Whose rights to read it with.

    Raises
    ------
    CannotCopy
        If it stays locked, cannot be read, or is no database.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _send(path, uid, gid, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        said = stream.read()
    _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status):
        why = said.decode("utf-8", "replace") or "it took too long"
        raise CannotCopy(f"{path} could not be copied: {why}")
    return said


def _send(path: Path, uid: int, gid: int, writer: int) -> None:
    """In the child: write the copy, or the reason why there is none, and end."""
    code = 1
    try:
        signal.alarm(_LONGEST)
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        if os.geteuid() == 0 and uid:
            os.setgroups([])
            os.setgid(gid)
            os.setuid(uid)
        with os.fdopen(writer, "wb") as stream:
            try:
                content = _serialized(path)
            except (sqlite3.Error, OSError, MemoryError) as problem:
                stream.write(f"{problem}".encode())
            else:
                stream.write(content)
                code = 0
    finally:
        os._exit(code)


def _serialized(path: Path) -> bytes:
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise OSError("it is not a SQLite database")
    source = sqlite3.connect(path, timeout=_PATIENCE)
    target = sqlite3.connect(":memory:")
    source.backup(target)
    return target.serialize()
