"""The file of a backup: a compressed tar that any ``tar`` can read.

Names may hold anything that a file system allows, files with holes are stored without the holes,
and files with several names once. The last member says that the archive is complete.
"""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import stat
import tarfile
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

from mlsys_widgets.files import sync, sync_folder
from mlsys_widgets.hub.backup.safe_walk import Entry

FORMAT: Final = 1
#: The first member, and the last.
BEGIN: Final = "backup.json"
END: Final = "end.json"

_BLOCK: Final = 512
_PIECE: Final = 1 << 20
#: Bytes of the end of a journal in which its last line is looked for.
_TAIL: Final = 4 << 20
# A quick one: a backup runs beside students.
_LEVEL: Final = 1


class ArchiveWriter:
    """Writes members one after the other.

    Parameters
    ----------
    stream
        Where to.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._zipped = gzip.GzipFile("", "wb", _LEVEL, stream, mtime=0)
        self._tar = tarfile.open(  # noqa: SIM115 (closed by finish)
            fileobj=self._zipped, mode="w", format=tarfile.PAX_FORMAT,
            encoding="utf-8", errors="surrogateescape",
        )  # fmt: skip
        self._first_names: dict[tuple[int, int], str] = {}
        self.members = 0
        self.changed: list[str] = []

    def add(self, entry: Entry) -> None:
        """Add what a walk found."""
        info = _described(entry.path, entry.about)
        mode = entry.about.st_mode
        if stat.S_ISLNK(mode):
            info.type, info.linkname = tarfile.SYMTYPE, entry.target
        elif stat.S_ISDIR(mode):
            info.type = tarfile.DIRTYPE
        elif first := self._first_names.get((entry.about.st_dev, entry.about.st_ino)):
            info.type, info.linkname = tarfile.LNKTYPE, first
        else:
            if entry.about.st_nlink > 1:
                key = (entry.about.st_dev, entry.about.st_ino)
                self._first_names[key] = entry.path
            self._add_file(info, entry)
            return
        self._put(info)

    def add_bytes(self, path: str, content: bytes, about: os.stat_result | None = None) -> None:
        """Add a file with a given content, with the owner and the mode of another."""
        info = _described(path, about) if about else tarfile.TarInfo(path)
        if about is None:
            info.mode, info.mtime = 0o600, time.time()
        info.size = len(content)
        self._put(info, io.BytesIO(content))

    def add_json(self, path: str, content: Any) -> None:
        """Add a small file as JSON."""
        self.add_bytes(path, json.dumps(content, indent=1).encode() + b"\n")

    def finish(self) -> None:
        """Write the last member, and everything that is still in memory."""
        self.add_json(END, {"members": self.members})
        self._tar.close()
        self._zipped.close()

    def _put(self, info: tarfile.TarInfo, content: IO[bytes] | None = None) -> None:
        self._tar.addfile(info, content)
        self.members += 1

    def _add_file(self, info: tarfile.TarInfo, entry: Entry) -> None:
        size = entry.about.st_size
        if info.name.endswith(".jsonl"):
            size = _whole_lines(entry.handle, size)
        segments = [(0, size)]
        if size > _PIECE and entry.about.st_blocks * 512 < size:
            segments = _segments(entry.handle, size)
        source = _Segments(entry.handle, segments)
        if segments == [(0, size)]:
            info.size = size
            self._put(info, source)  # type: ignore[arg-type]
        else:
            head = _sparse_map(segments)
            info.pax_headers = {
                "GNU.sparse.major": "1", "GNU.sparse.minor": "0",
                "GNU.sparse.name": info.name, "GNU.sparse.realsize": str(size),
            }  # fmt: skip
            info.size = len(head) + sum(length for _, length in segments)
            self._put(info, _Chained(io.BytesIO(head), source))  # type: ignore[arg-type]
        if source.short:
            self.changed.append(info.name)


class _Segments:
    """Reads pieces of an open file; what was cut off meanwhile is zeros."""

    def __init__(self, handle: int, segments: list[tuple[int, int]]) -> None:
        self._handle, self._left = handle, list(reversed(segments))
        self.short = False

    def read(self, most: int) -> bytes:
        # As much as was asked for: tarfile takes a short piece for the end of the file.
        pieces = []
        while most > 0 and self._left:
            offset, length = self._left.pop()
            piece = os.pread(self._handle, min(length, most), offset) if length else b""
            if length and not piece:
                self.short, piece = True, bytes(min(length, most))
            if len(piece) < length:
                self._left.append((offset + len(piece), length - len(piece)))
            pieces.append(piece)
            most -= len(piece)
        return b"".join(pieces)


class _Chained:
    """Reads one stream after the other."""

    def __init__(self, first: IO[bytes], then: _Segments) -> None:
        self._first, self._then = first, then

    def read(self, most: int) -> bytes:
        piece = self._first.read(most)
        return piece + (self._then.read(most - len(piece)) if len(piece) < most else b"")


def _described(path: str, about: os.stat_result) -> tarfile.TarInfo:
    info = tarfile.TarInfo(path)
    info.uid, info.gid, info.mtime = about.st_uid, about.st_gid, about.st_mtime
    info.mode = stat.S_IMODE(about.st_mode)
    if not stat.S_ISDIR(about.st_mode):
        info.mode &= ~(stat.S_ISUID | stat.S_ISGID)  # nobody gets rights from an archive
    return info


def _whole_lines(handle: int, size: int) -> int:
    """The size of a journal up to its last whole line.

    What comes after the last newline stays if it is JSON: somebody's own data may end so. A line
    of ours that breaks off was never reported as saved.
    """
    begin = max(0, size - _TAIL)
    tail = os.pread(handle, size - begin, begin)
    end = tail.rfind(b"\n") + 1
    if not end and begin:
        return size
    with suppress(ValueError):
        json.loads(tail[end:])
        return size
    return begin + end


def _segments(handle: int, size: int) -> list[tuple[int, int]]:
    """Where a file has data: offset and length of each piece."""
    found, at = [], 0
    while at < size:
        try:
            begin = os.lseek(handle, at, os.SEEK_DATA)
            at = min(os.lseek(handle, begin, os.SEEK_HOLE), size)
        except OSError as problem:
            if problem.errno != errno.ENXIO:  # no more data
                return [(0, size)]
            break
        if begin < at:
            found.append((begin, at - begin))
    # The end has to be in the list if the file ends with a hole.
    return found if found and sum(found[-1]) == size else [*found, (size, 0)]


def _sparse_map(segments: list[tuple[int, int]]) -> bytes:
    """GNU tar's list of pieces, version 1.0."""
    numbers = [len(segments), *(number for piece in segments for number in piece)]
    text = "".join(f"{number}\n" for number in numbers).encode()
    return text + bytes(-len(text) % _BLOCK)


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """Write a file that appears when it is complete, for its owner alone."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    try:
        with os.fdopen(os.open(aside, flags, 0o600), "wb") as stream:
            yield stream
            stream.flush()
            sync(stream.fileno())
        os.link(aside, path)  # refuses a file that is there by now, unlike a rename
    finally:
        aside.unlink(missing_ok=True)
    sync_folder(path.parent)


@contextmanager
def open_archive(path: Path) -> Iterator[tarfile.TarFile]:
    """Read an archive, one member after the other.

    Raises
    ------
    ValueError
        If it is broken, with what to do.
    """
    try:
        with (
            gzip.open(path, "rb") as zipped,
            tarfile.open(
                fileobj=zipped, mode="r:", encoding="utf-8", errors="surrogateescape"
            ) as tar,
        ):
            yield tar
            while zipped.read(_PIECE):  # to the end, where its checksum is
                pass
    except (EOFError, gzip.BadGzipFile, zlib.error, tarfile.TarError) as problem:
        raise ValueError(f"{path} is not a whole backup ({problem}); use another one") from None
