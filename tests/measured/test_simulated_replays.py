"""The simulated engine beside the replays that ship."""

from __future__ import annotations

import numpy as np
import pytest

from mlsys_widgets import measured
from mlsys_widgets import physics as ph
from mlsys_widgets.measured import simulated_replays
from mlsys_widgets.measured.queries import Case

#: What the issue that asked for the simulation allows; nothing is fitted to replays.
WITHIN = 0.10


@pytest.fixture(scope="module")
def replays() -> list[Case]:
    return measured.cases("h200-sxm", kind="replay")


def test_the_simulation_agrees_with_every_replay(replays: list[Case]) -> None:
    calibration = ph.calibration_of("h200-sxm")
    assert {case.shape["policy"] for case in replays} == {"continuous", "static"}
    for case in replays:
        ours = simulated_replays.calibrated(case, calibration)
        assert ours.seconds == pytest.approx(case.seconds.median, rel=WITHIN), case.label
        seen = simulated_replays.response(case).mean()
        assert ours.response.mean() == pytest.approx(seen, rel=WITHIN), case.label


def test_the_simulation_does_what_the_engine_did(replays: list[Case]) -> None:
    """As many tokens read and, but for who was there at which moment, as many steps."""
    calibration = ph.calibration_of("h200-sxm")
    for case in replays:
        steps = simulated_replays.columns(case, "steps")
        ours = simulated_replays.calibrated(case, calibration)
        assert sum(step.prompt for step in ours.steps) == steps["prompt"].sum()
        assert len(ours.steps) == pytest.approx(len(steps["prompt"]), rel=WITHIN)
        wrote = np.array([step.batch for step in ours.steps if not step.prompt])
        assert wrote.sum() == steps["batch"][steps["prompt"] == 0].sum()


def test_the_cache_of_the_simulation_is_filled_as_on_the_device(replays: list[Case]) -> None:
    calibration = ph.calibration_of("h200-sxm")
    for case in replays:
        ours = simulated_replays.calibrated(case, calibration)
        assert ours.filled == pytest.approx(simulated_replays.filled(case), rel=WITHIN), case.label


def test_pages_hold_in_a_quarter_of_the_cache_what_rooms_needed_all_for(
    replays: list[Case],
) -> None:
    """In the trace that 32 rooms served, 8 rooms in pages make nobody wait."""
    steady = [case for case in replays if case.shape["trace"] == "steady"]
    waits = {
        (case.shape["policy"], case.shape["slots"]): simulated_replays.columns(case, "requests")
        for case in steady
    }
    seen = waits["continuous", 32]
    rooms = float((seen["first"] - seen["arrival"]).mean())
    small = next(case for case in steady if case.shape["slots"] == 8)
    paged = simulated_replays.calibrated(small, ph.calibration_of("h200-sxm"), policy="paged")
    assert paged.wait.mean() < 2 * rooms
    assert paged.kept / paged.held > 0.95


def test_a_trace_comes_faster_and_stays_the_same_otherwise(replays: list[Case]) -> None:
    usual, faster = (simulated_replays.trace(replays[0], times) for times in (1.0, 4.0))
    assert [each.arrival / 4 for each in usual] == [each.arrival for each in faster]
    assert [each[1:] for each in usual] == [each[1:] for each in faster]


def test_a_case_without_a_timeline_is_no_replay() -> None:
    (case,) = measured.cases("h200-sxm", kind="gemm", variant="graph", precision="fp16", n=4096)[:1]
    with pytest.raises(ValueError, match="is no replay: it has no timeline"):
        simulated_replays.response(case)
