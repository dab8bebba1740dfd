"""The pictures of the README are what the instruments draw."""

from __future__ import annotations

import pytest


def test_pictures_are_current(root, tool):
    pytest.importorskip("bqplot")
    for name, picture in tool("pictures").pictures().items():
        kept = (root / "docs" / "_static" / name).read_text("utf-8")
        assert kept == picture, f"{name} is stale: run .venv/bin/python tools/pictures.py"
