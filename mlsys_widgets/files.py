"""Writing a file whole or not at all, opening without following links, and locks.

The names of files that several rooms share are here too, so that each is spelled once.
"""

from __future__ import annotations

import contextlib
import errno
import os
import random
import secrets
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import IO, BinaryIO, Final

try:
    import fcntl

    fcntl.flock  # noqa: B018  # a browser's is empty
except (ImportError, AttributeError):  # Windows, or a browser
    fcntl = None  # type: ignore[assignment]

#: No space, a quota that is used up, a file as large as the system lets it become.
FULL_DISK: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
#: A student's record, beside the notebook.
LEDGER: Final = "ledger.jsonl"
#: What a student has typed and not recorded yet, beside the ledger.
DRAFTS: Final = "drafts.json"
#: How a student left the instruments, beside the ledger.
SETTINGS: Final = "settings.json"
#: A measurement of a student's own machine, beside the notebook.
MEASUREMENT: Final = "machine.json"
#: The three files of a lab in ``assignments/``: its text, its questions, its keys.
LAB_TEXT: Final = "lab.py"
ASKS: Final = "asks.py"
CHECKS: Final = "checks.py"
#: Settings of a course: ours, and nbgrader's.
COURSE_SETTINGS: Final = "course.toml"
NBGRADER_CONFIG: Final = "nbgrader_config.py"
#: When a submission was handed in, as nbgrader writes it down.
TIMESTAMP: Final = "timestamp.txt"
#: What a student is told about what was handed in, beside the ledger.
TOLD: Final = "told.json"
#: What students see first.
START_PAGE: Final = "START_HERE.md"
#: Where a course keeps what belongs to this package and is nobody's work.
OWN_FOLDER: Final = ".mlsys"
#: In there: when each lab was released.
RELEASED: Final = "released.json"
#: In there: the key to a learning system and what was sent to it, for one pair of eyes.
LMS_FOLDER: Final = "lms"
#: In Jupyter's runtime folder: how widgets look now, for the server to save in notebooks.
PAGES: Final = "mlsys-pages"

_NO_LOCKS_HERE: Final = frozenset({errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})
_NO_SYNC_HERE: Final = frozenset({errno.EINVAL, errno.ENOTSUP, errno.ENOSYS})
_LONGEST_NAP: Final = 0.005
# Windows knows neither links of this kind nor pipes, but would change the ends of lines.
_NO_FOLLOW: Final = (
    getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)


def write_whole(
    path: str | os.PathLike[str], content: str | bytes, *, mode: int | None = None
) -> Path:
    """Replace a file in one step: a reader sees the old content or the new, never a part.

    A link at that place is replaced, too, and not followed. Without a ``mode`` it has what the
    umask leaves of reading and writing.
    """
    target = Path(path)
    data = content.encode() if isinstance(content, str) else content
    temporary = target.with_name(f".{target.name[:50]}.{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb", opener=_with_mode(mode)) as stream:
            stream.write(data)
            stream.flush()
            sync(stream.fileno())
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(target)
    except BaseException as problem:
        if isinstance(problem, OSError):
            problem.filename = str(target)  # whoever reads it knows no other name
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    sync_folder(target.parent)
    return target


def write_new(path: Path, content: bytes) -> None:
    """Write a file that does not exist yet, durably; after an exception there is no such file.

    One that exists stays as it is.
    """
    with path.open("xb") as stream:
        try:
            stream.write(content)
            stream.flush()
            sync(stream.fileno())
        except BaseException:
            path.unlink(missing_ok=True)
            raise
    sync_folder(path.parent)


def _with_mode(mode: int | None) -> Callable[[str, int], int]:
    """Open as `open` does, but let nobody else read a file that will get a mode of its own."""
    return lambda name, flags: os.open(name, flags, 0o666 if mode is None else 0o600)


def sync(handle: int) -> None:
    """Wait until what was written is on the disk, where the file system can say so."""
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NO_SYNC_HERE:
            raise


