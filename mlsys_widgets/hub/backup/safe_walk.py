"""Walks through folders that strangers can change meanwhile, following no link.

Every folder and file is opened by descriptor from the folder above it, so whoever swaps a folder
for a link during the walk gets the link listed, and nothing behind it is ever read with the rights
of root.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mlsys_widgets.files import open_no_follow

#: Folders inside each other. Whoever needs more is trying to use up descriptors.
DEEPEST: Final = 100
#: Bytes of a path. The system opens none above 4,096, and a restore may be in a deeper place.
LONGEST: Final = 3_500


@dataclass(frozen=True)
class Entry:
    """Something found in a walk."""

    #: Below the folder where the walk began, with its name first.
    path: str
    #: What the system says about it; for files and folders, about the very one that is open.
    about: os.stat_result
    #: The open file or folder, closed when the walk goes on; -1 for a link.
    handle: int = -1
    target: str = ""


def walk(
    root: Path | str,
    name: str,
    skipped: Callable[[str, str], None],
    *,
    deepest: int = DEEPEST,
    dir_fd: int | None = None,
) -> Iterator[Entry]:
    """Yield a folder, and everything in it: files, folders and links; nothing if it is a link.

    `skipped` is told the path of what is left out, and why: devices, pipes and sockets, other file
    systems, and what is in more than `deepest` folders. With ``dir_fd``, the root is a name in that
    open folder.
    """
    try:
        top = open_no_follow(root, os.O_RDONLY | os.O_DIRECTORY, dir_fd=dir_fd)
    except OSError:
        return
    device = os.fstat(top).st_dev

    def walk_entry(entry: Entry, depth: int) -> Iterator[Entry]:
        """Yield an entry and what is below it, and close it."""
        try:
            if not stat.S_ISDIR(entry.about.st_mode):
                yield entry
            elif depth > deepest:
                skipped(entry.path, f"more than {deepest} folders are inside each other")
            else:
                yield entry
                for each in _names(entry, skipped):
                    if below := _open(entry, each, device, skipped):
                        yield from walk_entry(below, depth + 1)
        finally:
            if entry.handle >= 0:
                os.close(entry.handle)

    yield from walk_entry(Entry(name, os.fstat(top), top), 1)


def _names(folder: Entry, skipped: Callable[[str, str], None]) -> list[str]:
    try:
        return sorted(set(os.listdir(folder.handle)))  # noqa: PTH208
    except OSError as problem:
        skipped(folder.path, problem.strerror or str(problem))
        return []


def _open(
    folder: Entry, name: str, device: int, skipped: Callable[[str, str], None]
) -> Entry | None:
    path, why = f"{folder.path}/{name}", "it is neither a file nor a folder nor a link"
    try:
        about = os.stat(name, dir_fd=folder.handle, follow_symlinks=False)
        if len(os.fsencode(path)) > LONGEST:
            why = "its path is too long"
        elif stat.S_ISLNK(about.st_mode):
            return Entry(path, about, target=os.readlink(name, dir_fd=folder.handle))
        elif _is_kept(about):
            handle = open_no_follow(name, dir_fd=folder.handle)
            about = os.fstat(handle)  # what was opened counts, not what was there a moment before
            if about.st_dev != device:
                why = "it is on another file system"
            elif _is_kept(about):
                return Entry(path, about, handle)
            os.close(handle)
    except FileNotFoundError:  # gone since the folder was listed
        return None
    except OSError as problem:  # a folder that became a link, or one that even root cannot open
        why = problem.strerror or str(problem)
    skipped(path, why)
    return None


def _is_kept(about: os.stat_result) -> bool:
    return stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)
