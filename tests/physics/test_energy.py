"""Energy: power between rest and its limit, tokens that cost less together, bills that add up."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from mlsys_widgets import physics as ph
from mlsys_widgets.wording.units import JOULES_PER_KWH
from tests.physics.strategies import positive


def step(time: float, moved: float, flops: float) -> ph.StepEnergy:
    return ph.StepEnergy(
        time=time, bytes=moved, flops=flops, idle=150.0, byte_energy=60e-12, flop_energy=0.5e-12,
        limit=700.0,
    )  # fmt: skip


@given(positive(1e-6, 10), positive(1, 1e13), positive(1, 1e16))
def test_power_lies_between_rest_and_the_limit(time: float, moved: float, flops: float) -> None:
    found = step(time, moved, flops)
    assert 150.0 <= found.power <= 700.0
    shares = sum(found.shares.values())
    assert found.power == pytest.approx(min(700.0, shares))
    assert found.energy == pytest.approx(found.power * time)


@given(positive(1e-3, 10), positive(1, 1e9), positive(1, 1e12))
def test_the_same_work_in_more_time_costs_more(time: float, moved: float, flops: float) -> None:
    """Each second of waiting costs what it costs; the work itself costs the same."""
    fast, slow = step(time, moved, flops), step(2 * time, moved, flops)
    assert slow.power <= fast.power
    if sum(fast.shares.values()) < 700.0:
        assert slow.energy - fast.energy == pytest.approx(150.0 * time)


@given(positive(0.01, 1.0), positive(0.01, 1.0))
def test_a_token_costs_more_the_less_a_card_is_busy(one: float, other: float) -> None:
    less, more = sorted((one, other))
    quiet, full = (ph.service_energy(600.0, 1000.0, busy, 80.0) for busy in (less, more))
    assert quiet.energy_per_token >= full.energy_per_token * (1 - 1e-12)
    assert 80.0 <= quiet.mean_power <= full.mean_power <= 600.0 * (1 + 1e-12)
    assert ph.service_energy(600.0, 1000.0, 1.0, 80.0).energy_per_token == pytest.approx(0.6)


def test_a_bill_is_energy_and_what_it_costs() -> None:
    bill = ph.energy_bill(1e9, 0.05, "world", "average", price=0.12 / JOULES_PER_KWH)
    bought = 1e9 * 0.05 * ph.data_centers["average"].pue
    assert bill.energy == pytest.approx(bought)
    assert bill.cost == pytest.approx(bought / JOULES_PER_KWH * 0.12)
    assert bill.carbon == pytest.approx(bought / JOULES_PER_KWH * 0.481)
    assert replace(bill, pue=1.0).energy == pytest.approx(5e7)


def test_every_grid_and_data_center_says_where_its_number_is_from() -> None:
    entries = [*ph.grids.values(), *ph.data_centers.values()]
    for entry in entries:
        for _, value, _, origin in entry.facts():
            assert value > 0
            assert origin.source
            assert origin.date.startswith("20")
    # Water and nuclear power beat coal by an order of magnitude: Ember, 2023.
    assert ph.grids["poland"].carbon > 10 * ph.grids["sweden"].carbon
    assert ph.format_quantity(ph.grids["world"].carbon, "kg/J") == "481 g/kWh"
    assert all(1 < center.pue < 3 for center in ph.data_centers.values())


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"grid": "atlantis"}, "grid is 'atlantis'; it must be one of: norway"),
        ({"data_center": "shed"}, "data center is 'shed'; it must be one of: hyperscale"),
        ({"tokens": -1.0}, "tokens is -1.0; it must be"),
    ],
)
def test_a_wrong_bill_is_refused_with_a_sentence(wrong: dict[str, object], sentence: str) -> None:
    right = {"tokens": 1.0, "energy_per_token": 1.0, "grid": "world", "data_center": "average"}
    with pytest.raises(ValueError, match=sentence):
        ph.energy_bill(**{**right, **wrong})  # type: ignore[arg-type]


def test_a_step_of_a_model_moves_and_computes_what_its_kernels_do() -> None:
    found = ph.step_energy("llama31-8b", "h200-sxm", "decode", batch=4, sequence=2048)
    time = ph.serving_time("llama31-8b", "h200-sxm", "decode", batch=4, sequence=2048)
    assert found.time == time.time
    assert found.tokens == 4
    textbook = ph.decode("llama31-8b", "h200-sxm", batch=4, sequence=2048)
    assert found.bytes == pytest.approx(textbook.bytes, rel=0.1)
    assert found.energy == pytest.approx(found.power * found.time)


def test_a_larger_batch_draws_more_and_costs_less_per_token() -> None:
    batches = np.array([1.0, 4.0, 16.0, 64.0, 256.0])
    found = ph.step_energy("llama31-8b", "h200-sxm", "decode", batches, 2048)
    assert np.all(np.diff(found.power) > -1e-9)
    assert np.all(np.diff(found.energy_per_token) < 0)
    alone = ph.step_energy("llama31-8b", "h200-sxm", "decode", 16.0, 2048)
    assert alone.power == pytest.approx(found.power[2])


def test_a_launched_step_draws_less_and_costs_more() -> None:
    """The card waits for the host: fewer bytes a second, and the seconds of waiting are paid."""
    ask = {"model": "llama31-8b", "device": "h200-sxm", "phase": "decode", "batch": 1.0}
    graph, eager = (
        ph.step_energy(**ask, sequence=2048.0, launch=how)  # type: ignore[arg-type]
        for how in ("graph", "async")
    )
    assert eager.power < graph.power
    assert eager.energy > graph.energy


def test_a_device_whose_energy_was_not_measured_says_so() -> None:
    calibration = replace(ph.calibration_of("h200-sxm"), power=None)
    with pytest.raises(ph.UnknownName, match="the energy of H200 SXM was not measured"):
        ph.step_energy("llama31-8b", "h200-sxm", "decode", 1, 2048, calibration=calibration)
    with pytest.raises(ph.UnknownName, match="no measurement is on record"):
        ph.step_energy("llama31-8b", "a100-sxm", "decode", 1, 2048)


def test_the_law_of_a_device_is_told_with_its_source() -> None:
    law = ph.calibration_of("h200-sxm").power_law()
    facts = {name: (value, unit) for name, value, unit, _ in law.facts()}
    assert facts["byte_energy"][1] == "J/B"
    assert 0 < facts["idle"][0] < facts["limit"][0]
    assert math.isclose(facts["limit"][0], ph.devices["h200-sxm"].power)
    told = [name for name, *_ in ph.calibration_of("h200-sxm").facts()]
    assert "power: flop_energy" in told
