"""Told at the hand-in in a real browser: wrong, why, again on new numbers; the better counts."""

from __future__ import annotations

import getpass
import json
import re
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from mlsys_widgets.grading.gradebook.grade_history import GradeHistory
from mlsys_widgets.labs.identity import VARIABLE
from tests.browser.conftest import SETTINGS, closed, opened
from tests.browser.lab_path import SOON, Student
from tests.browser.pages import draw_all, in_theme, no_serious_violation, settled
from tests.grading.classroom import LAB, rows
from tests.grading.telling import ToldClass, in_days
from tests.grading.test_told_socket import service
from tests.sampling import keeps_pictures

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(900)]

ME = getpass.getuser()
#: The course says nothing about when it tells.
COURSE = ('second_chance = { share = 0.9, until = "2 days after due" }', f"due = {in_days(1)}")
#: How a card begins to say what it earned.
VERDICT = re.compile("Right|Partly right|Not right")


@contextmanager
def hub_of(told_class: ToldClass) -> Iterator[None]:
    """What a hub does: it notes hand-ins, judges them, and answers whoever asks."""
    told_class.note_for(ME)
    over = threading.Event()

    def note() -> None:
        while not over.wait(0.2):
            told_class.watch.look()

    noting = threading.Thread(target=note, daemon=True)
    with service(told_class):
        noting.start()
        try:
            yield
        finally:
            over.set()
            noting.join(30)


@pytest.fixture
def told_class(tmp_path) -> ToldClass:
    made = ToldClass(tmp_path, *COURSE)
    shutil.copytree(made.root / "release" / LAB, made.inbound.parent / "outbound" / LAB)
    for folder in (made.inbound.parent.parent, made.inbound):
        folder.chmod(0o777)
    return made


@pytest.fixture
def student(told_class, run_server, browser, tmp_path) -> Iterator[Student]:
    """Me at work in the lab of that course, with all but its questions done."""
    home = tmp_path / "home"
    folder = Path(shutil.copytree(told_class.home(ME), home / LAB))
    shutil.copy(told_class.root / "nbgrader_config.py", home)
    settings = tmp_path / "server" / "config" / "labconfig"
    settings.mkdir(parents=True)
    (settings / "default_setting_overrides.json").write_text(json.dumps(SETTINGS))
    command = [
        "env", f"{VARIABLE}={ME}", sys.executable, "-m", "jupyterlab",
        "--ServerApp.allow_root=True", f"--ServerApp.root_dir={home}",
    ]  # fmt: skip
    with hub_of(told_class), run_server(command, tmp_path / "server", home) as lab:
        page = opened(lab, browser, folder / f"{LAB}.ipynb")
        draw_all(page)
        page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')")
        yield Student(page, told_class.root / "assignments" / LAB, folder, ME)
        closed(lab, page)


