"""One run of a serving engine: the requests of a replay on the H200, in a cache of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mlsys_widgets import physics as ph
from mlsys_widgets.measured import simulated_replays
from mlsys_widgets.measured.queries import Case, cases
from mlsys_widgets.physics.serving_simulation import (
    Policy,
    ServedTrace,
    ServingRequest,
    StepTimes,
    simulate_serving,
    step_times,
)

_Array = NDArray[np.float64]

MODEL: Final = "llama31-8b"
DEVICE: Final = "h200-sxm"
#: Requests per second of the replay as it was drawn.
USUAL: Final = 16.0
#: Keys and values of a token, in bytes.
TOKEN: Final = float(ph.kv_cache(MODEL, batch=1, sequence=1))
#: For how many rows the engine has recorded its steps, and of which lengths it reads prompts.
_ROWS: Final = (1, 2, 4, 8, 12, 16, 24, 32, 40, 48, 56, 64, 96, 128, 192, 256)
_GRAIN: Final = 64
#: Of a room: what a memory may lack of a whole number of them, written with three digits.
_NEARLY: Final = 0.02


@cache
def replay(policy: str = "continuous", slots: int = 32) -> Case:
    """A replay of the requests on the device itself."""
    return cases(DEVICE, kind="replay", trace="steady", policy=policy, slots=slots, turn=1)[0]


@cache
def check_time(users: int, tokens: int) -> float:
    """What a step takes that reads so many tokens of each user, in steps of one token each."""
    plain, several = (
        cases(DEVICE, kind="verification", batch=users, tokens=many)[0].seconds.median
        for many in (1, tokens)
    )
    return several / plain


def longest() -> int:
    """Tokens of the room that the engine on the H200 reserved."""
    return int(replay().shape["room"])


def rooms(memory: float) -> int:
    """How many rooms for the longest request a memory holds."""
    return int(memory / (longest() * TOKEN) + _NEARLY)


@cache
def _times() -> StepTimes:
    """The steps of the calibrated form; prompts are read in the lengths that are recorded."""
    times = step_times(
        lambda phase, batch, tokens: ph.serving_time(MODEL, DEVICE, phase, batch, tokens).time,
        _ROWS,
    )
    return StepTimes(lambda prompt: times.read(_GRAIN * -(-prompt // _GRAIN)), times.write)


@dataclass(frozen=True, eq=False)
class CacheRun:
    """What happened to the requests, and when the cache held what."""

    requests: tuple[ServingRequest, ...]
    served: ServedTrace
    #: Tokens that are handed out while nobody is served: rooms are reserved before anybody comes.
    idle: float

    @property
    def wait(self) -> float:
        """Seconds to the first token that one request in ten exceeds."""
        return float(np.quantile(self.served.wait, 0.9))

    @property
    def pace(self) -> float:
        """Seconds for each token after the first, on average."""
        written = sum(request.answer - 1 for request in self.requests)
        return float((self.served.ended - self.served.first).sum()) / written

    def at(self, moments: _Array) -> tuple[_Array, _Array, _Array]:
        """What was handed out and what was of use, in tokens, and who waited, at some moments."""
        steps = self.served.columns
        step = np.searchsorted(steps["began"], moments, side="right") - 1
        here = (step >= 0) & (moments < (steps["began"] + steps["seconds"])[step])
        held = np.where(here, steps["held"][step], self.idle)
        kept = np.where(here, steps["kept"][step], 0.0)
        come, read = (
            np.searchsorted(np.sort(each), moments, side="right")
            for each in (self.served.arrived, self.served.started)
        )
        return held, kept, (come - read).astype(float)


@lru_cache(32)
def play(policy: Policy, memory: float, block: int, load: float, most: int) -> CacheRun:
    """Serve the requests of the replay at a load, in requests per second."""
    requests = tuple(simulated_replays.trace(replay(), load / USUAL))
    times, room = _times(), longest()
    if policy == "paged":
        # All of the memory, in places for one token each.
        places = int(memory / TOKEN)
        served = simulate_serving(requests, times, 1, places, policy, block, most)
        return CacheRun(requests, served, idle=0.0)
    served = simulate_serving(requests, times, min(most, rooms(memory)), room, policy)
    return CacheRun(requests, served, idle=float(served.room))
