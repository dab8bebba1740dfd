"""Reading what students uploaded: an archive, or one of the files that belong in it.

All of this runs in a reader with limits of its own: a small file can take gigabytes to read. Others
learn from it only whose work it is, and the hash of each of its files.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mlsys_widgets.files import LEDGER, lay_out
from mlsys_widgets.grading.reading.readers import CannotRead, ReaderMessage, ReadingLimits
from mlsys_widgets.grading.reading.record_candidates import carried_owner
from mlsys_widgets.grading.reading.resaved_ledger import read_saved
from mlsys_widgets.grading.reading.submissions import name_problem, read_folder
from mlsys_widgets.handin.archive import ZIP, student_named
from mlsys_widgets.handin.archive_reader import LARGEST, ArchiveRefused, read_archive
from mlsys_widgets.ledger.carried_record import Owner, owner_of

#: What students upload without packing it.
NOTEBOOK: Final = ".ipynb"
#: What a ledger is called, and what browsers and editors make of that. Most other files of the last
#: two kinds have nothing to do with a lab.
LEDGER_FILES: Final = (".jsonl", ".json", ".txt")
KINDS: Final = (ZIP, NOTEBOOK, *LEDGER_FILES)
#: Enough for the largest notebook that is honest: its outputs are a few long texts.
LIMITS: Final = ReadingLimits(wall=60, cpu=10, memory=700_000_000)
#: What browsers and websites put behind the name of a file that was there before.
_COUNTED: Final = re.compile(r"(?: \(\d+\)|-\d+)$")


@dataclass(frozen=True)
class ReadUpload(ReaderMessage):
    """Read an upload."""

    path: Path


@dataclass(frozen=True)
class UploadContents(ReaderMessage):
    """Whose work an upload is, and the hash of each of its files; empty if it is no work at all."""

    student: str
    digests: Mapping[str, str]


@dataclass(frozen=True)
class UnpackUploads(ReaderMessage):
    """Put the files of one student's uploads into a folder, unless ``target`` holds the same."""

    student: str
    paths: tuple[Path, ...]
    into: Path
    target: Path


@dataclass(frozen=True)
class UnpackReply(ReaderMessage):
    """The hash of each file, and whether ``target`` holds the same already."""

    digests: Mapping[str, str]
    known: bool


class UploadReader:
    """What a reader does with uploads for one lab."""

    def __init__(self, lab: str, allowed: Collection[str]) -> None:
        self._lab, self._allowed = lab, allowed

    def __call__(self, request: ReaderMessage) -> ReaderMessage:
        """Do a request, in a child of a reader."""
        try:
            match request:
                case ReadUpload(path):
                    files = self._files(path)
                    student = whose(path.name, self._lab, files) if files else ""
                    return UploadContents(student, digests(files))
                case UnpackUploads():
                    return self._unpack(request)
        except ArchiveRefused as problem:
            raise CannotRead(str(problem)) from None
        raise TypeError(f"nobody reads {type(request).__name__} here")

    def _unpack(self, request: UnpackUploads) -> UnpackReply:
        files: dict[str, bytes] = {}
        for path in request.paths:
            files.update(self._files(path))
        known = dict(read_folder(request.target, request.student).files) == files
        if not known:
            lay_out(request.into, files, mode=0o644)
        return UnpackReply(digests(files), known)

    def _files(self, path: Path) -> dict[str, bytes]:
        content = _content(path)
        match path.suffix.lower():
            case ".ipynb":
                _refuse_another_lab(_lab_of(content), self._lab)
                return {f"{self._lab}{NOTEBOOK}": content}
            case ".jsonl" | ".json" | ".txt" as kind:
                owner = _owner_of(content, self._lab)
                if owner is None:
                    if kind != ".jsonl" and self._lab.casefold() not in path.name.casefold():
                        return {}
                    raise ArchiveRefused(
                        f"It is not a ledger, or its first line is damaged. {instead(self._lab)}"
                    )
                _refuse_another_lab(owner.lab, self._lab)
                return {LEDGER: content}
        return read_archive(content, self._lab, self._allowed)


def digests(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the hash of each file."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def instead(lab: str) -> str:
    """Say what a TA can do about work that cannot be taken in."""
    return f"Ask for {lab}-STUDENT{ZIP}, or put the notebook into submitted/STUDENT/{lab} yourself."


def whose(name: str, lab: str, files: Mapping[str, bytes]) -> str:
    """Return whose work it is: an archive says so by its name, anything else by what it records."""
    owner = _owner(files, lab)
    student = _named(name, lab, owner) if name.lower().endswith(ZIP) else owner
    if student is None:
        raise ArchiveRefused(f"It carries no record that says whose it is. {instead(lab)}")
    odd = set(student) & set("/\\\0") or student.startswith(".")
    if odd or name_problem(student):
        raise ArchiveRefused(f"{student[:40]!a} cannot be the name of a student.")
    return student


def _named(name: str, lab: str, owner: str | None) -> str:
    """Return whose archive it is by its name, with which the ledger in it must agree."""
    student = student_named(name, lab)
    if student is None:
        raise ArchiveRefused(f"Its name must be {lab}-STUDENT{ZIP}.")
    if owner is None:
        return _COUNTED.sub("", student) if student.endswith(")") else student
    if owner not in (student, _COUNTED.sub("", student)):
        raise ArchiveRefused(
            f"By its name it is from {student}, but the ledger in it belongs to {owner}."
        )
    return owner


def _owner(files: Mapping[str, bytes], lab: str) -> str | None:
    """Return whose the ledger, or else the record in the notebook, says it is."""
    found = _owner_of(files.get(LEDGER, b""), lab)
    found = found or carried_owner(files.get(f"{lab}{NOTEBOOK}", b""))
    return found.student if found else None


def _owner_of(ledger: bytes, lab: str) -> Owner | None:
    """Return whose a ledger says it is, however it was saved."""
    saved = read_saved(ledger, lab)
    return owner_of(saved.content) if saved else None


def _content(path: Path) -> bytes:
    if path.is_symlink() or not path.is_file():
        raise ArchiveRefused("It is a link or a folder.")
    if path.stat().st_size > LARGEST:
        raise ArchiveRefused(f"It is larger than {LARGEST:,} bytes.")
    return path.read_bytes()


def _lab_of(notebook: bytes) -> str:
    """Return the lab that a notebook says it belongs to; empty if it says none."""
    try:
        return str(json.loads(notebook)["metadata"]["mlsys"]["lab"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""


def _refuse_another_lab(found: str, lab: str) -> None:
    if not found:
        raise ArchiveRefused(f"It is not the notebook of a lab. {instead(lab)}")
    if found != lab:
        raise ArchiveRefused(f"It belongs to {found[:80]!a}, not to {lab}.")
