"""Which version of each lab students have in their homes, noted by a hub for whoever teaches.

An instructor cannot look into homes. The hub can, and writes down two things in files beside the
course, where root writes and the instructor reads. Which version a copy is, is what the notebook
says of itself. Which versions could be fetched while a student had a copy, the hub knows without
believing anybody: whoever has begun after a release cannot have been handed an earlier version.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from mlsys_widgets.course.lab_versions import VERSION

_NOTES: Final = ("hand_ins", "copies.json")
_HANDED_OUT: Final = "handed_out.json"
#: For a copy that does not say what it is.
UNSTAMPED: Final = ""

#: All versions that a student can have been handed, by student, by lab.
HandedOut = dict[str, dict[str, list[str]]]


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


def handed_out_beside(copies: Path) -> Path:
    """Return where it is noted what was handed out, beside the notes on copies."""
    return copies.with_name(_HANDED_OUT)


def read_handed_out(path: Path) -> HandedOut:
    """Read which versions each student can have been handed; empty where nobody notes it."""
    try:
        notes = json.loads(path.read_bytes())
        return {
            str(lab): {
                str(name): [each for each in versions if each and _is_version(each)]
                for name, versions in who.items()
            }
            for lab, who in notes.items()
        }
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):
        return {}


def _is_version(value: object) -> bool:
    return isinstance(value, str) and (value == UNSTAMPED or bool(VERSION.fullmatch(value)))
