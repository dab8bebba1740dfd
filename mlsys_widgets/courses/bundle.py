"""A bundle: the labs of a course, with solutions and checks, in one archive.

It holds ``assignments/``, ``source/``, ``release/``, ``nbgrader_config.py`` and a manifest with the
digest of every file. The same course gives the same bytes, and students' work is never in it.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from mlsys_widgets import __version__
from mlsys_widgets.authoring import Course, labs_of
from mlsys_widgets.courses.course_secret import without_secret
from mlsys_widgets.courses.settings_editor import SettingsEditor
from mlsys_widgets.files import COURSE_SETTINGS, NBGRADER_CONFIG, write_whole

#: The format in which bundles are written, and the only one that is read.
FORMAT: Final = 1
MANIFEST: Final = "bundle.json"
FOLDERS: Final = ("assignments", "source", "release")
#: What people leave behind where they work, and hidden files and folders.
_LEFT_BEHIND: Final = re.compile(r"\..*|__pycache__|.*\.pyc|ledger.*\.jsonl.*|.*\.(db|sqlite)|.*~")


@dataclass(frozen=True)
class Manifest:
    """What a bundle says about itself."""

    format: int
    package: str  #: The version of the package that made it.
    course: str  #: The course's id; empty if it has none.
    labs: tuple[str, ...]
    files: Mapping[str, str]  #: The SHA-256 of every file, by its path.

    def as_bytes(self) -> bytes:
        """Return the manifest as it is stored."""
        return (json.dumps(asdict(self), indent=1, sort_keys=True) + "\n").encode()

    @classmethod
    def read(cls, content: bytes) -> Manifest:
        """Read a manifest, and refuse anything else."""
        try:
            manifest: Any = json.loads(content)
        except (ValueError, RecursionError):
            raise ValueError(f"its {MANIFEST} is not JSON") from None
        known = manifest.get("format") if isinstance(manifest, dict) else None
        if not isinstance(known, int):
            raise ValueError(f"its {MANIFEST} does not say which format it has")
        if known != FORMAT:
            raise ValueError(
                f"it has format {known}, and mlsys {__version__} reads format {FORMAT}; install the"
                f" package that made it: mlsys-widgets {manifest.get('package', '')}".rstrip()
            )
        with suppress(msgspec.ValidationError):
            found = msgspec.convert(manifest, cls)
            if found.labs:
                return found
        raise ValueError(f"its {MANIFEST} lacks something that format {FORMAT} has")


def default_name(course: Course) -> str:
    """Return what the bundle of a course is called."""
    return f"{course.course_id or 'course'}-{__version__}.tar.gz"


def pack(course: Course, target: Path, *, people: bool = True) -> Path:
    """Pack the labs of a course, as they are built, into one archive.

    With ``people``, its settings name who is in the course, as they do here: sections, extensions
    with their reasons, and staff. A bundle for another class has none of it. `ValueError` if a lab
    is not built, or something would leave the course that must stay in it.

    Examples
    --------
    >>> from mlsys_widgets.authoring import new_lab
    >>> _ = new_lab(folder, "lab_02_caches")
    >>> course = Course.at(folder)
    >>> for step in ("source", "release"):  # in place of what mlsys build writes
    ...     course.folder(step, "lab_02_caches").mkdir(parents=True)
    ...     (course.folder(step, "lab_02_caches") / "lab_02_caches.ipynb").touch()
    >>> one = pack(course, folder / "one.tar.gz")
    >>> other = pack(course, folder / "other.tar.gz")
    >>> one.read_bytes() == other.read_bytes()  # the same course gives the same bytes
    True
    >>> with tarfile.open(one) as archive:
    ...     print(*archive.getnames()[:3])
    bundle.json assignments/course.toml assignments/lab_02_caches/asks.py
    """
    root, labs = course.root, labs_of(course)
    if not labs:
        raise ValueError(
            f"there is no lab in {root / 'assignments'}; start one with: mlsys new-lab NAME"
        )
    for lab in labs:
        for step in ("source", "release"):
            if not (course.folder(step, lab) / f"{lab}.ipynb").is_file():
                raise ValueError(f"{step}/{lab} is not built; run: mlsys build {lab}")
    if _password_in_settings(course):
        raise ValueError(
            f"{root / NBGRADER_CONFIG} holds the password of the gradebook, which would travel with"
            " the bundle; read it from the environment there: os.environ['GRADEBOOK_URL']"
        )
    files = {path: (root / path).read_bytes() for path in sorted(_packed(root, labs))}
    if not people and (settings := f"assignments/{COURSE_SETTINGS}") in files:
        files[settings] = _without_people(root)
    digests = {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}
    manifest = Manifest(FORMAT, __version__, course.course_id, tuple(labs), digests)
    target.parent.mkdir(parents=True, exist_ok=True)
    # It holds solutions and keys, so nobody else on this machine may read it.
    return write_whole(target, _archive({MANIFEST: manifest.as_bytes(), **files}), mode=0o600)


def _without_people(root: Path) -> bytes:
    """Return the settings of a course without anybody in them, and without its secret.

    Comments and dates stay.
    """
    edit = SettingsEditor(root)
    for name in edit.everybody():
        edit.remove(name)
    edit.check()
    return without_secret(edit.text).encode()


def _password_in_settings(course: Course) -> bool:
    """Whether ``nbgrader_config.py`` itself contains the gradebook's password."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import SQLAlchemyError

    path = course.root / NBGRADER_CONFIG
    try:
        password = make_url(course.db_url).password
    except SQLAlchemyError:
        return False
    return bool(password) and path.is_file() and str(password) in path.read_text("utf-8")


def _packed(root: Path, labs: list[str]) -> Iterator[str]:
    """Find the paths of what goes in: files of the course's labs, and nothing else."""
    for single in (NBGRADER_CONFIG, f"assignments/{COURSE_SETTINGS}"):
        if (root / single).is_file():
            yield single
    for folder in FOLDERS:
        for lab in labs:
            for path in _files_below(root / folder / lab):
                yield path.relative_to(root).as_posix()


def _files_below(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if _LEFT_BEHIND.fullmatch(path.name):
            continue
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise ValueError(f"{path} is neither a file nor a folder; a bundle holds only those")
        if path.is_dir():
            yield from _files_below(path)
        else:
            yield path


def _archive(files: Mapping[str, bytes]) -> bytes:
    """Make the archive, without a trace of this machine, this user or this hour."""
    held = io.BytesIO()
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=held, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o644
            archive.addfile(member, io.BytesIO(content))
    return held.getvalue()
