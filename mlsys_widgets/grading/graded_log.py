"""Which submissions were graded, and from what: a class that was interrupted goes on from here."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mlsys_widgets.files import OWN_FOLDER, held


class Journal:
    """A line for every submission that is in the gradebook, written after it is there.

    A line that breaks off, as after a crash, was never written: that submission is graded again,
    which changes nothing.

    Parameters
    ----------
    root
        The folder of the course.
    lab
        The lab.
    """

    def __init__(self, root: Path, lab: str) -> None:
        self._path = root / OWN_FOLDER / f"grade-{lab}.jsonl"

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep others who would grade the same lab out; a process that dies lets go of it."""
        refusal = "this lab is being graded by another mlsys grade; wait until it is done"
        with held(self._path.with_suffix(".lock"), refusal):
            yield

    def read(self) -> dict[str, dict[str, Any]]:
        """The last line of every student."""
        if not self._path.is_file():
            return {}
        lines: dict[str, dict[str, Any]] = {}
        for line in self._path.read_text("utf-8").splitlines():
            try:
                said = json.loads(line)
                lines[said["student"]] = said
            except (ValueError, KeyError, TypeError):
                continue
        return lines

    def add(self, line: Mapping[str, Any]) -> None:
        """Add a line; it is on the disk when this returns."""
        self._path.parent.mkdir(exist_ok=True)
        with self._path.open("a+b") as file:
            # After a torn line a new one begins, or both would be lost.
            file.seek(0, os.SEEK_END)
            if file.tell() and not self._ends_well(file):
                file.write(b"\n")
            file.write(json.dumps(dict(line)).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    @staticmethod
    def _ends_well(file: Any) -> bool:
        file.seek(-1, os.SEEK_END)
        last: bytes = file.read(1)
        return last == b"\n"
