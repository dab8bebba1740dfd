"""What a site is made of, fetched once, and the Python of a site as node runs it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from playwright.sync_api import Browser, BrowserContext

from mlsys_widgets.course.course import Course
from mlsys_widgets.lite.fetching import SiteParts, fetch
from mlsys_widgets.lite.site_app import runtime_in, site_app
from mlsys_widgets.lite.site_build import build_site
from tests.browser.profile import close_window, new_window
from tests.grading.classroom import classroom
from tests.lite.serving import asking_nobody_else, expose, served

ROOT = Path(__file__).resolve().parents[2]
PROBE = Path(__file__).with_name("probe.mjs")

#: Runs a file in the Python of a site, beside the files of a folder; gives what it printed.
Browserless = Callable[[str, Path], str]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the first test time to fetch what a site is made of, which is kept for the next run."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.timeout(900))


@pytest.fixture(scope="session")
def fetched(tool: Callable[[str], ModuleType]) -> SiteParts:
    npm = tool("system_packages").TABLE["npm"]
    if not npm.present():
        pytest.skip(npm.sentence)
    return fetch(ROOT / "build" / "lite")


@pytest.fixture(scope="session")
def runtime(fetched: SiteParts) -> Path:
    """The folder of a site from which Python starts; all sites of these tests have one app."""
    return runtime_in(site_app(ROOT / "build" / "lite"))


@pytest.fixture(scope="session")
def in_node(runtime: Path, tmp_path_factory: pytest.TempPathFactory) -> Browserless:
    node = shutil.which("node") or ""
    if not node:
        pytest.skip("node is missing, which comes with npm: it runs the Python of a site")

    def run(code: str, folder: Path) -> str:
        file = tmp_path_factory.mktemp("code") / "code.py"
        file.write_text(code, "utf-8")
        done = subprocess.run(
            [node, PROBE, runtime, file, folder],
            capture_output=True,
            text=True,
            env={"PATH": os.environ["PATH"]},
            check=False,
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout

    return run


@pytest.fixture(scope="session")
def demo(fetched: SiteParts, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a site with one small lab, which no test changes."""
    course = classroom(tmp_path_factory.mktemp("course") / "course")
    made = tmp_path_factory.mktemp("site")
    build_site(Course.at(course.root), made, ROOT / "build" / "lite")
    expose(made)
    with served(made) as address:
        yield address


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser that has seen nothing yet, and in which nobody but a site is asked."""
    window = new_window(browser, 1280, 720)
    with asking_nobody_else(window.context):
        yield window.context
        close_window(window)
