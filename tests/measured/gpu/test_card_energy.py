"""The energy of serving: what is held, what is counted, and what judges a model of power."""

from __future__ import annotations

import pytest

from mlsys_widgets.measured.gpu import card_energy
from mlsys_widgets.measured.gpu.card_energy import EnergyBench, Hold, drawn_steps, energy
from mlsys_widgets.measured.gpu.power_meter import CardState
from mlsys_widgets.measured.gpu.transformer import TOY
from mlsys_widgets.measured.recorder import Skip, Spread
from tests.measured.gpu.fake_torch import FakeBench

STATE = CardState(200.0, 1e9, 1e9, 40.0)


def test_every_kind_of_work_is_measured() -> None:
    bench = FakeBench()
    energy(bench)
    assert bench.recorder.skipped == []
    found = bench.recorded("energy")
    assert {(case["variant"], case["shape"]["work"]) for case in found} == {
        ("idle", "idle"), ("graph", "product"), ("graph", "copy"), ("graph", "decode"),
        ("graph", "prefill"), ("eager", "decode"),
    }  # fmt: skip
    for case in found:
        used = case["energy"]
        assert used["watts"] == pytest.approx(100.0, rel=0.05)  # the card of a rehearsal
        if case["shape"].get("model"):
            shape = case["shape"]
            tokens = shape["sequence"] if shape["work"] == "prefill" else 1
            assert case["flops"] == TOY.flops(shape["batch"], tokens, shape["sequence"], 2, True)
            each = used["watts"] / case["throughput"]  # joules per token
            assert used["joules"] / (shape["batch"] * tokens) == pytest.approx(each)
    assert any("the energy counter moves every" in note for note in bench.recorder.notes)


def test_drawn_steps_are_marked_and_are_no_listed_ones() -> None:
    bench = FakeBench()
    energy(bench)
    marked = [
        case["shape"]["drawn"] for case in bench.recorded("energy") if "drawn" in case["shape"]
    ]
    assert True in marked
    assert False in marked
    listed = {*card_energy.BATCHES, *card_energy.PROMPTS, *card_energy.SHORT}
    drawn = drawn_steps()
    assert len(drawn) == 12
    assert not listed & set(drawn)
    assert drawn == drawn_steps()


def test_the_caches_of_all_steps_fit_an_h200() -> None:
    steps = [
        *card_energy.BATCHES,
        *card_energy.PROMPTS,
        *card_energy.SHORT,
        *drawn_steps(),
    ]
    assert 2 * 65536 * max(batch * sequence for _, batch, sequence in steps) < 75e9


def test_the_energy_of_one_call_of_many() -> None:
    hold = Hold(Spread(0.4, 0.3, 0.5, 9), calls=10, held=4.0, watts=200.0, state=STATE)
    assert hold.energy()["joules"] == pytest.approx(80.0)
    quarter = hold.each(4)
    assert quarter.energy()["joules"] == pytest.approx(20.0)
    assert quarter.seconds == Spread(0.1, 0.075, 0.125, 9)


def test_a_card_that_does_not_tell_its_energy_leaves_the_case_out() -> None:
    class Silent:
        def joules(self) -> float:
            raise Skip("the driver does not answer")

        def state(self) -> CardState:
            return STATE

    bench = FakeBench()
    meter = EnergyBench(bench, Silent())
    with bench.recorder.attempt("the card at rest"):
        meter.rest()
    with bench.recorder.attempt("work"):
        meter.hold(lambda: None, 1e-6)
    assert [entry["reason"] for entry in bench.recorder.skipped] == [
        "the driver does not answer"
    ] * 2
