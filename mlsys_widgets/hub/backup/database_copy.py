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


def copy_database(path: Path, uid: int, gid: int) -> bytes:
    """Return a database as it is at one moment, as a file would hold it.

    Raises `OSError` if it stays locked, cannot be read, or is no database.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _send(path, uid, gid, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        content = stream.read()
    _, status = os.waitpid(child, 0)
    if status:
        why = content.decode("utf-8", "replace") or "it took too long"
        raise OSError(f"{path} could not be copied: {why}")
    return content


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
                target = sqlite3.connect(":memory:")
                # With this mode, nothing is created where there is no database.
                sqlite3.connect(f"{path.as_uri()}?mode=rw", _PATIENCE, uri=True).backup(target)
                stream.write(target.serialize())
                code = 0
            except (sqlite3.Error, OSError, MemoryError) as problem:
                stream.write(f"{problem}".encode())
    finally:
        os._exit(code)
