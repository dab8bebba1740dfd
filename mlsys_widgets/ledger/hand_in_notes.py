"""Notes of where ledgers ended at the hand-in: the hub writes them where no student can.

The hub writes a line for every hand-in that it sees in the exchange, and the grader reads it. The
file lies beside the course: the course belongs to its instructor, and the notes belong to root.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

from mlsys_widgets.files import open_regular
from mlsys_widgets.ledger.events import HASH, LARGEST_SEQ, timestamp
from mlsys_widgets.ledger.verification import Head

#: The folder, beside that of the course, and the file in it.
NOTES_FOLDER: Final = "hand_ins"
NOTES: Final = "notes.jsonl"


@dataclass(frozen=True)
class HandInNote:
    """One hand-in, as the hub saw it."""

    student: str  # whose: the user of the machine to whom the folder in the exchange belongs
    lab: str  # which lab, and the folder's name
    folder: str
    head: Head | None  # where its ledger ended; `None` if there was none that could be read
    noted: datetime  # when, on the hub's own clock
    says: str  # what ``timestamp.txt`` said
    #: Whether the hub saw it arrive. Otherwise it was there when the hub began to look.
    watched: bool

    def to_line(self) -> bytes:
        """Write the note as a line of its file."""
        fields = {
            "student": self.student,
            "lab": self.lab,
            "folder": self.folder,
            "head": self.head,
            "noted": timestamp(self.noted),
            "says": self.says,
            "watched": self.watched,
        }
        return json.dumps(fields).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> Self | None:
        """Read a line; `None` if it breaks off, as after a crash, or is none of ours."""
        try:
            fields: Any = json.loads(line)
            noted = datetime.fromisoformat(fields["noted"]).astimezone(UTC)
            texts = [fields[name] for name in ("student", "lab", "folder", "says")]
            head = fields["head"] if fields["head"] is None else Head(*fields["head"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        fits = head is None or (
            type(head.seq) is int and 0 <= head.seq <= LARGEST_SEQ and _is_hash(head.hash)
        )
        if not fits or not all(isinstance(each, str) for each in texts):
            return None
        student, lab, folder, says = texts
        return cls(student, lab, folder, head, noted, says, fields.get("watched") is True)


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and HASH.fullmatch(value) is not None


def notes_beside(course: Path) -> Path:
    """Return where the notes about a course are, whether there are any or not."""
    return course.parent / NOTES_FOLDER / NOTES


def read_notes(path: Path) -> Iterator[HandInNote]:
    """Yield the notes in a file, in order, unless somebody else could write to it.

    The file must belong to root, or to whoever reads it, and to no one else.
    """
    try:
        file = open_regular(path)
    except OSError:
        return
    with file:
        about = os.fstat(file.fileno())
        open_to_others = about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if open_to_others or about.st_uid not in _trusted():
            return
        for line in file:
            if (note := HandInNote.from_line(line)) is not None:
                yield note


def _trusted() -> set[int]:
    return {0, os.geteuid()} if hasattr(os, "geteuid") else {0}
