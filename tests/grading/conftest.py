"""The engine that tests share begins and ends with each module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.grading.classroom import close_engine


@pytest.fixture(autouse=True, scope="module")
def engine_ends() -> Iterator[None]:
    """End the engine that the tests of a module have shared, or those before it."""
    close_engine()
    yield
    close_engine()
