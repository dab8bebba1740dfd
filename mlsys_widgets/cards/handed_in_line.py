"""The line of a recorded card that says whether what it holds was handed in.

The server hands in, not the kernel. So whoever draws a card reads the note beside the ledger, and
the panel has the kernel draw its cards again when that note changes (`look_everywhere` in
``announcements``).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from mlsys_widgets.files import signature_of
from mlsys_widgets.labs.student_steps import saved_progress
from mlsys_widgets.ledger import Ledger, State
from mlsys_widgets.ledger.handed_in import HANDED_IN, HandIn, read_hand_in

_Seen = tuple[int, int, int]
#: The note beside each ledger, as last read: all cards of a lab ask for it with every change.
_notes: Final[dict[Path, tuple[_Seen, HandIn | None]]] = {}


def hand_in_of(ledger: Ledger) -> HandIn | None:
    """Return when the lab of a ledger was last handed in; `None` if it never was."""
    folder = ledger.path.parent
    seen = signature_of(folder / HANDED_IN)
    if seen is None:
        return None
    before, note = _notes.get(folder, (None, None))
    if seen != before:
        note = read_hand_in(folder)
        _notes[folder] = seen, note
    return note


def covered_by(ledger: Ledger) -> tuple[int | None, bool]:
    """Return the number of the last event that was handed in, and whether that made a file.

    The number is `None` if nothing ever was handed in.
    """
    note = hand_in_of(ledger)
    return (None, False) if note is None else (note.covers(ledger.events()), note.file is not None)


def whole_lab_words(note: HandIn, newer: bool) -> str:
    """Say when a lab was handed in, and whether something was recorded since.

    Examples
    --------
    >>> whole_lab_words(HandIn("2026-11-17T14:02:00.000Z", None, course="mlsys"), newer=False)
    'Handed in 2026-11-17T14:02:00.000Z.'
    """
    # Whether a file was uploaded, nobody here knows.
    done = "Handed in" if note.file is None else "File to hand in made"
    since = " You have recorded something since then; hand in again." if newer else ""
    return f"{done} {note.time}.{since}"


def handed_in_words(ledger: Ledger, state: State, names: Iterable[str]) -> str:
    """Say whether what a ledger holds under some names was handed in; empty if nothing ever was.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from mlsys_widgets.ledger.handed_in import note_hand_in
    >>> led = Ledger.open(folder / "ledger.jsonl", lab="lab_07", student="student-01")
    >>> _ = led.record_answer("busy_pct", 33)
    >>> note_hand_in(folder, led.head, datetime(2026, 11, 17, 14, 2, tzinfo=UTC), course="mlsys")
    >>> handed_in_words(led, led.state(), ["busy_pct"])
    'Handed in 2026-11-17T14:02:00.000Z.'
    >>> _ = led.record_answer("busy_pct", 34)
    >>> handed_in_words(led, led.state(), ["busy_pct"])
    'Changed since you handed in 2026-11-17T14:02:00.000Z; hand in again.'
    """
    note = hand_in_of(ledger)
    if note is None:
        return ""
    saved, covered = saved_progress(state, ledger.lab or ""), note.covers(ledger.events())
    held = [saved[name].seq for name in names if name in saved]
    if not held:
        return ""
    if max(held) > covered:
        done = "you handed in" if note.file is None else "you made the file to hand in,"
        return f"Changed since {done} {note.time}; hand in again."
    done = "Handed in" if note.file is None else "In the file to hand in of"
    return f"{done} {note.time}."
