"""Cards, HUD, record, panel and status bar tell one story of a lab, from to do to handed in.

The browser is as slow as that of a student on an old machine, messages are late, and one is lost.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from mlsys_widgets.ledger import Ledger
from mlsys_widgets.ledger.handed_in import read_hand_in
from tests.browser.pages import (
    draw_all,
    no_serious_violation,
    open_again,
    restart_and_run_all,
)
from tests.browser.tampering import INTERCEPT, have_a_bad_day, lose_one
from tests.grading.classroom import LAB, classroom

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(900)]

#: Milliseconds that a condition may take to come true on a machine that others use too.
SOON = 240_000
CLOCK = r"\w{3} \d+ \w{3}, \d\d:\d\d"


class Story:
    """A page with the lab, and what its parts say."""

    def __init__(self, page: Page) -> None:
        self.page = page
        have_a_bad_day(page)
        self.panel = page.get_by_role("region", name="Lab panel")
        self.status = page.locator(".mlsys-Status button")
        self.dialog = page.get_by_role("dialog")

    def card(self, title: str) -> Locator:
        """The card with a title."""
        head = self.page.locator(".mlsys-lab-head", has_text=title)
        return self.page.locator(".mlsys-lab", has=head)

    def step(self, name: str) -> Locator:
        """The line of a step on the panel."""
        return self.panel.get_by_role("button", name=name)

    def hand_in(self, button: str) -> None:
        """Hand in, whatever is missing, and close the receipt."""
        anyway = self.dialog.get_by_role("button", name="Make the file anyway")
        # As a person does: a click that met a panel while it was drawn anew is made again.
        for _ in range(3):
            if not self.dialog.count():
                self.panel.get_by_role("button", name=button).click()
            with suppress(AssertionError):
                expect(anyway).to_be_visible(timeout=SOON / 3)
                break
        anyway.click()
        expect(self.dialog).to_contain_text("Your file is ready")
        self.dialog.get_by_role("button", name="Close").click()
        expect(self.dialog).to_have_count(0)

    def choose(self, card: Locator, key: str, button: str) -> None:
        """Choose an option of a card, and press its button."""
        open_again(card)
        card.locator(f"input[value='{key}']").check()
        card.get_by_role("button", name=button).click()


@pytest.fixture
def notebook(lab_server, tmp_path) -> Path:
    course = classroom(tmp_path / "course")
    return course.give(lab_server.folder / tmp_path.name / LAB) / f"{LAB}.ipynb"


@pytest.fixture
def story(notebook, open_notebook, run_all) -> Story:
    page = open_notebook(notebook, script=INTERCEPT)
    draw_all(page)
    run_all(page)
    return Story(page)


@pytest.mark.slow
def test_a_lab_is_handed_in_changed_and_handed_in_again(
    story, notebook, open_notebook, run_all, screenshot
):
    page, folder = story.page, notebook.parent
    # What a student did before: the gates of the cards below are open.
    led = Ledger.open(folder / "ledger.jsonl", lab=LAB, student="student-01")
    led.commit_prediction("act1_bound", "A", 3)
    led.record_answer("intensity_flop_per_byte", 100)
    run_all(page)
    record, hud = story.card("What your ledger holds"), story.card("Your lab")
    why, limit = story.card("What helps?"), story.card("Would twice the side do?")

    # To do, tried, recorded and done, in the same words everywhere.
    expect(record).to_contain_text("○ To do", timeout=SOON)
    story.choose(why, "more", "Answer")
    expect(why).to_contain_text("Not yet.", timeout=SOON)
    expect(record).to_contain_text("◐ Tried, not right yet", timeout=SOON)
    expect(record).to_contain_text("what you have tried counts")
    expect(hud).to_contain_text("◐ Tried, not right yet")
    expect(story.step("Reflect: What helps? (tried, not right yet)")).to_be_visible(timeout=SOON)
    story.choose(limit, "memory", "Record my answer")
    expect(limit).to_contain_text("You can change it until you hand in.", timeout=SOON)
    answered = story.step("Answer: ").filter(has_text="(recorded)")
    expect(answered).to_have_count(2, timeout=SOON)
    expect(answered.first.locator(".mlsys-Lab-mark")).to_have_text("●")
    expect(hud.get_by_text("● Recorded")).to_have_count(2)
    expect(hud.get_by_text("✓ Done")).to_have_count(1)  # the prediction: nothing to be right about
    expect(story.status).to_have_text(re.compile("^Lab: 3 of 5 done, saved"), timeout=SOON)

    handed_in(story, limit, hud)
    screenshot(page, "handed-in")
    no_serious_violation(page, "#mlsys-lab-panel")

    # A change afterward: what was handed in is older, and there is a way out.
    section = story.panel.get_by_role("region", name="File to hand in")
    lose_one(page)
    story.choose(limit, "compute", "Record the change")
    older = re.compile(f"Changed since you made the file to hand in, {CLOCK}.*; hand in again.")
    expect(limit).to_contain_text(older, timeout=SOON)
    expect(section).to_contain_text("That file is older than your work", timeout=SOON)
    expect(story.status).to_have_text(re.compile("file to hand in made .*, changed since$"))
    expect(hud).to_contain_text("● Recorded, not in the file yet")
    expect(hud).to_contain_text("you have recorded something since; hand in again")
    screenshot(page, "older")

    # The same after a restart of the kernel, and in a second tab.
    restart_and_run_all(page)
    expect(limit).to_contain_text(older, timeout=SOON)
    second = Story(open_notebook(notebook))
    expect(second.status).to_have_text(re.compile("changed since$"), timeout=SOON)
    expect(second.panel).to_contain_text("That file is older than your work")

    # Handed in again from the second tab: both tabs and the cards know.
    second.hand_in("Hand in again…")
    assert read_hand_in(folder).head == led.head
    for each in (second, story):
        expect(each.panel).to_contain_text("It holds everything that you have recorded.")
        expect(each.status).not_to_contain_text("changed since")
    expect(limit).to_contain_text(re.compile(f"In the file to hand in of {CLOCK}"), timeout=SOON)
    expect(hud.get_by_text("↑ In the file")).to_have_count(3)


def handed_in(story: Story, limit: Locator, hud: Locator) -> None:
    """Hand in: panel, status bar and cards say so, with the time."""
    panel = story.panel
    panel.get_by_role("button", name="Hand in…").click()
    expect(story.dialog).to_contain_text("“What helps?”: tried, not right yet.")
    story.dialog.get_by_role("button", name="Go back").click()
    story.hand_in("Hand in…")
    section = panel.get_by_role("region", name="File to hand in")
    expect(section).to_contain_text(re.compile(f"{LAB}-student-01.zip, made {CLOCK}"), timeout=SOON)
    expect(section).to_contain_text("It holds everything that you have recorded.")
    expect(story.status).to_have_text(re.compile(r"3 of 5 done, file to hand in made \d\d:\d\d$"))
    expect(limit).to_contain_text(re.compile(f"In the file to hand in of {CLOCK}"), timeout=SOON)
    expect(limit).to_contain_text("You can change it and hand in again.")
    expect(hud.get_by_text("↑ In the file")).to_have_count(3)
    expect(hud).to_contain_text("◐ In the file, not right yet")
