"""What every test may use: system requirements that may be missing, and hypothesis profiles."""

from __future__ import annotations

import asyncio
import importlib.util
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from tests.budget import watch_the_budget

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parent.parent

# No deadline: how long one example takes says more about the machine than about the code.
settings.register_profile("default", deadline=None)
settings.register_profile("thorough", deadline=None, max_examples=2000)
settings.load_profile("default")


# A shell makes programs in the background ignore Ctrl-C, and whatever they start. Tests press it.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

CHROMIUM_FLAGS = [
    "--no-sandbox",  # containers and root have no user namespaces to build one from
    "--disable-gpu",
    "--disable-quic",
    # The rest keeps the browser from calling home during a test.
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def load_tool(name: str) -> ModuleType:
    """Import a script of tools/, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


system_packages = load_tool("system_packages")


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def tool():
    """Import a script of tools/ by its name."""
    return load_tool


@pytest.fixture
def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read and check measurements once: a test of labs asks for the same ones again and again."""
    from mlsys_widgets import measured
    from mlsys_widgets.measured import queries

    load = cache(measured.load)
    for place in (measured, queries):
        monkeypatch.setattr(place, "load", load)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Debian's chromium: playwright's own download is one more thing to fetch.

    One for all tests of a process, because playwright starts only once in it. Its first context has
    a profile on disk, where chromium keeps compiled scripts; tests/browser/profile.py hands it out.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        profile = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"),
            executable_path=shutil.which("chromium"),
            args=CHROMIUM_FLAGS,
            headless=True,
        )
        assert profile.browser
        yield profile.browser
        profile.close()


@pytest.fixture(autouse=True)
def _loop_of_the_browser_set_aside(request: pytest.FixtureRequest) -> Iterator[None]:
    """Playwright leaves a loop that is called running and does not turn; others need their own."""
    if "browser" in request.fixturenames:
        yield
        return
    theirs = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(theirs)


#: Folders whose tests share something that takes long to make: a hub, graded labs. A browser and
#: its server start in seconds, so each process has its own.
SHARING = ("authoring", "courses", "howto", "hub", "labs")


class Together(LoadScopeScheduling):
    """Spreads files over processes, and keeps those that share something in one of them."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::", maxsplit=1)[0]
        folder = file.removeprefix("tests/").split("/")[0]
        return folder if folder in SHARING else file


#: What takes longest, so that it starts first and no process is left alone with it at the end.
LONGEST = ("hub", "browser", "howto", "courses", "labs", "lite", "grading", "sandbox")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the folders that take longest; within a folder the order stays."""

    def rank(item: pytest.Item) -> int:
        folder = item.nodeid.removeprefix("tests/").split("/")[0]
        return LONGEST.index(folder) if folder in LONGEST else len(LONGEST)

    items.sort(key=rank)


def pytest_configure(config: pytest.Config) -> None:
    """Have the suite keep to its own budget."""
    watch_the_budget(config)


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Together:
    """Say which tests stay in one process when several run (make test)."""
    return Together(config, log)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs"):
        (name,) = marker.args
        requirement = system_packages.TABLE[name]
        if not requirement.present():
            pytest.skip(requirement.sentence)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    _say_what_is_not_followed(terminalreporter)
    # From the reports, because tests may have run in other processes.
    reasons = Counter(
        str(report.longrepr[2]).removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", ())
        if isinstance(report.longrepr, tuple)
    )
    table = system_packages.TABLE.items()
    missing = {name: reasons[each.sentence] for name, each in table if each.sentence in reasons}
    if not missing:
        return
    terminalreporter.section("skipped for want of a system package")
    for name, count in sorted(missing.items()):
        tests = "1 test" if count == 1 else f"{count} tests"
        terminalreporter.line(f"{tests} skipped: {system_packages.TABLE[name].sentence}")


def _say_what_is_not_followed(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the blocks of how-tos that no test follows, with the reasons that the pages give."""
    said = [
        value
        for report in terminalreporter.stats.get("passed", ())
        for name, value in report.user_properties
        if name == "not followed"
    ]
    if said:
        terminalreporter.section("in how-tos, not followed")
        for each in said:
            terminalreporter.line(str(each))
