"""How much of a sweep a run takes: a sample in ``make test``, everything in ``make test-all``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

#: Set by ``make test-all``.
EVERYTHING = "MLSYS_SWEEP"


def sample(everyone: Sequence[T], few: int) -> list[T]:
    """Return all of a sweep when everything is asked for, and otherwise its first few."""
    return list(everyone if os.environ.get(EVERYTHING) else everyone[:few])
