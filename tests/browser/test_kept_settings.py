"""Instruments stand where they were left: after a restart, a killed kernel and a new browser."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Locator, Page, expect

from mlsys_widgets.authoring import new_lab
from mlsys_widgets.files import SETTINGS
from tests.browser.conftest import READY, closed, opened
from tests.browser.pages import draw_all, restart_and_run_all
from tests.browser.test_start import banner, locked, run_to_end
from tests.made_notebooks import write_notebook
from tests.waiting import wait_for

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(900)]

LAB = "lab_02_caches"
SETUP = f"""\
from mlsys_widgets import IronLaw, RooflineWidget
from mlsys_widgets.cards.open_lab import open_lab
import os, pathlib
_ = pathlib.Path("pid").write_text(str(os.getpid()))
lab = open_lab({LAB!r}, variants=False)"""
LOCKED = 'IronLaw(lock=lab.card("act1_bound"))'


@pytest.fixture
def folder(lab_server, tmp_path) -> Path:
    """A lab with two instruments, one of them behind a prediction."""
    home = new_lab(lab_server.folder / tmp_path.name, LAB)
    cells = [
        nbformat.v4.new_markdown_cell("# Caches"),
        locked(SETUP),
        locked("RooflineWidget()", kind="instrument", title="Roofline"),
        locked('lab.card("act1_bound")', kind="prediction", id="act1_bound", act=1),
        locked(LOCKED, kind="instrument", title="Iron law"),
    ]
    write_notebook(home / "lab.ipynb", *cells, mlsys={"lab": LAB, "title": "Caches", "acts": ["A"]})
    return home


@pytest.fixture
def window(lab_server, browser, folder):
    """Open the lab in a browser that has never seen it."""
    pages = []

    def made() -> Page:
        pages.append(opened(lab_server, browser, folder / "lab.ipynb"))
        draw_all(pages[-1])
        return pages[-1]

    yield made
    for page in pages:
        closed(lab_server, page)


def board(page: Page, title: str) -> Locator:
    heading = page.get_by_role("heading", name=title, exact=True)
    return page.locator(".mlsys-instrument").filter(has=heading)


def size(page: Page) -> Locator:
    return board(page, "Roofline").get_by_role("textbox", name="N, typed").first


def on_disk(folder: Path, words: str) -> None:
    path = folder / SETTINGS
    wait_for(lambda: path.exists() and words in path.read_text(), f"{words} in {SETTINGS}")


def test_settings_outlive_kernel_page_and_browser_until_they_are_reset(folder, window):
    page = window()
    run_to_end(page, "Start")
    usual = size(page).input_value()
    size(page).fill("4096")
    size(page).press("Enter")
    expect(size(page)).to_have_value("4,096")
    on_disk(folder, "4096")

    page.evaluate("jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
    run_to_end(page, "Resume")
    expect(size(page)).to_have_value("4,096")

    # Behind a prediction nothing opens because of what was kept.
    expect(page.locator(".mlsys-locked")).to_contain_text("Locked until you commit")
    os.kill(int((folder / "pid").read_text()), signal.SIGKILL)
    other = window()
    # Nothing is recorded yet, so a page that was just opened may call it either.
    banner(other).get_by_role("button", name=re.compile("^(Start|Resume)$")).click()
    expect(banner(other)).to_be_hidden(timeout=READY)
    expect(size(other)).to_have_value("4,096")

    board(other, "Roofline").get_by_role("button", name="Reset", exact=True).click()
    expect(size(other)).to_have_value(usual)
    wait_for(
        lambda: json.loads((folder / SETTINGS).read_text())["instruments"] == {},
        "a reset leaves nothing to keep",
    )
    restart_and_run_all(other)
    expect(size(other)).to_have_value(usual)
