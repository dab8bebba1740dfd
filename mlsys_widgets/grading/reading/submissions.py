"""Submissions in the folder of a course: found, read as bytes, and never changed.

A folder is opened once, level by level, and everything in it is read through that descriptor. So
it does not matter what is put in its place meanwhile: no link is followed, at any moment.
"""

from __future__ import annotations

import errno
import fnmatch
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Final

from mlsys_widgets.course.course import Course
from mlsys_widgets.files import LEDGER, TIMESTAMP, open_no_follow, open_regular
from mlsys_widgets.grading.reading.hand_in_time import read_time
from mlsys_widgets.grading.reading.misplaced_work import find_work
from mlsys_widgets.grading.reading.record_candidates import with_found_record
from mlsys_widgets.grading.reading.slim_notebook import MOST_CELLS, slimmed
from mlsys_widgets.ledger.receipt import RECEIPT
from mlsys_widgets.notebooks.remarks import Remark, RemarkKind, quoted

#: What was left out of a submission when it was collected, with the reasons.
LEFT_OUT: Final = "left_out.json"
#: Characters of a student's name, as nbgrader's gradebook limits them; PostgreSQL insists on it.
LONGEST_NAME: Final = 128
#: Bytes; what does not fit is left out, and flagged.
LARGEST: Final = 100_000_000
_MOST_FILES: Final = 200
#: Names that are looked at in all folders together; the folder with which there are more is left
#: out as a whole, and so is every one after it.
_MOST_NAMES: Final = 25_000
_DEEPEST: Final = 20
_LONGEST_PATH: Final = 500
#: Files that are named in remarks; the others are only counted.
_MOST_REMARKS: Final = 20
_LARGEST_NOTEBOOK: Final = 250_000_000
_LONGEST_TIME: Final = 100
_IGNORED: Final = ("*.pyc", "__pycache__", "feedback", "*.torn-*")
_CHECKPOINTS: Final = ".ipynb_checkpoints"
_NO_FILE: Final = (errno.ELOOP, errno.ENXIO)
_IS_NO_FILE: Final = "it is a link or a special file; hand in the file itself"


@dataclass(frozen=True)
class Submission:
    """One submission, in memory."""

    student: str
    files: Mapping[str, bytes]
    remarks: tuple[Remark, ...] = ()

    @property
    def timestamp(self) -> datetime | None:
        """When it was handed in, in UTC; `None` if nothing readable says so."""
        return _time_in(self.files.get(TIMESTAMP, b""))

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
    """Read a submission, with its work put in its place where that is beyond doubt.

    Wherever its ledger was found, it becomes ``ledger.jsonl``.
    """
    try:
        with _opened(*_levels(course, "submitted", lab, student)) as folder:
            found = _read_all(folder, student, f"{lab}.ipynb", checkpoints=True)
    except OSError as problem:
        return _nothing(student, problem)
    left_out = _read_remarks(found.files.get(LEFT_OUT, b""))
    placed = _in_place(course, found, lab)
    return replace(placed, remarks=(*left_out, *placed.remarks))


def collect_handed_in(
    course: Course, inbound: Path, folder: str, lab: str, student: str
) -> Submission:
    """Do the same with what lies in the exchange."""
    return _in_place(course, read_handed_in(inbound, folder, student, lab), lab)


def _in_place(course: Course, found: Submission, lab: str) -> Submission:
    names = course.people.names_of(found.student)
    work = with_found_record(find_work(found.files, lab), lab, names)
    return replace(found, files=work.files, remarks=(*found.remarks, *work.remarks))


def handed_in_at(course: Course, step: str, lab: str, student: str) -> datetime | None:
    """Return when work was handed in, as its folder at a step says; little of it is read."""
    try:
        with (
            _opened(*_levels(course, step, lab, student)) as folder,
            open_regular(TIMESTAMP, dir_fd=folder) as file,
        ):
            return _time_in(file.read(_LONGEST_TIME))
    except OSError:
        return None


