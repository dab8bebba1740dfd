"""How the GPU is timed: sets beyond the cache, repetitions that fit, intervals that overlap."""

from __future__ import annotations

import numpy as np
import pytest

from mlsys_widgets.measured.gpu import timing
from mlsys_widgets.measured.gpu.timing import MOST_SETS, Call, relative_error, union
from mlsys_widgets.measured.recorder import Spread
from tests.measured.gpu.fake_torch import FakeBench, Tensor, fake_torch


def test_sets_exceed_four_times_the_cache() -> None:
    bench = FakeBench()
    assert bench.sets(1e6) == 2
    bench.dry = False
    for size in (1e3, 1e6, 1e9):
        sets = bench.sets(size)
        assert 2 <= sets <= MOST_SETS
        assert sets == MOST_SETS or sets * size > 4 * bench.cache


def test_patience_bounds_the_repetitions() -> None:
    bench = FakeBench()
    assert bench.repetitions(1e-6) == 2
    bench.dry, bench.patience = False, 0.2
    assert bench.repetitions(1e-6) == 41
    assert bench.repetitions(10.0) == 3


def test_less_patience_is_for_a_while() -> None:
    bench = FakeBench()
    bench.dry, bench.patience = False, 0.2
    with bench.patient(0.05):
        assert bench.repetitions(0.01) == 9
        with bench.patient(1.0):
            assert bench.patience == 0.05
    assert bench.repetitions(0.01) == 20


def test_a_long_call_is_warmed_up_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = FakeBench()
    clock = [0.0]
    monkeypatch.setattr(timing.time, "perf_counter", lambda: clock[0])
    calls: list[int] = []

    def call(seconds: float) -> None:
        calls.append(1)
        clock[0] += seconds

    assert bench.estimate(lambda i: call(0.5)) == pytest.approx(0.5)
    assert len(calls) == 2
    calls.clear()
    assert bench.estimate(lambda i: call(1e-3)) == pytest.approx(1e-3)
    assert len(calls) == 11


def test_a_step_is_timed_until_the_call_returns_and_until_the_device_is_idle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = FakeBench()
    clock, queue = [0.0], [0.0]
    monkeypatch.setattr(timing.time, "perf_counter", lambda: clock[0])

    def call(i: int) -> None:
        clock[0] += 1e-3
        queue[0] += 3e-3

    def synchronize() -> None:
        clock[0], queue[0] = clock[0] + queue[0], 0.0

    monkeypatch.setattr(bench, "synchronize", synchronize)
    wall, enqueue = bench.steps(call)
    assert wall.median == pytest.approx(4e-3)
    assert enqueue.median == pytest.approx(1e-3)


def taken(wall: float, enqueue: float) -> tuple[Spread, Spread]:
    return tuple(Spread(value, value, value, 3) for value in (wall, enqueue))  # type: ignore[return-value]


def test_the_quietest_of_several_chunks_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = FakeBench()
    bench.dry = False
    chunks = iter([taken(3e-3, 1e-3), taken(2e-3, 1.5e-3), taken(4e-3, 0.5e-3)])
    monkeypatch.setattr(bench, "steps", lambda call: next(chunks))
    wall, enqueue = bench.quiet_steps(lambda i: None, 3)
    assert (wall.median, enqueue.median) == (2e-3, 1.5e-3)


def test_what_waits_for_the_host_is_timed_in_rounds_and_the_rest_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = FakeBench()
    bench.dry = False
    order: list[str] = []

    def steps(call: Call) -> tuple[Spread, Spread]:
        name = str(call(0))
        order.append(name)
        if name == "device":
            return taken(5e-3, 1e-3)
        # The host is quiet in the fourth round alone.
        wall = 1e-3 if order.count(name) == 4 else 2e-3
        return taken(wall, 0.95 * wall)

    monkeypatch.setattr(bench, "steps", steps)
    found = bench.host_steps({name: (lambda i, name=name: name) for name in ("host", "device")})
    assert order.count("host") == 10
    assert order.count("device") == 1
    assert order[:3] == ["host", "device", "host"]
    assert found["host"][0].median == 1e-3
    assert found["device"][0].median == 5e-3


def test_a_step_that_fails_leaves_the_others() -> None:
    bench = FakeBench()

    def broken(i: int) -> object:
        raise RuntimeError("no room for this")

    found = bench.host_steps({"works": lambda i: None, "broken": broken})
    assert set(found) == {"works"}
    assert "no room for this" in bench.recorder.skipped[0]["reason"]


def test_how_thorough_a_run_is() -> None:
    bench = FakeBench()
    assert bench.pick([1, 2, 3], [1, 2], [1]) == [1]
    bench.dry, bench.quick = False, True
    assert bench.pick([1, 2, 3], [1, 2], [1]) == [1, 2]
    bench.quick = False
    assert bench.pick([1, 2, 3], [1, 2], [1]) == [1, 2, 3]


def test_random_operands_share_no_memory() -> None:
    first, second = FakeBench().random(2, (3, 5), np.float32)
    assert first.shape == second.shape == (3, 5)
    assert not np.shares_memory(first, second)


@pytest.mark.parametrize(
    ("spans", "length"),
    [([], 0.0), ([(0.0, 1.0), (0.0, 1.0)], 1.0), ([(5.0, 6.0), (0.0, 2.0), (1.0, 3.0)], 4.0)],
)
def test_intervals_that_overlap_count_once(spans: list[tuple[float, float]], length: float) -> None:
    assert union(spans) == length


def test_an_error_is_relative_to_the_reference() -> None:
    result, reference = Tensor([3.0, 4.0]), Tensor([3.0, 3.5])
    assert relative_error(fake_torch(), result, reference) == pytest.approx(0.5 / 21.25**0.5)
