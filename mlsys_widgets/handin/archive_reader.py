"""Reading an archive that somebody handed in. It comes from outside, so nothing in it is believed.

Nothing is ever unpacked to a disk: what is read are the contents of a few files with names that
are known in advance. Everything else is refused, with a sentence for whoever grades.
"""

from __future__ import annotations

import io
import json
import stat
import struct
import zipfile
import zlib
from collections.abc import Collection
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, Final

from mlsys_widgets.files import LEDGER
from mlsys_widgets.ledger.carried_record import owner_of

#: Bytes, of the archive and of all that comes out of it.
LARGEST: Final = 100_000_000
#: Files; a hand-in has about five.
MOST_FILES: Final = 20
#: Notebooks shrink to a tenth; zeros shrink to a thousandth.
MOST_SHRUNK: Final = 200
#: Below this many bytes, how far something shrank does not matter.
_SMALL: Final = 1_000_000
#: Bytes that the list of so many files may take, with names as long as anybody gives.
_LONGEST_LIST: Final = 400 * MOST_FILES
#: The end of an archive: its signature, and where it says how long the list of files is.
_END: Final = b"PK\x05\x06"
_END_SIZE: Final = 22
_LONGEST_COMMENT: Final = 1 << 16
_LARGE_FORM: Final = b"PK\x06\x07"
_LARGE_FORM_SIZE: Final = 20
_ENCRYPTED: Final = 0x1


class ArchiveRefused(ValueError):
    """An archive that is not taken, and why."""


def read_archive(content: bytes, lab: str, allowed: Collection[str]) -> dict[str, bytes]:
    """Read the files of an archive that was handed in.

    Raises `ArchiveRefused` for anything else than files with `allowed` names.
    """
    if len(content) > LARGEST:
        raise ArchiveRefused(f"It is larger than {LARGEST:,} bytes.")
    _refuse_a_long_list(content)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            _refuse_odd(entries, allowed)
            room, files = LARGEST, {}
            for entry in entries:
                with archive.open(entry) as file:
                    files[entry.filename] = file.read(room + 1)
                room -= len(files[entry.filename])
                if room < 0:
                    raise ArchiveRefused(f"It unpacks to more than {LARGEST:,} bytes.")
    except ArchiveRefused:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, struct.error) as odd:
        raise ArchiveRefused(f"It is damaged: {_plain(odd)}.") from None
    except (RuntimeError, NotImplementedError, MemoryError, OverflowError) as odd:
        raise ArchiveRefused(f"It cannot be unpacked: {_plain(odd)}.") from None
    _refuse_another_lab(files, lab)
    return files


def _refuse_a_long_list(content: bytes) -> None:
    """Look how long the list of files is, before anything reads it: it may hold millions."""
    at = content.rfind(_END, -(_END_SIZE + _LONGEST_COMMENT))
    if at < 0 or len(content) < at + _END_SIZE or not zipfile.is_zipfile(io.BytesIO(content)):
        raise ArchiveRefused("It is not a zip file.")
    large = content[max(0, at - _LARGE_FORM_SIZE) : at].startswith(_LARGE_FORM)
    count, size = struct.unpack_from("<HL", content, at + 10)
    if large or count > MOST_FILES or size > _LONGEST_LIST:
        raise ArchiveRefused(f"It has too many files; a hand-in has at most {MOST_FILES}.")


def _refuse_odd(entries: list[zipfile.ZipInfo], allowed: Collection[str]) -> None:
    if len(entries) > MOST_FILES:
        raise ArchiveRefused(f"It has too many files; a hand-in has at most {MOST_FILES}.")
    seen: set[str] = set()
    for entry in entries:
        name, shown = entry.filename, ascii(entry.orig_filename[:80])
        _refuse_odd_name(name, entry.orig_filename, allowed)
        if name in seen:
            raise ArchiveRefused(f"{shown} is in it twice.")
        seen.add(name)
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise ArchiveRefused(f"{shown} is a link, a folder or a special file.")
        if entry.flag_bits & _ENCRYPTED:
            raise ArchiveRefused(f"{shown} is protected with a password.")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ArchiveRefused(f"{shown} is compressed in a way that a hand-in is not.")
        times = entry.file_size / max(1, entry.compress_size)
        if entry.file_size > _SMALL and times > MOST_SHRUNK:
            raise ArchiveRefused(
                f"{shown} unpacks to something {times:,.0f} times as large, as no honest file does."
            )
    if sum(entry.file_size for entry in entries) > LARGEST:
        raise ArchiveRefused(f"It unpacks to something larger than {LARGEST:,} bytes.")


def _refuse_odd_name(name: str, written: str, allowed: Collection[str]) -> None:
    shown = ascii(written[:80])
    pure = PurePosixPath(written.replace("\\", "/"))
    windows = PureWindowsPath(written)
    if pure.is_absolute() or ".." in pure.parts or windows.drive or windows.root:
        raise ArchiveRefused(f"{shown} leads out of the folder of a submission.")
    if "/" in written or "\\" in written:
        raise ArchiveRefused(f"{shown} is in a folder; the files of a hand-in lie side by side.")
    if name not in allowed or name != written:
        listed = ", ".join(sorted(allowed))
        raise ArchiveRefused(f"{shown} does not belong in it; what belongs is: {listed}.")


def _refuse_another_lab(files: dict[str, bytes], lab: str) -> None:
    notebook = f"{lab}.ipynb"
    if notebook not in files:
        if LEDGER not in files:
            raise ArchiveRefused(f"Neither {notebook} nor {LEDGER} is in it.")
        ledger = owner_of(files[LEDGER])  # one that says nothing is the grader's to judge
        if ledger is not None and ledger.lab != lab:
            raise ArchiveRefused(f"Its ledger belongs to {ledger.lab}, not to {lab}.")
        return
    try:
        owner: Any = json.loads(files[notebook])["metadata"]["mlsys"]["lab"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return  # the grader says what is wrong with a notebook
    if owner != lab:
        raise ArchiveRefused(f"Its notebook belongs to {str(owner)[:80]}, not to {lab}.")


def _plain(problem: BaseException) -> str:
    return ascii(str(problem) or type(problem).__name__)[1:-1][:120].rstrip(".")
