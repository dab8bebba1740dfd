"""What is typed is never lost: not to a restarted kernel, a reload, another browser or window."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from mlsys_widgets.ledger import Ledger
from tests.browser.conftest import KERNEL_IS_IDLE, Lab, closed, opened
from tests.browser.pages import cards_come_up, draw_all, open_again, restart_and_run_all
from tests.browser.tampering import INTERCEPT, have_a_bad_day, lose_one, slow_down
from tests.made_notebooks import write_notebook
from tests.sampling import takes_everything
from tests.waiting import wait_for

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(900)]

SETUP = """\
from mlsys_widgets import ConfidenceQuiz, PredictionLock, Question
from mlsys_widgets.cards.question_card import QuestionCard
from mlsys_widgets.labs import Essay, Number
from mlsys_widgets.ledger import Ledger
led = Ledger.open("ledger.jsonl", lab="lab_07_kernel_fusion", student="student-01")
import os, pathlib
_ = pathlib.Path("pid").write_text(str(os.getpid()))"""
LOCK = """\
PredictionLock("act1", question="How busy is the GPU?", unit="%", ledger=led, title="A prediction",
    options={"A": "about 95%", "B": "about 33%"}, values={"A": 0.95, "B": 0.33})"""
NUMBER = """\
QuestionCard("watts", Number("How much power?", "watts", points=5, low=1, high=1000,
    title="Power"), ledger=led)"""
ESSAY = """\
QuestionCard("essay", Essay("Why does fusing help?", title="Why",
    rubric=((5, "names memory traffic"),)), ledger=led)"""
QUIZ = """\
ConfidenceQuiz("quiz", [Question(f"q{k}", f"Question {k}?", {"a": "yes", "b": "no"}, right="a")
    for k in range(1, 5)], ledger=led, title="A quiz")"""
CELLS = [SETUP, LOCK, NUMBER, ESSAY, QUIZ]
#: The command ends with its dialog, so it is not waited for.
CHECK = "() => { void jupyterapp.commands.execute('mlsys:check-what-is-missing'); }"
STEPS = {"watts": "Power", "essay": "Why"}


class Work:
    """Somebody at work in a folder, in as many windows as it takes."""

    def __init__(self, lab: Lab, browser: Browser, folder: Path) -> None:
        self.lab, self.browser, self.folder = lab, browser, folder
        self.notebook = write_notebook(folder / "lab.ipynb", *CELLS)
        self.pages: list[Page] = []

    def make_a_lab(self) -> None:
        """Have the notebook say that it is a lab, and which of its cells are steps."""
        book = nbformat.read(self.notebook, 4)
        book.metadata.mlsys = {"lab": "lab_07_kernel_fusion", "title": "A lab"}
        for cell, (name, title) in zip(book.cells[2:4], STEPS.items(), strict=True):
            cell.metadata.mlsys = {"kind": "answer", "id": name, "title": title}
        nbformat.write(book, self.notebook)

    def window(self, script: str = "") -> Page:
        """Open the notebook in a browser that has never seen it; a script runs before its pages."""
        page = opened(self.lab, self.browser, self.notebook, f"{INTERCEPT};{script}")
        self.pages.append(page)
        if takes_everything():
            slow_down(page)
        draw_all(page)
        return page

    @property
    def drafts(self) -> dict:
        path = self.folder / "drafts.json"
        return json.loads(path.read_text()) if path.exists() else {}

    def kept(self, words: str) -> None:
        """Wait until something typed lies beside the ledger."""
        wait_for(lambda: words in json.dumps(self.drafts), f"{words} beside the ledger")

    def recorded(self, name: str, value: object, **more: str) -> None:
        """Have another kernel of the same lab record something, which no page hears of."""
        path = self.folder / "ledger.jsonl"
        ledger = Ledger.open(path, lab="lab_07_kernel_fusion", student="student-01")
        ledger.record_answer(name, value, **more)

    def state(self):
        return Ledger.open(self.folder / "ledger.jsonl").state()


@pytest.fixture
def work(lab_server, browser, tmp_path):
    folder = lab_server.folder / tmp_path.name
    folder.mkdir()
    made = Work(lab_server, browser, folder)
    yield made
    for page in made.pages:
        closed(lab_server, page)


@pytest.fixture
def page(work, run_all: Callable[[Page], None]) -> Page:
    shown = work.window()
    run_all(shown)
    return shown


def card(page: Page, title: str) -> Locator:
    heading = page.get_by_role("heading", name=title)
    return page.locator(".mlsys-lab").filter(has=heading)


def type_everything(page: Page) -> None:
    card(page, "A prediction").get_by_text("about 33%").click()
    card(page, "Power").get_by_role("textbox").fill("160 or so")
    card(page, "Why").get_by_role("textbox").fill("Intermediate results stay in registers.")
    quiz = card(page, "A quiz")
    for k in range(3):
        quiz.get_by_role("radio", name="no").nth(k).check()


def everything_is_there(page: Page) -> None:
    expect(card(page, "A prediction").get_by_role("radio", name="about 33%")).to_be_checked()
    expect(card(page, "Power").get_by_role("textbox")).to_have_value("160 or so")
    essay = card(page, "Why").get_by_role("textbox")
    expect(essay).to_have_value("Intermediate results stay in registers.")
    quiz = card(page, "A quiz")
    for k in range(3):
        expect(quiz.get_by_role("radio", name="no").nth(k)).to_be_checked()
    expect(quiz.get_by_role("radio", name="no").nth(3)).not_to_be_checked()


def test_drafts_outlive_kernel_page_and_browser(work, page):
    have_a_bad_day(page)
    type_everything(page)
    expect(card(page, "Why")).to_contain_text("Kept as a draft. It is not recorded yet.")
    # At once: the kernel is killed before anything could have reached it.
    restart_and_run_all(page)
    everything_is_there(page)
    work.kept("registers")
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    another = work.window()
    everything_is_there(another)
    # What is recorded wins over what is older, in every window.
    power = card(another, "Power")
    box = power.locator("input[type=text]")
    box.fill("160")
    lose_one(page)
    power.get_by_role("button", name="Record my answer").click()
    # What is recorded is a line, and its box is out of sight.
    expect(card(page, "Power")).to_contain_text("Recorded: 160 watts")
    expect(card(page, "Power").locator("input[type=text]")).to_have_value("160")
    expect(card(page, "Power").get_by_role("textbox")).to_have_count(0)
    wait_for(lambda: "watts" not in work.drafts, "the draft to go")
    # Typed since: marked, in sight after a restart too, and one click away from what is recorded.
    power.get_by_role("button", name="Change: Power").press("Enter")
    expect(box).to_be_focused()
    box.fill("170 W or more")
    expect(power).to_contain_text("the change is not recorded yet")
    work.kept("170 W")
    restart_and_run_all(another)
    expect(box).to_be_visible()
    expect(box).to_have_value("170 W or more")
    power.get_by_role("button", name="Undo my change").click()
    expect(box).to_have_value("160")
    expect(box).to_be_hidden()
    expect(power).not_to_contain_text("not recorded yet")


@pytest.mark.slow
def test_a_sealed_prediction_leaves_no_draft(work, page):
    lock = card(page, "A prediction")
    lock.get_by_text("about 33%").click()
    lock.locator(".mlsys-lab-confidence input[value='4']").check()
    work.kept("confidence")
    lock.get_by_role("button", name="Commit my prediction").click()
    lock.get_by_role("button", name="Seal it").click()
    expect(lock).to_contain_text("Sealed:")
    wait_for(lambda: not work.drafts, lambda: f"no drafts, but there are {work.drafts}")


@pytest.mark.slow
def test_windows_of_one_browser_follow_each_other(work, page):
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    other = page.context.new_page()
    other.goto(page.url)
    cards_come_up(other)
    one, two = (card(each, "Why").get_by_role("textbox") for each in (page, other))
    expect(two).to_be_visible()
    one.fill("Bytes")
    expect(two).to_have_value("Bytes")
    two.press_sequentially(" stay")
    expect(one).to_have_value("Bytes stay")
    # A hub serves everybody from one address: drafts are filed under the server of one user.
    kept = page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('mlsys-draft'))")
    assert kept
    assert all(work.lab.url in key for key in kept)


@pytest.mark.slow
def test_what_two_browsers_typed_at_once_is_a_choice(work, page):
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    other = work.window()
    one, two = (card(each, "Why").get_by_role("textbox") for each in (page, other))
    expect(two).to_be_visible()
    one.fill("Typed at home.")
    two.fill("Typed in the library.")
    work.kept("home")
    work.kept("library")
    page.reload()
    cards_come_up(page)
    why = card(page, "Why")
    expect(why).to_contain_text("Another window has something else here")
    texts = {"Typed at home.", "Typed in the library."}
    shown = why.get_by_role("textbox").input_value()
    (hidden,) = texts - {shown}
    expect(why).to_contain_text(hidden)
    why.get_by_role("button", name="Use that").click()
    expect(why.get_by_role("textbox")).to_have_value(hidden)
    expect(why).not_to_contain_text("Another window")


def test_what_stands_in_boxes_is_named_and_recorded_before_handing_in(work, run_all):
    work.make_a_lab()
    page = work.window()
    run_all(page)
    power = card(page, "Power")
    power.get_by_role("textbox").fill("150")
    have_a_bad_day(page)
    lose_one(page)
    power.get_by_role("button", name="Record my answer").click()
    expect(power).to_contain_text("Recorded: 150 watts")
    # From within a card, where JupyterLab hears no shortcuts.
    dirty = page.locator(".lm-TabBar-tab.lm-mod-current.jp-mod-dirty")
    expect(dirty).to_have_count(1)
    open_again(power)
    power.get_by_role("textbox").press("Control+s")
    expect(dirty).to_have_count(0)
    power.get_by_role("textbox").fill("160")
    card(page, "Why").get_by_role("textbox").fill("Registers.")
    page.evaluate(CHECK)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("not recorded")
    expect(dialog).to_contain_text("160")
    expect(dialog).to_contain_text("Registers.")
    dialog.get_by_role("button", name="Record it").click()
    expect(power).to_contain_text("Recorded: 160 watts")
    expect(page.get_by_role("dialog")).to_contain_text("What is missing?")
    assert work.state().answers["essay"].value == "Registers."
    # On the dialog itself: a key pressed before it has the focus goes to the page below, and the
    # next dialog waits behind this one for good.
    dialog.press("Escape")
    expect(dialog).to_be_hidden()
    # What cannot be recorded is named with the reason, and the card is one click away.
    open_again(power)
    power.get_by_role("textbox").fill("160 lumens")
    page.evaluate(CHECK)
    page.get_by_role("button", name="Record it").click()
    expect(page.get_by_role("dialog")).to_contain_text("lumens")
    page.get_by_role("button", name="Go to it").click()
    expect(power.get_by_role("textbox")).to_have_value("160 lumens")
    assert work.state().answers["watts"].value == 160


@pytest.mark.slow
def test_a_refusal_that_is_lost_on_its_way_takes_no_entry_along(work, page):
    power = card(page, "Power")
    power.get_by_role("textbox").fill("7 lumens")
    lose_one(page)
    power.get_by_role("button", name="Record my answer").click()
    # The page hears that it was answered, and learns the rest a moment later.
    expect(power.get_by_role("alert")).to_contain_text("lumens")
    expect(power.get_by_role("textbox")).to_have_value("7 lumens")
    expect(power).to_contain_text("not recorded yet")


#: The clock of this browser is a day behind that of the server.
BEHIND = "(() => { const now = Date.now; Date.now = () => now() - 864e5; })()"


@pytest.mark.slow
def test_drafts_are_named_on_a_page_that_was_loaded_again_without_a_kernel(work, run_all):
    """It has no cards then, and drafts all the same: those that are newer than the record.

    Which those are is told by what they were typed over, and not by clocks.
    """
    work.make_a_lab()
    page = work.window(BEHIND)
    run_all(page)
    power, why = card(page, "Power"), card(page, "Why")
    power.get_by_role("textbox").fill("150")
    power.get_by_role("button", name="Record my answer").click()
    expect(power).to_contain_text("Recorded: 150 watts")
    open_again(power)
    power.get_by_role("textbox").fill("160")
    why.get_by_role("textbox").fill("Registers.")
    work.kept("160")
    work.kept("Registers.")
    page.evaluate("jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    # Recorded since, in another window whose news never came here.
    work.recorded("essay", "Fewer bytes.")
    page.reload()
    page.get_by_role("region", name="Lab panel").get_by_text("Check what is missing").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Some of what you entered is not recorded")
    expect(dialog).to_contain_text("you entered “160”")
    expect(dialog).not_to_contain_text("Registers")


@pytest.mark.slow
def test_what_is_typed_after_an_answer_that_nobody_heard_of_stays(work, page):
    """The kernel has recorded it and died before it could say so; one goes on writing."""
    why = card(page, "Why")
    box = why.get_by_role("textbox")
    box.fill("Fewer bytes.")
    kernel = int((work.folder / "pid").read_text())
    os.kill(kernel, signal.SIGSTOP)
    try:
        why.get_by_role("button", name="Record my answer").click()
        work.recorded("essay", "Fewer bytes.")
        expect(why).to_contain_text("it is in the ledger")
        box.fill("Fewer bytes. They stay in registers.")
        work.kept("They stay")
    finally:
        os.kill(kernel, signal.SIGKILL)
    page.reload()
    page.wait_for_function("window.jupyterapp?.shell.currentWidget?.content?.notebookConfig")
    draw_all(page)
    page.wait_for_function(KERNEL_IS_IDLE)
    restart_and_run_all(page)
    expect(why).to_contain_text("Recorded:")
    expect(box).to_have_value("Fewer bytes. They stay in registers.")
    expect(why).to_contain_text("the change is not recorded yet")


def test_a_card_says_what_is_known(work, page):
    """Recorded, seen in the ledger; or not recorded; or not known yet, and asked again."""
    power = card(page, "Power")
    kernel = int((work.folder / "pid").read_text())
    os.kill(kernel, signal.SIGSTOP)
    try:
        power.get_by_role("textbox").fill("150")
        power.get_by_role("button", name="Record my answer").click()
        expect(power).to_contain_text("Not known yet whether this is recorded")
        # It is recorded, and the answer is slow: another kernel of the same lab stands in for that.
        work.recorded("watts", 150.0, unit="watts")
        expect(power).to_contain_text("it is in the ledger")
        expect(power).not_to_contain_text("Not known yet")
    finally:
        os.kill(kernel, signal.SIGCONT)
    expect(power).to_contain_text("Recorded: 150 watts")
    expect(power).not_to_contain_text("it is in the ledger")
    # The kernel dies with an answer under way that never reached the ledger.
    os.kill(kernel, signal.SIGSTOP)
    open_again(power)
    power.get_by_role("textbox").fill("151")
    power.get_by_role("button", name="Record the change").click()
    expect(power.locator("[aria-busy=true]")).to_be_visible()
    os.kill(kernel, signal.SIGKILL)
    expect(power).to_contain_text("Not recorded")
    expect(power.get_by_role("textbox")).to_have_value("151")
