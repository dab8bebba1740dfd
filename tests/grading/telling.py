"""A course with an exchange whose hand-ins are noted as a hub notes them, to judge and tell."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from mlsys_widgets.course.exchange_place import TOLD_SOCKET
from mlsys_widgets.files import LEDGER, open_folder, socket_in
from mlsys_widgets.grading.telling.hand_in_judge import HandInJudge
from mlsys_widgets.grading.telling.judged_hand_ins import JudgedHandIns
from mlsys_widgets.hub.services.hand_in_watch import HandInWatch
from mlsys_widgets.labs.attempts import Attempts
from mlsys_widgets.ledger import Ledger
from mlsys_widgets.ledger.hand_in_notes import notes_beside
from tests.grading.classroom import classroom, right_now, rows
from tests.labs.rehearsal import Workshop, work_through

CHANCE = 'second_chance = { share = 0.5, until = "2 days after due" }'


class ToldClass:
    """A course, its exchange, and the judge of its hub."""

    def __init__(self, folder: Path, *settings: str, course: Workshop | None = None) -> None:
        self.course = course or classroom(folder / "course")
        self.lab = self.course.lab
        self.root, self.inbound = self.course.root, folder / "exchange" / "mlsys" / "inbound"
        self.inbound.mkdir(parents=True)
        self.aside = folder / "homes"
        with (self.root / "nbgrader_config.py").open("a") as config:
            config.write("\nc.CourseDirectory.course_id = 'mlsys'\n")
            config.write(f"c.Exchange.root = {str(folder / 'exchange')!r}\n")
        self.settings(*settings)
        notes = notes_beside(self.root)
        notes.parent.mkdir()
        self._numbers = count()
        #: Whose folder the kernel would say it is.
        self._owner = ""
        self.watch = HandInWatch(self.inbound, notes, named=lambda _: self._owner)
        self.watch.look()

    def settings(self, *lines: str) -> None:
        path = self.root / "assignments" / "course.toml"
        self._plain = getattr(self, "_plain", path.read_text() if path.is_file() else "")
        path.write_text(self._plain + "\n".join(["", f"[labs.{self.lab}]", *lines, ""]))

    def home(self, student: str) -> Path:
        """A student's folder, with a ledger in which all but the questions is done."""
        folder = self.aside / student / self.lab
        if not folder.is_dir():
            shutil.copytree(self.root / "release" / self.lab, folder)
            work_through(folder, student, self.course.course)
        return folder

    def answer(self, student: str, answers: Mapping[str, Any]) -> Path:
        folder = self.home(student)
        ledger = Ledger.open(folder / LEDGER)
        for name, value in answers.items():
            ledger.record_answer(name, value)
        return folder

    def submit(
        self, student: str, folder: Path | None = None, *, owner: str = "", says: str = ""
    ) -> Path:
        """Put a folder into the exchange, as nbgrader does; the hub notes it.

        ``says`` is what ``timestamp.txt`` has in place of the time.
        """
        time = right_now()
        target = self.inbound / f"{student}+{self.lab}+{time}+{next(self._numbers)}"
        shutil.copytree(folder or self.home(student), target)
        (target / "timestamp.txt").write_text(says or time)
        self._owner = owner or student
        self.watch.look()
        return target

    def note_for(self, student: str) -> None:
        """Say whose the folders are that the hub finds in the exchange from now on."""
        self._owner = student

    def hand_in(self, student: str, answers: Mapping[str, Any]) -> Path:
        self.answer(student, answers)
        return self.submit(student)

    def right(self, student: str) -> dict[str, Any]:
        return self.course.asked(student).right()

    def wrong(self, student: str) -> dict[str, Any]:
        return self.course.asked(student).believing(0)

    def again(self, student: str, name: str, *, right: bool = True) -> Any:
        """The right answer on the numbers of the second attempt, or a wrong one."""
        asked = self.course.asked(student)
        p = Attempts(asked.lab, student).at(name, 1).p
        from mlsys_widgets.judging.checks_file import load_checks
        from mlsys_widgets.judging.keys import Given

        key = load_checks(self.root / "assignments" / self.lab)[name](Given(p, self.root))
        return key.value if right else key.beliefs[0].value

    def try_again(self, student: str, name: str, value: Any, attempt: int = 1) -> None:
        self.answer(student, {f"attempt.{name}": attempt, f"again.{attempt}.{name}": value})

    def collected(self, student: str) -> Workshop:
        """The course, with the newest hand-in of somebody collected."""
        newest = sorted(self.inbound.glob(f"{student}+*"))[-1]
        target = self.course.work(student)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(newest, target)
        return self.course

    def judge(self, **more: Any) -> list[int]:
        """Judge until nothing waits; how many in each look."""
        made, done = HandInJudge(self.root, **more), []
        try:
            while n := made.look():
                done.append(n)
        finally:
            made.close()
        return done

    def report(self, student: str) -> dict[str, Any]:
        last = JudgedHandIns(self.root, self.lab).of_student(student).last
        return dict(last.told) if last else {}

    def told(self, student: str) -> dict[str, dict[str, Any]]:
        """What somebody is told about answers, by question."""
        questions = self.report(student).get("questions", [])
        return {each["name"]: each for each in questions if each["kind"] == "answer"}

    def points(self, student: str) -> dict[str, float | None]:
        """What the gradebook has for somebody, by cell."""
        return {name: auto for who, name, auto, *_ in rows(self.root)["grade"] if who == student}

    def ask(
        self, since: str = "", lab: str | None = None, line: bytes | None = None
    ) -> dict[str, Any]:
        """Ask at the socket."""
        lab = self.lab if lab is None else lab
        content = line or json.dumps({"lab": lab, "since": since}).encode() + b"\n"
        with socket.socket(socket.AF_UNIX) as door, open_folder(self.inbound.parent) as folder:
            door.settimeout(60)
            door.connect(socket_in(folder, TOLD_SOCKET))
            door.sendall(content)
            with door.makefile("rb") as reply:
                return json.loads(reply.read() or "{}")


def in_days(days: float) -> str:
    """A time from now, as course.toml has it."""
    return (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="seconds")


def me() -> int:
    return os.getuid()
