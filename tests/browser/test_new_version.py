"""A corrected version is taken over with one click, with what was typed and not yet saved."""

from __future__ import annotations

import json
import re
import shutil

import pytest
from playwright.sync_api import expect

from mlsys_widgets.files import LEDGER
from tests.browser.pages import no_serious_violation
from tests.courses.fixed_lab import LAB, NOTE, fixed_lab
from tests.labs.rehearsal import work_through

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(900)]

ESSAY = "answer_advice"
SET_ESSAY = """words => {
  const { cells } = jupyterapp.shell.currentWidget.content.model;
  for (const cell of cells) {
    if (cell.id === 'answer_advice') {
      cell.sharedModel.setSource(words);
    }
  }
}"""
# Not whether it is saved: what the restarted kernel says of its language is a change, too.
VERSION_IS = """version =>
  jupyterapp.shell.currentWidget.context.model.getMetadata('mlsys').lab_version === version
"""


@pytest.mark.slow
def test_one_click_there_and_one_back(lab_server, open_notebook, tmp_path, screenshot):
    fixed = fixed_lab(tmp_path / "fixed")
    old, new = fixed.versions
    place = lab_server.folder / tmp_path.name
    place.mkdir()
    shutil.copy(fixed.root / "nbgrader_config.py", place)
    notebook = fixed.copy(0, place / LAB)
    work_through(notebook.parent, lab_server.student, fixed.course)
    ledger = (notebook.parent / LEDGER).read_bytes()
    page = open_notebook(notebook)
    page.evaluate("jupyterapp.commands.execute('mlsys:show-panel')")
    offer = page.get_by_role("region", name="Versions of this lab")
    expect(offer).to_contain_text("A corrected version of this lab is out")
    expect(offer).to_contain_text(NOTE)
    expect(offer).to_contain_text("is new")
    no_serious_violation(page, ".mlsys-Lab-version")
    screenshot(page, "offered")
    page.evaluate(SET_ESSAY, "Typed, and not saved")
    offer.get_by_role("button", name="Take it over").click()
    expect(offer).to_contain_text("This is the corrected version.")
    page.wait_for_function(VERSION_IS, arg=new)
    assert essay_in(notebook) == "Typed, and not saved"
    assert "def waits" in (notebook.parent / "asks.py").read_text()
    assert (notebook.parent / LEDGER).read_bytes() == ledger
    # The lab goes on with the new questions.
    banner = page.get_by_role("region", name="Start or resume the lab")
    banner.get_by_role("button", name="Resume").click()
    expect(page.locator(".jp-NotebookPanel")).to_contain_text(re.compile("sides half as long"))
    screenshot(page, "taken")
    page.evaluate(SET_ESSAY, "Typed in the new one")
    offer.get_by_role("button", name="Put the old version back").click()
    expect(offer).to_contain_text("This is the old version again.")
    page.wait_for_function(VERSION_IS, arg=old)
    assert essay_in(notebook) == "Typed in the new one"
    assert "def limit" in (notebook.parent / "asks.py").read_text()
    expect(offer.get_by_role("button", name="Take it over")).to_be_visible()


def essay_in(notebook) -> str:
    cells = json.loads(notebook.read_bytes())["cells"]
    (found,) = (cell["source"] for cell in cells if cell["id"] == ESSAY)
    return found if isinstance(found, str) else "".join(found)
