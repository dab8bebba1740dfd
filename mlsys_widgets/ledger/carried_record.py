"""The record that a notebook carries: the lines of its ledger, as data in the notebook's metadata.

Whoever moves or hands in the notebook alone takes the answers along. The lines are those of the
file, unchanged, so everything that verifies a ledger verifies a record. In the notebook's JSON:
``metadata.mlsys.record = {"lines": ["{...}", "{...}"]}``. A ledger that is too large for a notebook
is left out, and ``{"left_out": "..."}`` says so.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from mlsys_widgets.files import LEDGER, open_regular
from mlsys_widgets.ledger.events import Malformed, from_line
from mlsys_widgets.ledger.journal import LARGEST_FILE, MOST_LINES
from mlsys_widgets.ledger.kinds import misfit
from mlsys_widgets.ledger.verification import is_whole

#: Where a notebook has it: ``metadata.mlsys.record``.
RECORD: Final = "record"
#: Bytes of the ledger of which a notebook carries the lines. A lab writes some tens of thousands.
LARGEST_RECORD: Final = 4 << 20
#: A notebook beyond this many bytes is not searched for a record.
_LARGEST_NOTEBOOK: Final = 64 << 20
_LINES, _LEFT_OUT = "lines", "left_out"


class BadRecord(ValueError):
    """A record that cannot be used; the message completes "the record in the notebook …"."""


class Owner(NamedTuple):
    """Whose ledger it says it is, and of which lab."""

    lab: str
    student: str


def owner_of(content: bytes) -> Owner | None:
    """Tell whose a ledger says it is, by its first event; `None` if it says nothing."""
    first = next((line for line in content.split(b"\n", 100)[:100] if line.strip()), b"")
    try:
        event = from_line(first)
    except Malformed:
        return None
    if event.kind != "opened" or misfit(event):
        return None
    return Owner(event.lab, event.value["student"])


def whole_lines(content: bytes) -> list[bytes]:
    """Return the finished lines of a ledger, without their ends.

    The last one may lack its end, as some editors leave it; what a crash cut off is left out.
    """
    *lines, tail = content.split(b"\n")
    return [*lines, tail] if tail.strip() and is_whole(tail) else lines


def continues(longer: Sequence[bytes], shorter: Sequence[bytes]) -> bool:
    """Whether the first lines of one ledger are all the lines of another."""
    ours, theirs = ([line.strip() for line in each if line.strip()] for each in (longer, shorter))
    return ours[: len(theirs)] == theirs


def record_of(content: bytes) -> dict[str, Any]:
    r"""Make the record of a ledger.

    `BadRecord` where it is not text.
    """
    lines = whole_lines(content)
    if len(content) > LARGEST_RECORD or len(lines) > MOST_LINES:
        why = (
            f"{LEDGER} has {len(content):,} bytes in {len(lines):,} lines, and a notebook carries"
            f" at most {LARGEST_RECORD:,} bytes in {MOST_LINES:,} lines. Hand in both files."
        )
        return {_LEFT_OUT: why}
    try:
        return {_LINES: [line.decode() for line in lines]}
    except UnicodeDecodeError:
        raise BadRecord("would not be text") from None


def carried(book: Any) -> bytes | None:
    r"""Return the ledger that a notebook carries, as its file would have it; `None` without one.

    What is no notebook carries nothing. `BadRecord` where something else is in its place.
    """
    about = _about(book)
    if about is None or RECORD not in about:
        return None
    record = about[RECORD]
    if isinstance(record, dict) and _LEFT_OUT in record and _LINES not in record:
        raise BadRecord(f"is empty, because {LEDGER} was too large for it")
    lines = record.get(_LINES) if isinstance(record, dict) else None
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise BadRecord("is not a list of lines")
    if len(lines) > MOST_LINES:
        raise BadRecord(f"has {len(lines):,} lines, and at most {MOST_LINES:,} are read")
    # Every character has a byte or more: most of what is too large is never encoded.
    size = sum(map(len, lines))
    if size > LARGEST_RECORD:
        raise BadRecord(f"has {size:,} characters, and at most {LARGEST_RECORD:,} are read")
    if any("\n" in line for line in lines):
        raise BadRecord("has a line with the end of a line in it")
    try:
        content = "".join(f"{line}\n" for line in lines).encode()
    except UnicodeEncodeError:
        raise BadRecord("has a line with half a character in it") from None
    if len(content) > LARGEST_RECORD + 1:
        raise BadRecord(f"has {len(content):,} bytes, and at most {LARGEST_RECORD:,} are read")
    return content


def put_record(book: Any, content: bytes, lab: str, student: str) -> bool:
    """Have a notebook carry a ledger, if both are this student's work on this lab.

    A record that continues the ledger stays as it is: the file is an older copy then, and what was
    done since is only in the notebook. Changes the notebook, and returns whether it did.
    """
    about = _about(book)
    if about is None or about.get("lab") != lab or owner_of(content) != (lab, student):
        return False
    try:
        record = record_of(content)
    except BadRecord:
        return False
    try:
        before = carried(book) or b""
    except BadRecord:
        before = b""
    if about.get(RECORD) == record or continues(whole_lines(before), whole_lines(content)):
        return False
    about[RECORD] = record
    return True


def take_out(book: Any) -> bool:
    """Take the record out of a notebook, which is changed; whether there was one."""
    about = _about(book)
    return about is not None and about.pop(RECORD, None) is not None


def with_record(notebook: bytes, ledger: bytes, lab: str, student: str) -> bytes:
    """Return the file of a notebook that carries a ledger, under the conditions of `put_record`."""
    try:
        book = json.loads(notebook)
    except (ValueError, RecursionError):
        return notebook
    if not put_record(book, ledger, lab, student):
        return notebook
    # In ASCII: half a character, which JSON can spell, could not be written otherwise.
    return json.dumps(book, indent=1).encode("ascii") + b"\n"


def read_ledger_file(path: Path) -> bytes | None:
    """Read the file of a ledger; `None` if there is none, or something else than such a file."""
    try:
        with open_regular(path) as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError:
        return None
    return content if len(content) <= LARGEST_FILE else None


def record_in(notebook: Path) -> bytes | None:
    """Return the ledger that the file of a notebook carries, as `carried` does.

    A file that cannot be read as a notebook carries nothing.
    """
    try:
        with open_regular(notebook) as file:
            content = file.read(_LARGEST_NOTEBOOK + 1)
        # Without this word there is none, and the notebook need not be parsed.
        if len(content) > _LARGEST_NOTEBOOK or f'"{RECORD}"'.encode() not in content:
            return None
        return carried(json.loads(content))
    except BadRecord:
        raise
    except (OSError, ValueError, RecursionError):
        return None


def _about(book: Any) -> dict[str, Any] | None:
    """Return what a notebook says about its lab."""
    metadata = book.get("metadata") if isinstance(book, dict) else None
    about = metadata.get("mlsys") if isinstance(metadata, dict) else None
    return about if isinstance(about, dict) else None
