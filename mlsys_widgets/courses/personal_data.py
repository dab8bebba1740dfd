"""Where a folder names a person, and how that is taken out or copied, kind of file by kind of file.

Nothing here is a list of places: the whole folder is walked, so a file that another part of the
package begins to write tomorrow is found, too. What is found and cannot be edited is reported.

Students can change some of these folders meanwhile, and on a hub it is root who looks: so
everything is opened by descriptor, and no link is followed.
"""

from __future__ import annotations

import csv
import errno
import gzip
import io
import json
import os
import re
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from mlsys_widgets.files import open_folder, open_regular, write_whole

#: What takes the place of a name that is only mentioned.
NOBODY: Final = "(forgotten)"
#: An entry with one of these set to the name is about that person, and goes as a whole.
_ABOUT: Final = frozenset(
    {"student", "student_id", "students_id", "login", "user", "username", "name", "owner"}
)
_DROP: Final = object()
#: Bytes of a file, unpacked, and folders inside each other.
_LARGEST: Final = 500_000_000
_DEEPEST: Final = 100

How = Literal["remove", "edit", "cannot"]


@dataclass(frozen=True)
class KnownNames:
    """The names of a person."""

    logins: tuple[str, ...]
    #: What else names them: full name, email, number.
    words: tuple[str, ...] = ()
    #: Other names of files that are theirs.
    files: frozenset[str] = frozenset()

    @property
    def pattern(self) -> re.Pattern[bytes]:
        """Finds the names as whole words."""
        every = sorted({*self.logins, *self.words}, key=len, reverse=True)
        forms = {form for name in every for form in (name, json.dumps(name)[1:-1])}
        one = "|".join(re.escape(each) for each in sorted(forms, key=len, reverse=True))
        # JupyterHub has a word of its own for somebody's server.
        start = rb"(?:(?<![A-Za-z0-9_-])|(?<=jupyterhub-user-))"
        return re.compile(start + rb"(?:" + one.encode() + rb")(?![A-Za-z0-9_-])")

    @property
    def text_pattern(self) -> re.Pattern[str]:
        """The same for text."""
        return re.compile(self.pattern.pattern.decode())

    def owns(self, name: str) -> bool:
        """Whether a file or folder of this name is theirs."""
        stem = name.split(".", 1)[0] if "." in name[1:] else name
        stems = {stem, Path(name).stem}
        return name in self.files or any(
            login in {name, *stems}
            or name.startswith(f"{login}+")
            or any(each.endswith(f"-{login}") for each in stems)
            for login in self.logins
        )


@dataclass(frozen=True)
class Trace:
    """One place that names a person."""

    path: Path
    #: Whether it is removed, edited, or can only be reported.
    how: How
    #: Why it cannot be edited, or how it is.
    why: str = ""


