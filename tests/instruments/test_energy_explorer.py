"""The energy explorer: what a wait costs, a bill that follows, places, gates and promises."""

from __future__ import annotations

import pytest

from mlsys_widgets import EnergyExplorer, Target
from tests.instruments.locks import Lock


def mark(w: EnergyExplorer, plot: int, name: str):  # type: ignore[no-untyped-def]
    return next(m for m in w.scenes(w.result)[plot].marks if m.name == name)


def test_a_card_that_waits_costs_energy_for_no_token() -> None:
    w = EnergyExplorer(batch=256)
    full = w.result.energy_per_token
    w.set(busy=0.1)
    assert w.result.energy_per_token > 2 * full
    assert w.result.power > 0.2 * w.result.step.power
    assert len(mark(w, 1, "busy").x) > 0
    assert ("Waiting", "orange", "block") in w.scenes(w.result)[0].legend


def test_the_bill_follows_from_place_and_building() -> None:
    w = EnergyExplorer(batch=64, grid="norway", center="hyperscale", tokens=1e9, price=1e-7)
    used = 1e9 * w.result.energy_per_token * 1.10
    assert w.result.cost == pytest.approx(used * 1e-7)
    assert w.result.carbon == pytest.approx(used * 30e-3 / 3.6e6)
    w.set(grid="india", center="average")
    assert w.result.carbon == pytest.approx(used / 1.10 * 1.56 * 713e-3 / 3.6e6)


def test_places_that_are_offered_have_their_prices() -> None:
    w = EnergyExplorer(prices={"sweden": 3e-8, "poland": 2e-8})
    assert (w.grid, "price" in w.hidden()) == ("sweden", True)
    offered = w.controls["grid"].options(w)  # type: ignore[attr-defined]
    assert offered == {"sweden": "Sweden, 0.108 USD/kWh", "poland": "Poland, 0.072 USD/kWh"}
    before = w.result
    w.set(grid="poland")
    assert w.result.cost == pytest.approx(before.cost * 2 / 3)
    with pytest.raises(ValueError, match="it must be one of: sweden, poland"):
        w.set(grid="norway")


def test_controls_wait_for_their_gates() -> None:
    rests, reads = Lock(), Lock()
    w = EnergyExplorer(held={"busy": rests, "work": reads})
    assert w.hidden() == {"busy", "work"}
    reads.open()
    assert w.hidden() == {"busy"}
    # What a card draws while it waits is what somebody predicts who has no control of it yet.
    assert list(w.explanations) == ["The bill"]
    rests.open()
    assert not w.hidden()
    assert list(w.explanations) == ["A step", "With rests", "The bill"]


def test_what_a_promise_is_about_is_no_control() -> None:
    w = EnergyExplorer(fixed=("tokens", "sequence"), held={"work": Lock()})
    assert w.hidden() == {"tokens", "sequence", "work"}
    assert (w.tokens, w.sequence) == (1e9, 2048)


def test_a_prediction_is_a_point_at_the_largest_batch() -> None:
    w = EnergyExplorer(prediction=100)
    alone = EnergyExplorer(batch=1).result.energy_per_token
    drawn = mark(w, 1, "prediction")
    assert (*drawn.x, *drawn.y) == (256, pytest.approx(alone / 100))
    w.set(batch=40)  # it is about 256, whatever is set
    assert len(mark(w, 1, "prediction").x) == 1
    w.set(busy=0.5)
    assert len(mark(w, 1, "prediction").x) == 0
    waiting = EnergyExplorer(busy=0.1, prediction={"waiting": 5})
    full = EnergyExplorer(batch=256).result.energy_per_token
    assert mark(waiting, 1, "prediction").y[0] == pytest.approx(5 * full)


def test_promises_have_lamps() -> None:
    w = EnergyExplorer(
        batch=256,
        targets=[
            Target("token_time", 15e-3, "a token in 15 ms"),
            Target("rate", 5000, "5,000 tokens/s", "at least"),
            Target("carbon", 10, "10 kg"),
            Target("cost", 100, "100 USD"),
        ],
    )
    assert [lamp.kept for lamp in w.lamps] == [False, True, False, True]
    w.set(batch=96, grid="france")
    assert [lamp.kept for lamp in w.lamps] == [True, True, True, True]


def test_what_decides_is_marked() -> None:
    w = EnergyExplorer(batch=1)
    assert w.dominant(w.result.step) == "byte_energy"
    assert w.dominant(w.result.service) == "power"
    assert w.dominant(w.result.bill) == "energy"
    w.set(busy=0.05)
    assert w.dominant(w.result.service) == "idle"
    w.set(work="prefill")
    assert w.dominant(w.result.step) == "flop_energy"


def test_the_sentence_says_what_is_done() -> None:
    assert "1 conversation at once draws about" in EnergyExplorer(batch=1).text()
    assert "busy 25% of the time" in EnergyExplorer(busy=0.25).text()
    assert "a token that is read takes" in EnergyExplorer(work="prefill").text()
