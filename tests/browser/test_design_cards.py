"""An instrument with a target and the card of its design, with a kernel and without."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.pages import no_serious_violation
from tests.browser.test_instruments import instrument
from tests.made_notebooks import write_notebook

pytestmark = pytest.mark.needs("chromium")

DESIGN = """
from mlsys_widgets import DesignEntry, IronLaw, Target
from mlsys_widgets.ledger import DesignForm, Ledger
from mlsys_widgets.ledger.designs import number
led = Ledger.open("ledger.jsonl", lab="lab_99", student="student-01")
form = DesignForm("lab_99", 99, {"batch": number("images at once", 1)})
law = IronLaw(batch=8, targets=[Target("total", 120e-6, "answer promised in 120 µs")])
fields, headline = {"batch": lambda: law.batch}, lambda: f"Batch {law.batch:.0f}"
display(law, DesignEntry(fields, ledger=led, form=form, keeps={"law": law}, headline=headline))
"""


@pytest.fixture
def designed(open_notebook, run_all, tmp_path):
    """An instrument with a target, and the design that is made with it."""
    page = open_notebook(write_notebook(tmp_path / "design.ipynb", DESIGN))
    run_all(page)
    board = instrument(page, "Iron law")
    expect(board.locator(".mlsys-handle").first).to_be_attached()
    return page, board


def test_a_design_follows_its_instrument_and_warns_before_it_is_saved(designed):
    page, board = designed
    card, lamp = page.locator(".mlsys-lab"), board.locator(".mlsys-lamps li")
    expect(lamp).to_have_text("✓Answer promised in 120 µs: 106.2 µs, 13.8 µs to spare")
    expect(board.locator(".mlsys-plot text", has_text="answer promised in 120 µs")).to_be_visible()
    expect(card).to_contain_text("Batch 8: in time.")
    card.locator("summary").press("Enter")
    expect(card.get_by_text("Images at once")).to_be_visible()

    batch = board.get_by_label(re.compile("^Batch, typed"))
    batch.fill("64")
    batch.press("Enter")
    expect(lamp).to_have_text("✗Answer promised in 120 µs: 570.5 µs, 450.5 µs too late")
    expect(card).to_contain_text("Batch 64: too late.")
    expect(card.get_by_text("Images at once")).to_be_visible()  # it stays unfolded

    card.get_by_role("button", name="Save my design").press("Enter")
    expect(card).to_contain_text("Not saved yet.")
    expect(card.get_by_role("button", name="Keep designing")).to_be_focused()
    card.get_by_role("button", name="Save it anyway").press("Enter")
    expect(card).to_contain_text("Saved, does not fit")
    no_serious_violation(page, ".mlsys-lab")
    no_serious_violation(page, ".mlsys-instrument")


@pytest.fixture
def restarted(designed):
    """An instrument and a card whose kernel was restarted."""
    page, board = designed
    expect(board.locator(".mlsys-lost")).to_be_hidden()
    page.evaluate("jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    return page, board


def test_without_a_kernel_nothing_looks_alive(restarted):
    page, board = restarted
    notice = "This instrument has no kernel. Press Resume at the top of the lab."
    expect(board.locator(".mlsys-lost")).to_have_text(notice)
    for control in board.locator(".mlsys-controls :is(input, select)").all():
        expect(control).to_be_disabled()
    expect(board.get_by_role("button", name="Reset")).to_be_disabled()
    assert board.locator(".mlsys-handles").evaluate_all("all => all.every(layer => layer.inert)")
    card = page.locator(".mlsys-lab-trouble")
    expect(card).to_have_text(
        "This card has no kernel. What you enter is kept, but nothing can be recorded until you"
        " press Resume at the top of the lab."
    )
    page.get_by_role("button", name="Save my design").click()
    expect(card).to_contain_text("This card has no kernel")
