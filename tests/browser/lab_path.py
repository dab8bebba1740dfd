"""A student who works through a lab in the browser: clicks, types, runs cells, from top to bottom.

What to do in which cell is read from the notebook and from what the lab asks, so that every lab is
worked through by the same hands. Right answers come from the lab's checks.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from playwright.sync_api import Locator, Page, expect

from mlsys_widgets import labs
from mlsys_widgets.classes.simulated_machine import other_machine
from mlsys_widgets.files import LEDGER
from mlsys_widgets.judging import Given
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.labs.student_steps import (
    StudentStep,
    core_of,
    not_done,
    saved_progress,
    steps_of,
)
from mlsys_widgets.ledger import Ledger
from mlsys_widgets.physics import format_quantity
from tests.browser.pages import open_again

#: What nobody can read as a number, whatever its unit.
NONSENSE = ("a third or so", "3,94", "1.2.3")
SOON = 240_000  # milliseconds: a kernel that shares two cores with other tests
LATE = 180_000  # a page that is loaded again there
#: What is said of a design that was saved although it misses a promise.
UNFIT = "Tried, does not fit yet"
# What a student would see as an error: the output of a cell that failed, or the text of one.
TROUBLE = """() => jupyterapp.shell.currentWidget.content.model.toJSON().cells
  .filter(cell => JSON.stringify(cell.outputs ?? []).match(/"output_type":"error"|Traceback/))
  .map(cell => `${cell.id}: ${JSON.stringify(cell.outputs).slice(0, 600)}`)"""


@dataclass(frozen=True)
class Step:
    """A cell in which there is something to do."""

    index: int
    kind: str
    name: str


class Student:
    """Somebody at work in a lab whose notebook is open and run.

    Parameters
    ----------
    page
        Where the notebook is open, with every cell drawn.
    folder
        The folder of the lab in the instructor's course.
    work
        The folder in which the student works.
    name
        Whose numbers these are.
    """

    def __init__(self, page: Page, folder: Path, work: Path, name: str) -> None:
        self.page, self.work = page, work
        self.lab = labs.load(work)
        self.book = nbformat.read(work / f"{self.lab.name}.ipynb", 4)
        self.given = Given(self.lab.draw(name, edition=_edition(self.book.cells)), work)
        self.items = self.lab.items(self.given.p)
        self.checks = load_checks(folder)
        self.steps = list(_steps(self.book.cells))
        self.errs = False
        self._answered = 0

    def cell(self, index: int) -> Locator:
        """A cell, by its place in the notebook."""
        return self.page.locator(".jp-Notebook:visible .jp-Cell").nth(index)

    def step(self, kind: str, name: str) -> Step:
        """What there is to do, by its kind and name."""
        return next(each for each in self.steps if (each.kind, each.name) == (kind, name))

    def of(self, *kinds: type[labs.Item]) -> list[Step]:
        """The cards of a kind."""
        return [
            step
            for step in self.steps
            if step.kind == "card" and isinstance(self.items[step.name], kinds)
        ]

    def work_through(self) -> None:
        """Do everything there is to do, in the order of the notebook."""
        for name, made in self.lab.examples.items():  # as by mlsys measure, in a terminal
            (self.work / name).write_bytes(other_machine(made(), random.Random(name)))
        for step in self.steps:
            # A design may need answers that are missing.
            if not (self.errs and step.kind == "design"):
                self.do(step)
            if self.errs and step.kind == "answer":
                self.agrees()

    def answer_again(self) -> None:
        """Answer everything, now rightly, and save the design."""
        self.errs = False
        for step in self.steps:
            if step.kind in ("answer", "design"):
                self.do(step)

    def leave_a_typo(self) -> None:
        """Write code that cannot run into the first scratch cell."""
        self.write_code("this is = not Python")

    def fix_the_typo(self) -> None:
        """Empty that cell again."""
        self.write_code("")

    def write_code(self, code: str) -> None:
        scratch = next(k for k, c in enumerate(self.book.cells) if "# lab.answer(" in c.source)
        open_again(self.cell(scratch - 1).locator(".mlsys-lab"))  # its question, if it is answered
        folded = self.cell(scratch).locator(".mlsys-Scratch-line[aria-expanded=false]")
        if folded.count():
            folded.click()
        self.cell(scratch).locator(".cm-content").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(code or "# nothing")
        self.page.keyboard.press("Control+Enter")
        prompt = self.cell(scratch).locator(".jp-InputPrompt")
        expect(prompt).to_have_text(re.compile(r"\[\d+\]:"), timeout=SOON)

    def do(self, step: Step) -> None:
        """Do what there is to do in one cell."""
        hands: dict[str, Callable[[Step], None]] = {
            "card": self._card,
            "instrument": self._move,
            "reveal": self._compare,
            "answer": self._answer,
            "essay": self._write,
            "design": self._save_design,
        }
        try:
            self._unfold(step.index)
            hands[step.kind](step)
        except AssertionError as problem:
            shown = self.cell(step.index).inner_text()
            raise AssertionError(
                f"{self.lab.name}, {step.kind} {step.name}: {problem}\nThe cell shows: {shown}"
            ) from None

    def _unfold(self, index: int) -> None:
        """Open the deeper section in which a cell stands, as a student does: by its heading."""
        cells = [cell.metadata.get("mlsys", {}).get("kind") for cell in self.book.cells[:index]]
        if "deeper" in cells and not self.cell(index).is_visible():
            heading = len(cells) - 1 - cells[::-1].index("deeper")
            self.cell(heading).locator(".jp-MarkdownOutput p").first.click()
            expect(self.cell(index)).to_be_visible(timeout=SOON)

    def left(self) -> list[StudentStep]:
        """The steps that are not done, by the ledger."""
        state = Ledger.open(self.work / LEDGER).state()
        steps = steps_of(self.lab, self.items)
        return not_done(steps, saved_progress(state, self.lab.name))

    def agrees(self) -> None:
        """Status bar, panel and HUD count what the ledger holds."""
        steps, left = core_of(steps_of(self.lab, self.items)), self.left()
        count = f"{len(steps) - len(left)} of {len(steps)}"
        said = re.compile(f"^Lab: {count} done")
        expect(self.page.locator(".mlsys-Status button")).to_have_text(said, timeout=LATE)
        (hud,) = _cells_with(self.book.cells, "lab.hud(")
        card = self.cell(hud).locator(".mlsys-lab-card", has_text="Steps done")
        expect(card).to_contain_text(count, timeout=LATE)
        panel = self.page.get_by_role("region", name="Lab panel")
        some = f"{len(left)} of {len(steps)} steps {'is' if len(left) == 1 else 'are'} left"
        expect(panel).to_contain_text(some if left else "All steps are done", timeout=LATE)

    # What is done in each kind of cell.

    def _card(self, step: Step) -> None:
        card = self.cell(step.index).locator(".mlsys-lab")
        match self.items[step.name]:
            case labs.Prediction() as item:
                self._predict(card, step.name, item)
            case labs.Reflection() as item:
                self._reflect(card, item)
            case labs.Quiz() as item:
                self._take_quiz(card, item)
            case labs.Myths() as item:
                for k, _ in enumerate(item.myths):
                    card.get_by_label("I doubt it").nth(k).check()
                    card.get_by_role("button").click()
                    expect(card).to_contain_text(f"{k + 1} of {len(item.myths)}")
                expect(card).to_contain_text("You sorted", timeout=SOON)
            case labs.Measurement() if self.lab.examples:  # the file lies there already
                card.get_by_role("button", name="Use this file").click()
                expect(card).not_to_contain_text("not taken with this card", timeout=SOON)
            case labs.Measurement():
                card.get_by_role("button", name="Measure this machine").click()
                expect(card).to_contain_text("Your measurement", timeout=SOON)
            case labs.Checklist() as item:
                for box in card.get_by_role("checkbox").all():
                    box.check()
                card.get_by_role("button").click()
                many = len(item.skills)
                expect(card).to_contain_text(f"{many} of {many}", timeout=SOON)

    def _predict(self, card: Locator, name: str, item: labs.Prediction) -> None:
        if item.options is None:
            key = self.checks[name](self.given)
            typed = format_quantity(float(key.value), item.unit)
            card.get_by_role("textbox").fill(typed)
        else:  # whether it is right does not matter
            _choose(card, next(iter(item.options)))
        card.locator(".mlsys-lab-confidence input[value='4']").check()
        card.get_by_role("button", name="Commit my prediction").click()
        card.get_by_role("button", name="Seal it").click()
        expect(card.locator(".mlsys-lab-sealed")).to_contain_text("Sealed", timeout=SOON)

    def _reflect(self, card: Locator, item: labs.Reflection) -> None:
        if item.options is not None:
            _choose(card, item.right or next(iter(item.options)))
        elif item.blanks is not None:
            right: Any = item.right
            for gap, name in enumerate(item.blanks, 1):
                card.get_by_label(f"Gap {gap}").select_option(right[name])
        else:
            card.get_by_role("textbox").fill("That waiting costs more time than computing does.")
        card.locator(".mlsys-lab-main").click()
        expect(card).to_contain_text("1 attempt", timeout=SOON)
        if item.right is not None:
            expect(card).not_to_contain_text("Not yet")

    def _take_quiz(self, card: Locator, item: labs.Quiz) -> None:
        fields = card.locator(".mlsys-lab-options")
        for k, question in enumerate(item.questions):
            fields.nth(k).locator(f"input[value='{question.right}']").check()
            card.locator(".mlsys-lab-confidence").nth(k).locator("input[value='4']").check()
            if item.each:
                card.get_by_role("button", name=f"Answer question {k + 1}").click()
                card.get_by_role("button", name="Lock it in").click()
        if not item.each:
            card.get_by_role("button", name="Check my answers").click()
            card.get_by_role("button", name="Lock it in").click()
        many = len(item.questions)
        expect(card).to_contain_text(f"{many} of {many}", timeout=SOON)

    def _move(self, step: Step) -> None:
        """Move something of an instrument by keyboard, and see that it says something else."""
        cell = self.cell(step.index)
        expect(cell.locator(".mlsys-locked")).to_have_count(0, timeout=SOON)
        readout = cell.locator(".mlsys-readout")
        expect(readout.get_by_role("status")).to_be_visible(timeout=SOON)
        before = readout.text_content() or ""
        sliders, menus = cell.locator("input[type=range]:visible"), cell.locator("select:visible")
        if sliders.count():
            control = sliders.first
            key = "PageDown" if float(control.input_value()) > 500 else "PageUp"
        elif menus.count():
            control, key = menus.first, "ArrowDown"
        else:
            control, key = cell.locator("input[type=radio]:checked").first, "ArrowRight"
        # As a person does: a key that a busy notebook took for itself is pressed again.
        for _ in range(3):
            control.press(key)
            with suppress(AssertionError):
                expect(readout).not_to_have_text(before, timeout=SOON / 3)
                return
        expect(readout).not_to_have_text(before)

    def _compare(self, step: Step) -> None:
        card = self.cell(step.index).locator(".mlsys-lab:not(.mlsys-lab-own)")
        self._explore(step, card)
        card.get_by_role("button", name="Compare with the").click()
        expect(card).to_contain_text("You predicted", timeout=SOON)
        expect(card).not_to_contain_text("cannot be shown")

    def _explore(self, step: Step, card: Locator) -> None:
        """Have the moves before a comparison made, as in another kernel: every lab has others."""
        expect(card.get_by_role("button", name="Compare with the")).to_be_visible()
        moves = card.locator(".mlsys-lab-steps li").all_text_contents()
        if moves:
            made = [re.sub(r"^[✓○]| \((done|to do)\)$", "", move) for move in moves]
            Ledger.open(self.work / LEDGER).record_answer(f"moves.{step.name}", made)

    def _answer(self, step: Step) -> None:
        key = self.checks[step.name](self.given)
        self._answered += 1
        # Right, then a belief after nonsense, then an error of form, then nothing at all.
        way = self._answered % 4 if self.errs else 1
        if isinstance(self.items[step.name], labs.Choice):
            others = [belief.value for belief in key.beliefs]
            if way:
                self._choose_answer(step, others[0] if way == 2 and others else key.value)
            return
        if isinstance(self.items[step.name], labs.Code):
            if way > 1:
                self._write_function(step, "def something_else(): ...", says="There is no function")
            if way in (1, 2):
                self._write_function(step, key.beliefs[0].value if way == 2 else key.value)
            return
        if way == 2:
            for text in NONSENSE:
                self.enter(step, text, says="is not")
        beliefs = [each.value for each in key.beliefs if not each.form]
        if way == 2 and beliefs:
            self.enter(step, f"{float(beliefs[0]):.6g}")
        elif way == 3:
            self.enter(step, f"{float(key.value):.6g} bananas", says="bananas")
            self.enter(step, "1e15", says="Look again")
        elif way:
            self.enter(step, f"{float(key.value):.6g}")

    def _choose_answer(self, step: Step, value: str) -> None:
        card = self._card_of(step)
        option = card.locator(f"input[type=radio][value='{value}']")
        option.check()
        words = option.evaluate("option => option.labels[0].innerText").strip()
        card.get_by_role("button", name="Record").click()
        expect(card).to_contain_text(f"Recorded: “{words}”", timeout=SOON)

    def _write_function(self, step: Step, source: str, says: str = "Recorded: ") -> None:
        card = self._card_of(step)
        card.get_by_role("textbox").fill(source)
        card.get_by_role("button", name="Record").click()
        expect(card).to_contain_text(says, timeout=SOON)

    def _card_of(self, step: Step) -> Locator:
        """The card of a question, whole: what is recorded is opened to be changed."""
        card = self.cell(step.index).locator(".mlsys-lab")
        open_again(card)
        return card

    def enter(self, step: Step, text: str, says: str = "Recorded: ") -> None:
        """Type into the box of a question and press Enter."""
        card = self._card_of(step)
        card.get_by_role("textbox").fill(text)
        card.get_by_role("textbox").press("Enter")
        expect(card).to_contain_text(says, timeout=SOON)

    def _write(self, step: Step) -> None:
        card = self.cell(step.index).locator(".mlsys-lab")
        item = self.items[step.name]
        assert isinstance(item, labs.Essay)
        sentence = "Memory is what waits."
        for many in sorted({1, -(-item.at_least // 4)}):
            text = " ".join([sentence] * many)
            open_again(card)
            card.get_by_role("textbox").fill(text)
            card.get_by_role("button", name="Record").click()
            expect(card).to_contain_text(f"Recorded: {4 * many} words", timeout=SOON)
            short = card.get_by_text("Too short.")
            expect(short).to_have_count(int(4 * many < item.at_least), timeout=SOON)
        # The cell below, which a person grades, follows; what does not count has none.
        if self.book.cells[step.index + 1].id == f"answer_{step.name}":
            expect(self.cell(step.index + 1)).to_contain_text(sentence, timeout=SOON)

    def _save_design(self, step: Step) -> None:
        card = self.cell(step.index).locator(".mlsys-lab")
        card.get_by_role("button", name="Save my design").click()
        # A design that misses a target is saved after a warning.
        anyway = card.get_by_role("button", name="Save it anyway")
        saved = card.locator(".mlsys-lab-recorded")
        expect(anyway.or_(saved)).to_be_visible(timeout=SOON)
        if anyway.is_visible():
            anyway.click()
        expect(saved).to_contain_text("Saved", timeout=SOON)

    # What is seen.

    def trouble(self) -> list[str]:
        """Every cell that shows an error or a traceback."""
        return list(self.page.evaluate(TROUBLE))

    def finds_everything(self) -> None:
        """All that was done is shown as done: in cards, record, HUD and Lab panel."""
        frame = self.page.locator(".jp-Notebook:visible")
        # After a reload, cells are drawn one by one as the browser finds the time.
        expect(frame.locator(".jp-Cell")).to_have_count(len(self.book.cells), timeout=LATE)
        sealed = frame.locator(".mlsys-lab-sealed")
        expect(sealed).to_have_count(len(self.of(labs.Prediction)), timeout=LATE)
        expect(frame.locator(".mlsys-locked")).to_have_count(0)
        for step in self.of(labs.Reflection):
            expect(self.cell(step.index)).to_contain_text("1 attempt", timeout=LATE)
        for index in _cells_with(self.book.cells, "lab.record("):
            # Only a design that was saved although it does not fit is not done.
            done = re.compile(rf"Done|{UNFIT}")
            expect(self.cell(index)).to_contain_text(done, timeout=LATE)
            expect(self.cell(index)).not_to_contain_text("To do")
        (hud,) = _cells_with(self.book.cells, "lab.hud(")
        self.agrees()
        if self.left():
            assert [step.name for step in self.left()] == ["design"]
            expect(self.cell(hud)).to_contain_text(UNFIT)
            return
        expect(frame.get_by_text(UNFIT)).to_have_count(0)
        expect(self.cell(hud)).not_to_contain_text("To do")
        panel = self.page.get_by_role("region", name="Lab panel")
        for bar in panel.get_by_role("progressbar").all():
            expect(bar).to_have_attribute("aria-valuetext", re.compile(r"^(\d+) of \1 "))


def _choose(card: Locator, key: str) -> None:
    card.locator(f".mlsys-lab-options input[value='{key}']").check()


def _edition(cells: list[Any]) -> str:
    """The edition of the course, with its secret, as it is built into the notebook."""
    found = (re.search(r"open_lab\(.*edition='([^']*)'", cell.source) for cell in cells)
    return next((each[1] for each in found if each), "")


def _cells_with(cells: list[Any], words: str) -> list[int]:
    return [index for index, cell in enumerate(cells) if words in cell.source]


def _steps(cells: list[Any]) -> Iterator[Step]:
    """What there is to do, read from the cells that the builder made."""
    for index, cell in enumerate(cells):
        kind = cell.id.partition("_")[0]
        named = re.search(r'lab\.(?:card|reveal)\(\s*"(\w+)"', cell.source)
        if kind == "question" and named:
            yield Step(index, cell.metadata.mlsys.kind, named[1])
        elif kind in ("instrument", "design"):
            yield Step(index, kind, cell.id)
        elif kind in ("card", "reveal") and named:
            yield Step(index, kind, named[1])
