"""Taking another version of a lab over, with everything a student did, in one step or not at all.

The new folder is made beside the old one: the lab's own files are those of the new version, the
notebook has the student's words in it, and everything else, above all the ledger, is the same file
under a second name. Then the two folders are exchanged in one step of the file system, so that
whatever kills this process leaves the old lab or the new one. The old folder is kept, and the way
back is the same.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from mlsys_widgets.course.lab_versions import STAMP, files_beside, stamp_in
from mlsys_widgets.files import held, sync, sync_folder, write_whole
from mlsys_widgets.server.carry_over import CannotTakeOver, carry_over, read_book

#: Beside the labs: folders of versions that were replaced.
BACKUPS: Final = ".mlsys_versions"
#: How many of them are kept for each lab.
_MOST_KEPT: Final = 5
_MOST_FILES: Final = 20_000
_DEEPEST: Final = 20
_LARGEST: Final = 64 << 20
#: A saved state of the notebook would bring the old one back; the rest is made again.
_LEFT_OUT: Final = frozenset({".ipynb_checkpoints", "__pycache__"})
_AT_FDCWD: Final = -100
_RENAME_EXCHANGE: Final = 2
_CANNOT_EXCHANGE: Final = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP})


@dataclass(frozen=True)
class Replacement:
    """A folder that was replaced, and what replaced it."""

    number: int
    #: The versions; empty where a copy said nothing.
    before: str
    after: str
    names: tuple[str, ...]
    notebook: str
    time: str
    #: What the new folder is to the file system, whatever it is called.
    inode: int = 0

    @property
    def file(self) -> str:
        return f"{self.number}.json"


@dataclass(frozen=True)
class TakeoverResult:
    """The result of taking a version over."""

    #: The version that the folder holds now.
    version: str
    #: How many cells of the student's are in it.
    cells: int
    #: What did not carry over as it was, a sentence each.
    remarks: tuple[str, ...]
    backup: Path


def lab_files(folder: Path, lab: str) -> dict[str, bytes]:
    """Read the files of a released lab, its notebook first; else `CannotTakeOver`."""
    try:
        notebook = _small(folder / f"{lab}.ipynb")
        return {f"{lab}.ipynb": notebook, **files_beside(folder, lab)}
    except OSError as problem:
        raise CannotTakeOver(
            f"the new version cannot be read ({problem.strerror}); it may be released just now: try"
            " again in a minute"
        ) from None


def _small(path: Path) -> bytes:
    if path.stat().st_size > _LARGEST:
        raise OSError(errno.EFBIG, "it is too large")
    return path.read_bytes()


def take_over(notebook: Path, lab: str, new: Mapping[str, bytes]) -> TakeoverResult:
    """Replace the lab in the folder of a notebook by another version of it, or change nothing.

    `new` has its files by name, the notebook under the name of the lab. Raises `CannotTakeOver`.
    """
    folder = notebook.parent
    place = folder.parent / BACKUPS / folder.name
    try:
        # Only its owner: the old folders may hold more than others may read in the new one.
        place.parent.mkdir(mode=0o700, exist_ok=True)
        place.mkdir(mode=0o700, exist_ok=True)
        with held(place / "lock", "this lab is being replaced already; wait until that is done"):
            recover(folder)
            return _take_over(notebook, lab, new, place)
    except CannotTakeOver:
        raise
    except OSError as problem:
        raise CannotTakeOver(f"{_reason(problem)}; nothing was changed") from None


def _take_over(notebook: Path, lab: str, new: Mapping[str, bytes], place: Path) -> TakeoverResult:
    folder, name = notebook.parent, f"{lab}.ipynb"
    old = read_book(_small(notebook), notebook.name)
    carried = carry_over(old, read_book(new[name], name))
    files = {n: content for n, content in new.items() if n != name}
    text = json.dumps(carried.book, indent=1, sort_keys=True, ensure_ascii=False)
    files[notebook.name] = f"{text}\n".encode("utf-8", "surrogatepass")
    numbers = [int(each.stem) for each in place.iterdir() if each.stem.isdigit()]
    about = Replacement(
        max(numbers, default=0) + 1,
        before=stamp_in(notebook.read_bytes()) or "",
        after=str(carried.book.get("metadata", {}).get("mlsys", {}).get(STAMP, "")),
        names=tuple(files),
        notebook=notebook.name,
        time=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    made = place / str(about.number)
    _make(made, folder, files)
    about = replace(about, inode=made.stat().st_ino)
    write_whole(place / about.file, json.dumps(asdict(about)) + "\n")
    _exchange(folder, made)
    _finish(folder, place, about)
    _forget_old(place)
    return TakeoverResult(about.after, carried.cells, carried.remarks, made)


def _make(made: Path, folder: Path, files: Mapping[str, bytes]) -> None:
    """Make the new folder, all of it on the disk."""
    made.mkdir()
    for path, relative in _entries(folder):
        target = made / relative
        if path.is_dir() and not path.is_symlink():
            target.mkdir(exist_ok=True)
        elif relative not in files:
            _link(path, target)
    for name, content in files.items():
        target = made / name
        if target.exists() or any((folder / above).is_file() for above in Path(name).parents):
            raise CannotTakeOver(f"your folder has something else called {name}; rename yours")
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as stream:
            stream.write(content)
            stream.flush()
            sync(stream.fileno())
    shutil.copymode(folder, made)
    sync_folder(made)


def _entries(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield everything below a folder that is carried over, folders before what is in them."""
    waiting, count = [(folder, "", 0)], 0
    while waiting:
        above, before, depth = waiting.pop()
        for entry in sorted(os.scandir(above), key=lambda each: each.name):
            if entry.name in _LEFT_OUT:
                continue
            count += 1
            if count > _MOST_FILES or depth > _DEEPEST:
                raise CannotTakeOver(
                    f"there are more than {_MOST_FILES:,} files in {folder.name}, or too many"
                    " folders in each other; move what is not part of the lab elsewhere"
                )
            relative = f"{before}{entry.name}"
            yield Path(entry.path), relative
            if entry.is_dir(follow_symlinks=False):
                waiting.append((Path(entry.path), f"{relative}/", depth + 1))