@dataclass(frozen=True)
class Search:
    """A folder in which a person is looked for."""

    root: Path
    names: KnownNames
    #: Folders and files below it that are not walked, because somebody else takes care of them.
    apart: frozenset[Path] = frozenset()
    #: Folders below it whose files are never edited, and why.
    untouched: Mapping[Path, str] = field(default_factory=dict)
    #: Whether files may be written by others at the same time; names are then masked in place.
    live: bool = False

    def traces(self) -> list[Trace]:
        """Return every place that names the person, in order."""
        try:
            handle = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            return []
        try:
            return list(self._walk(self.root, handle, None, 0))
        finally:
            os.close(handle)

    def _walk(self, folder: Path, handle: int, closed: str | None, depth: int) -> Iterator[Trace]:
        with os.scandir(handle) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        for entry in entries:
            path = folder / entry.name
            if path in self.apart:
                continue
            why = self.untouched.get(path, closed)
            # A folder at the top is a part of the course or the hub, whatever somebody is called.
            top = folder == self.root and entry.is_dir()
            if not top and self.names.owns(entry.name):
                yield Trace(path, "remove") if why is None else Trace(path, "cannot", why)
            elif entry.is_symlink():
                continue
            elif entry.is_dir():
                yield from self._folder(path, handle, why, depth + 1)
            elif entry.is_file() and (trace := self._file(path, handle, why)):
                yield trace

    def _folder(self, path: Path, above: int, why: str | None, depth: int) -> Iterator[Trace]:
        if depth > _DEEPEST:
            yield Trace(path, "cannot", f"more than {_DEEPEST} folders are inside each other")
            return
        try:
            with open_folder(path.name, dir_fd=above) as handle:
                yield from self._walk(path, handle, why, depth)
        except FileNotFoundError:
            return
        except OSError as problem:
            yield Trace(path, "cannot", f"it cannot be read: {problem.strerror}")

    def _file(self, path: Path, above: int, why: str | None) -> Trace | None:
        try:
            content = _content_of(path, above)
        except FileNotFoundError:  # a hub that runs removes files, too
            return None
        except OSError as problem:
            return Trace(path, "cannot", f"it cannot be read: {problem.strerror or problem}")
        if not self.names.pattern.search(content):
            return None
        if why is not None:
            return Trace(path, "cannot", why)
        kind = editor_of(path)
        if kind is None:
            return Trace(path, "cannot", "nobody knows how to edit such a file")
        return Trace(path, "edit", kind.words)

    def remove(self, trace: Trace) -> None:
        """Take the person out of one place."""
        path = trace.path
        if trace.how == "remove":
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        elif trace.how == "edit":
            if self.live and path.suffix == ".log":
                mask(path, self.names)
                return
            kind = editor_of(path)
            assert kind is not None
            left, _ = kind.split(_content_of(path), self.names)
            if left is None:
                path.unlink()
            else:
                _replace(path, gzip.compress(left) if path.suffix == ".gz" else left)

    def pieces(self, trace: Trace) -> dict[str, bytes]:
        """Return what one place holds about the person: names below the root, and contents."""
        path = trace.path
        name = path.relative_to(self.root).as_posix()
        if trace.how == "remove":
            if path.is_dir() and not path.is_symlink():
                return {
                    each.relative_to(self.root).as_posix(): each.read_bytes()
                    for each in sorted(path.rglob("*"))
                    if each.is_file() and not each.is_symlink()
                }
            return {} if path.is_symlink() else {name: path.read_bytes()}
        kind = editor_of(path)
        if trace.how == "edit" and kind is not None:
            _, part = kind.split(_content_of(path), self.names)
            return {name: part} if part else {}
        return {}


def mask(path: Path, names: KnownNames) -> None:
    """Overwrite names with stars in a file that somebody appends to; it keeps its length."""
    with path.open("r+b") as file:
        content = file.read()
        for found in names.pattern.finditer(content):
            file.seek(found.start())
            file.write(b"*" * (found.end() - found.start()))
        file.flush()
        os.fsync(file.fileno())


# Kinds of files, and how each is edited.


@dataclass(frozen=True)
class Editor:
    """How one kind of file is edited."""

    words: str
    #: Returns the content without the person, `None` if nothing is left of it, and what in the
    #: content is about the person.
    split: Callable[[bytes, KnownNames], tuple[bytes | None, bytes]]


def editor_of(path: Path) -> Editor | None:
    """Return how a file is edited; `None` if nobody knows."""
    name = path.name.removesuffix(".gz")
    suffix = Path(name).suffix.lower()
    if suffix not in EDITORS and re.search(r"\.log\.\d+$|\.log-\d+$", name):
        suffix = ".log"  # rotated
    return EDITORS.get(suffix)


def _split_text(content: bytes, names: KnownNames) -> tuple[bytes, bytes]:
    lines = content.splitlines(keepends=True)
    about = b"".join(line for line in lines if names.pattern.search(line))
    return names.pattern.sub(NOBODY.encode(), content), about


def _split_json(content: bytes, names: KnownNames) -> tuple[bytes | None, bytes]:
    try:
        data = json.loads(content)
    except ValueError:
        return _split_text(content, names)
    about: list[Any] = []
    left = _scrubbed(data, names, about)
    indent = 1 if b"\n" in content.strip() else None
    return (
        None if left is _DROP else _as_json(left, indent) + b"\n",
        _as_json(about, 1) if about else b"",
    )


