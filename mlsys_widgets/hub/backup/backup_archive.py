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

from mlsys_widgets.files import open_no_follow, sync, sync_folder
from mlsys_widgets.hub.backup.safe_walk import Entry

FORMAT: Final = 1
#: The first member, and the last.
BEGIN: Final = "backup.json"
END: Final = "end.json"

_BLOCK: Final = 512
_PIECE: Final = 1 << 20
#: Bytes of the end of a journal in which its last line is looked for.
_TAIL: Final = 4 << 20


class ArchiveWriter:
    """Writes members one after the other."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._tar = tarfile.open(  # noqa: SIM115 (closed by finish)
            fileobj=stream,
            mode="w:gz",
            format=tarfile.PAX_FORMAT,
            compresslevel=1,  # a quick one: a backup runs beside students
        )
        self._first_names: dict[tuple[int, int], str] = {}
        self.members = 0
        #: Files that became shorter meanwhile; what they lost is zeros in the archive.
        self.changed: list[str] = []

    def add(self, entry: Entry) -> None:
        info, about = _described(entry.path, entry.about), entry.about
        if stat.S_ISLNK(about.st_mode):
            info.type, info.linkname = tarfile.SYMTYPE, entry.target
        elif stat.S_ISDIR(about.st_mode):
            info.type = tarfile.DIRTYPE
        elif first := self._first_names.get((about.st_dev, about.st_ino)):
            info.type, info.linkname = tarfile.LNKTYPE, first
        else:
            if about.st_nlink > 1:
                self._first_names[about.st_dev, about.st_ino] = entry.path
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
        self.add_bytes(path, json.dumps(content, indent=1).encode() + b"\n")

    def finish(self) -> None:
        """Write the last member, and everything that is still in memory."""
        self.add_json(END, {"members": self.members})
        self._tar.close()

    def _put(self, info: tarfile.TarInfo, content: Any = None) -> None:
        self._tar.addfile(info, content)
        self.members += 1

    def _add_file(self, info: tarfile.TarInfo, entry: Entry) -> None:
        size = entry.about.st_size
        if info.name.endswith(".jsonl"):
            size = _whole_lines(entry.handle, size)
        pieces, head = [(0, size)], b""
        if size > _PIECE and entry.about.st_blocks * 512 < size:
            pieces = _pieces(entry.handle, size)
        if pieces != [(0, size)]:
            head = _sparse_map(pieces)
            info.pax_headers = {
                "GNU.sparse.major": "1", "GNU.sparse.minor": "0",
                "GNU.sparse.name": info.name, "GNU.sparse.realsize": str(size),
            }  # fmt: skip
        content = _Content(entry.handle, pieces, head)
        info.size = len(head) + sum(length for _, length in pieces)
        self._put(info, content)
        if content.short:
            self.changed.append(info.name)


class _Content:
    """Reads a header, and then pieces of an open file; what was cut off meanwhile is zeros."""

    def __init__(self, handle: int, pieces: list[tuple[int, int]], head: bytes) -> None:
        self._handle, self._left, self._head = handle, list(reversed(pieces)), head
        self.short = False

    def read(self, most: int) -> bytes:
        # As much as was asked for: tarfile takes a short piece for the end of the file.
        found, self._head = self._head[:most], self._head[most:]
        while len(found) < most and self._left:
            offset, length = self._left.pop()
            wanted = min(length, most - len(found))
            piece = os.pread(self._handle, wanted, offset)
            if wanted and not piece:
                self.short, piece = True, bytes(wanted)
            if len(piece) < length:
                self._left.append((offset + len(piece), length - len(piece)))
            found += piece
        return found


def _described(path: str, about: os.stat_result) -> tarfile.TarInfo:
    info = tarfile.TarInfo(path)
    info.uid, info.gid, info.mtime = about.st_uid, about.st_gid, about.st_mtime
    info.mode = stat.S_IMODE(about.st_mode)
    if not stat.S_ISDIR(about.st_mode):
        info.mode &= ~(stat.S_ISUID | stat.S_ISGID)  # nobody gets rights from an archive
    return info


def _whole_lines(handle: int, size: int) -> int:
    """Return the size of a journal up to its last whole line.

    What comes after the last newline stays if it is JSON: somebody's own data may end so. A line
    of ours that breaks off was never reported as saved.
    """
    begin = max(0, size - _TAIL)
    tail = os.pread(handle, size - begin, begin)
    end = tail.rfind(b"\n") + 1
    if not end and begin:
        return size
    with suppress(ValueError, RecursionError):
        json.loads(tail[end:])
        return size
    return begin + end


def _pieces(handle: int, size: int) -> list[tuple[int, int]]:
    """Return offset and length of each piece of a file that is no hole."""
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


def _sparse_map(pieces: list[tuple[int, int]]) -> bytes:
    """Return GNU tar's list of pieces, version 1.0, which tarfile reads but does not write."""
    numbers = [len(pieces), *(number for piece in pieces for number in piece)]
    text = "".join(f"{number}\n" for number in numbers).encode()
    return text + bytes(-len(text) % _BLOCK)


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """Write a file that appears when it is complete, for its owner alone."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(aside, "xb", opener=open_no_follow) as stream:
            yield stream
            stream.flush()
            sync(stream.fileno())
        os.link(aside, path)  # refuses a file that is there by now, unlike a rename
    finally:
        aside.unlink(missing_ok=True)
    sync_folder(path.parent)


@contextmanager
def open_archive(path: Path) -> Iterator[tarfile.TarFile]:
    """Read an archive, one member after the other; `ValueError` if it is broken."""
    try:
        with gzip.open(path) as unzipped, tarfile.open(fileobj=unzipped, mode="r:") as tar:
            yield tar
            while unzipped.read(_PIECE):  # to the end, where its checksum is
                pass
    except (EOFError, gzip.BadGzipFile, zlib.error, tarfile.TarError) as problem:
        raise ValueError(f"{path} is not a whole backup ({problem}); use another one") from None
