"""Every how-to is followed literally, in a fresh folder, command by command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.howto.follower import INSTALLED_BY, follow
from tests.howto.pages import check_tests, how_tos
from tests.howto.reader import HowTo
from tests.howto.starts import Starts

pytestmark = pytest.mark.long

HOW_TOS = how_tos()


@pytest.fixture(scope="session")
def starts(tmp_path_factory: pytest.TempPathFactory) -> Starts:
    return Starts(tmp_path_factory.mktemp("starts"))


def _name(how_to: HowTo) -> str:
    return f"{how_to.page.parent.name}/{how_to.page.stem}: {how_to.title}"


@pytest.mark.parametrize("how_to", HOW_TOS, ids=_name)
def test_it_can_be_followed(
    how_to: HowTo, starts: Starts, tmp_path: Path, record_property
) -> None:
    check_tests(how_to)
    for each in how_to.left_out:  # tests/conftest.py prints them
        record_property("not followed", f"{_name(how_to)}, line {each.line}: {each.why}")
    if how_to.steps:
        place = starts.place(how_to.start, tmp_path)
        follow(how_to, place.folder, place.environment, instead=place.instead)


def test_the_test_that_installs_exists(root: Path) -> None:
    check_tests(HowTo(Path("follower.py"), 1, "", tests=[(1, INSTALLED_BY)]), root)
