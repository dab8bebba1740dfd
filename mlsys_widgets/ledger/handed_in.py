"""The note beside a ledger of when its lab was last handed in, and how much of the ledger that was.

Whatever hands in writes it, after it has worked: the panel, ``mlsys hand-in``, nbgrader on a hub.
Server and kernel read it to tell the student. It is a note for the student alone: graders go by
receipts and by what arrived.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.files import open_regular, write_whole
from mlsys_widgets.ledger.events import HASH, LARGEST_SEQ, Event, timestamp
from mlsys_widgets.ledger.verification import Head

#: The file, beside the ledger.
HANDED_IN: Final = "handed_in.json"
#: Bytes; a note has about 250.
_LONGEST: Final = 4_000
#: Characters of a course's or a file's name that are shown.
_LONGEST_NAME: Final = 200


@dataclass(frozen=True)
class HandIn:
    """The last time that a lab was handed in."""

    time: str  # when, as the ledger writes times
    #: Where the ledger ended that was handed in; `None` if nothing was recorded in it.
    head: Head | None
    course: str | None = None  # the course to which it was submitted; `None` where a file was made
    file: str | None = None  # the name of that file; `None` where the lab was submitted

    def covers(self, events: Sequence[Event]) -> int:
        """Return the number of the last event that was handed in; -1 if none of these was.

        A lab that was restarted since has another ledger, of which nothing was handed in.
        """
        head = self.head
        if head is None or head.seq >= len(events):
            return -1
        event = events[head.seq]
        return head.seq if (event.seq, event.hash) == head else -1


def note_hand_in(
    folder: Path,
    head: Head | None,
    moment: datetime,
    *,
    course: str | None = None,
    file: str | None = None,
) -> None:
    """Note that the lab in a folder was handed in; a folder that takes no note changes nothing."""
    noted = head and {"seq": head.seq, "hash": head.hash}
    said = {"time": timestamp(moment), "head": noted, "course": course, "file": file}
    with contextlib.suppress(OSError):  # what was handed in is handed in
        write_whole(folder / HANDED_IN, json.dumps(said) + "\n")


def read_hand_in(folder: Path) -> HandIn | None:
    """Return when the lab in a folder was last handed in; `None` if there is no such note."""
    try:
        with open_regular(folder / HANDED_IN) as file:
            content = file.read(_LONGEST + 1)
        said: Any = json.loads(content) if len(content) <= _LONGEST else None
        time = timestamp(datetime.fromisoformat(said["time"]).astimezone(UTC))
        head, course, name = said["head"], _name(said["course"]), _name(said["file"])
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    match head:
        case None:
            return HandIn(time, None, course, name)
        case {"seq": int() as seq, "hash": str() as digest} if (
            not isinstance(seq, bool) and 0 <= seq <= LARGEST_SEQ and HASH.fullmatch(digest)
        ):
            return HandIn(time, Head(seq, digest), course, name)
    return None


def _name(value: object) -> str | None:
    return value[:_LONGEST_NAME] if isinstance(value, str) else None
