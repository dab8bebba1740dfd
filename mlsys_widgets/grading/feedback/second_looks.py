"""Second looks that students ask for: taken in from the exchange, listed, closed with an answer.

What lies in the box was put there by students. It is opened by descriptor and through no link, read
up to a limit, and believed only about the owner that the kernel knows. Taking it in writes a line
into a file of the course, which only grows, and then removes what was in the box; whoever kills it
in between finds the same ticket again. A heap that one user has put there delays nobody else: a few
files of each are opened, and the others are removed unread.

Everybody who teaches works with the same box, answers and file. Whoever cannot is told so, and
never sees a list that is shorter than another's. A hub makes both folders when it starts.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.course.course import Course
from mlsys_widgets.course.exchange_place import ANSWERS, BOX, exchange_folder, nbgrader_settings
from mlsys_widgets.files import (
    OWN_FOLDER,
    held,
    open_folder,
    open_regular,
    user_named,
    write_whole,
)
from mlsys_widgets.grading.gradebook.grade_history import now, who_runs
from mlsys_widgets.grading.gradebook.gradebook_writer import LabGradebook
from mlsys_widgets.grading.gradebook.private_lines import append_lines, read_lines
from mlsys_widgets.handin.second_look import (
    LARGEST_REQUEST,
    SecondLookRequest,
    answer_file,
    clean_words,
    read_request,
    write_answer,
)

#: Files of one user that are opened in one go, or may be half written; the others are removed.
_MOST_OF_ONE: Final = 50
#: Seconds after which a file that is still being written was given up.
_GIVEN_UP: Final = 3600.0
#: Everybody may put something in and no student may list it; answers are found by name only. The
#: modes for one owner, and for a group, which the sticky bit would keep from emptying the box.
_MODES: Final = {BOX: (0o1733, 0o2773), ANSWERS: (0o711, 0o2771)}
#: Seconds that one waits for somebody else who reads or answers.
_PATIENCE: Final = 5.0


@dataclass(frozen=True)
class SecondLook:
    """A request that was taken in."""

    #: By which it is closed.
    number: int
    #: Of the student's request.
    ticket: str
    #: Who asks what about which graded cell.
    student: str
    lab: str
    question: str
    words: str
    #: When it was taken in.
    time: str
    #: The answer, who gave it and when; `None` while it is open.
    answer: str | None = None
    closed_by: str | None = None
    closed: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether nobody has answered yet."""
        return self.answer is None


@dataclass(frozen=True)
class BoxContents:
    """The contents of the box: the new requests, and why others were refused."""

    new: tuple[SecondLook, ...] = ()
    refused: Mapping[str, int] = field(default_factory=dict)


