from __future__ import annotations

from collections.abc import Iterator

import pytest

from .instant_bench import InstantBench, instant_bench


@pytest.fixture
def bench() -> Iterator[InstantBench]:
    made = instant_bench()
    yield made
    made.close()
