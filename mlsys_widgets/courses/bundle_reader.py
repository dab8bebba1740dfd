"""Reads a bundle, and trusts nothing in it before it is checked.

Only plain files below the folders of a course come out, each with the digest that the manifest
names, and never more than a course can need. What comes out is code that builds and grades: take
bundles only from people you would take code from.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import tarfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from packaging.version import InvalidVersion, Version

from mlsys_widgets import __version__
from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.bundle import FOLDERS, MANIFEST, Manifest
from mlsys_widgets.files import ASKS, CHECKS, LAB_TEXT, NBGRADER_CONFIG, OWN_FOLDER, lay_out

#: The most that a course can need: bytes of all files together, and files.
LARGEST: Final = 256_000_000
MOST_FILES: Final = 10_000
_PART: Final = re.compile(r"(?!\.\.?$)[^/\\:\x00-\x1f\x7f]{1,200}")


@dataclass(frozen=True)
class Bundle:
    """A bundle that passed every check."""

    manifest: Manifest
    files: dict[str, bytes]

    def extract(self, folder: Path) -> None:
        """Write its files below a folder."""
        lay_out(folder, self.files)


def open_bundle(path: Path) -> Bundle:
    """Read all of a bundle, and check all of it; `ValueError` says what is wrong with it."""
    if not path.is_file():
        raise ValueError(
            f"there is no bundle {path}; in the folder of a course, mlsys build --bundle makes one"
        )
    try:
        members = _members(path)
        if MANIFEST not in members:
            raise ValueError(f"it has no {MANIFEST}")
        manifest = Manifest.read(members.pop(MANIFEST))
        _compare(manifest, members)
    except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error):
        raise ValueError(
            f"{path} is not a bundle, or only part of one; get it again, or make it again with"
            " mlsys build --bundle"
        ) from None
    except ValueError as problem:
        raise ValueError(f"{path} cannot be used: {problem}") from None
    return Bundle(manifest, members)


def _members(path: Path) -> dict[str, bytes]:
    with gzip.open(path) as packed:
        content = packed.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"unpacked it is larger than {LARGEST / 1e6:.0f} MB")
    found: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
        for member in archive:
            if not member.isreg() or member.issparse():
                raise ValueError(f"{member.name!r} in it is not a plain file")
            if not _fits(member.name):
                raise ValueError(f"{member.name!r} in it is not a path in a course")
            if member.name in found:
                raise ValueError(f"{member.name!r} is in it twice")
            if len(found) >= MOST_FILES:
                raise ValueError(f"it has more than {MOST_FILES:,} files")
            held = archive.extractfile(member)
            found[member.name] = held.read() if held else b""
    return found


def _fits(name: str) -> bool:
    """Whether a name is the manifest, the configuration, or a path below a course's folder."""
    if name in (MANIFEST, NBGRADER_CONFIG):
        return True
    parts = name.split("/")
    return (
        len(parts) > 1
        and parts[0] in FOLDERS
        and all(_PART.fullmatch(part) for part in parts)
        and str(PurePosixPath(name)) == name
    )


def _compare(manifest: Manifest, members: dict[str, bytes]) -> None:
    for name in sorted({*manifest.files, *members}):
        if name not in members:
            raise ValueError(f"{name} is missing from it; get it again")
        if hashlib.sha256(members[name]).hexdigest() != manifest.files.get(name):
            raise ValueError(f"{name} in it is not what its manifest says; get it again")
    for lab in manifest.labs:
        for needed in (
            *(f"assignments/{lab}/{name}" for name in (LAB_TEXT, ASKS, CHECKS)),
            f"source/{lab}/{lab}.ipynb",
            f"release/{lab}/{lab}.ipynb",
        ):
            if needed not in members:
                raise ValueError(f"the lab {lab} has no {needed} in it")


def manifest_of(course: Course) -> Manifest | None:
    """Read the manifest of the bundle that a course was made from; `None` if there was none."""
    try:
        return Manifest.read((course.root / OWN_FOLDER / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return None


def labs_that_differ(course: Course, bundle: Path) -> list[str]:
    """Return labs of a bundle that are new, or differ from what the course was made from."""
    made_from, offered = manifest_of(course), open_bundle(bundle).manifest
    before = made_from.files if made_from else {}
    other = {path for path, digest in offered.files.items() if before.get(path) != digest}
    return [lab for lab in offered.labs if any(f"/{lab}/" in path for path in other)]


def is_newer(version: str) -> bool:
    """Whether a version of the package is newer than the installed one."""
    try:
        return Version(version) > Version(__version__)
    except InvalidVersion:
        return False
