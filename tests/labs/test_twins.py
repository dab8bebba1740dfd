"""In a class of 200 it hardly helps to find somebody with the same question."""

from __future__ import annotations

import pytest

from tests.labs.twins import twins

pytestmark = pytest.mark.timeout(300)

#: Points of a lab that a student can copy from a twin, on average.
GOAL = 3


def test_a_twin_saves_few_points(lab):
    found = twins(lab)
    worst = sorted(found.items(), key=lambda pair: -pair[1])
    listed = ", ".join(f"{name} {saved:.1f}" for name, saved in worst if saved)
    told = f"{lab}: a twin saves {sum(found.values()):.1f} points of {GOAL}: {listed}"
    assert sum(found.values()) <= GOAL, told
