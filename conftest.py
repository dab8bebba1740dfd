"""What every doctest may use."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(autouse=True)
def example_folder(request: pytest.FixtureRequest) -> None:
    """Give examples in docstrings an empty ``folder``, a `Path`, to write to."""
    if isinstance(request.node, pytest.DoctestItem):
        names: dict[str, Any] = request.getfixturevalue("doctest_namespace")
        names["folder"] = request.getfixturevalue("tmp_path")
