"""Taking in the files that students made with ``mlsys hand-in``, as nbgrader's collecting would.

Somebody may have uploaded only the notebook or only the ledger: both say whose they are, and one is
enough. What is taken in lies in ``submitted/STUDENT/LAB`` afterward. A file that is refused stays
where it is, and a sentence says why. Nothing is unpacked before all of it was read and found plain,
and only a reader with limits looks into it, one upload at a time.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mlsys_widgets.course.course import Course
from mlsys_widgets.files import TIMESTAMP
from mlsys_widgets.grading.reading.class_list import ClassList
from mlsys_widgets.grading.reading.readers import CannotRead, Readers
from mlsys_widgets.grading.reading.uploads import (
    KINDS,
    LIMITS,
    ReadUpload,
    UnpackReply,
    UnpackUploads,
    UploadContents,
    UploadReader,
    instead,
)
from mlsys_widgets.handin.work import archived_names
from mlsys_widgets.labs import load

#: What students hand in by mistake instead of the file that mlsys hand-in makes.
_OTHER_KINDS: Final = (".rar", ".7z", ".tar", ".gz", ".html", ".pdf")


@dataclass
class IntakeResult:
    """The outcome of taking in a folder of files."""

    #: Whose work is in the course now and was not before.
    students: list[str] = field(default_factory=list)
    #: Whose very work was there already.
    known: list[str] = field(default_factory=list)
    #: Files that were not taken in, by name, each with a sentence.
    refused: dict[str, str] = field(default_factory=dict)


def take_in(
    course: Course,
    lab: str,
    folder: Path,
    *,
    known: ClassList | None = None,
    replace: bool = False,
    counted: Callable[[Sequence[Path]], Iterable[Path]] = iter,
) -> IntakeResult:
    """Take in every archive in a folder.

    Without ``known`` students anybody is in the class. With ``replace``, work takes the place of
    what the student submitted before and differs. ``counted`` goes through the files and may show
    how far it is.
    """
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}; name the folder with the files handed in")
    paths = sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in KINDS and not path.name.startswith(".")
    )
    if not paths:
        raise ValueError(f"there are no zip files, notebooks or ledgers in {folder}")
    asked = load(course.folder("assignments", lab))
    allowed = archived_names(lab, tuple(asked.examples)) | {TIMESTAMP}
    with tempfile.TemporaryDirectory(prefix="mlsys-") as scratch:
        readers = Readers(UploadReader(lab, allowed), 1, Path(scratch), LIMITS)
        try:
            intake = _Intake(course, lab, folder, readers, known)
            for path in counted(paths):
                intake.read(path)
            for student in sorted(intake.uploads):
                intake.take(student, replace=replace)
        finally:
            readers.close()
    return intake.result


class _Intake:
    """One folder of uploads on their way into a course."""

    def __init__(
        self, course: Course, lab: str, folder: Path, readers: Readers, known: ClassList | None
    ) -> None:
        self._course, self._lab, self._folder = course, lab, folder
        self._readers, self._known = readers, known
        self.result = IntakeResult(refused=dict(_other_files(folder, lab)))
        #: Of each student: uploads, with the hashes of their files.
        self.uploads: dict[str, dict[Path, Mapping[str, str]]] = {}

    def read(self, path: Path) -> None:
        """See whose an upload is."""
        try:
            found = self._readers.ask(ReadUpload(path))
        except CannotRead as problem:
            self._refuse(path, str(problem))
            return
        assert isinstance(found, UploadContents), found
        if not found.digests:
            return
        student = self._course.people.login_of(found.student)
        if self._known is not None and (why := _stranger(self._known, student, path, self._lab)):
            self._refuse(path, why)
            return
        self.uploads.setdefault(student, {})[path] = found.digests

    def take(self, student: str, *, replace: bool) -> None:
        """Put a student's uploads into the course, unless a person must choose."""
        found = self.uploads[student]
        if not _agree(found.values()):
            for path in found:
                rest = ", ".join(self._shown(other) for other in found if other != path)
                self._refuse(
                    path,
                    f"It is from {student}, and so is {rest}; keep only one of them. Ledgers from"
                    f" two machines may lie in submitted/{student}/{self._lab} together, under any"
                    " names.",
                )
            return
        target = self._course.work("submitted", student, self._lab)
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            reply = self._readers.ask(UnpackUploads(student, tuple(found), fresh, target))
            assert isinstance(reply, UnpackReply), reply
            if not _agree([*found.values(), reply.digests]):
                raise CannotRead("It was changed while it was taken in.")
            if reply.known:
                self.result.known.append(student)
            elif target.exists() and not replace:
                raise CannotRead(
                    f"{student} has submitted something else before, in {target}; --force replaces"
                    " it."
                )
            else:
                _put(fresh, target)
                self.result.students.append(student)
        except CannotRead as problem:
            for path in found:
                self._refuse(path, str(problem))
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
            with suppress(OSError):  # somebody of whom nothing was taken in has no folder
                target.parent.rmdir()

    def _refuse(self, path: Path, why: str) -> None:
        self.result.refused[self._shown(path)] = why

    def _shown(self, path: Path) -> str:
        return str(path.relative_to(self._folder))


def _stranger(known: ClassList, student: str, path: Path, lab: str) -> str:
    """Say why work does not belong to the class, or not to whom it says; empty if it does."""
    if words := known.stranger(student):
        return (
            f"{words} If they belong to it: mlsys course add {student}, or take everybody in with"
            " --strangers."
        )
    by = known.uploader(path.name, lab)
    if by not in (None, student):
        return (
            f"By its name {by} uploaded it, and it is the work of {student}. If that is as it"
            f" should be, remove what stands before {lab} in its name."
        )
    return ""


def _other_files(folder: Path, lab: str) -> Iterator[tuple[str, str]]:
    """Files that look like work on this lab, and are not what is handed in."""
    for path in sorted(folder.rglob("*")):
        is_work = lab.casefold() in path.name.casefold()
        if is_work and path.suffix.lower() in _OTHER_KINDS and not path.name.startswith("."):
            yield (
                str(path.relative_to(folder)),
                f"It is not a file that mlsys hand-in makes. {instead(lab)}",
            )


def _agree(found: Iterable[Mapping[str, str]]) -> bool:
    """Whether what one student uploaded fits together, as a notebook and its ledger do.

    Archives are complete in themselves: two of them must be the same. So must ledgers be: anybody
    can upload one in somebody else's name, and it must not be merged into that student's work.
    """
    work: dict[str, str] = {}
    for digests in found:
        if any(work.setdefault(name, digest) != digest for name, digest in digests.items()):
            return False
    return True


def _put(fresh: Path, target: Path) -> None:
    """Have one folder in the place of another, all of it or nothing."""
    fresh.chmod(0o755)
    if target.is_symlink():
        target.unlink()
    elif target.exists():
        shutil.rmtree(target)
    fresh.rename(target)
