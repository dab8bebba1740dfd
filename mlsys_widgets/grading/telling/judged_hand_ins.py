"""The hand-ins of a lab that were judged and told, in a file of the course that only grows.

Each line is one hand-in: the answers that count from then on, and what the student was told. A line
is written after the gradebook, and a student is told what is in a line. So whoever is told is in
the gradebook, and what was told stands, whatever stops the judge.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from mlsys_widgets.files import OWN_FOLDER, write_whole
from mlsys_widgets.grading.gradebook.private_lines import append_lines, private_mode, read_lines
from mlsys_widgets.grading.judging.told_answers import JudgedAnswer, SecondAnswer, ToldAnswer


@dataclass(frozen=True)
class JudgedHandIn:
    """One hand-in that was judged, as a line has it."""

    student: str
    #: Its folder in the exchange, and the time that its ``timestamp.txt`` says.
    folder: str
    says: str
    #: When it was judged, and where its ledger ended.
    judged: str
    head: Sequence[Any] | None
    #: What was answered for the first time, and again on new numbers.
    answers: Mapping[str, JudgedAnswer]
    seconds: Mapping[str, SecondAnswer]
    #: All that the student is told after it, as `told_report` has it.
    told: Mapping[str, Any]

    def to_line(self) -> bytes:
        """Write it as a line of the file."""
        fields = {
            **vars(self),
            "answers": {name: vars(each) for name, each in self.answers.items()},
            "seconds": {name: vars(each) for name, each in self.seconds.items()},
        }
        return json.dumps(fields).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> JudgedHandIn | None:
        """Read a line; `None` if it is none of ours."""
        try:
            fields = json.loads(line)
            answers = {n: JudgedAnswer(**each) for n, each in fields.pop("answers").items()}
            seconds = {n: SecondAnswer(**each) for n, each in fields.pop("seconds").items()}
            return cls(**fields, answers=answers, seconds=seconds)
        except (ValueError, TypeError, KeyError, AttributeError):
            return None


@dataclass
class StudentHandIns:
    """What was judged of one student."""

    answers: dict[str, ToldAnswer] = field(default_factory=dict)
    #: When each question was told.
    since: dict[str, str] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    last: JudgedHandIn | None = None

    def include(self, hand_in: JudgedHandIn) -> None:
        """Add a hand-in; what was judged before it stands."""
        for name, first in hand_in.answers.items():
            self.answers.setdefault(name, ToldAnswer(first))
            self.since.setdefault(name, hand_in.judged)
        for name, second in hand_in.seconds.items():
            known = self.answers.get(name)
            if known is not None and known.second is None:
                self.answers[name] = replace(known, second=second)
        self.folders.add(hand_in.folder)
        self.last = hand_in


class JudgedHandIns:
    """The file of a lab, read as it grows."""

    def __init__(self, root: Path, lab: str) -> None:
        self._path = root / OWN_FOLDER / f"told-{lab}.jsonl"
        self._inode, self._read = 0, 0
        self._students: dict[str, StudentHandIns] = {}
        #: Several threads of a run ask, while it adds lines.
        self._following = threading.Lock()

    def of_student(self, student: str) -> StudentHandIns:
        """Return what was judged of a student so far."""
        with self._following:
            self._follow()
        return self._students.get(student) or StudentHandIns()

    def with_second_chance(self) -> dict[str, dict[str, ToldAnswer]]:
        """Return the answers that were given again on new numbers, by student and question."""
        with self._following:
            self._follow()
            known = {student: dict(each.answers) for student, each in self._students.items()}
        return {
            student: {name: told for name, told in answers.items() if told.second is not None}
            for student, answers in known.items()
        }

    def moments(self, student: str) -> dict[str, datetime]:
        """Return when the answers were handed in that count, by question: UTC, no zone."""
        told = self.of_student(student).answers
        return {
            name: datetime.fromisoformat(each.first.time)
            for name, each in told.items()
            if each.first.time
        }

    def add(self, hand_ins: Sequence[JudgedHandIn]) -> None:
        """Add lines; they are on the disk when this returns."""
        if hand_ins:
            append_lines(self._path, b"".join(each.to_line() for each in hand_ins))

    def forget(self, students: Collection[str]) -> None:
        """Remove what was judged of some students, whose work is replaced."""
        lines = [line for _, line in read_lines(self._path) if isinstance(line, dict)]
        kept = [line for line in lines if line.get("student") not in students]
        if len(kept) < len(lines):
            text = "".join(f"{json.dumps(line)}\n" for line in kept)
            write_whole(self._path, text, mode=private_mode(self._path))

    def _follow(self) -> None:
        """Read what is new; everything if the file was replaced, as when somebody is renamed."""
        try:
            about = self._path.stat()
        except FileNotFoundError:
            self._inode, self._read, self._students = 0, 0, {}
            return
        if about.st_ino != self._inode or about.st_size < self._read:
            self._inode, self._read, self._students = about.st_ino, 0, {}
        if about.st_size == self._read:
            return
        with self._path.open("rb") as file:
            file.seek(self._read, os.SEEK_SET)
            lines = file.read().split(b"\n")[:-1]  # the last may still be written
        for line in lines:
            self._read += len(line) + 1
            if (found := JudgedHandIn.from_line(line)) is not None:
                self._students.setdefault(found.student, StudentHandIns()).include(found)
