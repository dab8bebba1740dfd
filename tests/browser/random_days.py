"""A student's day at random, in a real browser, and what must be true after each of its steps.

`Expected` is a model in a few lines. `Day` does the same things in JupyterLab, in one window or
two, and compares: what the page says, what lies in the ledger, in the notebook and in the file that
was handed in, and what a grader gives.
"""

from __future__ import annotations

import json
import os
import random
import re
import secrets
import shutil
import signal
import zipfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import nbformat
from playwright.sync_api import BrowserContext

from mlsys_widgets.course.course import Course
from mlsys_widgets.files import LEDGER
from mlsys_widgets.grading.coordinator import GradingRun, Plan
from mlsys_widgets.grading.gradebook.autograded import fresh_beside
from mlsys_widgets.grading.messages import JudgeByRecord
from mlsys_widgets.labs.answer_units import short_number
from mlsys_widgets.ledger import Ledger
from mlsys_widgets.ledger.carried_record import carried
from tests.browser.conftest import Lab
from tests.browser.day_windows import SOON, Window
from tests.browser.expected_day import Box, Disagreement, Expected, same
from tests.grading.classroom import LAB
from tests.labs.rehearsal import Workshop
from tests.waiting import wait_for

NUMBER, CHOICE, ESSAY = "intensity_flop_per_byte", "limit", "advice"
#: Cells without which there is no lab, and those that a student of this day works in.
_KEPT: Final = re.compile("setup|card_act1_bound|(question|answer|check)_.*|show_.*")
#: Shut down kernels, which takes each of them seconds.
_END: Final = """({ headers, addresses }) => Promise.all(
  addresses.map(each => fetch(each, { method: 'DELETE', headers })))"""
#: Whether a dialog is gone that said something.
_GONE: Final = """said => ![...document.querySelectorAll('.jp-Dialog')]
  .some(each => each.innerText === said)"""


class Classroom:
    """What all days share: a course with its grader, a server, and a browser with two windows."""

    def __init__(self, course: Workshop, lab: Lab, context: BrowserContext) -> None:
        self.course, self.lab, self.context = course, lab, context
        course.begin(lab.student)
        self._run = GradingRun(Plan(Course(course.root), LAB, force=True))
        asked = course.asked(lab.student)
        items, right = asked.items, asked.right()
        wrong = next(key for key in items[CHOICE].options if key != right[CHOICE])
        texts = ("Registers hold it.", "It <b>waits</b> for memory & </script> so on.")
        numbers = {each: float(each) for each in (short_number(right[NUMBER]), "7", "0.25")}
        self.boxes = {
            NUMBER: Box(
                items[NUMBER].title, {**numbers, "7 lumens": None, "": None}, items[NUMBER].in_words
            ),
            CHOICE: Box(
                items[CHOICE].title,
                {right[CHOICE]: right[CHOICE], wrong: wrong},
                items[CHOICE].in_words,
                empty=None,
            ),
            ESSAY: Box(
                items[ESSAY].title, {**{t: t for t in texts}, "": None}, items[ESSAY].in_words
            ),
        }
        self.points = {
            NUMBER: {float(short_number(right[NUMBER])): items[NUMBER].points},
            CHOICE: {right[CHOICE]: items[CHOICE].points},
        }
        self.windows = [Window(context, lab) for _ in range(2)]

    def open_windows_again(self) -> None:
        """Begin with new windows: a day that went wrong must not spoil the next one."""
        for window in self.windows:
            window.page.close()
        self.windows = [Window(self.context, self.lab) for _ in self.windows]

    def grade(self, files: Mapping[str, bytes]) -> tuple[dict[str, float], str]:
        """What a grader gives for some files, and the essay that a person gets to read."""
        work = self.course.work(self.lab.student)
        shutil.rmtree(work)
        work.mkdir()
        for name, content in files.items():
            (work / name).write_bytes(content)
        fresh = fresh_beside(self.course.root / "autograded" / self.lab.student / LAB)
        shutil.rmtree(fresh, ignore_errors=True)
        reply = self._run._marking(JudgeByRecord(self.lab.student, fresh, (), fresh))
        scores = {score.name: score.auto for score in reply.graded.scores}
        book = nbformat.read(fresh / f"{LAB}.ipynb", 4)
        (cell,) = (each for each in book.cells if each.id == f"answer_{ESSAY}")
        return {name: scores[name] for name in self.points}, cell.source

    def day(self, seed: int) -> Day:
        """Begin a day with a fresh copy of the lab, whose prediction is sealed.

        Every second day is a bad one: messages are late, and some are lost. On every second bad
        one the pages are slow as well.
        """
        bad = seed % 2 == 1
        for window in self.windows:
            window.have_a_day(late=bad, slow=seed % 4 == 1)
        folder = self.lab.folder / f"day-{seed}-{secrets.token_hex(3)}"
        return Day(self, self.give(folder), random.Random(seed), bad=bad)

    def give(self, folder: Path) -> Path:
        """Put a copy of the lab into a folder, with few cells and a sealed prediction."""
        notebook = self.course.give(folder) / f"{LAB}.ipynb"
        book = nbformat.read(notebook, 4)
        book.cells = [cell for cell in book.cells if _KEPT.fullmatch(cell.id)]
        nbformat.write(book, notebook)
        ledger = Ledger.open(folder / LEDGER, lab=LAB, student=self.lab.student)
        ledger.commit_prediction("act1_bound", "A", 3)
        return notebook