def _split_json_lines(content: bytes, names: KnownNames) -> tuple[bytes, bytes]:
    kept, about = [], []
    for line in content.splitlines(keepends=True):
        if not names.pattern.search(line):
            kept.append(line)
            continue
        try:
            left = _scrubbed(json.loads(line), names, [])
        except ValueError:
            kept.append(_split_text(line, names)[0])
            about.append(line)
            continue
        if left is _DROP:
            about.append(line)
        else:
            kept.append(_as_json(left) + b"\n")
    return b"".join(kept), b"".join(about)


def _split_csv(content: bytes, names: KnownNames) -> tuple[bytes, bytes]:
    text = content.decode("utf-8-sig", "surrogateescape")
    delimiter = max(",;\t", key=text.split("\n", 1)[0].count)
    kept: list[list[str]] = []
    about: list[list[str]] = []
    for number, row in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)):
        named = any(names.text_pattern.search(cell) for cell in row)
        (about if named and number else kept).append(row)
    rest = _as_csv(kept, delimiter)
    return rest, _as_csv([*kept[:1], *about], delimiter) if about else b""


def _as_json(data: Any, indent: int | None = None) -> bytes:
    return json.dumps(data, indent=indent, ensure_ascii=False).encode()


def _as_csv(rows: Sequence[Sequence[str]], delimiter: str) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return out.getvalue().encode("utf-8", "surrogateescape")


_TEXT: Final = Editor(f"the name becomes {NOBODY}", _split_text)
#: By suffix. A kind that is missing here is reported, never guessed.
EDITORS: Final[dict[str, Editor]] = {
    ".json": Editor("entries about them go", _split_json),
    ".jsonl": Editor("lines about them go", _split_json_lines),
    ".csv": Editor("rows about them go", _split_csv),
    ".html": _TEXT,
    ".md": _TEXT,
    ".txt": _TEXT,
    ".log": _TEXT,
    ".ics": _TEXT,
}


def _scrubbed(data: Any, names: KnownNames, about: list[Any]) -> Any:
    """Return data without the person, `_DROP` if it is about them; collect what is about them."""
    match data:
        case str():
            return names.text_pattern.sub(NOBODY, data)
        case list():
            kept = []
            for each in data:
                if _is_name(each, names):
                    about.append(each)
                elif (left := _scrubbed(each, names, about)) is not _DROP:
                    kept.append(left)
            return kept
        case dict():
            if any(key in _ABOUT and _is_name(value, names) for key, value in data.items()):
                about.append(data)
                return _DROP
            rest = {}
            for key, value in data.items():
                if any(f"{key}+".startswith(f"{login}+") for login in names.logins):
                    about.append({key: value})
                elif (left := _scrubbed(value, names, about)) is not _DROP:
                    rest[names.text_pattern.sub(NOBODY, key)] = left
            return rest
    return data


def _is_name(value: Any, names: KnownNames) -> bool:
    return isinstance(value, str) and value in names.logins


def _content_of(path: Path, above: int | None = None) -> bytes:
    """Return what is in a file, unpacked; `OSError` if that is too much, or it is no file."""
    name = path if above is None else path.name
    with open_regular(name, dir_fd=above) as file:
        packed = path.suffix == ".gz" and os.pread(file.fileno(), 2, 0) == b"\x1f\x8b"
        stream = gzip.GzipFile(fileobj=file) if packed else file
        most = 0 if os.fstat(file.fileno()).st_size > _LARGEST else _LARGEST
        try:
            content: bytes = stream.read(most + 1)
        except (EOFError, zlib.error) as problem:
            raise OSError(errno.EINVAL, str(problem)) from None
    if len(content) > most:
        raise OSError(errno.EFBIG, "it is too large")
    return content


def _replace(path: Path, content: bytes) -> None:
    """Write a file that keeps its permissions and group."""
    about = path.stat()
    try:
        write_whole(path, content, mode=about.st_mode & 0o7777)
        if hasattr(os, "chown") and path.stat().st_gid != about.st_gid:
            os.chown(path, about.st_uid if os.geteuid() == 0 else -1, about.st_gid)
    except PermissionError:  # somebody else's file in a folder with the sticky bit
        with path.open("r+b") as file:
            file.write(content)
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
