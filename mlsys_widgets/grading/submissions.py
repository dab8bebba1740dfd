"""Submissions in the folder of a course: found, read as bytes, and never changed."""

from __future__ import annotations

import errno
import fnmatch
import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from mlsys_widgets.files import TIMESTAMP
from mlsys_widgets.grading.misplaced_work import find_work
from mlsys_widgets.labs.course import Course
from mlsys_widgets.sandbox.remarks import Remark, RemarkKind

#: Bytes; what does not fit is left out, with a remark for the TA.
LARGEST: Final = 100_000_000
_MOST_FILES: Final = 2_000
_DEEPEST: Final = 20
_LONGEST_NAME: Final = 500
#: A notebook larger than this has most of it in outputs, which are not needed.
_LARGE_NOTEBOOK: Final = 5_000_000
_LARGEST_NOTEBOOK: Final = 1_000_000_000
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
    remarks: tuple[Remark, ...] = ()

    @property
    def timestamp(self) -> datetime | None:
        """When it was handed in, in UTC; `None` if nothing readable says so."""
        content = self.files.get(TIMESTAMP, b"")[:100].decode("utf-8", "replace").strip()
        return read_time(content) if content else None

    @property
    def digest(self) -> str:
        """A hash that tells this submission from every other."""
        digest = hashlib.sha256()
        for name, content in sorted(self.files.items()):
            digest.update(os.fsencode(name) + f"\x00{len(content)}\x00".encode())
            digest.update(content)
        return digest.hexdigest()


def students(course: Course, lab: str, pattern: str = "*") -> list[str]:
    """List who has handed in a lab, of those whose names match a pattern."""
    marked = course.work("submitted", "*", lab)
    root = course.home
    found = []
    where = re.compile(
        re.escape(str(course.work("submitted", "\x00", lab))).replace("\x00", "([^/]+)")
    )
    for path in sorted(root.glob(str(marked.relative_to(root)))):
        match = where.fullmatch(str(path))
        if match and path.is_dir() and not path.is_symlink():
            found.append(match[1])
    return [name for name in found if fnmatch.fnmatchcase(name, pattern)]


def collect(course: Course, lab: str, student: str) -> Submission:
    """Read a submission, with its work put in its place where that is beyond doubt."""
    found = read_folder(course.work("submitted", student, lab), student)
    work = find_work(found.files, lab)
    return replace(found, files=work.files, remarks=(*found.remarks, *work.remarks))


def read_folder(folder: Path, student: str) -> Submission:
    """Read what lies in a folder. Links are not followed: they lead to what is not the student's.

    Parameters
    ----------
    folder
        The folder, named as the lab.
    student
        Whose.
    """
    files: dict[str, bytes] = {}
    remarks: list[Remark] = []
    room = LARGEST
    for base, folders, names in os.walk(folder):
        links = [name for name in folders if Path(base, name).is_symlink()]
        folders[:] = sorted(name for name in folders if not _ignored(name))
        if len(Path(base).relative_to(folder).parts) >= _DEEPEST:
            folders.clear()
            remarks.append(Remark(RemarkKind.TOO_DEEP, detail=str(_DEEPEST)))
        for name in [*sorted(names), *links]:
            path = Path(base, name)
            short = str(path.relative_to(folder))
            if _ignored(name):
                continue
            try:
                content = _read(path, short == f"{folder.name}.ipynb")
                if len(content) > room or len(files) >= _MOST_FILES or len(short) > _LONGEST_NAME:
                    raise OSError(errno.EFBIG, "too large, or one too many")
            except OSError as problem:
                why = problem.strerror or str(problem)
                remarks.append(Remark(RemarkKind.LEFT_OUT, short[:100], why))
                continue
            files[short] = content
            room -= len(content)
    return Submission(student, files, tuple(dict.fromkeys(remarks)))


def _read(path: Path, is_notebook: bool) -> bytes:
    # Not blocking: opening a pipe that somebody put there would wait for a writer.
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as problem:
        if problem.errno in (errno.ELOOP, errno.ENXIO):
            raise OSError(errno.EINVAL, "it is a link or a special file") from None
        raise
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "it is a link or a special file")
        if about.st_size > (_LARGEST_NOTEBOOK if is_notebook else LARGEST):
            raise OSError(errno.EFBIG, f"{about.st_size:,} bytes are too large")
        content = file.read()
    return _without_outputs(content) if is_notebook and len(content) > _LARGE_NOTEBOOK else content


def _without_outputs(content: bytes) -> bytes:
    """Drop the outputs of a large notebook; what is not a notebook stays as it is."""
    try:
        book = json.loads(content)
        for cell in book["cells"]:
            if "outputs" in cell:
                cell["outputs"] = []
        return json.dumps(book).encode()
    except (ValueError, KeyError, TypeError, RecursionError):
        return content


def _ignored(name: str) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in _IGNORED)


def read_time(words: str) -> datetime | None:
    """Read a timestamp of nbgrader's exchange, as UTC without a zone.

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
        return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
    except Exception:  # the words are a student's, and the parser raises what it likes
        return None
