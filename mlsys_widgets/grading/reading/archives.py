"""Taking in the files that students made with ``mlsys hand-in``, as nbgrader's collecting would.

Somebody may have uploaded only the notebook or only the ledger: both say whose they are, and one is
enough. What is taken in lies in ``submitted/STUDENT/LAB`` afterward. A file that is refused stays
where it is, and a sentence says why. Nothing is unpacked before all of it was read and found plain.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mlsys_widgets.course.course import Course
from mlsys_widgets.files import LEDGER, TIMESTAMP, lay_out
from mlsys_widgets.grading.reading.class_list import ClassList
from mlsys_widgets.grading.reading.ledger_sources import carried_owner
from mlsys_widgets.grading.reading.submissions import name_problem, read_folder
from mlsys_widgets.handin.archive import ZIP, student_named
from mlsys_widgets.handin.archive_reader import LARGEST, ArchiveRefused, read_archive
from mlsys_widgets.handin.work import archived_names
from mlsys_widgets.labs import load
from mlsys_widgets.ledger.carried_record import owner_of

#: What browsers and websites put behind the name of a file that was there before.
_COUNTED: Final = re.compile(r"(?: \(\d+\)|-\d+)$")
#: What students upload without packing it: a notebook, a ledger.
_NOTEBOOK, _LEDGER = ".ipynb", ".jsonl"
#: What students hand in by mistake instead of the file that mlsys hand-in makes.
_OTHER_KINDS: Final = (".txt", ".json", ".rar", ".7z", ".tar", ".gz", ".html", ".pdf")


@dataclass
class IntakeResult:
    """What came of a folder of files."""

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
) -> IntakeResult:
    """Take in every archive in a folder.

    Parameters
    ----------
    folder
        Where the archives are, as they were downloaded.
    known
        Who is in the class; anybody is if omitted.
    replace
        Whether work that differs from what a student submitted before takes its place.

    Raises
    ------
    ValueError
        When there is no such folder, or nothing in it.
    """
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}; name the folder with the files handed in")
    kinds = (ZIP, _NOTEBOOK, _LEDGER)
    paths = sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in kinds and not path.name.startswith(".")
    )
    if not paths:
        raise ValueError(f"there are no zip files, notebooks or ledgers in {folder}")
    asked = load(course.folder("assignments", lab))
    allowed = archived_names(lab, tuple(asked.examples)) | {TIMESTAMP}
    result = IntakeResult(refused=dict(_other_files(folder, lab)))
    read: dict[str, dict[str, Mapping[str, bytes]]] = {}
    for path in paths:
        shown = str(path.relative_to(folder))
        try:
            files = _files_in(path, lab, allowed)
            student = course.people.login_of(_whose(path.name, lab, files))
            if known is not None:
                _refuse_strangers(known, student, path.name, lab)
        except ArchiveRefused as problem:
            result.refused[shown] = str(problem)
        else:
            read.setdefault(student, {})[shown] = files
    for student, found in sorted(read.items()):
        _take(course, lab, student, found, result, replace=replace)
    return result


def _refuse_strangers(known: ClassList, student: str, name: str, lab: str) -> None:
    if words := known.stranger(student):
        raise ArchiveRefused(
            f"{words} If they belong to it: mlsys course add {student}, or take everybody in with"
            " --strangers."
        )
    by = known.uploader(name, lab)
    if by not in (None, student):
        raise ArchiveRefused(
            f"By its name {by} uploaded it, and it is the work of {student}. If that is as it"
            f" should be, remove what stands before {lab} in its name."
        )


def _other_files(folder: Path, lab: str) -> Iterator[tuple[str, str]]:
    """Files that look like work on this lab, and are not what is handed in."""
    for path in sorted(folder.rglob("*")):
        is_work = lab.casefold() in path.name.casefold()
        if is_work and path.suffix.lower() in _OTHER_KINDS and not path.name.startswith("."):
            yield (
                str(path.relative_to(folder)),
                f"It is not a file that mlsys hand-in makes. {_instead(lab)}",
            )


def _instead(lab: str) -> str:
    """Say what a TA can do about work that cannot be taken in."""
    return f"Ask for {lab}-STUDENT{ZIP}, or put the notebook into submitted/STUDENT/{lab} yourself."


def _files_in(path: Path, lab: str, allowed: set[str]) -> dict[str, bytes]:
    """Read what was uploaded: an archive, or one of the files that belong in it."""
    content = _content(path)
    match path.suffix.lower():
        case ".ipynb":
            _refuse_another_lab(_lab_of(content), lab)
            return {f"{lab}{_NOTEBOOK}": content}
        case ".jsonl":
            owner = owner_of(content)
            if owner is None:
                raise ArchiveRefused("It is not a ledger, or its first line is damaged.")
            _refuse_another_lab(owner.lab, lab)
            return {LEDGER: content}
    return read_archive(content, lab, allowed)


def _lab_of(notebook: bytes) -> str:
    """Return the lab that a notebook says it belongs to; empty if it says none."""
    try:
        return str(json.loads(notebook)["metadata"]["mlsys"]["lab"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""


def _refuse_another_lab(found: str, lab: str) -> None:
    if not found:
        raise ArchiveRefused(f"It is not the notebook of a lab. {_instead(lab)}")
    if found != lab:
        raise ArchiveRefused(f"It belongs to {found[:80]!a}, not to {lab}.")


def _content(path: Path) -> bytes:
    if path.is_symlink() or not path.is_file():
        raise ArchiveRefused("It is a link or a folder.")
    if path.stat().st_size > LARGEST:
        raise ArchiveRefused(f"It is larger than {LARGEST:,} bytes.")
    return path.read_bytes()


def _whose(name: str, lab: str, files: Mapping[str, bytes]) -> str:
    """Return whose work it is: an archive says so by its name, anything else by what it records."""
    owner = _owner(files, lab)
    student = _named(name, lab, owner) if name.lower().endswith(ZIP) else owner
    if student is None:
        raise ArchiveRefused(f"It carries no record that says whose it is. {_instead(lab)}")
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
    found = owner_of(files.get(LEDGER, b""))
    found = found or carried_owner(files.get(f"{lab}{_NOTEBOOK}", b""))
    return found.student if found else None


def _take(
    course: Course,
    lab: str,
    student: str,
    found: Mapping[str, Mapping[str, bytes]],
    result: IntakeResult,
    *,
    replace: bool,
) -> None:
    work = _together(found.values())
    if work is None:
        for name in found:
            rest = ", ".join(other for other in found if other != name)
            result.refused[name] = f"It is from {student}, and so is {rest}; keep only one of them."
        return
    target = course.work("submitted", student, lab)
    if target.exists():
        if dict(read_folder(target, student).files) == work:
            result.known.append(student)
            return
        if not replace:
            for name in found:
                result.refused[name] = (
                    f"{student} has submitted something else before, in {target}; --force replaces"
                    " it."
                )
            return
    _put(target, work)
    result.students.append(student)


def _together(found: Iterable[Mapping[str, bytes]]) -> dict[str, bytes] | None:
    """Put what one student uploaded together, as a notebook and its ledger; `None` if two differ.

    Archives are complete in themselves: two of them must be the same.
    """
    work: dict[str, bytes] = {}
    for files in found:
        if any(work.get(name, content) != content for name, content in files.items()):
            return None
        work.update(files)
    return work


def _put(target: Path, files: Mapping[str, bytes]) -> None:
    """Have the files in the folder, all or none."""
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        lay_out(fresh, files, mode=0o644)
        fresh.chmod(0o755)
        if target.is_symlink():
            target.unlink()
        elif target.exists():
            shutil.rmtree(target)
        fresh.rename(target)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
