"""Moving one student's work to another name: folders, the package's own records, the exchange.

Every step can be done again after a crash: what was moved already is found at its new place.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.course.course import Course
from mlsys_widgets.course.exchange_place import exchange_folder, nbgrader_settings
from mlsys_widgets.files import OWN_FOLDER, open_folder, write_whole
from mlsys_widgets.grading.gradebook.grade_history import HISTORY, GradeHistory
from mlsys_widgets.grading.telling.told_file import FILES

#: Where nbgrader keeps the work of students, at each step, and files for those without a hub.
STEPS: Final = ("submitted", "autograded", "feedback", FILES)
#: Work that lost against another when two students were merged, below the course.
MERGED: Final = "merged"
#: The same in the exchange, out of reach of everybody.
MERGED_INBOUND: Final = ".merged"


def labs_with_work(course: Course, student: str) -> list[str]:
    """Return the labs of which a course has a folder of this student, at any step."""
    marker = "\0"
    found = set()
    for step in STEPS:
        pattern = course.work(step, student, marker)
        above = Path(*pattern.parts[: next(
            (k for k, part in enumerate(pattern.parts) if marker in part), len(pattern.parts)
        )])  # fmt: skip
        if above.is_dir() and student in above.parts:
            found |= {each.name for each in above.iterdir()
                      if each.is_dir() and not each.name.startswith(".")}  # fmt: skip
    for lab in (each.name for each in (course.root / "assignments").iterdir() if each.is_dir()):
        if any(course.work(step, student, lab).is_dir() for step in STEPS):
            found.add(lab)
    return sorted(found)


def move_work(course: Course, old: str, new: str, lab: str) -> None:
    """Let a student's folders of one lab be another's."""
    for step in STEPS:
        _move(course.work(step, old, lab), course.work(step, new, lab))


def set_work_aside(course: Course, student: str, lab: str) -> Path:
    """Move a student's folders of one lab to ``merged/``, where nothing looks for them."""
    aside = course.home / MERGED / student / lab
    for step in STEPS:
        _move(course.work(step, student, lab), aside / step)
    return aside


def _move(source: Path, target: Path) -> None:
    if not source.exists():
        return
    if target.exists():
        raise ValueError(f"{target} exists already, so {source} stays where it is; look at both")
    target.parent.mkdir(parents=True, exist_ok=True)
    source.rename(target)
    with suppress(OSError):  # something else is left in there
        source.parent.rmdir()


def rename_in_records(course: Course, old: str, new: str, labs: Collection[str] = ()) -> list[Path]:
    """Let the package's own records have another name, of some labs or all; return which."""
    changed = []
    root = course.home / OWN_FOLDER
    for path in sorted(root.rglob("*")) if root.is_dir() else ():
        if path.is_symlink() or not path.is_file() or path.suffix not in (".json", ".jsonl"):
            continue
        if path.name.startswith(HISTORY):  # a chain, whose digests must follow
            lab = path.stem.removeprefix(HISTORY)
            if (not labs or lab in labs) and GradeHistory(course.home, lab).rename(old, new):
                changed.append(path)
            continue
        text = path.read_text("utf-8", "surrogateescape")
        if f'"{old}' not in text or (labs and not any(lab in str(path) for lab in labs)):
            continue
        left = _renamed_text(text, old, new, lines=path.suffix == ".jsonl")
        if left != text:
            write_whole(path, left.encode("utf-8", "surrogateescape"),
                        mode=path.stat().st_mode & 0o7777)  # fmt: skip
            changed.append(path)
    for path in sorted(root.rglob("*"), key=lambda each: -len(each.parts)) if not labs else ():
        if old in (path.stem, path.name):
            target = path.with_name(new + path.name.removeprefix(old))
            if not target.exists():
                path.rename(target)
                changed.append(target)
    return changed


def _renamed_text(text: str, old: str, new: str, *, lines: bool) -> str:
    if lines:
        return "".join(
            _renamed_text(line, old, new, lines=False) if f'"{old}' in line else line
            for line in text.splitlines(keepends=True)
        )
    try:
        data = json.loads(text)
    except ValueError:
        return text
    left = renamed(data, old, new)
    if left == data:
        return text
    indent = 1 if "\n" in text.strip() else None
    return json.dumps(left, indent=indent) + ("\n" if text.endswith("\n") else "")


def renamed(data: Any, old: str, new: str) -> Any:
    """Return data in which a name, where it is a whole text or key, became another."""
    match data:
        case str():
            if data == old:
                return new
            return new + data[len(old) :] if data.startswith(f"{old}+") else data
        case list():
            return [renamed(each, old, new) for each in data]
        case dict():
            return {renamed(k, old, new): renamed(v, old, new) for k, v in data.items()}
    return data


# The exchange.


def exchange_of(course: Course) -> Path | None:
    """Return nbgrader's exchange for a course, if it can be seen from here."""
    found = exchange_folder(nbgrader_settings(course.home))
    return found if found and found.is_dir() else None


def inbound_of(inbound: Path, student: str) -> Iterator[tuple[Path, str]]:
    """Find a student's folders in the exchange, and the lab of each."""
    if not os.access(inbound, os.R_OK):
        return
    for path in sorted(inbound.glob(f"{student}+*")):
        if path.is_dir() and not path.is_symlink() and path.name.count("+") >= 2:
            yield path, path.name.split("+")[1]


def move_inbound(
    inbound: Path,
    old: str,
    new: str,
    *,
    keep: Callable[[str], bool] = lambda _: True,
    give: Callable[[str, int], None] = lambda _name, _folder: None,
) -> list[tuple[str, str]]:
    """Let what a student handed in be another's; returns old and new names of folders.

    `give` lets a folder, by its name in the open folder of hand-ins, belong to the other, if `keep`
    says that work on the lab counts. What does not count is moved out of nbgrader's way. Others can
    change these folders meanwhile, so none is reached by its path.
    """
    moved = []
    if not os.access(inbound, os.R_OK):
        return []
    with open_folder(inbound.parent) as above, open_folder(inbound.name, dir_fd=above) as handle:
        for name in sorted(os.listdir(handle)):  # noqa: PTH208
            if not _is_hand_in(handle, name, old):
                continue
            target = ""
            if keep(name.split("+")[1]):
                target = new + name.removeprefix(old)
                give(name, handle)
                os.rename(name, target, src_dir_fd=handle, dst_dir_fd=handle)
            else:
                with suppress(FileExistsError):
                    os.mkdir(MERGED_INBOUND, 0o700, dir_fd=above)
                with open_folder(MERGED_INBOUND, dir_fd=above) as aside:
                    os.rename(name, name, src_dir_fd=handle, dst_dir_fd=aside)
            moved.append((name, target))
    return moved


def _is_hand_in(inbound: int, name: str, student: str) -> bool:
    if not name.startswith(f"{student}+") or name.count("+") < 2:
        return False
    return stat.S_ISDIR(os.stat(name, dir_fd=inbound, follow_symlinks=False).st_mode)
