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

#: Folders inside each other. Whoever needs more is trying to use up descriptors.
DEEPEST: Final = 100

FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Not blocking: opening a pipe that somebody put there would wait for a writer.
FILE_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class Entry:
    """Something found in a walk.

    Parameters
    ----------
    path
        Below the folder where the walk began, with its name first.
    about
        What the system says about it; for files and folders, about the very one that is open.
    handle
        The open file or folder, closed when the walk goes on; -1 for a link.
    target
        Where a link points to.
    """

    path: str
    about: os.stat_result
    handle: int = -1
    target: str = ""


def walk(
    root: Path, name: str, skipped: Callable[[str, str], None], *, deepest: int = DEEPEST
) -> Iterator[Entry]:
    """Yield a folder, and everything in it: files, folders and links.

    Parameters
    ----------
    root
        The folder. If it is a link, a file or missing, nothing is yielded.
    name
        What paths begin with.
    skipped
        Told the path of what is left out, and why: devices, pipes and sockets, other file systems,
        and folders that are too deep.
    deepest
        How many folders may be inside each other.
    """
    try:
        top = os.open(root, FOLDER_FLAGS)
    except OSError:
        return
    device = os.fstat(top).st_dev
    stack: list[tuple[int, str, list[str]]] = []
    try:
        yield Entry(name, os.fstat(top), top)
        stack.append((top, name, _listed(top, name, skipped)))
        while stack:
            folder, path, names = stack[-1]
            if not names:
                os.close(stack.pop()[0])
                continue
            found = _opened(folder, names.pop(), path, device, skipped)
            if found is None:
                continue
            if not stat.S_ISDIR(found.about.st_mode):
                try:
                    yield found
                finally:
                    if found.handle >= 0:
                        os.close(found.handle)
                continue
            stack.append((found.handle, found.path, []))  # it is closed whatever happens now
            if len(stack) > deepest:
                skipped(found.path, f"more than {deepest} folders are inside each other")
                continue
            yield found
            stack[-1][2].extend(_listed(found.handle, found.path, skipped))
    finally:
        for folder, _, _ in stack:
            os.close(folder)


def _listed(folder: int, path: str, skipped: Callable[[str, str], None]) -> list[str]:
    """Names in an open folder, each once and last one first; the end of the list is taken."""
    try:
        return sorted(set(os.listdir(folder)), reverse=True)
    except OSError as problem:
        skipped(path, problem.strerror or str(problem))
        return []


def _opened(
    folder: int, name: str, above: str, device: int, skipped: Callable[[str, str], None]
) -> Entry | None:
    path = f"{above}/{name}"
    try:
        about = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISLNK(about.st_mode):
            return Entry(path, about, target=os.readlink(name, dir_fd=folder))
        if not (stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)):
            skipped(path, "it is neither a file nor a folder nor a link")
            return None
        flags = FOLDER_FLAGS if stat.S_ISDIR(about.st_mode) else FILE_FLAGS
        handle = os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:  # gone since the folder was listed
        return None
    except OSError as problem:  # a folder that became a link, or one that even root cannot open
        skipped(path, problem.strerror or str(problem))
        return None
    # What was opened counts, not what was there a moment before.
    about = os.fstat(handle)
    if about.st_dev != device:
        skipped(path, "it is on another file system")
    elif stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode):
        return Entry(path, about, handle)
    else:
        skipped(path, "it is neither a file nor a folder nor a link")
    os.close(handle)
    return None
