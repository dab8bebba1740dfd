"""The versions of labs that a course keeps, with all that judges them.

``.mlsys/versions/LAB/VERSION`` in the folder of a course holds what students got (``release``), the
notebook as the gradebook knew it, with hidden tests (``source``), and questions and keys as they
were (``keys``). It is for instructors: students see nothing of it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from mlsys_widgets.course.lab_versions import VERSION
from mlsys_widgets.files import OWN_FOLDER, write_whole

_ABOUT: Final = "version.json"
#: Of whoever has the course's folder, and of nobody else.
PRIVATE: Final = 0o770
_PRIVATE_FILE: Final = 0o660


@dataclass(frozen=True)
class KeptVersion:
    """One version of a lab."""

    folder: Path
    version: str
    built: str
    released: tuple[str, ...] = ()  # when it was released, each time; empty for one that never was
    note: str = ""

    @property
    def keys(self) -> Path:
        """Questions, keys and the modules beside them."""
        return self.folder / "keys"

    @property
    def source(self) -> Path:
        """The notebook with hidden tests, and the instructor's files beside it."""
        return self.folder / "source"

    @property
    def release(self) -> Path:
        """What students got."""
        return self.folder / "release"

    @property
    def last(self) -> str:
        """When it was last released, or first kept."""
        return self.released[-1] if self.released else self.built

    def write(self) -> KeptVersion:
        """Write down what there is to say about it."""
        about = {name: value for name, value in asdict(self).items() if name != "folder"}
        text = json.dumps(about, indent=1) + "\n"
        write_whole(self.folder / _ABOUT, text, mode=private(_PRIVATE_FILE))
        return self


def private(mode: int = _PRIVATE_FILE) -> int:
    """Return the permissions of what is kept: its owner's and group's, as the umask allows."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mode & ~mask


def versions_folder(course: Path, lab: str) -> Path:
    """Return where a course keeps the versions of a lab."""
    return course / OWN_FOLDER / "versions" / lab


def kept_versions(course: Path, lab: str) -> list[KeptVersion]:
    """Return the versions of a lab that a course keeps, the latest last."""
    folder = versions_folder(course, lab)
    names = sorted(folder.iterdir()) if folder.is_dir() else []
    found = (_read(each) for each in names if VERSION.fullmatch(each.name))
    return sorted((each for each in found if each), key=lambda each: (each.last, each.version))


def _read(folder: Path) -> KeptVersion | None:
    try:
        about = json.loads((folder / _ABOUT).read_text("utf-8"))
        released = tuple(str(each) for each in about["released"])
        return KeptVersion(folder, folder.name, str(about["built"]), released, str(about["note"]))
    except (OSError, ValueError, LookupError, TypeError):  # one that was never finished
        return None


def counted(versions: Iterable[KeptVersion]) -> list[KeptVersion]:
    """Return the versions that submissions may have: those that were released.

    Where no release was ever noted, as in a course that hands out ``release/`` by other means than
    nbgrader's exchange, nobody can know which were, and all that were built count.
    """
    known = list(versions)
    released = [each for each in known if each.released]
    return released or known


def note_release(kept: KeptVersion, note: str | None = None) -> KeptVersion:
    """Write down that a version was released now, and what changed with it."""
    time = now()
    words = kept.note if note is None else note
    return replace(kept, released=(*kept.released, time), note=words).write()


def now() -> str:
    """Return the present, as it is written down; two versions are never told apart by less."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
