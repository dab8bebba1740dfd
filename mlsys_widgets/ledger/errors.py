"""What can go wrong with a ledger, each with a sentence that says what to do.

Every `NotSaved` means what it says: the file holds nothing of the event that should have been
written, so a widget stays locked and offers to try again.
"""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Final

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
    """An argument that a ledger cannot keep; the sentence names it and what is allowed.

    It is a `ValueError` as well.

    Examples
    --------
    >>> from mlsys_widgets.ledger import Ledger
    >>> ledger = Ledger.open("ledger.jsonl", lab="lab_11_roofline", student="ann")
    >>> ledger.commit_prediction("act1_bound", "memory", confidence=9)
    Traceback (most recent call last):
    ...
    mlsys_widgets.ledger.errors.ValueRefused: confidence is 9; it must be a whole number from 1 (a
    guess) to 5 (certain)
    """


class AlreadyCommitted(LedgerError):
    """A prediction is committed once; ``prediction`` is the one that stands.

    Parameters
    ----------
    sentence : str
        What to tell the student.
    prediction : CommittedPrediction
        The one that was committed before, perhaps in another kernel.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from mlsys_widgets.ledger import Ledger
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "ledger.jsonl"
    ...     ledger = Ledger.open(path, lab="lab_11_roofline", student="ann")
    ...     _ = ledger.commit_prediction("act1_bound", "memory")
    ...     ledger.commit_prediction("act1_bound", "compute")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    mlsys_widgets.ledger.errors.AlreadyCommitted: act1_bound was committed as 'memory' at ...; a
    prediction is committed once, so that one stands
    """

    def __init__(self, sentence: str, prediction: CommittedPrediction) -> None:
        super().__init__(sentence)
        self.prediction = prediction


class NotYours(LedgerError):
    """The file belongs to another student or another lab, so nothing is added to it.

    Reading it is fine; a grader does.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from mlsys_widgets.ledger import Ledger
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "ledger.jsonl"
    ...     _ = Ledger.open(path, lab="lab_11_roofline", student="ann").record_answer("ridge", 295)
    ...     Ledger.open(path, student="ben").record_answer("ridge", 300)
    Traceback (most recent call last):
    ...
    mlsys_widgets.ledger.errors.NotYours: Nothing was saved: ledger.jsonl is the ledger of the
    student 'ann', not of 'ben'. Move it away to start one of your own.
    """


class NewerSchema(LedgerError):
    """The file was written by a later version of this package.

    Examples
    --------
    A ledger from the future, whose first event announces schema 99:

    >>> from tempfile import TemporaryDirectory
    >>> from mlsys_widgets.ledger import Ledger
    >>> from mlsys_widgets.ledger.events import GENESIS, chained, to_line
    >>> opened = ("2031-02-03T09:30:00.000Z", "lab_11_roofline", "opened", "7f3a")
    >>> event = chained(GENESIS, 0, *opened, {"schema": 99, "student": "ann"})
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "ledger.jsonl"
    ...     _ = path.write_bytes(to_line(event))
    ...     Ledger.open(path)
    Traceback (most recent call last):
    ...
    mlsys_widgets.ledger.errors.NewerSchema: This ledger was written by a newer mlsys_widgets
    (schema 99; this one reads up to 1). Upgrade mlsys_widgets and open it again.
    """


class Unreadable(LedgerError):
    """The file exists and cannot be read: a folder, a huge file, one of somebody else's.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from mlsys_widgets.ledger import Ledger
    >>> with TemporaryDirectory() as folder:
    ...     Ledger.open(folder)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    mlsys_widgets.ledger.errors.Unreadable: ... is not a file. Give the ledger a name of its own.
    """


class ExchangeError(LedgerError):
    """An export, or a set of ledgers to export, that does not pass the checks.

    Examples
    --------
    >>> from mlsys_widgets.ledger import export_ledgers
    >>> export_ledgers([], "mine.json")
    Traceback (most recent call last):
    ...
    mlsys_widgets.ledger.errors.ExchangeError: There is no ledger to export; name at least one.
    """


class NotSaved(LedgerError):
    """Nothing was saved. Do what the sentence says, and try again.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from mlsys_widgets.ledger import Ledger
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "lab_11_roofline" / "ledger.jsonl"
    ...     ledger = Ledger.open(path, lab="lab_11_roofline", student="ann")
    ...     try:
    ...         ledger.record_answer("ridge", 295)
    ...     except NotSaved:
    ...         path.parent.mkdir()  # the folder was missing, as the sentence said
    ...         ledger.record_answer("ridge", 295).value
    295
    """


