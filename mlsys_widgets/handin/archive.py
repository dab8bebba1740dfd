"""One file that holds a student's work on a lab: ``LAB-STUDENT.zip``.

The same work at the same moment gives the same bytes. The files lie side by side in it, under the
names that nbgrader and ``mlsys grade`` know.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

from mlsys_widgets.files import LEDGER, TIMESTAMP, write_whole
from mlsys_widgets.handin.work import CannotHandIn, LabWork, archived_names
from mlsys_widgets.ledger import Ledger, LedgerError
from mlsys_widgets.ledger.carried_record import with_record
from mlsys_widgets.ledger.handed_in import note_hand_in
from mlsys_widgets.ledger.receipt import RECEIPT, read_receipt, receipt_text

#: The ending of the file.
ZIP: Final = ".zip"
#: What file names of all systems take as it is.
_SAFE: Final = " !#$&'()+,;=@[]^_`{}~-."
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_PERMISSIONS: Final = 0o100644


@dataclass(frozen=True)
class HandInResult:
    """The file that was made to hand in."""

    path: Path
    #: When, in UTC.
    time: datetime
    #: What is in it, and how many bytes each has.
    files: Mapping[str, int]


def archive_name(lab: str, student: str) -> str:
    """Name the file of a student."""
    return f"{lab}-{quote(student, safe=_SAFE)}{ZIP}"


def student_named(name: str, lab: str) -> str | None:
    """Tell whose file it is by its name, whatever a course's website put in front of it."""
    before, found, student = name.removesuffix(ZIP).rpartition(f"{lab}-")
    if not found or not name.endswith(ZIP) or not student or before[-1:].isalnum():
        return None
    return unquote(student)


def gather(work: LabWork, student: str, moment: datetime) -> dict[str, bytes]:
    """Read what is handed in: the notebook, the ledger with its receipt, what the lab made.

    The notebook carries the record as it is now, whenever it was saved. Raises `CannotHandIn` when
    something cannot be read.
    """
    files = {TIMESTAMP: f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f} UTC".encode()}
    try:
        if work.ledger.is_file():
            # Before the ledger is read: what a card saves in between is beyond the receipt.
            files |= _receipt(work.ledger, moment)
        for name in archived_names(work.lab, work.files) - {RECEIPT}:
            # A notebook that was renamed is handed in under the name that graders look for.
            path = work.notebook if name == f"{work.lab}.ipynb" else work.folder / name
            if path.is_file() and not path.is_symlink():
                files[name] = path.read_bytes()
    except OSError as problem:
        name = Path(problem.filename or work.notebook).name
        raise CannotHandIn(f"{name} cannot be read: {problem.strerror}") from None
    notebook = f"{work.lab}.ipynb"
    if notebook not in files:
        raise CannotHandIn(f"{work.notebook.name} is gone; save the notebook first")
    if LEDGER in files:
        files[notebook] = with_record(files[notebook], files[LEDGER], work.lab, student)
    return files


def _receipt(ledger: Path, moment: datetime) -> dict[str, bytes]:
    """Write the receipt of a ledger, unless it cannot be read; a person will look at that."""
    try:
        return {RECEIPT: receipt_text(Ledger.open(ledger).head, moment).encode()}
    except LedgerError:
        return {}


def pack(files: Mapping[str, bytes]) -> bytes:
    """Pack files into one; the same files give the same bytes."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system, entry.external_attr = 3, _PERMISSIONS << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name])
    return made.getvalue()


def hand_in(
    work: LabWork, student: str, *, into: Path | None = None, moment: datetime | None = None
) -> HandInResult:
    """Make the file of a student, in one step, and note it; one of the same name is replaced.

    It goes beside the notebook, unless `into` another folder. Raises `CannotHandIn` when something
    cannot be read, or the file cannot be written.
    """
    work.must_count()
    time = moment or datetime.now(UTC)
    files = gather(work, student, time)
    path = (into or work.folder) / archive_name(work.lab, student)
    try:
        write_whole(path, pack(files))
    except OSError as problem:
        raise CannotHandIn(
            f"{path.name} cannot be written in {path.parent}: {problem.strerror}"
        ) from None
    receipt = files.get(RECEIPT)
    head = None if receipt is None else read_receipt(receipt)
    note_hand_in(work.folder, head, time, file=path.name)
    return HandInResult(path, time, {name: len(content) for name, content in sorted(files.items())})