def read_folder(folder: Path, student: str) -> Submission:
    """Read what lies in a folder; a link, which leads to what is not the student's, is left out."""
    try:
        with _opened(folder.parent, (folder.name,)) as handle:
            return _read_all(handle, student, f"{folder.name}.ipynb")
    except OSError as problem:
        return _nothing(student, problem)


def read_handed_in(inbound: Path, folder: str, student: str, lab: str) -> Submission:
    """Read what a student handed in, where the folder still is the student's own."""
    try:
        with _opened(inbound, (folder,)) as handle:
            return _read_all(handle, student, f"{lab}.ipynb", own=True)
    except OSError as problem:
        return _nothing(student, problem)


def written_remarks(remarks: Sequence[Remark]) -> bytes:
    """Return remarks as a file that lies beside the work they are about."""
    return json.dumps([each.as_data() for each in remarks], indent=1).encode()


def _read_remarks(content: bytes) -> tuple[Remark, ...]:
    """Read such a file; a student can hand in one of the same name, with anything in it."""
    try:
        return tuple(map(Remark.from_data, json.loads(content)[:_MOST_REMARKS]))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return ()


def _nothing(student: str, problem: OSError) -> Submission:
    a_link = problem.errno in (errno.ELOOP, errno.ENOTDIR)
    why = "it is a link" if a_link else problem.strerror or str(problem)
    return Submission(student, {}, (Remark(RemarkKind.FOLDER_NOT_READ, detail=why),))


def _levels(course: Course, step: str, lab: str, student: str) -> tuple[Path, Sequence[str]]:
    """Return the folder that is the course's own, and the names below it that are the student's."""
    path, others = (course.work(step, each, lab).parts for each in (student, "\0"))
    own = next((n for n, (a, b) in enumerate(zip(path, others, strict=False)) if a != b), len(path))
    return Path(*path[:own]), path[own:]


