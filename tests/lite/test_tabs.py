"""What was called recorded stays, whatever becomes of a tab, its kernel and its storage."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from mlsys_widgets.course.course import Course
from mlsys_widgets.course.lab_versions import CHANGES, STAMP
from mlsys_widgets.ledger import Ledger
from mlsys_widgets.lite.fetching import SiteParts
from mlsys_widgets.lite.page.new_release import OLD
from mlsys_widgets.lite.page.tab import ELSEWHERE
from mlsys_widgets.lite.site_build import build_site, list_labs
from tests.browser.profile import STORAGE
from tests.grading.classroom import LAB, classroom
from tests.lite.conftest import ROOT
from tests.lite.serving import READY, Tab, expose, served

NOTE = "Bytes are counted for fp32."
IS_OUT = "A corrected version of this lab is out"
#: Records one value after the other and says so, once this tab is the one that writes.
RECORD = """
import asyncio
from mlsys_widgets.ledger import Busy, Ledger
ledger = Ledger.open("ledger.jsonl", lab={lab!r}, student="ann")
n = {start}
while True:
    try:
        ledger.record_answer("kept", n)
    except Busy:
        await asyncio.sleep(0.1)
        continue
    print(f"kept {{n}}")
    n += 1
"""


@pytest.fixture(scope="module")
def folder(fetched: SiteParts, tmp_path_factory: pytest.TempPathFactory) -> Path:
    course = classroom(tmp_path_factory.mktemp("course") / "course")
    made = tmp_path_factory.mktemp("site")
    build_site(Course.at(course.root), made, ROOT / "build" / "lite")
    expose(made)
    return made


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[str]:
    with served(folder) as address:
        yield address


def record(tab: Tab, value: int) -> str:
    """Record an answer in the lab; the error, empty if it was recorded."""
    return tab.run(f'lab.ledger.record_answer("kept", {value})')[1]


def keep_recording(tab: Tab, start: int) -> None:
    """Have a tab record values from one on, without an end."""
    tab.begin(RECORD.format(lab=LAB, start=start))


def acknowledged(tab: Tab) -> list[int]:
    """The values that a tab has called recorded."""
    return [int(line.split()[1]) for line in tab.told if line.startswith("kept ")]


def verified(text: str, folder: Path) -> list[int]:
    """The values in a stored ledger, which has to be whole."""
    path = folder / "ledger.jsonl"
    path.write_text(text, "utf-8")
    assert Ledger.open(path).verify().ok
    events = map(json.loads, text.splitlines())
    return [each["value"]["value"] for each in events if each["id"] == "kept"]


def test_what_was_called_recorded_stays_when_kernels_restart_and_a_tab_is_killed(
    site: str, context: BrowserContext, tmp_path: Path
):
    first = Tab(context, site, LAB)
    first.start("ann")
    assert record(first, 1) == ""
    # Restarted while a cell runs that never ends, and while it starts.
    first.begin("while True: pass")
    first.restart()
    first.restart()
    first.start()
    assert record(first, 2) == ""
    # A second tab reads and says so until the first is gone.
    second = Tab(context, site, LAB)
    second.start()
    said = second.page.locator("#mlsys-lab-panel").get_by_text(ELSEWHERE)
    expect(said).to_be_visible(timeout=READY)
    assert "open in another tab" in record(second, 3)
    process = first.process()
    keep_recording(first, 4)
    first.wait_until_told("kept", 3)
    first.kill(process)
    assert len(acknowledged(first)) >= 3
    expect(said).to_be_hidden(timeout=READY)
    stored = verified(second.text(), tmp_path)
    assert stored == [1, 2, *range(4, 2 + len(stored))]
    assert {1, 2, *acknowledged(first)} <= set(stored)
    assert record(second, 0) == ""
    assert verified(second.text(), tmp_path) == [*stored, 0]


#: Stores a file as the browser keeps it, and what a student writes into the scratch cell.
_SAVE = """([path, content]) => window.jupyterapp.serviceManager.contents
  .save(path, { type: 'file', format: 'text', content })"""
_WRITE = """async words => {
  const { context, content } = window.jupyterapp.shell.currentWidget;
  const cell = [...content.model.cells].find(each => each.id.startsWith('answer_'));
  cell.sharedModel.setSource(words);
  await context.save();
}"""

_CELLS = "() => window.jupyterapp.shell.currentWidget.content.model.cells.length"


def publish(site: Path) -> str:
    """Publish the lab in another version; return what its questions are then."""
    home = site / "files" / LAB
    asks = (home / "asks.py").read_text("utf-8")
    assert " in fp16?" in asks
    (home / "asks.py").write_text(asks.replace(" in fp16?", " in fp32?"), "utf-8")
    book = json.loads((home / f"{LAB}.ipynb").read_bytes())
    about = book["metadata"]["mlsys"]
    about |= {STAMP: "2" * 12, CHANGES: [[about[STAMP], ""], ["2" * 12, NOTE]]}
    (home / f"{LAB}.ipynb").write_text(json.dumps(book), "utf-8")
    list_labs(site)
    return (home / "asks.py").read_text("utf-8")


def test_a_new_release_is_taken_over_and_cleared_storage_is_told(
    folder: Path, site: str, context: BrowserContext
):
    tab = Tab(context, site, LAB)
    page, dialog = tab.page, tab.page.get_by_role("dialog")
    tab.start("ann")
    assert record(tab, 1) == ""
    page.evaluate(_WRITE, "# your code\nmine = 5")
    # What the browser stores itself would hide what is published.
    page.evaluate(_SAVE, [f"{LAB}/asks.py", tab.content(f"{LAB}/asks.py")])
    asks = publish(folder)
    tab.open()
    tab.press_start()
    expect(dialog).to_contain_text(IS_OUT, timeout=READY)
    expect(dialog).to_contain_text(NOTE)
    dialog.get_by_role("button", name="Not now").click()
    expect(page.locator(".mlsys-Banner .mlsys-Start-button")).to_be_visible()
    # Nor do cells that are run by hand meet the questions of the other version.
    opening = f"lab = __import__('mlsys_widgets').open_lab({LAB!r}, way='practice')"
    assert tab.run(opening) == ("", OLD)
    assert tab.run('print("lab" in globals())') == ("False\n", "")
    reader = Tab(context, site, LAB)
    told = reader.page.get_by_role("region", name="Versions of this lab")
    expect(told).to_contain_text(IS_OUT, timeout=READY)
    page.bring_to_front()
    tab.press_start()
    dialog.get_by_role("button", name="Take it over").click()
    expect(page.locator(".mlsys-Banner")).to_be_hidden(timeout=READY)
    assert tab.run(opening) == ("", "")
    expect(told).to_contain_text("Another tab took over", timeout=READY)
    assert reader.run(opening) == ("", OLD)
    told.get_by_role("button", name="Show the new version").click()
    expect(told).to_be_hidden(timeout=READY)
    assert reader.run(opening) == ("", "")
    reader.page.close()
    assert tab.run('print(open("asks.py").read().count(" in fp32?"))') == ("1\n", "")
    assert tab.content(f"{LAB}/asks.py") == asks
    stored = json.dumps(tab.content(f"{LAB}/{LAB}.ipynb"))
    assert ("mine = 5" in stored, '"lab_version": "222222222222"' in stored) == (True, True)
    assert "mine = 5" in json.dumps(tab.content(f".mlsys_versions/{LAB}/1.ipynb"))
    assert record(tab, 2) == ""
    assert tab.recorded("kept") == [1, 2]

    # The browser's storage is cleared under the open page.
    cells = page.evaluate(_CELLS)
    session = context.new_cdp_session(page)
    session.send("Storage.clearDataForOrigin", {"origin": site, "storageTypes": STORAGE})
    said = record(tab, 3)
    assert said.startswith("Nothing was saved") or 3 in tab.recorded("kept"), said
    tab.open()
    expect(page.locator(".mlsys-Banner .mlsys-Start-button")).to_be_visible(timeout=READY)
    tab.start("ann")
    assert page.evaluate(_CELLS) == cells
    assert record(tab, 4) == ""
    assert tab.recorded("kept")[-1] == 4
