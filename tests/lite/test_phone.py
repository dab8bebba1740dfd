"""A lab of a site on a phone and on a tablet, by touch."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.pages import draw_all, in_theme, no_serious_violation, settled
from tests.browser.test_touch import ABOUT, target
from tests.grading.classroom import LAB
from tests.lite.serving import READY

PHONE, TABLET = {"width": 390, "height": 844}, {"width": 768, "height": 1024}
#: What JupyterLab has around a notebook.
AROUND = ("#jp-top-panel", "#jp-menu-panel", "#jp-bottom-panel", ".jp-SideBar", "#jp-right-stack")
#: Smaller than this, a thumb misses it; in pixels.
THUMB = 40
#: Whether nothing of a card lies beyond the window.
FITS = """() => [...document.querySelectorAll('.mlsys-lab-frame, .mlsys-instrument')]
  .map(each => each.getBoundingClientRect()).filter(({ width }) => width > 0)
  .every(({ left, right }) => left >= 0 && right <= innerWidth + 1)"""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of a phone."""
    context = browser.new_context(
        viewport=PHONE, has_touch=True, is_mobile=True, device_scale_factor=2
    )
    yield context.new_page()
    context.close()


def alone(page: Page) -> None:
    """Fail if anything but the lab and its bar is on the page."""
    for each in AROUND:
        for node in page.locator(each).all():
            box = node.bounding_box() or {"width": 0, "height": 0}
            assert min(box["width"], box["height"]) < 1, each
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(FITS)


def drag(page: Page) -> tuple[Locator, str]:
    """Drag the first handle of the first instrument; what it is, and what it said before."""
    board = page.locator(".mlsys-instrument").first
    board.scroll_into_view_if_needed()
    settled(page)
    handle = board.locator(".mlsys-handle").first
    handle.scroll_into_view_if_needed()
    settled(page)
    about = handle.evaluate(ABOUT)
    x, y = target(about, 0.2)
    glass = page.context.new_cdp_session(page)
    for kind, part in (
        ("touchStart", 0.0),
        ("touchMove", 0.3),
        ("touchMove", 0.7),
        ("touchMove", 1),
    ):
        at = {"x": about["x"] + part * (x - about["x"]), "y": about["y"] + part * (y - about["y"])}
        glass.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [at]})
    glass.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    return handle, about["text"]


def test_a_thumb_commits_drags_and_reaches_the_panel(demo: str, page: Page):
    page.set_default_timeout(READY)
    page.goto(f"{demo}/lab/index.html?path={LAB}/{LAB}.ipynb")
    start = page.locator(".mlsys-Banner .mlsys-Start-button")
    start.tap()
    page.get_by_label("Name or login").fill("ann")
    page.get_by_role("button", name="That is me").tap()
    expect(page.locator(".mlsys-Banner")).to_be_hidden(timeout=READY)
    alone(page)

    draw_all(page)
    card = page.locator(".mlsys-lab-frame", has=page.locator(".mlsys-lab-options")).first
    card.get_by_text("its memory").tap()
    card.locator(".mlsys-lab-confidence label").last.tap()
    for name in ("Commit my prediction", "Seal it"):
        button = card.get_by_role("button", name=name)
        box = button.bounding_box()
        assert box
        assert box["height"] >= THUMB
        button.tap()
    expect(page.locator(".mlsys-lab-sealed").first).to_contain_text("Sealed", timeout=READY)

    handle, before = drag(page)
    expect(handle).not_to_have_attribute("aria-valuetext", before)
    alone(page)

    bar = page.locator(".mlsys-NarrowBar")
    expect(bar).to_contain_text(re.compile(r"1 of \d+ done"))
    bar.get_by_role("button", name="Lab:").tap()
    panel = page.get_by_role("dialog", name="Lab panel")
    expect(panel).to_contain_text("Kept in this browser")
    for theme in ("Dark", "Light"):
        in_theme(page, theme)
        no_serious_violation(page, ".mlsys-Sheet")
    panel.get_by_role("button", name="Back to the lab").tap()
    expect(panel).to_be_hidden()

    page.set_viewport_size(TABLET)
    settled(page)
    alone(page)
    # What JupyterLab has is there for whoever asks for it, and on a page with room for it.
    bar.get_by_role("button", name="Menus").tap()
    expect(page.locator("#jp-menu-panel")).to_be_visible()
    bar.get_by_role("button", name="Hide menus").tap()
    alone(page)
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(bar).to_be_hidden()
    expect(page.locator("#jp-menu-panel")).to_be_visible()
    expect(page.locator(".jp-SideBar.jp-mod-right")).to_be_visible()
