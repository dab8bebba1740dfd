"""A lab in Firefox, as a person uses it: from Start to its first reveal, and on after a reload."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from mlsys_widgets.ledger import Ledger
from tests.browser.pages import DRAW_ALL
from tests.grading.classroom import LAB
from tests.lite.firefox import firefox

BANNER = ".mlsys-Banner .mlsys-Start-button"
RUNS = "() => document.querySelector('.mlsys-Banner')?.classList.contains('lm-mod-hidden')"
NOTEBOOK = "window.jupyterapp?.shell.currentWidget?.content"
STORED = """path => window.jupyterapp.serviceManager.contents
  .get(path, { content: true }).then(({ content }) => content)"""
READOUT = "() => document.querySelector('.mlsys-readout').textContent"


@pytest.mark.needs("firefox")
def test_a_lab_reveals_in_firefox_and_its_record_survives_a_reload(demo: str, tmp_path: Path):
    with firefox(tmp_path) as page:
        page.open(f"{demo}/lab/index.html?path={LAB}/{LAB}.ipynb")
        page.click(BANNER, "Start")
        page.click(".jp-Dialog input")
        page.type("ann")
        page.click(".jp-Dialog button", "That is me")
        page.wait_until(RUNS)
        page.evaluate(f"() => ({DRAW_ALL})({NOTEBOOK})")

        page.click(".mlsys-lab-options label", "its memory")
        page.click(".mlsys-lab-confidence label:last-of-type")
        page.click(".mlsys-lab-frame button", "Commit my prediction")
        page.click(".mlsys-lab-frame button", "Seal it")
        page.wait_for(".mlsys-lab-sealed", "Sealed")
        page.click(".mlsys-instrument input[type=range]")
        before = page.evaluate(READOUT)
        page.type("\ue012")  # to the left, by the code of that key
        page.wait_until(f"before => ({READOUT})() !== before", before)
        page.click(".mlsys-lab-frame button", "Compare with the")
        page.wait_for(".mlsys-lab", "You predicted")

        record = page.evaluate(STORED, f"{LAB}/ledger.jsonl")
        page.open(f"{demo}/lab/index.html?path={LAB}/{LAB}.ipynb")
        page.click(BANNER, "Resume")
        page.wait_until(RUNS)
        page.wait_for(".mlsys-lab-sealed", "Sealed")
        after = page.evaluate(STORED, f"{LAB}/ledger.jsonl")
        asked = {urlsplit(each) for each in page.asked}
    assert after.startswith(record)
    stored = tmp_path / "ledger.jsonl"
    stored.write_text(after, "utf-8")
    assert Ledger.open(stored).verify().ok
    events = [json.loads(line) for line in record.splitlines()]
    assert [each["id"] for each in events if each["kind"] == "prediction"] == ["act1_bound"]
    assert {each["student"] for each in events if "student" in each} <= {"ann"}
    elsewhere = {each for each in asked if each.scheme not in ("about", "blob", "data")}
    assert {each.netloc for each in elsewhere} == {urlsplit(demo).netloc}
