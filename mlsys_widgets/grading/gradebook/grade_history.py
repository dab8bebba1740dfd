"""Every change of a grade in one file that only grows: who, when, why, from what to what.

The gradebook is compared with what the history knows: when a command begins, what has changed since
the last one was done by hand in formgrader or by another program; when it ends, the rest is its own
doing. So nothing is missed, whoever writes to the gradebook. A note of the command that is running
stays behind if it is killed, and the next one finishes the entry in its name. A second answer that
is no better changes no points, so both answers of a second chance have an entry of their own.

Each line holds the digest of the one before it, so a line that was edited or taken out is noticed.
The digest covers a digest of the entry and not the entry itself: a student can be forgotten, and
the chain still holds.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from getpass import getuser
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.files import OWN_FOLDER, write_whole
from mlsys_widgets.grading.gradebook.graded_log import GradedLog
from mlsys_widgets.grading.gradebook.lab_grades import LabGrade
from mlsys_widgets.grading.gradebook.private_lines import append_lines, private_mode, read_lines
from mlsys_widgets.grading.judging.told_answers import ToldAnswer

#: How the file of a lab begins.
HISTORY: Final = "history-"

#: Kinds of changes.
GRADED: Final = "graded"
REGRADED: Final = "regraded"
BY_HAND: Final = "by hand"
ELSEWHERE: Final = "elsewhere"
FOUND: Final = "found"
LOST: Final = "lost"
REMOVED: Final = "removed"
SECOND_CHANCE: Final = "second chance"

_WHY: Final = {
    BY_HAND: "changed in formgrader since the last command",
    ELSEWHERE: "changed by nbgrader or another program since the last command",
    FOUND: "was in the gradebook when this history began",
    LOST: "the history before this was emptied or removed",
    REMOVED: "is no longer in the gradebook",
}
_FIRST: Final = "0" * 64
#: What a person gives, and what a program gives.
_PERSON: Final = ("manual", "extra")
_PROGRAM: Final = ("auto",)
#: Name of a cell, then of a kind of points, then before and after.
_Cells = dict[str, dict[str, tuple[float | None, float | None]]]


@dataclass(frozen=True)
class GradeChange:
    """One change of one student's grade."""

    student: str
    #: How it came about: graded, regraded, by hand, elsewhere, found, lost, removed, or a second
    #: chance, which may have left the points as they were.
    what: str
    #: Who did it or noticed it, when that was, and the reason.
    who: str
    time: str
    why: str
    #: All points, before and after; `None` where there was no grade.
    total: tuple[float | None, float | None]
    #: What changed, by cell: ``auto``, ``manual`` or ``extra`` points, before and after.
    cells: _Cells = field(default_factory=dict)
    #: What being late cost, before and after.
    penalty: tuple[float | None, float | None] = (None, None)
    #: What both answers of a second chance earned, by cell, as fractions of its points.
    credits: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class GradebookRun:
    """A command that changes grades, while it runs."""

    what: str
    who: str
    time: str
    why: str