@contextmanager
def _opened(base: Path, names: Sequence[str]) -> Iterator[int]:
    """Open a folder level by level; none of the names may be a link."""
    handle = os.open(base, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name in names:
            inner = open_no_follow(name, os.O_DIRECTORY, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield handle
    finally:
        os.close(handle)


def _read_all(
    folder: int, student: str, notebook: str, *, own: bool = False, checkpoints: bool = False
) -> Submission:
    """Read what is in an open folder, or only the files of the folder's owner."""
    owner = os.fstat(folder).st_uid if own else None
    reader = _FolderReader(notebook, owner, checkpoints=checkpoints)
    # First what counts, so that nothing else can take its room.
    for name in (notebook, LEDGER, RECEIPT, TIMESTAMP):
        reader.take(folder, name, must_exist=False)
    reader.walk(folder)
    return Submission(student, dict(sorted(reader.files.items())), tuple(reader.remarks()))


class _FolderReader:
    """Reads a folder within limits."""

    def __init__(
        self, notebook: str, owner: int | None = None, *, checkpoints: bool = False
    ) -> None:
        self.files: dict[str, bytes] = {}
        self._owner = owner
        #: What Jupyter keeps beside a file may be all that is left of a record.
        ignored = _IGNORED if checkpoints else (*_IGNORED, _CHECKPOINTS)
        self._ignored = re.compile("|".join(map(fnmatch.translate, ignored)))
        self._notebook, self._room = notebook, LARGEST
        self._names = _MOST_NAMES
        self._seen: set[str] = set()
        self._left_out: dict[Remark, None] = {}
        self._more = 0

    def remarks(self) -> Iterator[Remark]:
        """Yield what was left out; a few by name, and the number of the rest."""
        yield from self._left_out
        if self._more:
            yield Remark(RemarkKind.MORE_LEFT_OUT, detail=f"{self._more:,}")

    def walk(self, folder: int, before: str = "", depth: int = 0) -> None:
        """Read a folder and those below it, in the order of their names."""
        with os.scandir(folder) as entries:
            found = {
                entry.name: entry.is_dir(follow_symlinks=False)
                for entry in islice(entries, self._names + 1)
            }
        if len(found) > self._names:
            self._names = 0  # nor does anybody count what is in the next one
            why = f"there are more than {_MOST_NAMES:,} files and folders in all"
            self._leave_out(Remark(RemarkKind.LEFT_OUT, before or "all else", why))
            return
        self._names -= len(found)
        inner = []
        for name, is_folder in sorted(found.items()):
            short = f"{before}{name}"
            if short in self._seen or self._ignored.match(name):
                continue
            if is_folder:
                inner.append(name)
            else:
                self.take(folder, name, short)
        if inner and depth >= _DEEPEST:
            self._leave_out(Remark(RemarkKind.TOO_DEEP, detail=str(_DEEPEST)))
            return
        for name in inner:
            try:
                handle = open_no_follow(name, os.O_DIRECTORY, dir_fd=folder)
            except OSError as problem:  # it was one a moment ago
                self._leave_out(_left_out(f"{before}{name}", problem))
                continue
            try:
                self.walk(handle, f"{before}{name}/", depth + 1)
            finally:
                os.close(handle)

    def take(self, folder: int, name: str, short: str = "", *, must_exist: bool = True) -> None:
        """Read a file, if it is one and there is room."""
        short = short or name
        self._seen.add(short)
        if must_exist and len(self.files) >= _MOST_FILES:
            self._more += 1
            return
        try:
            content = self._read(folder, name, short)
        except FileNotFoundError:
            if must_exist:
                self._more += 1
            self._seen.discard(short)
        except IsADirectoryError:  # of a name that should be a file: walked like any other
            self._seen.discard(short)
        except OSError as problem:
            self._leave_out(_left_out(short, problem))
        else:
            self.files[short] = content

    def _read(self, folder: int, name: str, short: str) -> bytes:
        is_notebook = short == self._notebook
        if len(short) > _LONGEST_PATH:
            raise OSError(errno.ENAMETOOLONG, "its name is too long")
        try:
            handle = open_no_follow(name, dir_fd=folder)
        except OSError as problem:
            if problem.errno in _NO_FILE:
                raise OSError(errno.EINVAL, _IS_NO_FILE) from None
            raise
        with os.fdopen(handle, "rb") as file:
            about = os.fstat(handle)
            if stat.S_ISDIR(about.st_mode):
                raise IsADirectoryError
            if not stat.S_ISREG(about.st_mode):
                raise OSError(errno.EINVAL, _IS_NO_FILE)
            if self._owner not in (None, about.st_uid):
                raise OSError(errno.EPERM, "it belongs to somebody else; hand in your own file")
            room = _LARGEST_NOTEBOOK if is_notebook else self._room
            # It may grow while it is read.
            content = file.read(room + 1) if about.st_size <= room else b""
            if about.st_size > room or len(content) > room:
                raise OSError(errno.EFBIG, f"{about.st_size:,} bytes are too large")
        if is_notebook:
            content, cells = slimmed(content)
            if cells:
                self._leave_out(Remark(RemarkKind.MORE_CELLS, f"{cells:,}", f"{MOST_CELLS:,}"))
            return content
        self._room -= len(content)
        return content

    def _leave_out(self, remark: Remark) -> None:
        if len(self._left_out) < _MOST_REMARKS:
            self._left_out[remark] = None
        else:
            self._more += 1


def _left_out(short: str, problem: OSError) -> Remark:
    return Remark(RemarkKind.LEFT_OUT, short[:100], problem.strerror or str(problem))


def _time_in(content: bytes) -> datetime | None:
    words = content[:_LONGEST_TIME].decode("utf-8", "replace").strip()
    return read_time(words) if words else None


def name_problem(student: str) -> str | None:
    """Say why a name cannot be a student's, and what to do; `None` if it can."""
    fits = student.isprintable() and student.strip() and len(student) <= LONGEST_NAME
    if fits and student not in (".", ".."):
        return None
    return (
        f"{quoted(student, 30)} cannot be the name of a student: a name has 1 to {LONGEST_NAME}"
        " printable characters. Rename the folder in submitted/ and grade again"
    )
