"""Practice in a real browser: answer wrong, read why, another one, right; all of it stays."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from mlsys_widgets.authoring.practice_copies import practice_copies
from mlsys_widgets.course.course import Course
from mlsys_widgets.judging import Given
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.labs import load
from mlsys_widgets.labs.attempts import Attempts
from mlsys_widgets.labs.practice import EDITION
from tests.browser.lab_path import SOON, Student
from tests.browser.pages import draw_all, in_theme, no_serious_violation, restart_and_run_all

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(900)]

LAB, NAME = "lab_07_kernel_fusion", "launch_budget_us"
SIZES = {"laptop": (1280, 720), "phone": (390, 844)}


def test_wrong_then_why_then_another_one_right_and_nothing_is_lost(
    root, lab_server, open_notebook, run_all, tmp_path, screenshot
):
    place = lab_server.folder / tmp_path.name
    practice_copies(Course.at(root), place)
    folder = place / LAB
    page = open_notebook(folder / f"{LAB}.ipynb")
    draw_all(page)
    run_all(page)
    student = Student(page, folder, folder, lab_server.student)
    expect(page.locator(".mlsys-lab", has_text="Nothing is graded").first).to_be_visible()
    for gate in student.items[NAME].after:
        student.do(student.step("card", gate))

    attempts, check = Attempts(load(folder), lab_server.student, EDITION), load_checks(folder)[NAME]
    keys = [check(Given(attempts.at(NAME, k).p, folder)) for k in range(3)]
    card = student.cell(student.step("answer", NAME).index).locator(".mlsys-lab")
    title = card.locator(".mlsys-lab-title")

    def answer(value: float) -> None:
        card.get_by_role("textbox").fill(f"{value:.6g}")
        card.get_by_role("button", name=re.compile("Record")).click()

    # A known mistake: told which, and how it is solved, and never praised.
    mistake = keys[0].beliefs[0]
    answer(mistake.value)
    expect(card).to_contain_text("✗ Not right.", timeout=SOON)
    expect(card).to_contain_text(mistake.says[:40])
    expect(card).not_to_contain_text("✓")
    card.get_by_text("The solution with your numbers").click()
    said = float(f"{keys[0].value:.4g}")
    expect(card).to_contain_text(attempts.at(NAME, 0).item.in_words(said))
    expect(title).to_contain_text("○○ not mastered yet")
    look(page, card, screenshot, "wrong")

    for k, words in ((1, "●○ right at the first try once"), (2, "●● mastered")):
        card.get_by_role("button", name="Another one like this").click()
        expect(card.get_by_role("textbox")).to_have_value("", timeout=SOON)
        expect(card).not_to_contain_text("Not right")
        answer(keys[k].value)
        expect(card).to_contain_text("✓ Right.", timeout=SOON)
        expect(title).to_contain_text(words)
    panel = page.get_by_role("region", name="Lab panel")
    if not panel.is_visible():  # the phone had no room for it
        page.get_by_role("tab", name="Lab panel").click()
    expect(panel).to_contain_text("●● mastered", timeout=SOON)
    expect(panel.get_by_role("button", name="Hand in")).to_have_count(0)

    restart_and_run_all(page)
    expect(title).to_contain_text("●● mastered", timeout=SOON)
    expect(card).to_contain_text("✓ Right.")
    assert not page.evaluate("""() => jupyterapp.shell.currentWidget.content.model.toJSON().cells
      .some(cell => JSON.stringify(cell.outputs ?? []).includes('"error"'))""")
    look(page, card, screenshot, "mastered")


def look(page: Page, card, screenshot, when: str) -> None:
    """Take pictures for a person to look at, and have a program look for what nobody can read."""
    whole = page.viewport_size
    for theme in ("Dark", "Light"):
        in_theme(page, theme)
        for name, (width, height) in SIZES.items():
            page.set_viewport_size({"width": width, "height": height})
            card.scroll_into_view_if_needed()
            screenshot(page, f"{when}-{theme}-{name}")
        page.set_viewport_size(whole)
    card.evaluate("card => card.setAttribute('data-looked-at', '')")
    no_serious_violation(page, "[data-looked-at]")