class GradeHistory:
    """The history of one lab."""

    def __init__(self, root: Path, lab: str) -> None:
        self._path = root / OWN_FOLDER / f"{HISTORY}{lab}.jsonl"
        self._note = root / OWN_FOLDER / f"running-{lab}.json"
        self._log = GradedLog(root, lab)

    # Reading.

    def read(self) -> tuple[list[GradeChange], list[str]]:
        """Return all changes in order, and a sentence for each place where the chain is broken."""
        changes: list[GradeChange] = []
        problems: list[str] = []
        for line in self._lines():
            problems += line.problems
            if line.body is not None:
                changes.append(_from_body(line.body))
        return changes, problems

    def graded(self) -> set[str] | None:
        """Return whom our commands graded, of those who still have a grade; `None` if empty."""
        known, graded, empty = _Known(), set(), True
        for line in self._lines():
            empty = False
            if line.body is not None:
                known.include(line.body)
                if line.body["what"] in (GRADED, REGRADED):
                    graded.add(line.body["student"])
        return None if empty else graded & known.keys()

    def _lines(self) -> Iterator[_ChainedLine]:
        expected, previous = 1, _FIRST
        for number, content in read_lines(self._path):
            line = _ChainedLine.of(number, content, expected, previous)
            yield line
            if line.hash:
                expected, previous = line.seq + 1, line.hash

    # Writing.

    @contextmanager
    def during(
        self, what: str, why: str, grades: Callable[[], Mapping[str, LabGrade]]
    ) -> Iterator[None]:
        """Record what a command changes; first, what others have changed since the last one."""
        self.notice(grades())
        run = GradebookRun(what, who_runs(), now(), why)
        write_whole(self._note, json.dumps(vars(run)), mode=private_mode(self._note))
        try:
            yield
        except BaseException:
            # Whatever stopped the command is what it should say, and the gradebook may be gone;
            # the note stays then, and the next command finishes the entry.
            with suppress(Exception):
                self.notice(grades())
            raise
        self.notice(grades())

    def notice(self, grades: Mapping[str, LabGrade]) -> list[GradeChange]:
        """Record what has changed in the gradebook, in the name of whoever did it."""
        run, (known, end) = self._running(), self._so_far()
        # Whoever is in the log was in a history, too.
        first = (LOST if self._log.read() else FOUND) if end[0] == 0 else ELSEWHERE
        new = [*_changes(known, grades, run, first)]
        self._append(new, end)
        self._note.unlink(missing_ok=True)
        return new

    def notice_second_chances(self, told: Mapping[str, Mapping[str, ToldAnswer]]) -> None:
        """Record both answers of each second chance that was judged, once.

        Answers that were ``told`` are by student and cell; those without a second one say nothing.
        """
        known, end = self._so_far()
        self._append([*_second_chances(known, told)], end)

    def _so_far(self) -> tuple[_Known, tuple[int, str]]:
        """Return what the history knows, and where it ends."""
        known, end = _Known(), (0, _FIRST)
        for line in self._lines():
            if line.hash:
                end = line.seq, line.hash
            if line.body is not None:
                known.include(line.body)
        return known, end

    def _append(self, new: Iterable[GradeChange], end: tuple[int, str]) -> None:
        if lines := b"".join(_chained(new, *end)):
            append_lines(self._path, lines)

    def forget(self, student: str) -> int:
        """Take a student out of every entry; the chain still holds. Returns how many there were."""
        lines, found = [], 0
        for number, content in read_lines(self._path):
            if content is None:
                raise ValueError(f"line {number} of {self._path} cannot be read")
            match content:
                case {"body": {"student": name}} if name == student:
                    lines.append(json.dumps({**content, "body": None}))
                    found += 1
                case _:
                    lines.append(json.dumps(content))
        if found:
            mode = self._path.stat().st_mode & 0o777
            write_whole(self._path, "".join(f"{line}\n" for line in lines), mode=mode)
        return found

    def rename(self, old: str, new: str) -> int:
        """Give a student another name in every entry; returns how many there were.

        The chain is computed again, so a history that was edited is left as it is, and refused.
        """
        lines = list(self._lines())
        if not any(line.body is not None and line.body["student"] == old for line in lines):
            return 0
        if problems := [each for line in lines for each in line.problems]:
            raise ValueError(f"{self._path}: {problems[0]} Look at it before you rename anybody.")
        found, made, previous = 0, [], _FIRST
        for (_, content), line in zip(read_lines(self._path), lines, strict=True):
            body, digest = line.body, content["digest"]
            if body is not None and body["student"] == old:
                body, found = {**body, "student": new}, found + 1
                digest = _digest(body)
            made.append({"seq": line.seq, "prev": previous, "digest": digest, "body": body})
            previous = _link(line.seq, previous, digest)
        text = "".join(f"{json.dumps(each)}\n" for each in made)
        write_whole(self._path, text, mode=self._path.stat().st_mode & 0o777)
        return found

    def _running(self) -> GradebookRun | None:
        """Return the command that was running, if it was killed before it could say what it did."""
        try:
            return GradebookRun(**json.loads(self._note.read_bytes()))
        except (OSError, ValueError, TypeError):
            return None


def who_runs() -> str:
    """Return the user who runs this, as the system knows them, not as the environment says."""
    try:
        import pwd

        return pwd.getpwuid(os.geteuid()).pw_name
    except (ImportError, KeyError, AttributeError):
        return getuser()


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


# Lines.


@dataclass(frozen=True)
class _ChainedLine:
    seq: int
    hash: str
    body: dict[str, Any] | None
    problems: tuple[str, ...] = ()

    @classmethod
    def of(cls, number: int, content: Any, expected: int, previous: str) -> _ChainedLine:
        match content:
            case {"seq": int(seq), "prev": str(prev), "digest": str(digest), "body": body}:
                pass
            case _:
                return cls(0, "", None, (f"Line {number} cannot be read.",))
        problems = []
        if (seq, prev) != (expected, previous):
            problems.append(f"Line {number} does not continue the one before it.")
        if isinstance(body, dict) and _digest(body) != digest:
            problems.append(f"Line {number} was changed after it was written.")
        return cls(
            seq, _link(seq, prev, digest), body if isinstance(body, dict) else None, tuple(problems)
        )


