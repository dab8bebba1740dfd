"""What all tests of the ledger share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="package", autouse=True)
def no_waiting_for_the_disk() -> Iterator[None]:
    """Skip the sync of each event: no test pulls the plug, and a busy disk takes 10 ms for it.

    Processes that tests start (and kill) do sync, and test_durability lets syncs fail.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the ledger of a test is written."""
    return tmp_path / "ledger.jsonl"