def test_wrong_then_told_then_right_on_new_numbers_and_the_better_counts(
    student, told_class, screenshot
):
    page, (first, second) = student.page, list(told_class.right(ME))[:2]
    card, other = card_of(student, first), card_of(student, second)
    wrong = told_class.wrong(ME)[first]
    fill(card, wrong)
    card.get_by_role("button", name=re.compile("^Record")).click()
    expect(card).to_contain_text("Recorded:", timeout=SOON)
    expect(card).not_to_contain_text(VERDICT)

    dialog = begins_to_hand_in(page)
    expect(dialog).to_contain_text("You will be told at once how you did")
    expect(dialog).to_contain_text("to do")
    look(page, dialog, screenshot, "before")
    dialog.get_by_role("button", name="Hand in anyway").click()
    expect(dialog).to_contain_text("Judged so far: ", timeout=SOON)
    look(page, dialog, screenshot, "receipt")
    dialog.get_by_role("button", name="Close").click()

    expect(card).to_contain_text(VERDICT, timeout=SOON)
    expect(other).not_to_contain_text(VERDICT)  # nothing was answered, and nothing is told
    told = told_class.told(ME)[first]
    expect(card).to_contain_text(told["says"][:40])
    panel = page.get_by_role("region", name="Lab panel")
    expect(panel).to_contain_text("Your results", timeout=SOON)
    expect(panel).to_contain_text("90% of the points count, if that is better")
    look(page, card, screenshot, "told")

    card.get_by_role("button", name="Take it again on new numbers").click()
    expect(card).not_to_contain_text(VERDICT, timeout=SOON)
    look(page, card, screenshot, "again")
    fill(card, told_class.again(ME, first))
    card.get_by_role("button", name=re.compile("^Record")).click()
    expect(card).to_contain_text("Recorded:", timeout=SOON)
    dialog = begins_to_hand_in(page)
    dialog.get_by_role("button", name="Hand in anyway").click()
    expect(dialog).to_contain_text("Judged so far: ", timeout=SOON)
    dialog.get_by_role("button", name="Close").click()
    expect(card).to_contain_text("✓ Right.", timeout=SOON)
    shows_both(card, told["says"][:40])
    look(page, card, screenshot, "better")

    counted = told_class.told(ME)[first]
    assert counted["earned"] == pytest.approx(0.9 * counted["points"], abs=0.01)
    assert (counted["credit"], counted["second"]["credit"]) == (told["credit"], 1.0)
    points = {name: auto for who, name, auto, *_ in rows(told_class.root)["grade"] if who == ME}
    assert points[first] == counted["earned"]
    # The history of grades has both: what the first answer earned, and what counts since.
    changes, problems = GradeHistory(told_class.root, LAB).read()
    assert problems == []
    mine = [each.cells[first]["auto"] for each in changes if first in each.cells]
    assert [after for _, after in mine] == [told["earned"], counted["earned"]]


def shows_both(card: Locator, first_says: str) -> None:
    """Both answers are there, and which of them counts; the first explanation unfolds."""
    expect(card).to_contain_text("The second answer counts: it earned")
    expect(card).to_contain_text("Your first answer, on other numbers:")
    expect(card.get_by_text(first_says)).to_be_hidden()
    card.get_by_text("The first question, and why").click()
    expect(card.get_by_text(first_says)).to_be_visible()
    expect(card.get_by_role("button", name="Take it again")).to_have_count(0)


def card_of(student: Student, name: str) -> Locator:
    return student.cell(student.step("answer", name).index).locator(".mlsys-lab")


def fill(card: Locator, value: object) -> None:
    if isinstance(value, str):
        card.get_by_role("radio").and_(card.locator(f"[value='{value}']")).check()
    else:
        card.get_by_role("textbox").fill(f"{value:.6g}")


def begins_to_hand_in(page: Page) -> Locator:
    panel = page.get_by_role("region", name="Lab panel")
    panel.get_by_role("button", name="Hand in…").click()
    return page.get_by_role("dialog")


def on_a_phone(page: Page, part: Locator, take: Callable[[], None]) -> None:
    size = page.viewport_size
    assert size
    page.set_viewport_size({"width": 390, "height": 844})
    settled(page)
    part.scroll_into_view_if_needed()
    take()
    page.set_viewport_size(size)
    page.evaluate("jupyterapp.shell.expandRight()")  # a narrow page has folded the panel
    settled(page)


def look(page: Page, part: Locator, screenshot, when: str) -> None:
    """Take pictures for a person to look at, and have a program look for what nobody can read."""
    part.scroll_into_view_if_needed()
    for theme in ("Dark", "Light"):
        in_theme(page, theme)
        screenshot(page, f"{when}-{theme}")
        if keeps_pictures() and theme == "Light":
            on_a_phone(page, part, lambda name=f"{when}-{theme}-phone": screenshot(page, name))
    part.evaluate("part => part.setAttribute('data-looked-at', '')")
    no_serious_violation(page, "[data-looked-at]")
    part.evaluate("part => part.removeAttribute('data-looked-at')")
