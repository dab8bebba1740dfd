"""The site in a real browser: a lab opens and starts, and nobody else is asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from mlsys_widgets.authoring.practice_copies import assignment_copies
from mlsys_widgets.authoring.text import TextError
from mlsys_widgets.course.course import Course
from mlsys_widgets.lite.fetching import SiteParts
from mlsys_widgets.lite.site_build import build_site
from tests.browser.profile import close_window, new_window
from tests.grading.classroom import LAB as DEMO
from tests.grading.classroom import classroom
from tests.lite.conftest import ROOT
from tests.lite.serving import READY, Tab, expose, served

LAB = "lab_07_kernel_fusion"


@pytest.fixture(scope="module")
def folder(fetched: SiteParts, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("site")
    build_site(Course.at(ROOT), made, ROOT / "build" / "lite")
    expose(made)
    return made


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[str]:
    with served(folder) as address:
        yield address


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    window = new_window(browser)
    yield window.context
    close_window(window)


def test_a_lab_starts_in_a_browser_and_asks_nobody_but_the_site(site: str, context: BrowserContext):
    tab = Tab(context, site, LAB)
    tab.start("ann")
    expect(tab.page.locator(".mlsys-lab-options")).not_to_have_count(0, timeout=READY)
    panel = tab.page.locator("#mlsys-lab-panel")
    expect(panel.get_by_role("button", name="Not ann?")).to_be_visible()
    # Practice says of itself that it is, before anything else is in its record.
    assert [event["id"] for event in tab.events()][1:] == ["way"]
    assert tab.elsewhere == []


def test_a_course_with_a_secret_is_published_by_code_or_not_at_all(tmp_path: Path):
    root = classroom(tmp_path / "course").root
    settings = root / "assignments" / "course.toml"
    before = settings.read_text("utf-8") if settings.is_file() else ""
    settings.write_text(f'secret = "5f0c9a1be2d3"\n{before}', "utf-8")
    with pytest.raises(TextError, match="student_codes = true"):
        assignment_copies(Course.at(root), tmp_path / "copies")
    # Built before the course had a secret, or with another: nothing that holds it goes out.
    settings.write_text(f'student_codes = true\nsecret = "5f0c9a1be2d3"\n{before}', "utf-8")
    notebook = root / "release" / DEMO / f"{DEMO}.ipynb"
    text = notebook.read_text("utf-8")
    notebook.write_text(text.replace('"# ', '"# 5f0c9a1be2d3 ', 1), "utf-8")
    with pytest.raises(TextError, match="holds the secret of the course"):
        assignment_copies(Course.at(root), tmp_path / "copies")
