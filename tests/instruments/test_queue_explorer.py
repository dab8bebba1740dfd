"""The queue explorer: it agrees with the formulas, and a client that waits sees no line."""

from __future__ import annotations

import math

import pytest

from mlsys_widgets import QueueExplorer, Target
from mlsys_widgets import physics as ph
from mlsys_widgets.instruments.queue_explorer import LATER
from tests.instruments.locks import Lock


def card(instrument: QueueExplorer, label: str) -> str:
    return {each: value for each, value, _ in instrument.cards(instrument.result)}[label]


@pytest.mark.parametrize("load", [0.05, 0.5, 0.8, 0.97])
@pytest.mark.parametrize("servers", [1, 4, 16])
@pytest.mark.parametrize("part", list(LATER))
def test_its_numbers_are_those_of_the_formulas(load: float, servers: int, part: str) -> None:
    instrument = QueueExplorer(load=load, servers=servers, part=part, service=20e-3)
    theory = ph.queue(load * servers / 20e-3, 20e-3, servers, LATER[part])
    assert math.isclose(instrument.result.utilization, load, rel_tol=1e-12)
    assert card(instrument, "Mean") == ph.format_quantity(theory.response, "s")
    assert card(instrument, part) == ph.format_quantity(theory.tail, "s")


def test_eighty_percent_is_five_services_and_a_tail_of_twenty_three() -> None:
    instrument = QueueExplorer(load=0.8)
    assert card(instrument, "Mean over service") == "5×"
    assert card(instrument, "p99 over service") == "23×"


def test_a_client_that_waits_sees_no_line_at_any_load() -> None:
    for load in (0.1, 0.8, 0.97):
        instrument = QueueExplorer(load=load, loop="closed", servers=3)
        assert "servers" in instrument.hidden()
        assert instrument.result.response == instrument.service
        assert "Nobody waited" in instrument.film(instrument.result).moments[-1][1]
        _, run = instrument.scenes(instrument.result)
        (requests,) = (mark for mark in run.marks if mark.name == "requests")
        # One client is served at once; others in the same place of the draw would have waited.
        assert max(requests.y) < 10 * instrument.service


def test_the_loop_waits_for_its_gate() -> None:
    gate = Lock()
    instrument = QueueExplorer(loops=gate)
    assert "loop" in instrument.hidden()
    gate.open()
    assert "loop" not in instrument.hidden()


def test_what_is_fixed_is_not_shown_and_a_design_cannot_use_it() -> None:
    promise = Target("tail", 0.2, "promise 200 ms")
    instrument = QueueExplorer(load=0.9, targets=[promise], fixed=("part", "loop"))
    assert {"part", "loop"} <= instrument.hidden()
    assert instrument.misses
    # What would light the lamp without helping anybody: the median, and a client that waits.
    for other in ({"part": "p50"}, {"loop": "closed"}):
        assert not QueueExplorer(load=0.9, targets=[promise], **other).misses


@pytest.mark.parametrize("servers", [1, 2, 4, 16])
@pytest.mark.parametrize("load", [0.3, 0.5, 0.8, 0.9, 0.95, 0.97])
def test_the_run_that_is_drawn_has_about_the_mean_of_the_formula(load: float, servers: int) -> None:
    instrument = QueueExplorer(load=load, servers=servers)
    _, run = instrument.scenes(instrument.result)
    (requests,) = (mark for mark in run.marks if mark.name == "requests")
    mean = sum(requests.y) / len(requests.y)
    assert math.isclose(mean, float(instrument.result.response), rel_tol=0.2)


def test_the_dot_lies_on_the_curve_and_is_dragged_along_it() -> None:
    instrument = QueueExplorer()
    instrument.drag("load", 0.8, 0)
    assert instrument.load == 0.8
    curve, _ = instrument.scenes(instrument.result)
    (handle,) = curve.handles
    assert (handle.x, handle.y) == (0.8, instrument.result.response)
    instrument.drag("load", 3.0, 0)
    assert instrument.load == type(instrument).load.high


def test_a_prediction_is_drawn_in_service_times_where_it_was_made() -> None:
    instrument = QueueExplorer(load=0.8, prediction=10, service=20e-3)
    curve, _ = instrument.scenes(instrument.result)
    (line,) = (mark for mark in curve.marks if mark.name == "prediction")
    assert set(line.y) == {10 * 20e-3}
    # A service time is a unit, so another one moves the line along.
    instrument.set(service=40e-3)
    assert instrument.prediction is not None
    instrument.set(load=0.5)
    assert instrument.prediction is None
    assert "about other settings (Busy: 80%" in instrument.prediction_elsewhere


def test_a_promise_is_a_line_and_a_lamp() -> None:
    promise = Target("tail", 0.2, "promise 200 ms")
    instrument = QueueExplorer(load=0.8, targets=[promise])
    assert instrument.misses == ["Promise 200 ms: 230.3 ms, 30.3 ms too late."]
    highest = ph.highest_rate(0.2, instrument.service) * instrument.service
    instrument.set(load=highest * 0.999)
    assert not instrument.misses


def test_a_design_has_to_carry_its_requests_with_what_it_may_cost() -> None:
    wanted = [
        Target("arrivals", 60, "at least 60/s", "at least"),
        Target("capacity", 100, "no more than one fast server"),
    ]
    instrument = QueueExplorer(load=0.5, targets=wanted)
    assert instrument.misses == ["At least 60/s: 50/s, 10/s too few."]
    instrument.set(load=0.65)
    assert not instrument.misses
    # Two as fast as that one cost twice as much; two that are half as fast cost the same.
    instrument.set(servers=2)
    assert instrument.capacity == 200
    assert len(instrument.misses) == 1
    instrument.set(service=20e-3)
    assert not instrument.misses


def test_the_sentence_says_who_sends() -> None:
    said = QueueExplorer(load=0.8).text()
    assert "Users send 80/s at random. With 1 server that is busy 80% of the time" in said
    assert "4 servers that are busy" in QueueExplorer(servers=4).text()
    assert "One client sends 50/s, each after the answer" in QueueExplorer(loop="closed").text()
