"""What a student writes reads as it was typed, on every page, and runs nowhere."""

from __future__ import annotations

import copy
import subprocess
import sys

import nbformat
import pytest
from playwright.sync_api import Page, expect

from mlsys_widgets.grading.feedback.inert import make_inert
from mlsys_widgets.grading.reading.recorded_answers import place_essays
from mlsys_widgets.ledger import Ledger
from mlsys_widgets.notebooks.essay_cells import typed_text
from tests.browser.pages import draw_all
from tests.browser.tampering import INTERCEPT, have_a_bad_day, lose_one
from tests.browser.test_inert_pages import GO, page_of
from tests.grading.classroom import LAB, classroom

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(900)]

ESSAY = (
    f"If a < b, *stars* and `ticks` stay, so do $x$ and $$y$$.\n\n# no heading\n"
    f"~~~\n<script>{GO}</script> </script> </pre> &lt; <img src=x onerror='{GO}'>\n"
    r"\(z\) [link](javascript:go()) ~~~~"
)


def quiet(page: Page, html, tmp_path) -> None:
    """Open a page, and see that nothing ran and nothing became a formula or a heading."""
    (tmp_path / "page.html").write_text(html, "utf-8")
    page.goto((tmp_path / "page.html").as_uri(), wait_until="load")
    page.mouse.move(5, 5)
    assert page.evaluate("window.ran || 0") == 0
    assert page.get_by_role("heading", name="no heading").count() == 0
    block = page.locator("pre", has_text="If a < b").first
    assert block.inner_text().rstrip("\n") == ESSAY


@pytest.mark.slow
def test_from_the_card_to_every_page(lab_server, open_notebook, run_all, browser, tmp_path):
    course = classroom(tmp_path / "course")
    folder = course.give(lab_server.folder / tmp_path.name / LAB)
    notebook = folder / f"{LAB}.ipynb"
    led = Ledger.open(folder / "ledger.jsonl", lab=LAB, student="student-01")
    led.commit_prediction("act1_bound", "A", 3)
    led.record_reflection("act1_why", "larger", correct=True)
    page = open_notebook(notebook, script=INTERCEPT)
    draw_all(page)
    run_all(page)
    have_a_bad_day(page)

    # Typed into the card, and shown in the cell by the panel.
    card = page.locator(".mlsys-lab", has=page.locator("textarea")).first
    card.locator("textarea").fill(ESSAY)
    lose_one(page)
    card.get_by_role("button", name="Record my answer").click()
    expect(card).to_contain_text("Recorded:")
    block = page.locator(".jp-MarkdownCell pre", has_text="If a < b")
    expect(block).to_be_visible()
    assert block.inner_text().rstrip("\n") == ESSAY
    assert block.locator("mjx-container").count() == 0
    assert page.evaluate("window.ran || 0") == 0
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    page.wait_for_function("!jupyterapp.shell.currentWidget.context.model.dirty")

    # Stock nbconvert makes a page of the notebook alone.
    book = nbformat.read(notebook, 4)
    essay = next(cell for cell in book.cells if cell.id == "answer_advice")
    assert typed_text(essay.source) == ESSAY == led.state().answers["advice"].value
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--stdout", str(notebook)]
    made = subprocess.run(command, capture_output=True, check=True, timeout=120).stdout.decode()
    reader = browser.new_page()
    quiet(reader, made, tmp_path)

    # Whoever grades it, and the student who gets it back, read the same.
    graded = copy.deepcopy(book)
    place_essays(graded.cells, {"advice": ESSAY})
    make_inert(graded)
    quiet(reader, page_of("formgrade", graded), tmp_path)
    for cell in graded.cells:  # for whose scores the page would ask a gradebook
        cell.metadata.pop("nbgrader", None)
    quiet(reader, page_of("feedback", graded), tmp_path)
    reader.close()