def _link(path: Path, target: Path) -> None:
    """Give a file a second name: whoever writes to it writes to both."""
    try:
        os.link(path, target, follow_symlinks=False)
    except OSError as problem:
        raise CannotTakeOver(
            f"{path.name} cannot be carried over here ({problem.strerror}): the folder has to be on"
            " a disk that lets a file have two names; fetch the lab into a new folder"
        ) from None


# The step that counts.


def _exchange(folder: Path, made: Path) -> None:
    """Exchange two folders in one step, or in three, between which `recover` helps after a kill."""
    try:
        _exchange_at_once(folder, made)
    except OSError as problem:
        if problem.errno not in _CANNOT_EXCHANGE:
            raise
        aside = made.with_name(f"{made.name}.old")
        folder.rename(aside)
        made.rename(folder)
        aside.rename(made)
    sync_folder(folder.parent)
    sync_folder(made.parent)


def _exchange_at_once(one: Path, other: Path) -> None:
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    names = os.fsencode(one), os.fsencode(other)
    if rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(one))


def _finish(folder: Path, place: Path, about: Replacement) -> None:
    """Bring over what was written into the old folder while the new one was made."""
    old = place / str(about.number)
    for path, relative in _entries(old):
        target = folder / relative
        if relative in about.names or (path.is_dir() and not path.is_symlink()):
            continue
        with contextlib.suppress(OSError):
            if not target.parent.is_dir() or not _is_newer(path, target):
                continue
            aside = target.with_name(f".{target.name[:50]}.linked")
            aside.unlink(missing_ok=True)
            os.link(path, aside, follow_symlinks=False)
            aside.replace(target)
    (place / f"{about.number}.done").touch()
    sync_folder(place)


