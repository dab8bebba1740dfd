"""What a little server showed: read from a document, with what disturbed it."""

from __future__ import annotations

import copy

import pytest

from mlsys_widgets.measured import load, validate
from mlsys_widgets.measured.disturbances import disturbances
from mlsys_widgets.measured.waiting import waiting_runs

QUIET = load("cpu-2core-server")
SHOWN = {
    "busy": 0.8, "utilization": 0.81, "requests": 1800, "clients": 0, "drawn_service": 2.5e-3,
    "service": 2.52e-3, "mean": 12.8e-3, "p99": 58e-3, "simulated_mean": 12.6e-3,
    "simulated_p99": 57e-3, "late": 1e-5,
}  # fmt: skip


def with_runs(**changes):
    """A document of one open and one closed loop."""
    made = copy.deepcopy(QUIET)
    made["cases"] = [
        {
            **made["cases"][0], "section": "waiting", "kind": "waiting", "variant": loop,
            "precision": None, "flops": None, "bytes": None, "traffic": None, "throughput": 320.0,
            "shape": {**SHOWN, **changes, "mean": mean},
        }
        for loop, mean in (("open", 12.8e-3), ("closed", 2.6e-3))
    ]  # fmt: skip
    return made


def test_runs_are_read_from_a_document_that_the_schema_knows():
    validate(with_runs())
    run, closed = waiting_runs(with_runs())
    assert (run.loop, closed.loop) == ("open", "closed")
    assert (run.mean, closed.mean, run.requests) == (12.8e-3, 2.6e-3, 1800)
    assert run.error == pytest.approx(0.2 / 12.8)
    assert waiting_runs(QUIET) == []


def test_a_server_that_was_held_up_is_told():
    assert disturbances(with_runs()) == []
    assert disturbances(with_runs(service=2.7e-3)) == []
    (said,) = disturbances(with_runs(service=3.75e-3))
    assert said.startswith("The server took 3.75 ms for requests of 2.5 ms, so it had to wait")
