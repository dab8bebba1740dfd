"""What tells which version of a lab a submission is a copy of, besides what it says of itself.

Cells and files that only some versions have are marks of these versions. A student can change them,
like the stamp; but whoever changes all of them has a copy of that version. Whether the hub can have
handed that one out is what the hub knows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from mlsys_widgets.course.copy_notes import copies_beside, handed_out_beside, read_handed_out
from mlsys_widgets.course.course import Course
from mlsys_widgets.course.lab_versions import files_beside


@dataclass(frozen=True)
class VersionEvidence:
    """What is known of the versions of a lab that count."""

    #: By version: digests of the cells and files that it has and not all others have.
    marks: Mapping[str, frozenset[str]] = field(default_factory=dict)
    #: By student: the versions that the hub can have handed out.
    handed_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, course: Course, lab: str, folders: Mapping[str, Path]) -> Self:
        """Read what a course knows; `folders` hold what students got, by version."""
        name = f"{lab}.ipynb"
        whole = {
            version: _marks({name: (folder / name).read_bytes(), **files_beside(folder, lab)}, name)
            for version, folder in folders.items()
            if (folder / name).is_file()
        }
        common = frozenset.intersection(*whole.values()) if whole else frozenset()
        notes = read_handed_out(handed_out_beside(copies_beside(course.home))).get(lab, {})
        for login, known in course.people.names.items():  # who was renamed had the same home
            before = [v for name in (known.numbers, *known.also) for v in notes.get(name, ())]
            if login in notes:
                notes[login] = [*before, *notes[login]]
        return cls(
            {version: marks - common for version, marks in whole.items()},
            {student: tuple(versions) for student, versions in notes.items()},
        )

    def count(self, files: Mapping[str, bytes], notebook: str) -> dict[str, int]:
        """Return how many marks of each version there are among the files of a submission."""
        found = _marks(files, notebook)
        return {version: len(marks & found) for version, marks in self.marks.items()}

    def unsupported(self, student: str, found: Mapping[str, int]) -> frozenset[str]:
        """Return the versions of which a submission has no mark and the hub knows no copy.

        A version that has no marks cannot be told by them, and is not one of these.
        """
        known = self.handed_out.get(student, ())
        return frozenset(v for v, marks in self.marks.items() if marks and not found.get(v)) - {
            *known
        }

    def never_handed_out(self, student: str) -> frozenset[str]:
        """Return the versions that others were handed, and this student was not.

        Nothing is known of a student whose home the hub has not seen.
        """
        own = self.handed_out.get(student)
        if not own:
            return frozenset()
        return frozenset(v for each in self.handed_out.values() for v in each).difference(own)


def _marks(files: Mapping[str, bytes], notebook: str) -> frozenset[str]:
    marks = {_digest(f"file {name}\0", files[name]) for name in files if name != notebook}
    return frozenset(marks | _cell_marks(files.get(notebook, b"")))


def _cell_marks(notebook: bytes) -> set[str]:
    try:
        return {
            _digest(f"{cell['cell_type']}\0", _text(cell).encode("utf-8", "replace"))
            for cell in json.loads(notebook)["cells"]
            # What students write in is soon nobody's any more.
            if not cell["metadata"].get("nbgrader", {}).get("solution")
        }
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return set()


def _text(cell: Mapping[str, Any]) -> str:
    source = cell["source"]
    return (source if isinstance(source, str) else "".join(source)).strip()


def _digest(kind: str, content: bytes) -> str:
    return hashlib.sha256(kind.encode("utf-8", "replace") + content).hexdigest()
