"""Whether a ledger is still the one whose head was noted before: at submitting, and at grading.

A ledger alone cannot show that its end was cut off or that all of it was written from scratch. So
the receipt that is handed in beside it says where it ended then, and the log of graded submissions
says where it ended each time it was graded. What does not match is flagged for a person to decide;
nobody loses points for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from mlsys_widgets.files import LEDGER
from mlsys_widgets.grading.flags import Flag, FlagKind
from mlsys_widgets.ledger import Head, Ledger, LedgerError
from mlsys_widgets.ledger.receipt import RECEIPT, read_receipt


def check_heads(
    folder: Path, lab: str, student: str, known: Iterable[Head] = ()
) -> tuple[Head | None, list[Flag]]:
    """Compare the ledger of a submission with its receipt and with what was graded before.

    Parameters
    ----------
    folder
        The submission.
    lab, student
        Of what, and whose it must be.
    known
        Where this student's ledger of this lab ended at earlier gradings.

    Returns
    -------
    head
        Where the ledger ends now, to be noted; `None` if it is not this student's, or unreadable.
    flags
        What does not match.
    """
    try:
        ledger = Ledger.open(folder / LEDGER, lab=lab, student=student)
        if ledger.state().student not in (None, student):
            return None, []  # whoever reads the ledger for points flags that
        head = ledger.head
        flags = [
            *_changed(ledger, head, known),
            *_unlike_receipt(head, folder / RECEIPT),
        ]
    except LedgerError:
        return None, []
    return head, flags


def _changed(ledger: Ledger, head: Head | None, known: Iterable[Head]) -> Iterator[Flag]:
    # A student who begins a lab again keeps the old ledger beside the new one: that is honest.
    earlier = [Ledger.open(path).events() for path in ledger.earlier]
    heads = {
        each
        for each in known
        if not any(len(e) > each.seq and e[each.seq].hash == each.hash for e in earlier)
    }
    if heads and head is None:
        yield Flag(FlagKind.CHANGED_LEDGER, detail="It is gone, or nothing is left in it.")
    elif heads:
        before = ledger.verify().problems
        for problem in ledger.verify(heads=heads).problems:
            if problem not in before:
                yield Flag(FlagKind.CHANGED_LEDGER, detail=problem.sentence)


def _unlike_receipt(head: Head | None, path: Path) -> Iterator[Flag]:
    if not path.is_file():  # handed in without our submit: nothing to hold it against
        return
    try:
        noted = read_receipt(path.read_bytes())
    except ValueError as problem:
        yield Flag(FlagKind.BAD_RECEIPT, detail=f"{problem}.")
        return
    if noted != head:
        then, now = ("no events" if h is None else f"{h.seq + 1} events" for h in (noted, head))
        detail = f"It had {then} when it was submitted and has {now} now."
        if noted and head and noted.seq == head.seq:
            detail = f"Event {head.seq} is not the one that was submitted."
        yield Flag(FlagKind.BAD_RECEIPT, detail=detail)