class SecondLooks:
    """The second looks of a course."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._path = course.home / OWN_FOLDER / "second-looks.jsonl"
        self._graded: dict[str, dict[str, set[str]] | None] = {}

    def exchange(self) -> Path | None:
        """Return the folder of the course in the exchange; `None` without one."""
        found = exchange_folder(nbgrader_settings(self._course.home))
        return found if found is not None and found.is_dir() else None

    def open_box(self) -> Path | None:
        """Make the folders in the exchange if they are not there; `None` without an exchange.

        `ValueError` where whoever runs this cannot make them, or cannot take out requests and
        answer them.
        """
        exchange = self.exchange()
        if exchange is None:
            return None
        # A hub says it in settings of its own, beside those of the course.
        settings = nbgrader_settings(self._course.home)
        shared = bool(settings.get("CourseDirectory", {}).get("groupshared", False))
        for name, modes in _MODES.items():
            folder = exchange / name
            try:
                with suppress(FileExistsError):
                    folder.mkdir(mode=0o700)
                    folder.chmod(modes[shared])
            except OSError as why:
                raise ValueError(
                    f"students cannot ask for second looks: {folder} cannot be made"
                    f" ({why.strerror}); the owner of {exchange} makes it with: mlsys second-looks"
                ) from None
            if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
                raise ValueError(
                    f"second looks are closed to you; the owner of {folder} has to give its group"
                    " all rights, and you have to be in that group"
                )
        return exchange

    def read(self) -> list[SecondLook]:
        """Return all of them, in the order in which they came."""
        found: dict[int, SecondLook] = {}
        for _, line in read_lines(self._path):
            match line:
                case {"asked": {"number": int(number)} as fields}:
                    found[number] = SecondLook(**fields)
                case {"closed": {"number": int(number)} as fields} if number in found:
                    closing = {name: fields[name] for name in ("answer", "closed_by", "closed")}
                    found[number] = replace(found[number], **closing)
        return [*found.values()]

    # Taking in.

    def take_in(self) -> BoxContents:
        """Take in what lies in the box, and publish answers that were not published yet."""
        exchange = self.open_box()
        if exchange is None:
            return BoxContents()
        with self._alone():
            looks = self.read()
            self._publish(exchange, looks)
            with open_folder(exchange / BOX) as box:
                return self._empty(box, exchange, looks)

    def _empty(self, box: int, exchange: Path, looks: list[SecondLook]) -> BoxContents:
        new: list[SecondLook] = []
        refused: Counter[str] = Counter()
        tickets = {each.ticket for each in looks}
        for name in _names(box, refused):
            try:
                content, owner = _content(box, name)
            except OSError:
                refused["it is no file"] += 1
                _remove(box, name)
                continue
            try:
                request = read_request(content)
                if request.ticket not in tickets:
                    look = self._taken(request, owner, [*looks, *new])
                    line = json.dumps({"asked": _asked(look)}).encode() + b"\n"
                    append_lines(self._path, line)
                    tickets.add(request.ticket)
                    new.append(look)
            except _Refused as why:
                refused[str(why)] += 1
                write_answer(exchange, request.ticket, f"Not taken in: {why}.", now())
            except ValueError as why:
                refused[str(why)] += 1
            _remove(box, name)
        return BoxContents(tuple(new), refused)

    def _taken(self, request: SecondLookRequest, owner: int, looks: list[SecondLook]) -> SecondLook:
        """Return a request that is what it says; refused if it is not."""
        # Where everybody has the same user, as in some clusters, the name cannot be checked.
        # Whoever was renamed asks under the name from before, which their work carries.
        student = self._course.people.login_of(request.student)
        if owner != os.geteuid() and user_named(owner) != student:
            raise ValueError("the file belongs to somebody else than it says")
        graded = self._graded_in(request.lab)
        if graded is None or student not in graded:
            raise _Refused("there is no grade to look at yet")
        if request.question not in graded[student]:
            raise _Refused("the lab has no such question")
        about = student, request.lab, request.question
        if any(each.is_open and about == (each.student, each.lab, each.question) for each in looks):
            raise _Refused("you have asked about this question already, and that is still open")
        number = max((each.number for each in looks), default=0) + 1
        return SecondLook(number, request.ticket, *about, request.words, now())

    def _graded_in(self, lab: str) -> dict[str, set[str]] | None:
        """Return everybody's graded cells in a lab; `None` if there is no such lab."""
        if lab not in self._graded:
            try:
                gradebook = LabGradebook(self._course.db_url, lab)
                self._graded[lab] = {n: set(g.cells) for n, g in gradebook.grades().items()}
            except ValueError:
                self._graded[lab] = None
        return self._graded[lab]

    # Answering.

    def close(self, number: int, answer: str) -> SecondLook:
        """Answer a second look; where there is an exchange, the student can read it when this ends.

        `ValueError` where there is none of that number, it is closed, the answer is empty, or the
        student could not read it; then it stays open.
        """
        words = clean_words(answer)
        if not words:
            raise ValueError("the answer is empty; write what the student should read")
        with self._alone():
            found = next((each for each in self.read() if each.number == number), None)
            if found is None:
                raise ValueError(f"there is no second look {number}; mlsys second-looks lists them")
            if not found.is_open:
                raise ValueError(f"second look {number} was closed by {found.closed_by} already")
            exchange = self.open_box()
            done = replace(found, answer=words, closed_by=who_runs(), closed=now())
            if exchange is not None:
                write_answer(exchange, done.ticket, words, done.closed or "")
            closing = {name: getattr(done, name) for name in ("answer", "closed_by", "closed")}
            line = json.dumps({"closed": {"number": number, **closing}}).encode() + b"\n"
            append_lines(self._path, line)
        return done

    def _publish(self, exchange: Path, looks: list[SecondLook]) -> None:
        """Put answers where students find them, if they are not there, as after a restore."""
        for each in looks:
            if each.answer is not None and not answer_file(exchange, each.ticket).exists():
                write_answer(exchange, each.ticket, each.answer, each.closed or "")

    def forget(self, student: str) -> int:
        """Remove everything that a student has asked; returns how many there were."""
        with self._alone():
            gone = [each for each in self.read() if each.student == student]
            if not gone:
                return 0
            numbers = {each.number for each in gone}
            lines = [
                json.dumps(line)
                for _, line in read_lines(self._path)
                if line is not None and _number(line) not in numbers
            ]
            mode = self._path.stat().st_mode & 0o777  # others who teach read it, too
            write_whole(self._path, "".join(f"{line}\n" for line in lines), mode=mode)
            if (exchange := self.exchange()) is not None:
                for each in gone:
                    with suppress(OSError):
                        answer_file(exchange, each.ticket).unlink(missing_ok=True)
        return len(gone)

    def _alone(self) -> Any:
        return held(
            self._path.with_suffix(".lock"),
            "second looks are being taken in or answered by somebody else; try again",
            patience=_PATIENCE,
        )