def _is_newer(path: Path, target: Path) -> bool:
    """Whether a file was made or replaced after its second name was given."""
    try:
        one, other = path.lstat(), target.lstat()
    except FileNotFoundError:
        return not target.exists()
    return not os.path.samestat(one, other) and one.st_mtime_ns > other.st_mtime_ns


def recover(folder: Path) -> None:
    """Finish, or forget, what a process that was killed left of a lab's replacement."""
    place = folder.parent / BACKUPS / folder.name
    if not place.is_dir():
        return
    for old in sorted(place.glob("*.old")):
        made = place / old.stem
        if not folder.exists():
            (made if made.exists() else old).rename(folder)
        if old.exists() and not made.exists():
            old.rename(made)
    known = {each.number: each for each in replaced(folder, finished=False)}
    for made in [each for each in place.iterdir() if each.name.isdigit() and each.is_dir()]:
        number = int(made.name)
        if (place / f"{number}.done").exists():
            continue
        about = known.get(number)
        if about is not None and _inode(folder) == about.inode:
            _finish(folder, place, about)
        elif about is None or _inode(made) == about.inode:
            # Never exchanged: what it holds of the student's has its first name in the lab.
            shutil.rmtree(made, ignore_errors=True)
            (place / f"{number}.json").unlink(missing_ok=True)


def _inode(folder: Path) -> int | None:
    try:
        return folder.stat().st_ino
    except OSError:
        return None


def recover_all(root: Path) -> None:
    """Recover all labs from what a killed server left; called when a server starts."""
    for place in (*root.glob(f"{BACKUPS}/*/"), *root.glob(f"*/{BACKUPS}/*/")):
        with contextlib.suppress(OSError):
            recover(place.parent.parent / place.name)


# The way back.


def replaced(folder: Path, *, finished: bool = True) -> list[Replacement]:
    """List what was replaced in a folder, the latest last."""
    place = folder.parent / BACKUPS / folder.name
    found = []
    for path in place.glob("*.json"):
        try:
            kept = json.loads(path.read_bytes())
            about = Replacement(**{**kept, "names": tuple(kept["names"])})
        except (OSError, ValueError, TypeError, LookupError):
            continue
        if not finished or (place / f"{about.number}.done").exists():
            found.append(about)
    return sorted(found, key=lambda each: each.number)


def way_back(notebook: Path) -> Replacement | None:
    """Return what the version in a folder has replaced; `None` if that is not kept."""
    folder = notebook.parent
    try:
        now = stamp_in(notebook.read_bytes()) or ""
    except OSError:
        return None
    for about in reversed(replaced(folder)):
        if about.after == now and about.notebook == notebook.name and about.before != now:
            return about
    return None


def kept_files(notebook: Path, lab: str, about: Replacement) -> dict[str, bytes]:
    """Read the lab's own files of a folder that was replaced; `CannotTakeOver` if they are gone."""
    old = notebook.parent.parent / BACKUPS / notebook.parent.name / str(about.number)
    try:
        found = {f"{lab}.ipynb": _small(old / about.notebook)}
        for name in about.names:
            if name != about.notebook and (old / name).is_file():
                found[name] = _small(old / name)
    except OSError as problem:
        raise CannotTakeOver(
            f"the version before is no longer there ({problem.strerror}); nothing was changed"
        ) from None
    return found


def _forget_old(place: Path) -> None:
    done = sorted(int(each.stem) for each in place.glob("*.done"))
    for number in done[:-_MOST_KEPT]:
        shutil.rmtree(place / str(number), ignore_errors=True)
        for suffix in ("json", "done"):
            (place / f"{number}.{suffix}").unlink(missing_ok=True)


def _reason(problem: OSError) -> str:
    if problem.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return (
            "the folder above the lab cannot be written by you, and the old version is kept there"
        )
    if problem.errno in (errno.EBUSY, errno.EXDEV):
        return "the folder of the lab is a disk of its own, which cannot be exchanged"
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return "there is no room on the disk for the new version"
    return f"the lab could not be replaced ({problem.strerror or problem})"
