"""Scenes of the queue explorer: response time against load, and one run of requests."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

import numpy as np

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.curves import Curve, Dots, Threshold, curve_scene
from mlsys_widgets.drawing.scene import Array, Axis, Scene, from_zero
from mlsys_widgets.physics.queue_simulation import ServedRequests

_show = ph.format_quantity

#: How busy a server can be set.
LOWEST, HIGHEST = 0.05, 0.97
#: How many loads a curve has; they are closer together where it is steep.
_POINTS: Final = 48
#: Requests of a run before those that are drawn, and those.
_BEFORE, SHOWN = 400, 120
#: Of the draws up to 600, the one whose 120 requests have means nearest to those of the formula,
#: from half busy to 97%. With most others, the mean of a busy server lies above all that is drawn.
_SEED: Final = 146


def latency_of(result: ph.Queue, load: float, part: str, guess: float | None) -> Scene:
    """Mean and slow end against the load, up to where both leave any promise behind."""
    loads = 1 - np.geomspace(1 - LOWEST, 1 - HIGHEST, _POINTS)
    there = replace(result, arrivals=loads * result.servers / result.service)
    service = float(result.service)
    mean = np.broadcast_to(there.response, loads.shape)
    tail = np.broadcast_to(there.tail, loads.shape)
    percents = tuple(k / 10 for k in range(0, 11, 2))
    across = Axis("Busy", 0.0, 1.0, ticks=percents, words=tuple(_show(p, "%") for p in percents))
    parts = (
        Curve(loads, tail, part, "red", name="tail"),
        Curve(loads, mean, "Mean", "blue", "dashed", name="mean"),
        Threshold("Service alone", y=service, tone="gray", dash="dotted", name="service"),
        Threshold(
            f"Your prediction, {_show(guess or 0, '×')}",
            y=None if guess is None else guess * service,
            tone="prediction",
            dash="dash_dotted",
            name="prediction",
        ),
        Dots(load, float(result.tail), "", "red", name="tail now"),
        Dots(load, float(result.response), "Now", "blue", name="now", moves="load"),
    )
    made = curve_scene(across, _up(service), parts)
    return replace(made, legend=tuple(entry for entry in made.legend if entry[0]))


def _up(service: float) -> Axis:
    """From below a service time to beyond the slow end of a server that is nearly full."""
    low, high = service / 2, service * 400
    ticks = tuple(service * times for times in (1, 3, 10, 30, 100, 300))
    return Axis("Response time", low, high, True, ticks, tuple(_show(tick, "s") for tick in ticks))


@lru_cache(32)
def _played(load: float, servers: int, closed: bool) -> ServedRequests:
    """A run with a service time of 1: the same draw at every load."""
    many = _BEFORE + SHOWN
    if closed:
        return ph.simulate_closed_loop(1, 1.0, 1 / load - 1, requests=many, seed=_SEED)
    return ph.simulate_queue(load * servers, 1.0, servers, requests=many, seed=_SEED)


def play(result: ph.Queue, closed: bool) -> ServedRequests:
    """Requests of one run, in service times."""
    return _played(float(result.utilization), int(result.servers), closed)


def one_run(result: ph.Queue, closed: bool) -> Scene:
    """The response times of requests that arrived one after the other."""
    service = float(result.service)
    seen: Array = play(result, closed).response[_BEFORE:] * service
    numbers = np.arange(1.0, seen.size + 1)
    ticks = (1.0, 30.0, 60.0, 90.0, 120.0)
    across = Axis(
        "Request of one run", 0.0, SHOWN + 1.0, ticks=ticks, words=tuple(map(_show, ticks))
    )
    mean, slowest = float(result.response), float(max(seen.max(), result.response))
    parts = (
        Threshold("Mean of many runs", y=mean, tone="blue", dash="dashed", name="mean of all"),
        Curve(numbers, seen, "Each request", "ink", width=1.5, name="requests"),
    )
    return curve_scene(across, from_zero("Response time", 1.05 * slowest, "s"), parts, height=190)
