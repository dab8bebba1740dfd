"""Submissions as they lie in a course: found, read as bytes, and never changed."""

from __future__ import annotations

import fnmatch
import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from mlsys_widgets.grading.settings import Settings

#: A file larger than this is left out, and the TA told.
LARGEST_FILE: Final = 100_000_000
_MOST_FILES: Final = 2_000
_TIMESTAMP: Final = "timestamp.txt"
_IGNORED: Final = (".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", "*.torn-*")


@dataclass(frozen=True)
class Submission:
    """One submission, in memory.

    Parameters
    ----------
    student
        Whose.
    files
        Paths below its folder, and contents.
    remarks
        What was left out, and why.
    """

    student: str
    files: Mapping[str, bytes]
    remarks: tuple[str, ...] = ()

    @property
    def timestamp(self) -> datetime | None:
        """When it was handed in, in UTC; none if nothing readable says so."""
        content = self.files.get(_TIMESTAMP, b"").decode("utf-8", "replace").strip()
        return read_time(content) if content else None

    @property
    def digest(self) -> str:
        """What tells this submission from every other."""
        digest = hashlib.sha256()
        for name, content in sorted(self.files.items()):
            digest.update(f"{name}\x00{len(content)}\x00".encode())
            digest.update(content)
        return digest.hexdigest()


def students(settings: Settings, lab: str, pattern: str = "*") -> list[str]:
    """Who has handed in a lab, of those whose names fit a pattern."""
    marked = settings.folder("submitted", "*", lab)
    root = settings.root
    found = []
    where = re.compile(
        re.escape(str(settings.folder("submitted", "\x00", lab))).replace("\x00", "([^/]+)")
    )
    for path in sorted(root.glob(str(marked.relative_to(root)))):
        match = where.fullmatch(str(path))
        if match and path.is_dir() and not path.is_symlink():
            found.append(match[1])
    return [name for name in found if fnmatch.fnmatchcase(name, pattern)]


def collect(settings: Settings, lab: str, student: str) -> Submission:
    """Read a submission. Links are not followed: they lead to what is not the student's."""
    folder = settings.folder("submitted", student, lab)
    files: dict[str, bytes] = {}
    remarks: list[str] = []
    for base, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _ignored(name))
        for name in [*names, *(f for f in folders if Path(base, f).is_symlink())]:
            path = Path(base, name)
            short = str(path.relative_to(folder))
            if _ignored(name):
                continue
            if path.is_symlink() or not path.is_file():
                remarks.append(f"{short} is a link or a special file and was left out")
                continue
            try:
                size = path.stat().st_size
                if size > LARGEST_FILE or len(files) >= _MOST_FILES:
                    remarks.append(f"{short} ({size:,} bytes) was left out: too large or too many")
                    continue
                files[short] = _read(path)
            except OSError as problem:
                remarks.append(f"{short} cannot be read: {problem.strerror}")
    return Submission(student, files, tuple(remarks))


def _read(path: Path) -> bytes:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(handle, "rb") as file:
        return file.read(LARGEST_FILE)


def _ignored(name: str) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in _IGNORED)


def read_time(words: str) -> datetime | None:
    """A timestamp of nbgrader's exchange, as UTC without a zone.

    Examples
    --------
    >>> read_time("2026-11-15 10:00:00.000000 UTC"), read_time("2026-11-15 10:00:00 +0200")
    (datetime.datetime(2026, 11, 15, 10, 0), datetime.datetime(2026, 11, 15, 8, 0))
    >>> read_time("yesterday")
    """
    from dateutil import parser, tz

    parts = words.split(" ")
    try:
        if len(parts) == 3 and not parts[2].lstrip("+-").isdigit():
            zone = tz.gettz(parts[2])
            moment = parser.parse(" ".join(parts[:2])).replace(tzinfo=zone or UTC)
        else:
            moment = parser.parse(words)
    except (ValueError, OverflowError):
        return None
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
