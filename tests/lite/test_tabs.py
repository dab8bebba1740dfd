"""What was called recorded stays, whatever becomes of a tab, its kernel and its storage."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from mlsys_widgets.course.course import Course
from mlsys_widgets.lite.fetching import SiteParts
from mlsys_widgets.lite.page.tab import ELSEWHERE
from mlsys_widgets.lite.site_build import build_site
from tests.browser.profile import close_window, new_window
from tests.grading.classroom import LAB, classroom
from tests.lite.conftest import ROOT
from tests.lite.serving import READY, Tab, expose, served


@pytest.fixture(scope="module")
def site(fetched: SiteParts, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    course = classroom(tmp_path_factory.mktemp("course") / "course")
    folder = tmp_path_factory.mktemp("site")
    build_site(Course.at(course.root), folder, ROOT / "build" / "lite")
    expose(folder)
    with served(folder) as address:
        yield address


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    window = new_window(browser, 1280, 720)
    yield window.context
    close_window(window)


def record(tab: Tab, value: int) -> str:
    """Record an answer in the lab; the error, empty if it was recorded."""
    return tab.run(f'lab.ledger.record_answer("kept", {value})')[1]


def test_a_restarted_kernel_and_a_page_that_is_loaded_again_go_on(
    site: str, context: BrowserContext
):
    tab = Tab(context, site, LAB)
    tab.start("ann")
    assert record(tab, 1) == ""
    tab.restart()
    tab.start()
    assert tab.recorded("kept") == [1]
    assert record(tab, 2) == ""
    # Restarted while it starts, and while a cell runs that never ends.
    tab.restart()
    tab.restart()
    tab.start()
    tab.begin("while True: pass")
    tab.restart()
    tab.start()
    assert record(tab, 3) == ""
    tab.open()
    tab.start()
    assert tab.run('print([a.value for a in lab.ledger.state().answers["kept"].earlier])') == (
        "[1, 2]\n",
        "",
    )
    assert record(tab, 4) == ""
    assert tab.recorded("kept") == [1, 2, 3, 4]


def test_a_second_tab_reads_and_says_so_until_the_first_is_gone(site: str, context: BrowserContext):
    first = Tab(context, site, LAB)
    first.start("ann")
    assert record(first, 1) == ""
    second = Tab(context, site, LAB)
    second.start()
    said = second.page.locator("#mlsys-lab-panel").get_by_text(ELSEWHERE)
    expect(said).to_be_visible(timeout=READY)
    assert "open in another tab" in record(second, 2)
    assert record(first, 3) == ""
    assert second.recorded("kept") == [1, 3]
    first.page.close()
    expect(said).to_be_hidden(timeout=READY)
    assert record(second, 4) == ""
    assert second.recorded("kept") == [1, 3, 4]
