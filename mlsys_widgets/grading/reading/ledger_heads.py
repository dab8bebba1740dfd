"""Whether a ledger is still the one whose head was noted before: at submitting, and at grading.

A ledger alone cannot show that its end was cut off or that all of it was written from scratch. So
the hub notes where it ended when it was handed in, and the log of graded submissions says where it
ended each time it was graded: neither can be changed by a student. The receipt beside a ledger says
it, too, and shows what happened to the file by accident. What does not match is flagged for a
person to decide; nobody loses points for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from mlsys_widgets.files import LEDGER, TIMESTAMP
from mlsys_widgets.grading.judging.flags import Flag, FlagKind
from mlsys_widgets.grading.reading.hand_in_time import read_time
from mlsys_widgets.ledger import Head, Ledger, LedgerError
from mlsys_widgets.ledger.hand_in_notes import HandInNote
from mlsys_widgets.ledger.receipt import LONGEST_RECEIPT, RECEIPT, read_receipt
from mlsys_widgets.ledger.verification import CLOCK_TOLERANCE
from mlsys_widgets.wording.plurals import counted

#: Earlier ledgers of a lab that was begun again, as many as are read.
_MOST_EARLIER: Final = 20
_LONGEST_TIME: Final = 100


def check_heads(
    folder: Path,
    lab: str,
    student: str,
    known: Iterable[Head] = (),
    *,
    noted: Sequence[HandInNote] = (),
    zone: str = "",
    ledger: Ledger | None = None,
) -> tuple[Head | None, list[Flag]]:
    """Compare the ledger of a submission with its receipt and with what was noted before.

    ``known`` is where this student's ledger ended at earlier gradings, and ``noted`` what the hub
    saw of hand-ins. Returns where it ends now, to be noted; `None` if it is not this student's, or
    unreadable.
    """
    try:
        ledger = ledger or Ledger.open(folder / LEDGER, lab=lab, student=student)
        if ledger.state().student not in (None, student):
            return None, []  # whoever reads the ledger for points flags that
        head = ledger.head
        seen = {note.head for note in noted if note.head is not None}
        changed = list(_changed(ledger, head, {*known, *seen}))
        flags = [
            *changed,
            *_unlike_note(head, folder / TIMESTAMP, noted, zone, flagged=bool(changed)),
            *_unlike_receipt(head, folder / RECEIPT),
        ]
    except LedgerError:
        return None, []
    return head, flags


def _changed(ledger: Ledger, head: Head | None, known: Iterable[Head]) -> Iterator[Flag]:
    # A student who begins a lab again keeps the old ledger beside the new one: that is honest.
    earlier = {
        Head(event.seq, event.hash)
        for path in ledger.earlier[-_MOST_EARLIER:]
        for event in Ledger.open(path).events()
    }
    heads = set(known) - earlier
    if heads and head is None:
        yield Flag(FlagKind.CHANGED_LEDGER, detail="It is gone, or nothing is left in it.")
    elif heads:
        for problem in ledger.verify(heads=heads).unlike_noted:
            yield Flag(FlagKind.CHANGED_LEDGER, detail=problem.sentence)


def _unlike_note(
    head: Head | None, path: Path, noted: Sequence[HandInNote], zone: str, *, flagged: bool
) -> Iterator[Flag]:
    """Hold a submission against the note about it, which carries the same timestamp."""
    if not noted:  # not handed in on our hub
        return
    says = _start_of(path, _LONGEST_TIME).decode("utf-8", "replace").strip()
    moment = read_time(says, zone)
    about = next((note for note in reversed(noted) if note.says == says), None)
    if about is None:
        # Handed in some other way since then; before that, the hub would have seen it.
        if moment is None or moment <= noted[-1].noted.replace(tzinfo=None):
            detail = f"timestamp.txt says {says[:40]!r}, and the hub has seen no hand-in of then."
            yield Flag(FlagKind.UNCERTAIN_TIME, detail=detail)
        return
    seen = about.noted.replace(tzinfo=None)
    if about.watched and moment is not None and abs(seen - moment) > CLOCK_TOLERANCE:
        detail = f"timestamp.txt says {says[:40]!r}, and the hub saw it {seen:%Y-%m-%d %H:%M} UTC."
        yield Flag(FlagKind.UNCERTAIN_TIME, detail=detail)
    if about.head != head and not flagged:
        then, now = _counted(about.head), _counted(head)
        detail = f"The hub saw it with {then} when it was handed in, and it has {now} now."
        yield Flag(FlagKind.CHANGED_LEDGER, detail=detail)


def _unlike_receipt(head: Head | None, path: Path) -> Iterator[Flag]:
    if not path.is_file():  # handed in without our submit: nothing to hold it against
        return
    try:
        noted = read_receipt(_start_of(path, LONGEST_RECEIPT + 1))
    except ValueError as problem:
        yield Flag(FlagKind.BAD_RECEIPT, detail=f"{problem}.")
        return
    if noted != head:
        then, now = _counted(noted), _counted(head)
        detail = f"It had {then} when it was submitted and has {now} now."
        if noted and head and noted.seq == head.seq:
            detail = f"Event {head.seq} is not the one that was submitted."
        yield Flag(FlagKind.BAD_RECEIPT, detail=detail)


def _counted(head: Head | None) -> str:
    return "no events" if head is None else counted(head.seq + 1, "event")


def _start_of(path: Path, most: int) -> bytes:
    """Return the first bytes of a file of a submission; nothing if there is none."""
    try:
        with path.open("rb") as file:
            return file.read(most)
    except OSError:
        return b""
