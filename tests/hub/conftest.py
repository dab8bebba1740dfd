"""One hub for all tests that leave it as they find it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from mlsys_widgets.hub.places import Places
from tests.hub.running import Hub, Person, running_hub

if os.geteuid() != 0:
    WHY_NOT = "a hub makes users of this machine, so its tests need root"
elif shutil.which("useradd") is None:
    WHY_NOT = "useradd is missing: tests of a hub make users of this machine"
else:
    WHY_NOT = ""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the first test time to make the environment of users, which is kept for the next run."""
    for item in items:
        here = item.path.is_relative_to(Path(__file__).parent)
        if here and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(900))


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """The folders of a hub that never ran."""
    made = Places(tmp_path / "hub")
    made.make()
    return made


@pytest.fixture(scope="session")
def hub_is_possible(tool: Callable[[str], ModuleType]) -> None:
    """Skip what needs a hub where there cannot be one."""
    if WHY_NOT:
        pytest.skip(WHY_NOT)
    npm = tool("system_packages").TABLE["npm"]
    if not (npm.present() or shutil.which("configurable-http-proxy")):
        pytest.skip(npm.sentence)


@pytest.fixture(scope="session")
def hub(hub_is_possible: None) -> Iterator[Hub]:
    """A hub with a teacher, a student to try it with, and a class: cleo and dan for a whole day."""
    with running_hub(("ada", "ben", "cleo", "dan")) as hub:
        yield hub


@pytest.fixture(scope="session")
def ada(hub: Hub) -> Person:
    """A student whose server runs."""
    return Person(hub, hub.names["ada"]).arrive()


@pytest.fixture(scope="session")
def ben(hub: Hub) -> Person:
    """Another."""
    return Person(hub, hub.names["ben"]).arrive()


@pytest.fixture(scope="session")
def teacher(hub: Hub) -> Person:
    """The instructor, whose server runs."""
    return Person(hub, hub.names["teacher"]).arrive()
