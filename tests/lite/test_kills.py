"""Tabs are killed at random moments while they write: what was called recorded is there."""

from __future__ import annotations

import random
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import BrowserContext

from tests.grading.classroom import LAB
from tests.lite.serving import Tab
from tests.lite.test_tabs import acknowledged, keep_recording, verified

KILLS = 200
#: While one tab is killed, others start: that takes most of the time.
TABS = 3
KERNEL = {"name": "python", "display_name": "Python", "language": "python"}
#: Makes a folder with an empty notebook. A lab in it would be loaded and drawn: half of what a kill
#: costs, and nothing to do with what is stored.
_MAKE = """async ([folder, notebook]) => {
  const { contents } = window.jupyterapp.serviceManager;
  await contents.save(folder, { type: 'directory', format: 'json', content: null });
  const path = `${folder}/${folder}.ipynb`;
  await contents.save(path, { type: 'notebook', format: 'json', content: notebook });
}"""


@pytest.mark.slow
@pytest.mark.timeout(8 * 3600)
def test_what_was_called_recorded_is_there_after_200_kills(
    demo: str, context: BrowserContext, tmp_path: Path
):
    chance = random.Random(33)
    watcher = Tab(context, demo, LAB)
    watcher.start("ann")
    folders = [f"kept_{k}" for k in range(TABS)]
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": KERNEL})
    for folder in folders:
        watcher.page.evaluate(_MAKE, [folder, notebook])
    watcher.page.goto(f"{demo}/lab/index.html?path=START_HERE.md")
    tabs: dict[str, Tab] = {}
    told: dict[str, set[int]] = {folder: set() for folder in folders}
    for number in range(KILLS):
        for folder in folders:
            if folder not in tabs:
                tabs[folder] = Tab(context, demo, folder)
        folder = folders[number % TABS]
        tab = tabs.pop(folder)
        process = tab.process()
        keep_recording(tab, 1000 * number)
        tab.wait_until_told("kept", chance.randint(1, 8))
        # Anywhere in what it does then; nothing is decided by it.
        tab.page.wait_for_timeout(chance.uniform(0, 150))
        tab.kill(process)
        told[folder] |= set(acknowledged(tab))
        stored = verified(watcher.content(f"{folder}/ledger.jsonl"), tmp_path)
        assert told[folder] <= set(stored), number
        called = sum(map(len, told.values()))
        print(f"{number + 1} kills: {called} called recorded, {len(stored)} stored", flush=True)
    assert sum(map(len, told.values())) >= KILLS