def sync_folder(folder: Path) -> None:
    """Make a rename or a new file durable, where the system lets a folder be synced."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def open_no_follow(
    name: str | os.PathLike[str],
    flags: int = os.O_RDONLY,
    mode: int = 0o600,
    *,
    dir_fd: int | None = None,
) -> int:
    """Open a file or folder and return its descriptor, but refuse a link, and never wait.

    Opening a pipe that somebody put there would wait for a writer. Links in the folders above are
    followed, so where strangers can change those, open them one by one with `open_folder`.
    """
    return os.open(name, flags | _NO_FOLLOW, mode, dir_fd=dir_fd)


@contextlib.contextmanager
def open_folder(name: str | os.PathLike[str], *, dir_fd: int | None = None) -> Iterator[int]:
    """Hold a folder open that is no link; what is in it is opened with `dir_fd`."""
    handle = open_no_follow(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=dir_fd)
    try:
        yield handle
    finally:
        os.close(handle)


def socket_in(folder: int, name: str) -> str:
    """Return a path to a socket in an open folder: one of more than 107 bytes cannot be used."""
    return f"/proc/self/fd/{folder}/{name}"


def open_regular(name: str | os.PathLike[str], *, dir_fd: int | None = None) -> BinaryIO:
    """Open a regular file to read it; refuse a link, a folder, a pipe and a device."""

    def opener(path: str, flags: int) -> int:
        handle = open_no_follow(path, flags, dir_fd=dir_fd)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise OSError(errno.EINVAL, "Not a regular file", path)
        return handle

    return open(name, "rb", opener=opener)


def signature_of(path: Path) -> tuple[int, int, int] | None:
    """Return what changes whenever a file does; `None` if there is none.

    The time and the size count, too: a new file may have the number of an old one.
    """
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_ino, about.st_size, about.st_mtime_ns


def lay_out(folder: Path, files: Mapping[str, bytes], *, mode: int | None = None) -> None:
    """Write files below a folder, which is created if needed.

    `ValueError` where a path leads out of the folder; then nothing is written.
    """
    places = {}
    for name in files:
        path = PurePath(name)
        if path.is_absolute() or ".." in path.parts:
            raise ValueError(f"{name} leads out of {folder}")
        places[name] = folder / path
    folder.mkdir(parents=True, exist_ok=True)
    opener, made = _with_mode(mode), {folder}
    for name, content in files.items():
        place = places[name]
        if place.parent not in made:
            place.parent.mkdir(parents=True, exist_ok=True)
            made.add(place.parent)
        with open(place, "wb", opener=opener) as stream:
            if mode is not None:
                place.chmod(mode)
            stream.write(content)


class StillHeld(Exception):
    """Another process held the lock for as long as we were willing to wait."""


def acquire(handle: int, *, shared: bool = False, patience: float = 0.0) -> bool:
    """Lock an open file until it is closed. Return `False` where files cannot be locked.

    The lock is the system's ``flock``: it belongs to the open file and ends with it, so a killed
    process leaves none behind. Some file systems have no such locks and Windows has different ones,
    so there the caller is told and continues without a lock. `StillHeld` after ``patience``
    seconds: a process that was suspended while it held the lock may never release it, and a
    student's click must not hang because of that.
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
        # Naps of random length, so that two that wait do not try in lockstep.
        time.sleep(nap * random.uniform(0.5, 1.5))
        nap = min(2 * nap, _LONGEST_NAP)


@contextlib.contextmanager
def held(
    path: Path, refusal: str | Callable[[str], str], *, patience: float = 0.0
) -> Iterator[IO[str]]:
    """Hold a lock file for one process; the lock of a process that dies is released.

    ``refusal`` is what to say when another process holds it after ``patience`` seconds; a function
    gets what the lock file says.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as file:
        try:
            acquire(file.fileno(), patience=patience)
        except StillHeld:
            file.seek(0)
            words = refusal if isinstance(refusal, str) else refusal(file.read().strip())
            raise ValueError(words) from None
        yield file


def user_named(uid: int) -> str | None:
    """Return the name of a user of this machine; `None` for a number without one."""
    import pwd  # which Windows lacks

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None