class _Refused(ValueError):
    """A request that its own student should be told about."""


def _asked(look: SecondLook) -> dict[str, Any]:
    return {name: value for name, value in vars(look).items() if value is not None}


def _number(line: Mapping[str, Any]) -> int | None:
    fields = line.get("asked") or line.get("closed") or {}
    return fields.get("number")


def _names(box: int, refused: Counter[str]) -> list[str]:
    """Return what is opened now, a few of each user; remove what nobody will ever read.

    Whose a file is tells the kernel, and nothing is opened for it. What is hidden is being written.
    """
    names: list[str] = []
    of_user: Counter[tuple[int, bool]] = Counter()
    with os.scandir(box) as entries:
        for entry in entries:
            try:
                about = entry.stat(follow_symlinks=False)
            except OSError:  # it got its name just now
                continue
            if about.st_nlink > 1 and stat.S_ISREG(about.st_mode):
                # Another name of a file that may be anybody's: it counts against nobody's few.
                refused["it is no file"] += 1
                _remove(box, entry.name)
                continue
            hidden = entry.name.startswith(".")
            of_user[about.st_uid, hidden] += 1
            if of_user[about.st_uid, hidden] > _MOST_OF_ONE:
                refused["there are too many from one user"] += 1
                _remove(box, entry.name)
            elif not hidden:
                names.append(entry.name)
            elif time.time() - about.st_mtime > _GIVEN_UP:
                _remove(box, entry.name)
    return names


def _content(box: int, name: str) -> tuple[bytes, int]:
    """Return what is in a file, up to a limit, and whose it is."""
    with open_regular(name, dir_fd=box) as file:
        about = os.fstat(file.fileno())
        if about.st_nlink != 1:
            raise OSError("not a file of its own")
        return file.read(LARGEST_REQUEST), about.st_uid


def _remove(box: int, name: str) -> None:
    for remove in (os.unlink, os.rmdir):  # a folder can be put there, too
        with suppress(OSError):
            remove(name, dir_fd=box)
            return
