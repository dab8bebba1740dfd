"""A page of an instrument runs it where it stands, in a browser alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest
from playwright.sync_api import BrowserContext, expect

from mlsys_widgets import MemoryBudget
from mlsys_widgets.lite.fetching import SiteParts
from tests.lite.conftest import ROOT
from tests.lite.serving import READY, served

PAGE = "instruments/MemoryBudget.html"
#: What the frame holds beside the instrument that anybody could see.
AROUND = """() => [...document.body.querySelectorAll('*')].filter(each => each.checkVisibility()
  && !each.closest('.mlsys-instrument') && !each.querySelector('.mlsys-instrument')
  && each.getBoundingClientRect().height > 0).map(each => each.className)"""
#: Whether a frame is as high as its instrument, which does not reach beyond it at the side.
FITS = """() => {
  const { bottom, right } = document.querySelector('.mlsys-instrument').getBoundingClientRect();
  return Math.abs(innerHeight - bottom) < 8 && right <= innerWidth;
}"""


@pytest.fixture(scope="module")
def pages(
    fetched: SiteParts,
    tool: Callable[[str], ModuleType],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[str]:
    """The address of pages with one instrument, as `make gallery` builds them."""
    for name in ("labs_at_a_glance", "instrument_states"):  # which it imports, as a script would
        tool(name)
    folder = tmp_path_factory.mktemp("pages")
    source, html = folder / "docs", folder / "html"
    states = html / "_static" / "live"
    tool("instrument_pages").write(
        {"MemoryBudget": MemoryBudget}, source / "instruments", states, folder / "no labs"
    )
    (source / "index.md").write_text("# Pages\n\n```{toctree}\ninstruments/index\n```\n", "utf-8")
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-c", str(ROOT / "docs")]
    subprocess.run([*command, "-t", "app", source, html], check=True, capture_output=True)
    tool("gallery").lay_app(html, ROOT / "build" / "lite")
    with served(html) as address:
        yield address


def test_an_instrument_runs_in_its_page(pages: str, context: BrowserContext):
    page = context.new_page()
    page.set_default_timeout(READY)
    page.goto(f"{pages}/{PAGE}")
    recorded, said = page.locator(".live-picture"), page.get_by_role("status").first
    page.get_by_role("button", name="Run it here").click()
    # What was recorded stays until Python has started.
    expect(said).to_contain_text("Python is starting")
    expect(recorded).to_be_visible()
    expect(said).to_contain_text("Python runs in this page", timeout=READY)
    expect(recorded).to_be_hidden()

    inside = page.frame_locator(".live-frame")
    slider = inside.get_by_role("slider", name="Batch", exact=True).first
    expect(slider).to_have_attribute("aria-valuetext", "64")
    slider.press("End")
    expect(slider).to_have_attribute("aria-valuetext", "1,024")
    most = MemoryBudget(batch=1024)
    leading = [value for _, value, _ in most.cards(most.result)[:2]]
    expect(inside.locator(".mlsys-leading strong")).to_have_text(leading, timeout=READY)

    (_, frame) = page.frames
    assert frame.evaluate(AROUND) == []
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    expect(inside.locator("body")).to_have_attribute("data-jp-theme-name", "JupyterLab Dark")
    page.set_viewport_size({"width": 390, "height": 844})
    frame.wait_for_function(FITS)
    inside.get_by_text("Numbers as a table").click()
    expect(inside.locator(".mlsys-instrument table").first).to_be_visible()
    frame.wait_for_function(FITS)


def test_without_the_app_the_recorded_states_are_there(pages: str, context: BrowserContext):
    page = context.new_page()
    page.route("**/app/**", lambda route: route.fulfill(status=404))
    page.goto(f"{pages}/{PAGE}")
    button = page.get_by_role("button", name="Run it here")
    button.click()
    expect(page.get_by_role("status").first).to_contain_text("Python did not start")
    expect(page.locator("iframe")).to_have_count(0)
    expect(page.locator(".live-picture")).to_be_visible()
    expect(button).to_be_enabled()
