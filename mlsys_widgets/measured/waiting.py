"""What a little server showed under load: the runs of the section ``waiting`` of a measurement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mlsys_widgets.measured.queries import cases

#: A server that takes this much longer than its requests say was held up by something else. Waking
#: a thread costs a quiet machine about a hundredth.
HELD_UP: Final = 1.1


@dataclass(frozen=True)
class WaitingRun:
    """One run of a little server, in SI units. ``waiting_runs`` returns them."""

    loop: str  # ``"open"`` or ``"closed"``
    busy: float  # how busy the server was to be, and how busy it was
    utilization: float
    requests: int
    #: What requests say that they need, and for how long they were served, on average.
    drawn_service: float
    service: float
    mean: float  # response times
    p99: float
    #: What a simulation gives for requests that were sent at these times and served as long.
    simulated_mean: float
    simulated_p99: float

    @property
    def error(self) -> float:
        """How far the simulated mean is from the measured one, as a fraction of that."""
        return abs(self.simulated_mean / self.mean - 1)

    @property
    def was_held_up(self) -> bool:
        """Whether something else was using the machine."""
        return self.service > HELD_UP * self.drawn_service


def waiting_runs(document: Mapping[str, Any]) -> list[WaitingRun]:
    """Return the runs of a little server in a measurement; none if it has no such section."""
    names = [name for name in WaitingRun.__dataclass_fields__ if name != "loop"]
    return [
        WaitingRun(loop=case.variant, **{name: case.shape[name] for name in names})  # type: ignore[arg-type]
        for case in cases(document, kind="waiting")
    ]
