"""The site in a real browser: a lab opens and starts, and nobody else is asked."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from mlsys_widgets.course.course import Course
from mlsys_widgets.lite.fetching import SiteParts
from mlsys_widgets.lite.site_build import build_site
from tests.browser.profile import close_window, new_window
from tests.lite.conftest import ROOT

LAB = "lab_07_kernel_fusion"
#: Milliseconds, as long as a busy machine may need until Python has started in a page.
READY = 600_000


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files, as any static host does, and writes no log."""

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def site(fetched: SiteParts, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("site")
    build_site(Course.at(ROOT), folder, ROOT / "build" / "lite")
    serve = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    window = new_window(browser)
    window.set_default_timeout(READY)
    yield window
    close_window(window)


def test_a_lab_starts_in_a_browser_and_asks_nobody_but_the_site(site: str, page: Page):
    elsewhere: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith((f"{site}/", "blob:", "data:")):
            elsewhere.append(request.url)

    page.context.on("request", note)
    page.goto(f"{site}/lab/index.html?path={LAB}/{LAB}.ipynb")
    page.get_by_role("button", name="Start", exact=True).first.click()
    expect(page.locator(".mlsys-lab-options")).not_to_have_count(0, timeout=READY)
    assert elsewhere == []
