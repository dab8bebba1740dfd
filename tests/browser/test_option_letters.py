"""Letters before options are positions; what is recorded is the option."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from mlsys_widgets.ledger import Ledger
from tests.browser.pages import draw_all
from tests.labs.rehearsal import ROOT
from tests.made_notebooks import write_notebook

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(900)]

LAB, ITEM = "lab_11_roofline", "act1_wall"


@pytest.fixture
def notebook(tmp_path) -> Path:
    """A prediction of a lab, as two students have it."""
    opens = f"""
from mlsys_widgets import PredictionLock
from mlsys_widgets.labs import load
from mlsys_widgets.ledger import Ledger

lab = load({str(ROOT / "assignments" / LAB)!r})


def card(who):
    ledger = Ledger.open(f"{tmp_path}/{{who}}.jsonl", lab={LAB!r}, student=who)
    return PredictionLock({ITEM!r}, lab.items(lab.draw(who))[{ITEM!r}], ledger=ledger)
"""
    return write_notebook(tmp_path / "letters.ipynb", opens, "card('ann')", "card('ben')")


def test_letters_say_where_an_option_stands(open_notebook, run_all, notebook, screenshot):
    page = open_notebook(notebook)
    draw_all(page)
    run_all(page)
    orders = []
    for k in range(2):
        options = page.locator(".mlsys-lab-options").nth(k)
        expect(options.locator("label")).to_have_count(4)
        assert options.locator("label b").all_inner_texts() == ["A", "B", "C", "D"]
        orders.append(options.locator("label span").all_inner_texts())
    assert sorted(orders[0]) == sorted(orders[1])
    assert orders[0] != orders[1]
    card = page.locator(".mlsys-lab-options").first.locator("xpath=ancestor::fieldset")
    card.locator("label", has_text="The memory: each byte brings too few FLOP for the chip").click()
    screenshot(page, "letters")
    page.locator("label", has_text="3").first.click()
    page.get_by_role("button", name="Commit my prediction…").first.click()
    page.get_by_role("button", name="Seal it").first.click()
    sealed = page.locator(".mlsys-lab-sealed").first
    expect(sealed).to_contain_text("The memory: each byte brings too few FLOP for the chip")
    state = Ledger.open(notebook.parent / "ann.jsonl", lab=LAB, student="ann").state()
    assert state.predictions[ITEM].value == "C"