class DiskFull(NotSaved):
    """No room: a full disk, a used-up quota, a limit on the size of files.

    Examples
    --------
    Here the system is made to say that the disk is full:

    >>> from tempfile import TemporaryDirectory
    >>> from unittest.mock import patch
    >>> from mlsys_widgets.ledger import Ledger
    >>> full = OSError(errno.ENOSPC, "No space left on device")
    >>> with TemporaryDirectory() as folder, patch("os.write", side_effect=full):
    ...     path = Path(folder) / "ledger.jsonl"
    ...     Ledger.open(path, lab="lab_11_roofline", student="ann").record_answer("ridge", 295)
    Traceback (most recent call last):
    ...
    mlsys_widgets.ledger.errors.DiskFull: Nothing was saved: there is no room left for
    ledger.jsonl. Delete files you do not need (or ask for more space) and try again.
    """


class ReadOnly(NotSaved):
    """The file or its folder may not be written.

    Examples
    --------
    A folder that somebody else owns, such as the one in which an instructor released the lab:

    >>> from unittest.mock import patch
    >>> from mlsys_widgets.ledger import Ledger
    >>> ledger = Ledger.open("nowhere/ledger.jsonl", lab="lab_11_roofline", student="ann")
    >>> with patch("os.open", side_effect=OSError(errno.EACCES, "Permission denied")):
    ...     ledger.record_answer("ridge", 295)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    mlsys_widgets.ledger.errors.ReadOnly: Nothing was saved: .../nowhere/ledger.jsonl may not be
    written (Permission denied). Copy the lab's folder to a place of your own and open the notebook
    there.
    """


class Vanished(NotSaved):
    """The file, or the folder it was in, is gone.

    No new ledger is started in its place: that would look as if the work before had never been.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from mlsys_widgets.ledger import Ledger
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "ledger.jsonl"
    ...     ledger = Ledger.open(path, lab="lab_11_roofline", student="ann")
    ...     _ = ledger.record_answer("ridge", 295)
    ...     path.unlink()
    ...     ledger.record_answer("ridge", 300)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    mlsys_widgets.ledger.errors.Vanished: Nothing was saved: ledger.jsonl is gone from .... Put it
    back and try again, or restart the kernel to start a new one.
    """


class Replaced(NotSaved):
    """Another file is in the ledger's place, and lacks events that were saved.

    It is raised once; the next try continues from what is there.

    Examples
    --------
    A student copies yesterday's file over today's:

    >>> from tempfile import TemporaryDirectory
    >>> from mlsys_widgets.ledger import Ledger
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "ledger.jsonl"
    ...     ledger = Ledger.open(path, lab="lab_11_roofline", student="ann")
    ...     _ = ledger.record_answer("ridge", 295)
    ...     yesterday = path.read_bytes()
    ...     _ = ledger.record_answer("mfu", 57.8)
    ...     _ = path.write_bytes(yesterday)
    ...     ledger.record_answer("limit", "memory")
    Traceback (most recent call last):
    ...
    mlsys_widgets.ledger.errors.Replaced: Nothing was saved: ledger.jsonl was replaced, and the new
    file lacks events that were saved before. Try again to continue from what is there.
    """


class Busy(NotSaved):
    """Another process holds the file and does not release it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from mlsys_widgets import files
    >>> from mlsys_widgets.ledger import Ledger
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "ledger.jsonl"
    ...     ledger = Ledger.open(path, lab="lab_11_roofline", student="ann", patience=0.1)
    ...     with path.open("a") as other:  # stands in for a kernel that hangs while it writes
    ...         _ = files.acquire(other.fileno())
    ...         ledger.record_answer("ridge", 295)
    Traceback (most recent call last):
    ...
    mlsys_widgets.ledger.errors.Busy: Nothing was saved: another kernel has held ledger.jsonl for
    0.1 s. Shut down other kernels of this lab and try again.
    """


_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_FORBIDDEN: Final = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_GONE: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ESTALE})


def not_saved(error: OSError, path: Path) -> NotSaved:
    """Say in a sentence why the system did not write, and what to do about it.

    Examples
    --------
    >>> print(not_saved(OSError(errno.ENOSPC, "No space left on device"), Path("ledger.jsonl")))
    Nothing was saved: there is no room left for ledger.jsonl. Delete files you do not need (or ask
    for more space) and try again.
    """
    reason = error.strerror or str(error)
    if error.errno in _FULL:
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
