"""Launches on a GPU: every side of a tiny kernel, and streams of kernels."""

from __future__ import annotations

from mlsys_widgets.measured.gpu import launches
from mlsys_widgets.measured.recorder import Spread
from tests.measured.gpu.fake_torch import FakeBench


def test_a_tiny_kernel_is_timed_from_every_side() -> None:
    bench = FakeBench()
    launches.launches(bench)
    found = {case["variant"]: case for case in bench.recorded("launch")}
    assert set(found) == {
        "enqueue", "period", "round_trip", "graph", "graph_enqueue", "graph_round_trip",
        "synchronize",
    }  # fmt: skip
    assert found["synchronize"]["kernels"] == 0
    # Without a GPU there is no queue to fill, and the profiler sees no device.
    reasons = {entry["reason"] for entry in bench.recorder.skipped}
    assert reasons == {"only a GPU has a queue", "the profiler reports no device time here"}


def test_streams_are_recorded_one_by_one_and_as_a_graph() -> None:
    bench = FakeBench()
    launches.streams(bench)
    assert bench.recorder.skipped == []
    found = bench.recorded("dispatch")
    lengths = {(case["variant"], case["shape"]["length"]) for case in found}
    assert lengths == {(v, n) for v in ("eager", "graph") for n in launches.LENGTHS}
    for case in found:
        shape = case["shape"]
        assert case["kernels"] == shape["launches"]
        assert case["bytes"] == 8 * shape["launches"] * shape["elements"]
        assert case["enqueue"]["median"] <= case["seconds"]["median"]


def test_a_time_per_kernel_becomes_that_of_the_stream() -> None:
    assert launches._times(Spread(2.0, 1.0, 3.0, 9), 10) == Spread(20.0, 10.0, 30.0, 9)
