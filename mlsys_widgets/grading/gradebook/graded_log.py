"""The log of graded submissions: an interrupted run continues from here.

Each line also notes where the student's ledger ended, so that a ledger that is rewound or replaced
later is noticed, and keeps the answers as data, so that they can be judged again with other keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.files import OWN_FOLDER, held, signature_of
from mlsys_widgets.grading.gradebook.graded_submission import GradedSubmission
from mlsys_widgets.grading.gradebook.private_lines import append_lines, read_lines
from mlsys_widgets.grading.judging.flags import Flag
from mlsys_widgets.ledger import Head

#: How the file of a lab begins.
LOG: Final = "grade-"


class GradedLog:
    """A line for every submission that is in the gradebook, written after it is there.

    A line that breaks off, as after a crash, was never written: that submission is graded again,
    which changes nothing.
    """

    def __init__(self, root: Path, lab: str) -> None:
        self._path = root / OWN_FOLDER / f"{LOG}{lab}.jsonl"

    @property
    def signature(self) -> object:
        """What changes whenever a line is added; `None` without a file."""
        return signature_of(self._path)

    @contextmanager
    def alone(self, patience: float = 0.0) -> Iterator[None]:
        """Keep others who would grade the same lab out; a process that dies lets go of it."""
        refusal = "this lab is being graded by another mlsys grade; wait until it is done"
        with held(self._path.with_suffix(".lock"), refusal, patience=patience):
            yield

    def read(self) -> dict[str, dict[str, Any]]:
        """Return the last line of every student; its ``flags`` are `Flag` objects."""
        last = {line["student"]: line for line in self._lines()}
        for line in last.values():
            line["flags"] = tuple(map(Flag.from_data, line.get("flags", ())))
        return last

    def heads(self) -> dict[str, set[Head]]:
        """Return where the ledgers of every student ended, each time they were graded."""
        found: dict[str, set[Head]] = {}
        for line in self._lines():
            match line.get("head"):
                case [int() as seq, str() as digest]:
                    found.setdefault(line["student"], set()).add(Head(seq, digest))
        return found

    def _lines(self) -> Iterator[dict[str, Any]]:
        for _, line in read_lines(self._path):
            if isinstance(line, dict) and isinstance(line.get("student"), str):
                yield line

    def add(self, graded: GradedSubmission, head: Head | None, more: Mapping[str, Any]) -> None:
        """Add a line; it is on the disk when this returns.

        ``more`` tells this submission and its lab from others, and is kept to judge it again.
        """
        self.add_lines([{**graded.as_data(), "head": head, **more}])

    def add_lines(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Add lines that are made already, all in one go."""
        append_lines(self._path, b"".join(json.dumps(line).encode() + b"\n" for line in lines))
