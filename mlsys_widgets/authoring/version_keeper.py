"""Keeps every version of a lab with what judges it, from the moment it is built or released.

When a lab is fixed, its questions and keys are overwritten. Whoever has an older copy was asked the
older questions, so these are kept, and the grader finds them by the stamp in the copy.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

import nbformat

from mlsys_widgets.authoring.release import as_gradebook_has_it
from mlsys_widgets.authoring.traveling_files import traveling
from mlsys_widgets.course.course import Course
from mlsys_widgets.course.kept_versions import (
    PRIVATE,
    KeptVersion,
    kept_versions,
    now,
    private,
    versions_folder,
)
from mlsys_widgets.course.lab_versions import files_beside, version_in
from mlsys_widgets.files import ASKS, CHECKS, LAB_TEXT, lay_out, sync_folder, write_whole
from mlsys_widgets.labs.lab_modules import modules_beside

#: Drafts that were never released and are kept; older ones are removed.
_MOST_DRAFTS: Final = 20


def keep_version(course: Course, lab: str) -> KeptVersion | None:
    """Keep what ``release/`` holds of a lab, with what judges it; again changes nothing.

    A key that was fixed since is kept in place of the old one, because the copies are the same.
    Returns the version; `None` for what is not a lab of ours, is not built, or was changed since.
    """
    home, source, release = (course.folder(s, lab) for s in ("assignments", "source", "release"))
    version = version_in(release, lab)
    there = (home / ASKS, home / CHECKS, home / LAB_TEXT, source / f"{lab}.ipynb")
    if version is None or not all(each.is_file() for each in there):
        return None
    known = {each.version: each for each in kept_versions(course.root, lab)}
    # The text may have been changed since the lab was built: its questions are the next version's.
    current = _fits(home, lab, release)
    if kept := known.get(version):
        if current:
            _update(kept.keys, _keys(home))
        return kept
    if not current:
        return None  # nobody can say which keys were those of the release
    _forget_drafts(list(known.values()))
    return _keep(course, lab, version, _keys(home))


def _fits(home: Path, lab: str, release: Path) -> bool:
    """Whether the questions in ``assignments/`` are those of a release."""
    try:
        made = traveling(home, lab)
    except (OSError, ValueError, SyntaxError):  # an author is in the middle of something
        return False
    return all(
        (release / name).is_file() and (release / name).read_text("utf-8") == code
        for name, code in made.items()
    )


def _keys(home: Path) -> dict[str, bytes]:
    beside = modules_beside(home, ASKS, LAB_TEXT, CHECKS).values()
    return {path.name: path.read_bytes() for path in (home / ASKS, home / CHECKS, *beside)}


def _update(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != content:
            write_whole(path, content, mode=private())


def _keep(course: Course, lab: str, version: str, keys: dict[str, bytes]) -> KeptVersion:
    source, release = course.folder("source", lab), course.folder("release", lab)
    name = f"{lab}.ipynb"
    book = nbformat.read(source / name, 4)
    as_known = nbformat.writes(as_gradebook_has_it(course, lab, book)) + "\n"
    files = {
        **{f"keys/{each}": content for each, content in keys.items()},
        **{f"source/{each}": content for each, content in files_beside(source, lab).items()},
        **{f"release/{each}": content for each, content in files_beside(release, lab).items()},
        f"source/{name}": as_known.encode(),
        f"release/{name}": (release / name).read_bytes(),
    }
    target = versions_folder(course.root, lab) / version
    _private_folders(course.root, target.parent)
    aside = target.with_name(f".{version}.{os.getpid()}")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(mode=PRIVATE)
    try:
        lay_out(aside, files, mode=private())
        for each in aside.rglob("*/"):
            each.chmod(private(PRIVATE))
        KeptVersion(aside, version, now()).write()
        # What is not whole is no version: the file that says what it is comes last.
        shutil.rmtree(target, ignore_errors=True)
        aside.rename(target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    sync_folder(target.parent)
    (kept,) = (each for each in kept_versions(course.root, lab) if each.version == version)
    return kept


def _private_folders(root: Path, folder: Path) -> None:
    """Make folders that nobody else may look into: they will hold keys."""
    missing = [each for each in (folder, *folder.parents) if not each.is_dir()]
    for each in reversed([each for each in missing if each.is_relative_to(root)]):
        # The first one is shared with what is no secret.
        each.mkdir(mode=0o777 if each.parent == root else PRIVATE)


def _forget_drafts(known: list[KeptVersion]) -> None:
    drafts = [each for each in known if not each.released]
    for old in drafts[: max(0, len(drafts) - _MOST_DRAFTS)]:
        shutil.rmtree(old.folder, ignore_errors=True)