class Day:
    """One student, one folder, one or two windows."""

    def __init__(
        self, room: Classroom, notebook: Path, chance: random.Random, *, bad: bool
    ) -> None:
        self.room, self.notebook, self.chance, self.bad = room, notebook, chance, bad
        self.folder = notebook.parent
        self.path = notebook.relative_to(room.lab.folder).as_posix()
        self.done: list[str] = []
        self._begin()
        self.agrees()

    def _begin(self) -> None:
        """Open the lab for the first time."""
        self.expected = Expected(self.room.boxes)
        self.windows = [self.room.windows[0]]
        self.saved_lines = 0
        self._graded: bytes | None = None
        self.windows[0].open(self.path)
        self.windows[0].start()

    def go_on(self, steps: int) -> None:
        """Do something, as often as is said, and compare each time."""
        for _ in range(steps):
            act = self.chance.choice(self._possible())
            try:
                self.done.append(act.__name__)
                act()
                self.agrees()
            except Exception as problem:
                trail = "\n  ".join(self.done)
                raise Disagreement(f"{problem}\nafter\n  {trail}") from problem

    def end(self) -> None:
        """Leave nothing open; kernels come to their end while the next day begins."""
        for window in self.windows:
            window.close()
        self.room.windows[0].page.evaluate(f"sessions => void ({_END})(sessions)", self._sessions())

    def _sessions(self) -> dict[str, Any]:
        """The sessions of the server, by their addresses, and what opens them."""
        key = {"Authorization": f"token {self.room.lab.token}"}
        sessions = f"{self.room.lab.url}api/sessions"
        found = self.room.context.request.get(sessions, headers=key).json()
        return {"headers": key, "addresses": [f"{sessions}/{each['id']}" for each in found]}

    # What a student may do.

    def _possible(self) -> list[Callable[[], None]]:
        live = [window for window in self.windows if window.lives]
        other = [self.close_a_window] if len(self.windows) > 1 else [self.second_window]
        always = [self.reload, self.hand_in, self.save, *other]
        always += [self.fetch_again] if self.chance.random() < 0.3 else []
        if not live:
            return [self.resume, self.resume, self.resume, *always]
        asleep = [self.resume] if len(live) < len(self.windows) else []
        working = [self.type] * 4 + [self.record] * 4 + [self.record_and_kill]
        unlucky = [self.lose_a_message] * 2 if self.bad else []
        return [*working, *unlucky, *always, *asleep, self.restart, self.kill]

    def _window(self, *, lives: bool = False, asleep: bool = False) -> Window:
        some = [w for w in self.windows if (not lives or w.lives) and not (asleep and w.lives)]
        window = self.chance.choice(some)
        self._say(f"in window {self.windows.index(window) + 1}")
        return window

    def _say(self, words: str) -> None:
        self.done[-1] += f" {words}"

    def _box(self, some: Iterable[str] = ()) -> tuple[str, Box]:
        name = self.chance.choice(list(some) or list(self.room.boxes))
        self._say(name)
        return name, self.room.boxes[name]

    def type(self) -> None:
        """Change what stands in a box."""
        window = self._window(lives=True)
        name, box = self._box()
        others = [entry for entry in box.entries if entry != self.expected.stands(name)]
        entry = self.chance.choice(others)
        self._say(repr(entry))
        window.enter(box, entry)
        self.expected.type(name, entry)

    def lose_a_message(self) -> None:
        self._window(lives=True).lose_a_message()

    def record(self) -> None:
        window = self._window(lives=True)
        name, box = self._box(self.expected.drafts)
        card = window.press_record(box)
        if not self.expected.record(name):
            card.get_by_role("alert").filter(has_text=re.compile(r"\w")).wait_for(timeout=SOON)

    def record_and_kill(self) -> None:
        """The kernel ends with an answer under way; what the ledger has is what counts."""
        window = self._window(lives=True)
        name, box = self._box(self.expected.drafts)
        pid = window.pid()
        window.press_record(box)
        self._kill(pid)
        entry = self.expected.stands(name)
        held = self._ledger().get(name)
        if held is not None and entry is not None and held == box.entries.get(entry):
            self._say("(it was recorded)")
            self.expected.record(name)

    def restart(self) -> None:
        window = self._window(lives=True)
        window.page.evaluate("jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
        for each in self.windows:
            each.waits_for_resume()

    def kill(self) -> None:
        self._kill(self._window(lives=True).pid())

    def _kill(self, pid: int) -> None:
        os.kill(pid, signal.SIGKILL)
        for each in self.windows:
            # Jupyter's own words, before ours.
            dialog = each.page.get_by_role("dialog", name="Kernel Restarting")
            dialog.get_by_role("button").click(timeout=SOON)
            each.waits_for_resume()

    def resume(self) -> None:
        self._window(asleep=True).start()

    def reload(self) -> None:
        self._window().load()

    def second_window(self) -> None:
        (other,) = (each for each in self.room.windows if each not in self.windows)
        other.open(self.path)
        self.windows.append(other)

    def close_a_window(self) -> None:
        window = self._window()
        window.close()
        self.windows.remove(window)

    def fetch_again(self) -> None:
        """Delete everything and fetch the lab again: nothing of before comes back."""
        for window in self.windows:
            window.close()
        # The new copy lies where the old one did, so the kernel of the old one must be gone.
        self.room.windows[0].page.evaluate(_END, self._sessions())
        shutil.rmtree(self.folder)
        self.room.give(self.folder)
        self._begin()

    def save(self) -> None:
        self._window().save()
        self.saved_lines = self._lines()

    def hand_in(self) -> None:
        """Hand in, with what stands in boxes recorded before, left behind, or looked at again."""
        window = self._window()
        page, expected = window.page, self.expected
        panel = page.get_by_role("region", name="Lab panel")
        panel.get_by_role("button", name=re.compile("^Hand in…$")).click()
        dialog = page.get_by_role("dialog")
        left = sorted(expected.drafts)
        while True:
            dialog.filter(has_text=re.compile(r"\w")).first.wait_for(timeout=SOON)
            said = dialog.last.inner_text()
            press = self._answer(said, window, left)
            if press is not None:
                dialog.last.get_by_role("button", name=press, exact=True).click()
            page.wait_for_function(_GONE, arg=said, timeout=SOON)
            if press in ("Go back", "Go to it"):
                return
            if press == "Close":
                break
        expected.hand_in()
        self.saved_lines = self._lines()

    def _answer(self, said: str, window: Window, left: list[str]) -> str | None:
        """What to press in a dialog on the way to handing in; `None` to wait for the next one."""
        expected = self.expected
        if "File Changed" in said or "Overwrite" in said:
            return "Overwrite"
        if said.startswith("Recording"):
            return None
        if said.startswith("Some of what you entered is not recorded"):
            missing = [n for n in left if expected.boxes[n].title not in said]
            if missing or not left:
                raise Disagreement(f"drafts of {left}, and the page names: {said}")
            choices = ["Go on without it", "Go back"] + ["Record it"] * (2 if window.lives else 0)
            press = self.chance.choice(choices)
            self._say(f"({press})")
            if press == "Record it":
                left[:] = [name for name in left if not expected.record(name)]
            else:
                left.clear()
            return press
        if said.startswith("Not all of it could be recorded"):
            if not left:
                raise Disagreement(f"all could be recorded, and the page says: {said}")
            press = self.chance.choice(["Go on without it", "Go to it"])
            self._say(f"({press})")
            left.clear()
            return press
        if left:
            raise Disagreement(f"drafts of {left} were not named before: {said}")
        if "Something is missing" in said:
            return "Make the file anyway"
        if said.startswith("Make the file to hand in?"):
            return "Make the file"
        if "Your file is ready" in said:
            return "Close"
        raise Disagreement(f"nobody expected a dialog: {said}")

    # What must be true.

    def agrees(self) -> None:
        """Compare everything with what is expected."""
        for number, window in enumerate(self.windows, 1):
            self.window_agrees(number, window)
        self.ledger_agrees()
        self.notebook_agrees()
        self.archive_agrees()
        self.drafts_agree()

    def ledger_agrees(self) -> None:
        same("the ledger", self._ledger(), self.expected.answers(self.expected.recorded))
        verdict = Ledger.open(self.folder / LEDGER).verify()
        if not verdict.ok:
            raise Disagreement(f"the ledger: {verdict.first_problem}")

    def notebook_agrees(self) -> None:
        """It carries the first lines of the ledger, and all that were there when it was saved."""
        ledger = (self.folder / LEDGER).read_bytes()
        record = carried(self._book()) or b""
        lines = record.count(b"\n")
        if not ledger.startswith(record) or lines < self.saved_lines:
            raise Disagreement(
                f"the notebook carries {lines} lines; the ledger has {self._lines()}, and had"
                f" {self.saved_lines} when the notebook was last saved"
            )

    def archive_agrees(self) -> None:
        """The file holds what was handed in and no more; each part of it earns the same points."""
        archives = list(self.folder.glob("*.zip"))
        handed_in = self.expected.handed_in
        same("whether there is a file", bool(archives), handed_in is not None)
        if handed_in is None or archives[0].read_bytes() == self._graded:
            return
        self._graded = archives[0].read_bytes()
        with zipfile.ZipFile(archives[0]) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        answers = self.expected.answers(handed_in)
        points = {n: best.get(answers.get(n), 0) for n, best in self.room.points.items()}
        notebook, ledger = files[f"{LAB}.ipynb"], files[LEDGER]
        same("the record in the archive", carried(json.loads(notebook)), ledger)
        without = {name: content for name, content in files.items() if name != LEDGER}
        for words, some in (("the archive", files), ("the notebook alone", without)):
            given, essay = self.room.grade(some)
            same(f"the points for {words}", given, points)
            if answers.get(ESSAY, "") not in essay:
                raise Disagreement(f"a person would read {essay!r} in {words}")

    def window_agrees(self, number: int, window: Window) -> None:
        boxes = {
            name: {
                "title": box.title,
                "words": sorted(
                    {box.words(v) for v in box.entries.values() if v is not None}, key=len
                )[::-1],
            }
            for name, box in self.room.boxes.items()
        }
        expected: dict[str, Any] = {"panel": self.expected.panel()}
        if window.lives:
            expected["cards"] = {name: self.expected.card(name) for name in boxes}
        window.comes_to_say(f"window {number}", boxes, expected)

    def drafts_agree(self) -> None:
        """What is not recorded lies beside the ledger, too."""
        wanted = self.expected.drafts

        def kept() -> dict[str, set[str]]:
            path = self.folder / "drafts.json"
            found = json.loads(path.read_text()) if path.exists() else {}
            return {n: {d["value"] for d in b["answer"]} for n, b in found.items() if n in wanted}

        wait_for(
            lambda: all(entry in kept().get(name, ()) for name, entry in wanted.items()),
            lambda: f"drafts beside the ledger: {kept()}, not {wanted}",
            seconds=60,
        )

    def _ledger(self) -> dict[str, Any]:
        answers = Ledger.open(self.folder / LEDGER).state().answers
        return {name: answers[name].value for name in self.room.boxes if name in answers}

    def _book(self) -> dict[str, Any]:
        """The notebook; while Jupyter saves it, in place, the file is not whole."""
        found: list[dict[str, Any]] = []

        def is_whole() -> bool:
            with suppress(ValueError):
                found.append(json.loads(self.notebook.read_bytes()))
            return bool(found)

        wait_for(is_whole, "a whole notebook", seconds=60)
        return found[0]

    def _lines(self) -> int:
        return (self.folder / LEDGER).read_bytes().count(b"\n")
