"""Every change of a course by a command: who made it, when, and the command that takes it back.

Changes of grades have a history of their own (`GradeHistory`), because formgrader makes them, too.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from mlsys_widgets.files import OWN_FOLDER
from mlsys_widgets.grading.gradebook.grade_history import now, who_runs
from mlsys_widgets.grading.gradebook.private_lines import append_lines, read_lines


@dataclass(frozen=True)
class CourseChange:
    """One change."""

    time: str
    who: str
    #: What was done, in a sentence.
    words: str
    #: What takes it back, as words after ``mlsys course``; empty if nothing does.
    undo: tuple[str, ...] = ()


class ChangeHistory:
    """The changes of a course in a folder; the file only grows."""

    def __init__(self, home: Path) -> None:
        self._path = home / OWN_FOLDER / "changes.jsonl"

    def note(self, words: str, *undo: str) -> None:
        """Note what was done just now, by whoever runs this."""
        line = json.dumps(asdict(CourseChange(now(), who_runs(), words, undo)))
        append_lines(self._path, line.encode() + b"\n")

    def read(self) -> list[CourseChange]:
        """Return all changes, the latest first."""
        found = []
        for _, line in read_lines(self._path):
            match line:
                case {"time": str(time), "who": str(who), "words": str(words), "undo": list(undo)}:
                    found.append(CourseChange(time, who, words, tuple(map(str, undo))))
        return found[::-1]
