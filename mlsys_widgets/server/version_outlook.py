"""What is said about the versions of a lab, however the panel asks: over HTTP, or a kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlsys_widgets.files import LEDGER
from mlsys_widgets.ledger import Ledger, LedgerError
from mlsys_widgets.server.carry_over import carry_over, read_book, recorded_remarks


@dataclass(frozen=True)
class OfferedVersion:
    """A version that is out: what changed, and what would not carry over as it is."""

    version: str
    notes: Sequence[str]
    remarks: Sequence[str]


@dataclass(frozen=True)
class ReplacedVersion:
    """The version before, which one can go back to."""

    version: str | None
    time: str


@dataclass(frozen=True)
class VersionOutlook:
    """The version of a lab that somebody has, and those that could replace it."""

    lab: str
    mine: str | None
    offered: OfferedVersion | None
    back: ReplacedVersion | None


@dataclass(frozen=True)
class TakeoverReply:
    """The version that the folder holds now, with the student's cells in it."""

    version: str | None
    cells: int
    remarks: Sequence[str]
    backup: str


def notes_since(changes: list[tuple[str, str]], mine: str | None, new: str) -> list[str]:
    """List what changed after the version that somebody has, up to the new one.

    Examples
    --------
    >>> notes_since([("1", ""), ("2", "a unit"), ("3", "a typo")], "1", "3")
    ['a unit', 'a typo']
    >>> notes_since([("1", ""), ("2", "a unit"), ("3", "a typo")], None, "2")
    ['a unit']
    """
    names = [version for version, _ in changes]
    first = names.index(mine) + 1 if mine in names else 0
    last = names.index(new) + 1 if new in names else len(names)
    notes = [note for _, note in changes[first:last]] or [n for v, n in changes if v == new]
    return [note for note in notes if note.strip()]


def remarks_on(notebook: Path, lab: str, new: Mapping[str, Any]) -> list[str]:
    """List what would not carry over as it is; nothing is changed."""
    old = read_book(notebook.read_bytes(), notebook.name)
    recorded = recorded_remarks(old, new, saved_steps(notebook.parent, lab))
    return [*carry_over(old, new).remarks, *recorded]


def saved_steps(folder: Path, lab: str) -> dict[str, Any]:
    """Return how far along the lab is; nothing if its ledger cannot be read: the panel says so."""
    from mlsys_widgets.labs.student_steps import saved_progress

    if not (folder / LEDGER).exists():
        return {}
    try:
        return dict(saved_progress(Ledger.open(folder / LEDGER).state(), lab))
    except LedgerError:
        return {}
