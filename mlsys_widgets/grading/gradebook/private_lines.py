"""Files of a course that only grow, a line of JSON at a time, and that no student may read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.files import StillHeld, acquire, open_no_follow, sync, sync_folder

#: What a group may do that the course is shared with: one that may write into its folder.
_SHARED: Final = 0o660
_GROUP_WRITES: Final = 0o020
#: Seconds that another process may take to add its lines.
_PATIENCE: Final = 10.0


def private_mode(path: Path) -> int:
    """Return the mode of a file that is its owner's, and of a group that teaches, too.

    The folder of the course is the one above the folder of the file.
    """
    try:
        of_course = path.parent.parent.stat().st_mode
    except OSError:
        of_course = 0
    return _SHARED if of_course & _GROUP_WRITES else 0o600


def append_lines(path: Path, lines: bytes) -> None:
    """Add whole lines; they are on the disk when this returns.

    What a process that was killed has left of a line is cut off: nobody was told that it is there.
    """
    path.parent.mkdir(exist_ok=True)
    new, mode = not path.exists(), private_mode(path)
    with open(path, "a+b", opener=lambda name, flags: open_no_follow(name, flags, mode)) as file:
        with suppress(StillHeld):  # a line that another process is writing is no torn one
            acquire(file.fileno(), patience=_PATIENCE)
        end = file.seek(0, os.SEEK_END)
        whole = _end_of_last_line(file, end)
        if whole < end:
            file.truncate(whole)
        file.write(lines)
        file.flush()
        sync(file.fileno())
    if new:
        sync_folder(path.parent)


def _end_of_last_line(file: Any, end: int) -> int:
    """Return where the last complete line ends."""
    place = end
    while place > 0:
        start = max(0, place - 65536)
        file.seek(start)
        found = file.read(place - start).rfind(b"\n")
        if found >= 0:
            return int(start + found + 1)
        place = start
    return 0


def read_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield every complete line with its number; the value is `None` where it is not JSON."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError):
            yield number, None
