"""What is in a zip that a student handed in instead of files; nothing about it is believed."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import PurePosixPath
from typing import Final

#: Bytes of everything in it, and files: more than any lab has.
_LARGEST: Final = 50_000_000
_MOST: Final = 200
#: Bytes that the list of so many files may take.
_LONGEST_LIST: Final = 400 * _MOST
#: The end of an archive, and where it says how long the list of files is.
_END: Final = b"PK\x05\x06"
_END_SIZE: Final = 22
_ENCRYPTED: Final = 0x1


def unzipped(content: bytes, room: int = _LARGEST) -> dict[str, bytes]:
    """Return the plain files of an archive; empty if it is damaged or unreasonably large.

    Names that lead out of a folder, links, and what is encrypted are left out. What does not fit
    into ``room``, in bytes of all of its files, is left out.
    """
    if not _is_reasonable(content):
        return {}
    files: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for entry in archive.infolist()[:_MOST]:
                if not _is_plain(entry) or entry.file_size > room:
                    continue
                with archive.open(entry) as file:
                    files[entry.filename] = file.read(room)
                room -= len(files[entry.filename])
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, struct.error):
        return {}
    except (RuntimeError, NotImplementedError, OverflowError):
        return {}
    return files


def _is_reasonable(content: bytes) -> bool:
    """Look how long the list of files is, before anything reads it: it may hold millions."""
    at = content.rfind(_END, -(_END_SIZE + (1 << 16)))
    if at < 0 or len(content) < at + _END_SIZE:
        return False
    count, size = struct.unpack_from("<HL", content, at + 10)
    return count <= _MOST and size <= _LONGEST_LIST


def _is_plain(entry: zipfile.ZipInfo) -> bool:
    path = PurePosixPath(entry.filename)
    mode = entry.external_attr >> 16
    return (
        not entry.is_dir()
        and not path.is_absolute()
        and ".." not in path.parts
        and entry.filename == entry.orig_filename
        and "\\" not in entry.filename
        and mode & 0o170000 in (0, 0o100000)
        and not entry.flag_bits & _ENCRYPTED
        and entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    )
