"""One fork server for all tests that only need some server: starting one takes seconds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mlsys_widgets.sandbox.fork_client import ForkServer
from tests.grading.classroom import close_engine


@pytest.fixture(autouse=True, scope="module")
def no_engine_of_others() -> Iterator[None]:
    """End the engine that tests of grading have shared, or those of a module here."""
    close_engine()
    yield
    close_engine()


@pytest.fixture(scope="session")
def server() -> Iterator[ForkServer]:
    """A fork server that can isolate its children."""
    one = ForkServer()
    if one.cannot_isolate:
        one.close()
        pytest.skip(one.cannot_isolate)
    yield one
    one.close()
