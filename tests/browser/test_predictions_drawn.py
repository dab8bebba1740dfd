"""A prediction stands on an instrument only while its settings are those it was about."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.pages import draw_all
from tests.browser.tampering import INTERCEPT, have_a_bad_day, lose_one
from tests.made_notebooks import write_notebook

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(900)]

LEDGER = "led = Ledger.open('ledger.jsonl', lab='lab_07_kernel_fusion', student='student-01')"
LOCK = """lock = PredictionLock("busy", question="How busy?", unit="%", low=0, high=1, ledger=led,
    quantity="utilization", settings={"device": "a100-sxm", "mode": "eager", "launch": "serial"})
_ = lock.commit("33%", 4)"""
OTHER = """other = PredictionLock("real", question="And on a real GPU?", unit="%", ledger=led)
_ = other.commit("33%", 4)"""


@pytest.fixture
def notebook(tmp_path) -> Path:
    """One instrument behind a prediction about it, and one behind a prediction about no setting."""
    sources = [
        "from mlsys_widgets import DispatchWaterfall, PredictionLock\n"
        f"from mlsys_widgets.ledger import Ledger\n{LEDGER}\n{LOCK}\n{OTHER}",
        "DispatchWaterfall(lock=lock)",
        "DispatchWaterfall(device='h200-sxm', lock=other)",
    ]
    return write_notebook(tmp_path / "predicted.ipynb", *sources)


def test_it_goes_with_its_settings_and_comes_back(open_notebook, run_all, notebook, screenshot):
    page = open_notebook(notebook, script=INTERCEPT)
    draw_all(page)
    run_all(page)
    have_a_bad_day(page)
    about, unrelated = (page.locator(".mlsys-instrument").nth(k) for k in range(2))
    sentence = about.locator(".mlsys-readout").get_by_role("status")
    expect(about).to_contain_text("Your prediction, 33%")
    expect(sentence).not_to_contain_text("prediction")
    lose_one(page)
    about.locator("label", has_text=re.compile("^Asynchronous$")).click()
    expect(sentence).to_contain_text(
        "Your prediction of 33% is about other settings (Launches: Serial)."
    )
    expect(about).not_to_contain_text("Your prediction, 33%")
    screenshot(page, "elsewhere")
    lose_one(page)
    about.locator("label", has_text=re.compile("^Serial$")).click()
    expect(about).to_contain_text("Your prediction, 33%")
    expect(unrelated.locator(".mlsys-readout")).to_contain_text("Utilization")
    expect(unrelated).not_to_contain_text("prediction")
