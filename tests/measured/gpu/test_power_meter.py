"""Readings of a card: mean power between ticks of its counter, and what happens without one."""

from __future__ import annotations

import ctypes
import itertools
from typing import Any

import pytest

from mlsys_widgets.measured.gpu import power_meter
from mlsys_widgets.measured.gpu.power_meter import CardState, Nvml, Readings, metered, resolution
from mlsys_widgets.measured.recorder import Skip
from tests.waiting import wait_for

NUMBERS = {
    "nvmlDeviceGetTotalEnergyConsumption": 5_000_000,
    "nvmlDeviceGetPowerUsage": 300_000,
    "nvmlDeviceGetTemperature": 50,
}


class FakeLibrary:
    """The driver's library with a card that has used 5 kJ, draws 300 W and is 50 degrees warm."""

    def __init__(self, refuse: str = "") -> None:
        self.refuse = refuse

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> int:
            if name == self.refuse:
                return 3
            if name == "nvmlDeviceGetClockInfo":
                arguments[-1]._obj.value = {1: 1980, 2: 3201}[arguments[1].value]
            elif name in NUMBERS:
                arguments[-1]._obj.value = NUMBERS[name]
            return 0

        return call


def test_a_card_is_read_in_si_units() -> None:
    card = Nvml(FakeLibrary())
    assert card.joules() == 5000.0
    assert card.state() == CardState(300.0, 1980e6, 3201e6, 50.0)


def test_a_driver_that_does_not_answer_is_named() -> None:
    with pytest.raises(Skip, match="does not answer nvmlInit_v2"):
        Nvml(FakeLibrary("nvmlInit_v2"))
    with pytest.raises(Skip, match="nvmlDeviceGetTotalEnergyConsumption"):
        Nvml(FakeLibrary("nvmlDeviceGetTotalEnergyConsumption")).joules()


def test_a_machine_without_the_library_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    with pytest.raises(Skip, match="NVML is not on this machine"):
        Nvml()


def stepping(period: float, watts: float, seconds: float) -> Readings:
    """A counter that moves once a period and is read every millisecond."""
    counter = []
    for number in range(int(seconds * 1000)):
        moment = number / 1000
        counter.append((moment, watts * period * (moment // period)))
    states = [
        (number / 50, CardState(watts, 1e9, 1e9, 40.0)) for number in range(int(seconds * 50))
    ]
    return Readings(counter, states)


@pytest.mark.parametrize("period", [0.002, 0.02, 0.1])
def test_power_is_counted_from_tick_to_tick(period: float) -> None:
    """Reading in the middle of a step gains or loses up to a step; from tick to tick, nothing."""
    readings = stepping(period, 400.0, 3.0)
    assert readings.watts(0.93, 2.77) == pytest.approx(400.0, rel=0.002 / 1.5)
    assert readings.tick() == pytest.approx(period, abs=0.0011)
    assert f"{period * 1e3:.3g}"[0] in resolution([readings])


def test_a_counter_that_hardly_moves_tells_no_power() -> None:
    readings = stepping(0.5, 400.0, 1.9)
    assert not readings.enough(0.0, 1.9)
    with pytest.raises(Skip, match=r"moved 3 times in 1\.9 s"):
        readings.watts(0.0, 1.9)
    assert resolution([Readings()]) == "the energy counter never moved twice"


def test_the_state_is_the_median_of_a_time() -> None:
    states = [(float(i), CardState(100.0 * i, 1e9, 2e9, 40.0)) for i in range(9)]
    assert Readings(states=states).state(2.0, 6.0).watts == 400.0
    with pytest.raises(Skip, match="was not read"):
        Readings(states=states).state(2.1, 2.2)


class Card:
    """A card that uses a joule per reading."""

    def __init__(self) -> None:
        self.numbers = itertools.count()

    def joules(self) -> float:
        return float(next(self.numbers))

    def state(self) -> CardState:
        return CardState(1.0, 1.0, 1.0, 1.0)


def test_a_card_is_read_while_something_runs() -> None:
    with metered(Card(), pace=1e-4) as readings:
        wait_for(lambda: readings.enough(0.0, 1e18), "enough readings")
    count = len(readings.counter)
    assert count >= power_meter.LEAST_TICKS
    assert readings.watts(0.0, 1e18) > 0


def test_a_card_that_stops_answering_fails_the_case_and_not_the_run() -> None:
    class Broken(Card):
        def joules(self) -> float:
            raise Skip("the driver does not answer")

    with metered(Broken()) as readings:
        wait_for(lambda: readings.failure is not None, "the failure")
    assert readings.enough(0.0, 1.0)
    with pytest.raises(Skip, match="does not answer"):
        readings.watts(0.0, 1.0)
