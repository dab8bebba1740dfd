"""A real little server: who waits for whom. Not how long anything took, only what came first."""

from __future__ import annotations

import numpy as np
import pytest

from mlsys_widgets.measured.cpu import waiting_sections
from mlsys_widgets.measured.cpu.waiting_sections import (
    RUNS,
    SERVICE,
    closed_loop,
    drawn,
    facts,
    little_server,
    open_loop,
)
from mlsys_widgets.physics import queue
from mlsys_widgets.physics.queue_simulation import serve

from .instant_bench import InstantBench, recorded

pytestmark = pytest.mark.timeout(300)

#: Forty requests within a tenth of a second.
ARRIVED = np.linspace(0, 0.1, 40)
SECONDS = np.full(40, 2e-3)


@pytest.mark.parametrize(("busy", "requests"), sorted({(busy, many) for busy, _, many in RUNS}))
def test_the_requests_are_as_the_formulas_have_them(busy: float, requests: int) -> None:
    arrived, seconds = drawn(busy, requests)
    played, theory = serve(arrived, seconds), queue(busy / SERVICE, SERVICE)
    assert played.mean == pytest.approx(theory.response, rel=0.05)
    assert played.tail(0.01) == pytest.approx(theory.tail, rel=0.05)
    assert (np.diff(arrived) > 0).all()


def test_all_runs_together_ask_for_less_than_twenty_seconds() -> None:
    assert sum(many * SERVICE / busy for busy, _, many in RUNS) < 18


def test_an_open_loop_sends_whatever_was_answered() -> None:
    with little_server(40) as (server, line):
        sent, answered = open_loop(line, ARRIVED, SECONDS)
    assert answered.all()
    # One after the other, in the order in which they were sent.
    assert (server.began[1:] >= server.ended[:-1]).all()
    assert (sent <= server.began).all()
    assert (server.ended <= answered).all()
    assert (server.ended - server.began >= SECONDS).all()
    # Nobody sends before the time has come, whatever the machine does.
    assert (np.diff(sent) > 0).all()


def test_a_closed_loop_never_has_two_requests_under_way() -> None:
    with little_server(40) as (server, line):
        sent, answered = closed_loop(line, SECONDS, think=1e-4)
    assert (sent[1:] >= answered[:-1] + 1e-4).all()
    assert (server.began[1:] >= server.ended[:-1]).all()
    found = facts(ARRIVED, SECONDS, sent, server.began, server.ended, answered)
    # Its simulation has no line either: every response is a service.
    assert found["simulated_mean"] == pytest.approx(found["service"])
    assert 0 < found["utilization"] <= 1


def short(bench: InstantBench, monkeypatch: pytest.MonkeyPatch, *loops: str) -> None:
    """Take the section with forty requests in each of some loops."""
    monkeypatch.setattr(waiting_sections, "RUNS", tuple((0.8, loop, 40) for loop in loops))
    monkeypatch.setattr(waiting_sections, "drawn", lambda busy, requests: (ARRIVED, SECONDS))
    waiting_sections.waiting(bench)


def test_every_run_is_recorded_with_its_simulation(
    bench: InstantBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    short(bench, monkeypatch, "open", "closed")
    assert not bench.recorder.skipped
    cases = recorded(bench, "waiting")
    assert [case["variant"] for case in cases] == ["open", "closed"]
    for case in cases:
        shape = case["shape"]
        assert shape["drawn_service"] == pytest.approx(2e-3)
        assert shape["mean"] >= shape["service"] >= 2e-3
        assert shape["simulated_mean"] >= shape["service"] * (1 - 1e-9)
        assert case["seconds"]["repetitions"] == 40


def test_a_server_that_goes_away_costs_its_run_alone(
    bench: InstantBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting_sections.LittleServer, "_serve", lambda self: None)
    monkeypatch.setattr(waiting_sections, "_PATIENCE", 0.2)
    short(bench, monkeypatch, "open")
    assert not recorded(bench, "waiting")
    (entry,) = bench.recorder.skipped
    assert entry["what"] == "open loop, 80% busy"
