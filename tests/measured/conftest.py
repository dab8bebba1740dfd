from __future__ import annotations

import copy
from typing import Any

import pytest

from mlsys_widgets.measured import load


@pytest.fixture(scope="session")
def _shipped() -> dict[str, Any]:
    return load("cpu-2core-server")


@pytest.fixture
def document(_shipped: dict[str, Any]) -> dict[str, Any]:
    """A real document, short enough to be mutated many times."""
    short = copy.deepcopy(_shipped)
    short["cases"] = short["cases"][:6]
    return short
