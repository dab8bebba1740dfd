"""Errors of a ledger, each with a sentence that says what to do.

Every `NotSaved` means what it says: the file holds nothing of the event that should have been
written, so a widget stays locked and offers to try again.
"""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Final

from mlsys_widgets.files import FULL_DISK
from mlsys_widgets.ledger.state import CommittedPrediction


class LedgerError(Exception):
    """Base of everything a ledger refuses or fails to do.

    Its text is a sentence for a person: what happened, and what to do about it.

    Examples
    --------
    >>> from mlsys_widgets.ledger import Ledger
    >>> try:
    ...     Ledger.open("ledger.jsonl", lab="lab 11")
    ... except LedgerError as problem:
    ...     print(problem)
    lab is 'lab 11'; it must be a name of letters, digits, dots, dashes and underlines
    """


class ValueRefused(LedgerError, ValueError):
    """An argument that a ledger cannot keep; the sentence names it and what is allowed."""


class AlreadyCommitted(LedgerError):
    """A prediction is committed once; ``prediction`` is the one that stands.

    It may have been committed in another kernel.
    """

    def __init__(self, sentence: str, prediction: CommittedPrediction) -> None:
        super().__init__(sentence)
        self.prediction = prediction


class NotYours(LedgerError):
    """The file belongs to another student or another lab, so nothing is added to it.

    Reading it is fine; a grader does.
    """


class NewerSchema(LedgerError):
    """The file was written by a later version of this package."""


class Unreadable(LedgerError):
    """The file exists and cannot be read: a folder, a huge file, one of somebody else's."""


class ExchangeError(LedgerError):
    """An export, or a set of ledgers to export, that does not pass the checks."""


class NotSaved(LedgerError):
    """Nothing was saved. Do what the sentence says, and try again.

    Examples
    --------
    >>> from mlsys_widgets.ledger import Ledger
    >>> path = folder / "lab_11_roofline" / "ledger.jsonl"
    >>> ledger = Ledger.open(path, lab="lab_11_roofline", student="ann")
    >>> try:
    ...     ledger.record_answer("ridge", 295)
    ... except NotSaved:
    ...     path.parent.mkdir()  # the folder was missing, as the sentence said
    ...     ledger.record_answer("ridge", 295).value
    295
    """


class DiskFull(NotSaved):
    """No room: a full disk, a used-up quota, a limit on the size of files."""


class ReadOnly(NotSaved):
    """The file or its folder may not be written."""


class Vanished(NotSaved):
    """The file, or the folder it was in, is gone.

    No new ledger is started in its place: that would look as if the work before had never been.
    """


class Replaced(NotSaved):
    """Another file is in the ledger's place, and lacks events that were saved.

    It is raised once; the next try continues from what is there.
    """


class Busy(NotSaved):
    """Another process holds the file and does not release it."""


_FORBIDDEN: Final = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_GONE: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ESTALE})


def not_saved(error: OSError, path: Path) -> NotSaved:
    """Say in a sentence why the system did not write, and what to do about it."""
    reason = error.strerror or str(error)
    if error.errno in FULL_DISK:
        return DiskFull(
            f"Nothing was saved: there is no room left for {path.name}."
            " Delete files you do not need (or ask for more space) and try again."
        )
    if error.errno in _FORBIDDEN:
        return ReadOnly(
            f"Nothing was saved: {path} may not be written ({reason})."
            " Copy the lab's folder to a place of your own and open the notebook there."
        )
    if error.errno in _GONE:
        return Vanished(
            f"Nothing was saved: {path.parent} is gone."
            " Put the folder back, or open the notebook where it is now, and try again."
        )
    return NotSaved(f"Nothing was saved: writing {path.name} failed ({reason}). Try again.")
