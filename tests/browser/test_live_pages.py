"""Pages of instruments respond without a kernel, opened from a disk, by keyboard."""

from __future__ import annotations

import shutil
from urllib.parse import unquote

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.needs("chromium")


@pytest.fixture(scope="module")
def pages(tool):
    for name in ("labs_at_a_glance", "instrument_states"):
        tool(name)
    return tool("instrument_pages")


@pytest.fixture(scope="module")
def site(pages, root, tmp_path_factory):
    """What the builder of the pages makes of one instrument: its markup, and files beside it."""
    from mlsys_widgets import ConceptMap, MemoryBudget

    folder = tmp_path_factory.mktemp("site")
    states = folder / "_static" / "live"
    states.mkdir(parents=True)
    (folder / "instruments").mkdir()
    for name in ("live.js", "live.css"):
        shutil.copy(root / "docs" / "_static" / name, folder / "_static")
    for kind in (MemoryBudget, ConceptMap):
        shown = pages.showcase(kind)
        (states / f"{kind.__name__}.js").write_text(shown.script(), "utf-8")
        for theme in ("light", "dark"):
            drawn = kind().figure(theme=theme)
            (states / f"{kind.__name__}-{theme}.svg").write_text(drawn, "utf-8")
        markup = "".join(pages.live(shown)).replace("```{raw} html", "").replace("```", "")
        html = f"<!doctype html><meta charset='utf-8'><title>x</title>{markup}"
        (folder / "instruments" / f"{kind.__name__}.html").write_text(html, "utf-8")
    return folder / "instruments"


def pictures(page):
    """The pictures as the browser has them: light, dark."""
    sources = [image.get_attribute("src") for image in page.locator("img").all()]
    return [unquote(each.removeprefix("data:image/svg+xml,")) for each in sources]


def test_a_slider_moved_by_keyboard_shows_that_state(browser, site, pages):
    from mlsys_widgets import MemoryBudget

    page = browser.new_page()
    failed = []
    page.on("pageerror", lambda problem: failed.append(str(problem)))
    page.goto((site / "MemoryBudget.html").as_uri())
    slider = page.get_by_role("slider", name="Batch")
    expect(slider).to_have_attribute("aria-valuetext", "64")
    assert not page.evaluate("document.querySelector('script[src$=\"MemoryBudget.js\"]')")
    slider.focus()
    slider.press("ArrowRight")
    for batch, heads in ((128, "grouped"), (128, "full")):
        fresh = MemoryBudget(batch=batch, heads=heads)
        expect(page.locator(".live-sentence")).to_have_text(fresh.sentence(fresh.result))
        assert pictures(page) == [fresh.figure(), fresh.figure(theme="dark")]
        expect(page.locator("img").first).to_have_attribute("alt", fresh.sentence(fresh.result))
        shown = page.locator(".live-cards dd").all_text_contents()
        assert shown == [value for _, value, _ in fresh.cards(fresh.result)]
        expect(page.locator(".live-code")).to_have_text(fresh.code)
        alert = fresh.alert(fresh.result)
        expect(page.locator(".live-alert")).to_be_visible(visible=alert is not None)
        page.get_by_role("combobox").select_option(
            label=pages.showcase(MemoryBudget).swept[1].words[1]
        )
    expect(slider).to_have_attribute("aria-valuetext", "128")
    assert page.evaluate("document.querySelector('img').naturalWidth") == 760
    slider.press("Home")
    expect(page.locator("output")).to_have_text("1")
    assert not failed
    page.close()


def test_without_scripts_the_picture_and_its_sentence_are_there(browser, site):
    from mlsys_widgets import ConceptMap

    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "ConceptMap.html").as_uri())
    expect(page.locator("img").first).to_be_visible()
    expect(page.locator(".live-controls")).to_be_hidden()
    fresh = ConceptMap()
    expect(page.locator(".live-sentence")).to_have_text(fresh.sentence(fresh.result))
    context.close()
