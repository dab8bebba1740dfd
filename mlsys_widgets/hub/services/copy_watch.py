"""Notes which version of each lab is in whose home: a job of the course service.

Whoever teaches cannot look into homes, and must know who still has a copy from before a lab was
fixed. For each lab in the exchange, one file in each home is looked at: the lab's notebook where
nbgrader fetches it to. The end of the file says which version it is, and that is noted. Nothing is
parsed, and nothing else leaves a home. What the exchange has while a copy is there is noted, too:
it says which versions its owner can have been handed, whatever the copy says.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from mlsys_widgets.course.copy_notes import (
    UNSTAMPED,
    handed_out_beside,
    read_copies,
    read_handed_out,
)
from mlsys_widgets.course.lab_versions import stamp_in
from mlsys_widgets.files import open_folder, open_regular, user_named
from mlsys_widgets.hub.services.watched_files import own_file, write_for_group

#: Bytes at the end of a notebook that are looked at.
_TAIL: Final = 4 << 20
_LAB: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")

_Seen = tuple[int, int, int]


class CopyWatch:
    """Looks into homes and notes which copies are there.

    Homes are named as their owners. Whoever may read the folder of the notes may read the file.
    """

    def __init__(
        self,
        homes: Path,
        outbound: Path,
        notes: Path,
        named: Callable[[int], str | None] = user_named,
    ) -> None:
        self._homes, self._outbound, self._notes, self._named = homes, outbound, notes, named
        self._seen: dict[tuple[str, str], tuple[_Seen, str]] = {}
        self._written = read_copies(notes)

    def look(self) -> dict[str, dict[str, str]]:
        """Look once, and write down what has changed; return the version of each, by lab."""
        labs = [name for name in _names(self._outbound) if _LAB.fullmatch(name)]
        found: dict[str, dict[str, str]] = {lab: {} for lab in labs}
        for student in _names(self._homes):
            with suppress(OSError), open_folder(self._homes / student) as home:
                uid = os.fstat(home).st_uid
                if self._named(uid) != student:
                    continue
                for lab in labs:
                    version = self._version(home, student, lab, uid)
                    if version is not None:
                        found[lab][student] = version
        if found != self._written:
            self._write(self._notes, found)
            self._written = found
        self._note_handed_out(found)
        return found

    def _note_handed_out(self, found: dict[str, dict[str, str]]) -> None:
        """Note what everybody who has a copy can have fetched."""
        # Read again each time: somebody who was forgotten stays forgotten.
        handed_out, more = read_handed_out(handed_out_beside(self._notes)), False
        for lab, who in found.items():
            version = self._fetched_now(lab)
            known = handed_out.setdefault(lab, {})
            for student in who if version else ():
                versions = known.setdefault(student, [])
                if version not in versions:
                    versions.append(version)
                    more = True
        if more:
            self._write(handed_out_beside(self._notes), handed_out)

    def _fetched_now(self, lab: str) -> str:
        """Return the version that the exchange has; empty if that does not say what it is."""
        with (
            suppress(OSError),
            open_folder(self._outbound / lab) as folder,
            open_regular(f"{lab}.ipynb", dir_fd=folder) as file,
        ):
            size = os.fstat(file.fileno()).st_size
            return stamp_in(os.pread(file.fileno(), _TAIL, max(0, size - _TAIL))) or UNSTAMPED
        return UNSTAMPED

    def _version(self, home: int, student: str, lab: str, uid: int) -> str | None:
        """Return what the copy of a lab in a home says it is; `None` if there is no copy."""
        with (
            suppress(OSError),
            open_folder(lab, dir_fd=home) as folder,
            own_file(folder, f"{lab}.ipynb", uid) as (handle, about),
        ):
            seen = (about.st_ino, about.st_size, about.st_mtime_ns)
            before = self._seen.get((student, lab))
            if before is None or before[0] != seen:
                tail = os.pread(handle, _TAIL, max(0, about.st_size - _TAIL))
                before = self._seen[student, lab] = (seen, stamp_in(tail) or UNSTAMPED)
            return before[1]
        return None

    def _write(self, path: Path, notes: Mapping[str, object]) -> None:
        write_for_group(path, json.dumps(notes, indent=1, sort_keys=True) + "\n")


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return []
