"""Which version of each lab students have in their homes, noted by a hub for whoever teaches.

An instructor cannot look into homes. The hub can, and writes down this one thing. The file lies
beside the course, where root writes and the instructor reads. What it says is what the notebooks
say of themselves.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from mlsys_widgets.course.lab_versions import VERSION

_NOTES: Final = ("hand_ins", "copies.json")
#: For a copy that does not say what it is.
UNSTAMPED: Final = ""

#: Versions by student, by lab.
CopyNotes = Mapping[str, Mapping[str, str]]


def copies_beside(course: Path) -> Path:
    """Return where the notes are, for a course in this folder."""
    return course.resolve().parent.joinpath(*_NOTES)


def read_copies(path: Path) -> dict[str, dict[str, str]]:
    """Read which version each student has of each lab; empty where nobody notes it."""
    try:
        notes = json.loads(path.read_bytes())
        return {
            str(lab): {str(name): each for name, each in who.items() if _is_version(each)}
            for lab, who in notes.items()
        }
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


def _is_version(value: object) -> bool:
    return isinstance(value, str) and (value == UNSTAMPED or bool(VERSION.fullmatch(value)))
