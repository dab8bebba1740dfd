"""Files that are written whole or not at all, folders that are laid out, and locks.

The names of files that several rooms meet are here too, so that each is spelled once.
"""

from __future__ import annotations

import contextlib
import errno
import os
import random
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: A student's record, beside the notebook.
LEDGER: Final = "ledger.jsonl"
#: The three files of a lab in ``assignments/``: its text, its questions, its keys.
LAB_TEXT: Final = "lab.py"
ASKS: Final = "asks.py"
CHECKS: Final = "checks.py"
#: Settings of a course: ours, and nbgrader's.
COURSE_SETTINGS: Final = "course.toml"
NBGRADER_CONFIG: Final = "nbgrader_config.py"
#: When a submission was handed in, as nbgrader writes it down.
TIMESTAMP: Final = "timestamp.txt"
#: What students see first.
START_PAGE: Final = "START_HERE.md"
#: Where a course keeps what is ours and nobody's work.
OWN_FOLDER: Final = ".mlsys"

_NO_LOCKS_HERE: Final = frozenset({errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})
_LONGEST_NAP: Final = 0.005


def write_whole(
    path: str | os.PathLike[str], content: str | bytes, *, mode: int | None = None
) -> Path:
    """Replace a file in one step: a reader sees the old content or the new, never a part.

    Parameters
    ----------
    path
        The file.
    content
        What will be in it; text is written as UTF-8.
    mode
        Its permissions; what the umask leaves of reading and writing if omitted.
    """
    target = Path(path)
    data = content.encode() if isinstance(content, str) else content
    # The temporary file is readable by its owner alone until it has its final permissions.
    handle, temporary = tempfile.mkstemp(
        prefix=f".{target.name}.", suffix=".tmp", dir=target.parent
    )
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(_usual_mode() if mode is None else mode)
        Path(temporary).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise
    sync_folder(target.parent)
    return target


def _usual_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def sync_folder(folder: Path) -> None:
    """Make a rename or a new file durable, where the system lets a folder be synced."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def lay_out(folder: Path, files: Mapping[str, bytes], *, mode: int | None = None) -> None:
    """Write files below a folder, which is created if needed.

    Parameters
    ----------
    folder
        The folder.
    files
        Paths below it, and their contents.
    mode
        Permissions of each file; what the umask leaves if omitted.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        if mode is not None:
            path.chmod(mode)


class StillHeld(Exception):
    """Another process kept the lock for as long as we were ready to wait."""


def acquire(handle: int, *, shared: bool = False, patience: float = 0.0) -> bool:
    """Lock an open file until it is closed; false where files cannot be locked.

    The lock is the system's ``flock``: it belongs to the open file and ends with it, so a killed
    process leaves none behind. Some file systems have no such locks, and Windows has others;
    there the caller is told, and continues without.

    Parameters
    ----------
    handle
        Descriptor of the open file.
    shared
        Whether others may read at the same time.
    patience
        Seconds to wait. A process that was stopped while it held the lock may never let go, and a
        student's click must not hang with it.

    Raises
    ------
    StillHeld
        When patience has run out.
    """
    if fcntl is None:
        return False
    lock = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB
    deadline = time.monotonic() + patience
    nap = 0.0002
    while True:
        try:
            fcntl.flock(handle, lock)
        except OSError as error:
            if error.errno in _NO_LOCKS_HERE:
                return False
            if error.errno not in {errno.EWOULDBLOCK, errno.EACCES, errno.EINTR}:
                raise
        else:
            return True
        if time.monotonic() >= deadline:
            raise StillHeld
        # Naps of random length: two that wait do not knock in step.
        time.sleep(nap * random.uniform(0.5, 1.5))
        nap = min(2 * nap, _LONGEST_NAP)


@contextlib.contextmanager
def held(path: Path, refusal: str) -> Iterator[None]:
    """Hold a lock file for one process; a process that dies lets go of it.

    Parameters
    ----------
    path
        The lock file, created if needed.
    refusal
        What to say when another process holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        try:
            acquire(file.fileno())
        except StillHeld:
            raise ValueError(refusal) from None
        yield