def _digest(body: Mapping[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _link(seq: int, previous: str, digest: str) -> str:
    """Return what the next line names as the one before it."""
    return hashlib.sha256(f"{seq} {previous} {digest}".encode()).hexdigest()


def _chained(changes: Iterable[GradeChange], seq: int, previous: str) -> Iterator[bytes]:
    for seq_, change in enumerate(changes, seq + 1):
        # The salt keeps a digest whose entry was forgotten from being guessed.
        body = {**vars(change), "salt": secrets.token_hex(8)}
        body = json.loads(json.dumps(body))
        line = {"seq": seq_, "prev": previous, "digest": _digest(body), "body": body}
        previous = _link(seq_, previous, line["digest"])
        yield json.dumps(line).encode() + b"\n"


def _from_body(body: Mapping[str, Any]) -> GradeChange:
    fields = {name: value for name, value in body.items() if name != "salt"}
    cells = {
        name: {kind: (pair[0], pair[1]) for kind, pair in kinds.items()}
        for name, kinds in fields["cells"].items()
    }
    pairs = {name: tuple(fields[name]) for name in ("total", "penalty")}
    credits = {name: (one, two) for name, (one, two) in fields.get("credits", {}).items()}
    return GradeChange(**{**fields, **pairs, "cells": cells, "credits": credits})


# What changed.


@dataclass
class _Remembered:
    """What the history knows about one student."""

    total: float | None = None
    penalty: float | None = None
    cells: dict[str, dict[str, float | None]] = field(default_factory=dict)
    #: The cells whose second chance has an entry.
    second_chances: set[str] = field(default_factory=set)


class _Known(dict[str, _Remembered]):
    """What the history knows about everybody."""

    def include(self, body: Mapping[str, Any]) -> None:
        """Take in one entry."""
        student = body["student"]
        if body["total"][1] is None:
            self.pop(student, None)
            return
        state = self.setdefault(student, _Remembered())
        state.total, state.penalty = body["total"][1], body["penalty"][1]
        for name, kinds in body["cells"].items():
            state.cells.setdefault(name, {}).update({k: pair[1] for k, pair in kinds.items()})
        state.second_chances.update(body.get("credits", ()))


def _changes(
    known: _Known, grades: Mapping[str, LabGrade], run: GradebookRun | None, first: str
) -> Iterator[GradeChange]:
    by, at = who_runs(), now()

    def change(student: str, what: str, *args: Any) -> GradeChange:
        return GradeChange(student, what, by, at, _WHY[what], *args)

    for student, grade in grades.items():
        had = known.get(student)
        cells = {
            name: {"auto": c.auto, "manual": c.manual, "extra": c.extra or None}
            for name, c in grade.cells.items()
        }
        before = had or _Remembered()
        program = _difference(before.cells, cells, _PROGRAM)
        person = _difference(before.cells, cells, _PERSON)
        penalty = before.penalty, grade.penalty or None
        is_new = had is None
        if is_new or program or penalty[0] != penalty[1]:
            middle = grade.total if not person else _total(grade, before.cells)
            total = before.total, middle
            if run is not None:
                yield GradeChange(
                    student, run.what, run.who, run.time, run.why, total, program, penalty
                )
            else:
                what = first if is_new else ELSEWHERE
                yield change(student, what, total, program, penalty)
            before = _Remembered(middle, penalty[1])
        if person:
            about = (before.total, grade.total), person, (penalty[1], penalty[1])
            if run is not None and run.what == BY_HAND:  # somebody who grades by a rubric
                yield GradeChange(student, BY_HAND, run.who, run.time, run.why, *about)
            else:
                yield change(student, BY_HAND, *about)
    for student in [name for name in known if name not in grades]:
        had = known[student]
        yield change(student, REMOVED, (had.total, None), {}, (had.penalty, None))


def _second_chances(
    known: _Known, told: Mapping[str, Mapping[str, ToldAnswer]]
) -> Iterator[GradeChange]:
    for student, answers in told.items():
        state = known.get(student)
        if state is None:  # the gradebook has nothing of them
            continue
        for name, each in answers.items():
            if each.second is None or name in state.second_chances:
                continue
            first, second = each.first.credit, each.second.credit
            why = (
                f"{name}: the first answer earns {first:.0%} of the points, the second {second:.0%}"
                f" at {each.second.share:.0%}; the better one counts"
            )
            yield GradeChange(
                student, SECOND_CHANCE, who_runs(), now(), why, (state.total, state.total), {},
                (state.penalty, state.penalty), {name: (first, second)},
            )  # fmt: skip


def _difference(
    before: Mapping[str, Mapping[str, float | None]],
    after: Mapping[str, Mapping[str, float | None]],
    kinds: tuple[str, ...],
) -> _Cells:
    found: _Cells = {}
    for name in (*after, *(each for each in before if each not in after)):
        old, new = before.get(name, {}), after.get(name, {})
        changed = {k: (old.get(k), new.get(k)) for k in kinds if old.get(k) != new.get(k)}
        if changed:
            found[name] = changed
    return found


def _total(grade: LabGrade, before: Mapping[str, Mapping[str, float | None]]) -> float:
    """Add up all points as they would be without what a person has changed since."""
    earned = 0.0
    for name, cell in grade.cells.items():
        old = before.get(name, {})
        manual = old.get("manual")
        given = manual if manual is not None else cell.auto
        earned += (given or 0.0) + (old.get("extra") or 0.0)
    return round(max(0.0, earned - (grade.penalty or 0.0)), 2)
