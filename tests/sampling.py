"""How much of a sweep a run takes: a sample in ``make test``, everything in ``make test-all``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

#: The lab that is walked in the browser and graded by nbgrader in every run, which takes minutes;
#: ``make test-all`` takes all labs.
EXAMPLE = "lab_07_kernel_fusion"


def takes_everything() -> bool:
    """Whether this is ``make test-all``."""
    return bool(os.environ.get("MLSYS_SWEEP"))


def keeps_pictures() -> bool:
    """Whether pictures for a person to look at are taken: dozens of seconds that test nothing."""
    return takes_everything() or bool(os.environ.get("KEEP_PICTURES"))


def sample(everyone: Sequence[T], few: int) -> list[T]:
    """Return all of a sweep when everything is asked for, and otherwise its first few."""
    return list(everyone if takes_everything() else everyone[:few])
