"""Temporary folders that carry the number of the process they belong to.

A process that is killed removes nothing. So whoever starts next, or ends after it, removes the
folders of processes that are gone.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from pathlib import Path
from typing import Final

_NAME: Final = re.compile(r"mlsys-(?:root|submission|grade)-(\d+)-\w+")


def own_folder(kind: str) -> Path:
    """Make a temporary folder of this process.

    ``kind`` is ``root``, ``submission`` or ``grade``.
    """
    return Path(tempfile.mkdtemp(prefix=f"mlsys-{kind}-{os.getpid()}-"))


def sweep() -> None:
    """Remove the folders of this user whose processes are gone."""
    try:
        found = list(Path(tempfile.gettempdir()).iterdir())
    except OSError:
        return
    for path in found:
        match = _NAME.fullmatch(path.name)
        if match and _is_mine(path) and not _runs(int(match[1])):
            shutil.rmtree(path, ignore_errors=True)


def _is_mine(path: Path) -> bool:
    """Whether it is a folder of this user, and no link to one."""
    try:
        about = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid()


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
