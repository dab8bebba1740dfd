"""Every how-to is followed literally, in a fresh folder, command by command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from _pytest.mark.structures import ParameterSet

from tests.howto.follower import INSTALLED_BY, follow
from tests.howto.pages import check_tests, how_tos
from tests.howto.reader import HowTo
from tests.howto.starts import A_RUNNING_HUB, Starts
from tests.hub.conftest import WHY_NOT
from tests.hub.running import Hub, running_hub

# The first hub makes the environment of its users, which is kept for the next run.
pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

HOW_TOS = how_tos()


@pytest.fixture(scope="session")
def starts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starts]:
    """What how-tos start with. A hub is started when the first of them needs one."""
    with ExitStack() as running:
        hubs: list[Hub] = []

        def hub() -> Hub:
            if WHY_NOT:
                pytest.skip(WHY_NOT)
            if not hubs:
                hubs.append(running.enter_context(running_hub(("ann", "ben"))))
            return hubs[0]

        yield Starts(tmp_path_factory.mktemp("starts"), hub)


@pytest.fixture
def fresh() -> Iterator[Path]:
    """A folder through which others can pass, as in a home; those of pytest are private."""
    with TemporaryDirectory(prefix="mlsys-howto-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        yield Path(name)


def _name(how_to: HowTo) -> str:
    return f"{how_to.page.parent.name}/{how_to.page.stem}: {how_to.title}"


def _marked(number: int, how_to: HowTo) -> ParameterSet:
    """Follow the first steps and every eighth how-to in each run; one that needs a hub is slow."""
    first = how_to.page.stem == "index" or number % 8 == 0
    marks = [] if first and how_to.start != A_RUNNING_HUB else [pytest.mark.slow]
    return pytest.param(how_to, id=_name(how_to), marks=marks)


@pytest.mark.parametrize("how_to", [_marked(*each) for each in enumerate(HOW_TOS)])
def test_it_can_be_followed(how_to: HowTo, starts: Starts, fresh: Path, record_property) -> None:
    check_tests(how_to)
    for each in how_to.left_out:  # tests/conftest.py prints them
        record_property("not followed", f"{_name(how_to)}, line {each.line}: {each.why}")
    if how_to.steps:
        place = starts.place(how_to.start, fresh)
        follow(how_to, place.folder, place.environment, instead=place.instead)


def test_the_test_that_installs_exists(root: Path) -> None:
    check_tests(HowTo(Path("follower.py"), 1, "", tests=[(1, INSTALLED_BY)]), root)
