"""Power, energy, clocks and temperature of the first GPU, as its driver reports them.

They are read through NVML, the driver's own library, which needs no installation. Nothing is ever
set: the card is measured as it is found.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..recorder import Skip

#: Seconds between two readings of the counter, and readings between two of everything else.
PACE, SPARSE = 0.002, 10
#: Ticks that a mean needs: the moment of a tick is known to a few milliseconds.
LEAST_TICKS = 5
_LIBRARIES = ("libnvidia-ml.so.1", "libnvidia-ml.so", "nvml.dll")
_SM_CLOCK, _MEMORY_CLOCK, _TEMPERATURE = 1, 2, 0


@dataclass(frozen=True)
class CardState:
    """Watts, clocks in Hz and degrees Celsius at one moment."""

    watts: float
    sm_clock: float
    memory_clock: float
    temperature: float


class Gauge(Protocol):
    """A reader of one card."""

    def joules(self) -> float:
        """Return the energy that the card has used since its driver was loaded."""

    def state(self) -> CardState:
        """Return what the card does now."""


class Nvml:
    """The first GPU through NVML."""

    def __init__(self, library: Any = None) -> None:
        self._library = _library() if library is None else library
        self._call("nvmlInit_v2")
        self._card = ctypes.c_void_p()
        self._call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(0), ctypes.byref(self._card))

    def _call(self, name: str, *arguments: Any) -> None:
        code = getattr(self._library, name)(*arguments)
        if code != 0:
            raise Skip(f"the driver does not answer {name} (NVML error {code})")

    def _number(self, name: str, *arguments: int, kind: Any = ctypes.c_uint) -> int:
        number = kind()
        wanted = [ctypes.c_uint(argument) for argument in arguments]
        self._call(name, self._card, *wanted, ctypes.byref(number))
        return int(number.value)

    def joules(self) -> float:
        """Return the energy that the card has used since its driver was loaded."""
        return self._number("nvmlDeviceGetTotalEnergyConsumption", kind=ctypes.c_ulonglong) / 1e3

    def state(self) -> CardState:
        """Return what the card does now."""
        return CardState(
            watts=self._number("nvmlDeviceGetPowerUsage") / 1e3,
            sm_clock=self._number("nvmlDeviceGetClockInfo", _SM_CLOCK) * 1e6,
            memory_clock=self._number("nvmlDeviceGetClockInfo", _MEMORY_CLOCK) * 1e6,
            temperature=float(self._number("nvmlDeviceGetTemperature", _TEMPERATURE)),
        )


def _library() -> Any:
    for name in _LIBRARIES:
        with contextlib.suppress(OSError):
            return ctypes.CDLL(name)
    raise Skip("the driver's library NVML is not on this machine, so nothing tells the energy")


@dataclass
class Readings:
    """The readings of a meter over some seconds, and the power that it means."""

    counter: list[tuple[float, float]] = field(default_factory=list)
    states: list[tuple[float, CardState]] = field(default_factory=list)
    failure: Exception | None = None

    def enough(self, start: float, end: float) -> bool:
        """Whether a mean power and a state of this time can be told, or never will be."""
        if self.failure is not None:
            return True
        ticks = sum(start <= moment <= end for moment, _ in self.ticks())
        return ticks >= LEAST_TICKS and any(start <= moment <= end for moment, _ in self.states)

    def watts(self, start: float, end: float) -> float:
        """Mean power between two moments, from one tick of the counter to another.

        The counter moves in steps. The time between the first and the last of them belongs exactly
        to the energy that they add up to; the pieces before and after are left out.
        """
        if self.failure is not None:
            raise self.failure
        ticks = [tick for tick in self.ticks() if start <= tick[0] <= end]
        if len(ticks) < LEAST_TICKS:
            raise Skip(f"the energy counter moved {len(ticks)} times in {end - start:.1f} s")
        (first, low), (last, high) = ticks[0], ticks[-1]
        return (high - low) / (last - first)

    def ticks(self) -> list[tuple[float, float]]:
        """Return the moments at which the counter had moved, with what it then said."""
        pairs = itertools.pairwise(self.counter)
        return [after for before, after in pairs if after[1] > before[1]]

    def tick(self) -> float | None:
        """Return the usual time between two ticks."""
        moments = [moment for moment, _ in self.ticks()]
        steps = [after - before for before, after in itertools.pairwise(moments)]
        return statistics.median(steps) if steps else None

    def state(self, start: float, end: float) -> CardState:
        """Return the median of what the card said between two moments."""
        seen = [state for moment, state in self.states if start <= moment <= end]
        if not seen:
            raise Skip(f"the card's state was not read within {end - start:.1f} s")
        return CardState(
            watts=statistics.median(state.watts for state in seen),
            sm_clock=statistics.median(state.sm_clock for state in seen),
            memory_clock=statistics.median(state.memory_clock for state in seen),
            temperature=statistics.median(state.temperature for state in seen),
        )


@contextlib.contextmanager
def metered(
    gauge: Gauge, pace: float = PACE, clock: Callable[[], float] = time.perf_counter
) -> Iterator[Readings]:
    """Read the card in a thread of its own while something runs; complete when the block ends."""
    readings, stop = Readings(), threading.Event()

    def read() -> None:
        number = 0
        try:
            while not stop.is_set():
                before = clock()
                joules = gauge.joules()
                readings.counter.append(((before + clock()) / 2, joules))
                if number % SPARSE == 0:
                    readings.states.append((clock(), gauge.state()))
                number += 1
                stop.wait(pace)
        except Exception as problem:  # told by whoever asks for a result
            readings.failure = problem

    thread = threading.Thread(target=read, name="power meter", daemon=True)
    thread.start()
    try:
        yield readings
    finally:
        stop.set()
        thread.join()


def resolution(readings: Sequence[Readings]) -> str:
    """Say in words how often the counter moves."""
    steps = [tick for each in readings if (tick := each.tick()) is not None]
    if not steps:
        return "the energy counter never moved twice"
    return f"the energy counter moves every {statistics.median(steps) * 1e3:.3g} ms"
