"""One run of the engine: the requests of a replay, served as the H200 served them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from mlsys_widgets import physics as ph
from mlsys_widgets.measured import simulated_replays
from mlsys_widgets.measured.cache_runs import (
    DEVICE,
    TOKEN,
    USUAL,
    check_time,
    longest,
    play,
    replay,
    rooms,
)
from mlsys_widgets.physics.serving_simulation import Policy

ALL, QUARTER = 6.44e9, 1.61e9


@pytest.mark.parametrize(
    ("policy", "memory", "slots"),
    [("continuous", ALL, 32), ("static", ALL, 32), ("continuous", QUARTER, 8)],
)
def test_it_is_filled_as_the_cache_of_the_h200_was(
    policy: Policy, memory: float, slots: int
) -> None:
    case = replay(policy, slots)
    assert rooms(memory) == slots
    run = play(policy, memory, 16, USUAL, 256)
    assert run.served.filled == pytest.approx(simulated_replays.filled(case), rel=0.04)
    # A graph for as many rows more or less is all that differs from the replay's simulation.
    ours = simulated_replays.calibrated(case, ph.calibration_of(DEVICE))
    assert run.served.seconds == pytest.approx(ours.seconds, rel=0.01)


def test_a_memory_in_three_digits_is_as_many_rooms_as_it_says() -> None:
    assert [rooms(memory) for memory in (ALL, QUARTER, 1.5e9)] == [32, 8, 7]
    assert longest() * TOKEN * 32 == pytest.approx(ALL, rel=1e-3)


def test_what_is_told_of_a_moment_is_what_the_step_then_did() -> None:
    run = play("paged", QUARTER, 16, USUAL, 256)
    step = run.served.steps[1000]
    (held,), (kept,), _ = run.at(np.array([step.began + step.seconds / 2]))
    assert (held, kept) == (step.held, step.kept)
    _, _, (waiting,) = run.at(np.array([run.served.seconds]))
    assert waiting == 0


def test_requests_come_faster_and_are_the_same() -> None:
    slow, fast = (play("paged", ALL, 16, load, 256) for load in (8.0, 32.0))
    assert [each[1:] for each in slow.requests] == [each[1:] for each in fast.requests]
    assert slow.served.arrived == pytest.approx(4 * fast.served.arrived)
    assert fast.wait > slow.wait


def test_checking_costs_one_user_little_and_many_users_much() -> None:
    assert check_time(1, 1) == 1
    assert 1 < check_time(1, 8) < 1.2
    assert check_time(128, 8) > 3
    for users in (1, 8, 32, 128):
        times = [check_time(users, tokens) for tokens in (1, 2, 4, 8)]
        # Two steps that wait for the same weights may differ by their noise.
        assert all(later > 0.97 * earlier for earlier, later in pairwise(times))
