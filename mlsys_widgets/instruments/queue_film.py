"""Requests as a film: they arrive, stand in line, and leave when they have their answer."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.film import Actor, Film, Place
from mlsys_widgets.instruments.queue_scenes import play

_show = ph.format_quantity
_Array = NDArray[np.float64]

#: How many requests the film shows, and how long it runs.
FIRST: Final = 14
SECONDS: Final = 10.0
#: Where requests arrive, where the first in line stands, where servers work, and how far apart two
#: in line are; a request is this wide and high.
_ARRIVES, _HEAD, _WORKS, _APART = 0.0, 0.74, 0.88, 0.052
_WIDE, _HIGH = 0.042, 0.2
_LINE: Final = 0.4
#: How long a step of one place takes on the screen, for the eye only.
_STEP: Final = 0.12
#: As many as have room in line; whoever comes later stands with the last one.
_MOST: Final = 13
#: A wait that is none, up to rounding.
_NONE: Final = 1e-9


def film_of(result: ph.Queue, closed: bool) -> Film:
    """The first requests of the run that is drawn beside the curve."""
    run = play(result, closed)
    arrived, began, ended = (
        np.asarray(each[:FIRST] - run.arrived[0]) for each in (run.arrived, run.began, run.ended)
    )
    service = float(result.service)
    total, to_film = float(ended.max()), (SECONDS - 0.4) / float(ended.max())
    come, turn, gone = (0.2 + to_film * each for each in (arrived, began, ended))
    lanes = _lanes(began, ended, int(result.servers))
    actors = []
    for k in range(FIRST):
        waited = float(began[k] - arrived[k])
        tone = "green" if waited < _NONE else "orange" if waited <= 1 else "red"
        path = _path(k, come, turn, gone, lanes[k], 1 + max(lanes))
        actors.append(Actor(str(k + 1), tone, path, float(gone[k])))
    in_line = [int(((arrived <= at) & (began > at)).sum()) for at in arrived]
    moments = _moments(began - arrived, turn, service, max(in_line), total * service)
    title = f"The first {ph.counted(FIRST, 'request')}: {_show(total * service, 's')}"
    return Film(title, SECONDS, tuple(actors), (), moments, 150)


def _lanes(began: _Array, ended: _Array, servers: int) -> list[int]:
    """Which server each request has: the one that is free first."""
    free, lanes = [0.0] * min(servers, FIRST), []
    for begin, end in zip(began.tolist(), ended.tolist(), strict=True):
        lane = next((k for k, at in enumerate(free) if at <= begin + _NONE), 0)
        free[lane] = end
        lanes.append(lane)
    return lanes


def _path(
    k: int, arrived: _Array, began: _Array, ended: _Array, lane: int, lanes: int
) -> tuple[Place, ...]:
    """Where a request is: one place further in line whenever somebody ahead is served."""
    here, mine, gone = float(arrived[k]), float(began[k]), float(ended[k])
    places: list[Place] = [(here, _ARRIVES, _LINE, _WIDE, _HIGH)]
    ahead = sorted(float(began[j]) for j in range(k) if began[j] > here + _NONE)
    if mine > here + _NONE:
        for left, at in enumerate([here, *ahead]):
            stands = _HEAD - _APART * min(len(ahead) - left, _MOST)
            begins = max(at, places[-1][0])
            places.append((begins, *places[-1][1:]))
            places.append((min(begins + _STEP, mine), stands, _LINE, _WIDE, _HIGH))
    places.append((max(mine, places[-1][0]), *places[-1][1:]))
    room = 0.96 / lanes
    high = min(_HIGH, 0.9 * room)
    works = (_WORKS, 0.98 - room * (lane + 0.5) - high / 2, _WIDE, high)
    places.append((min(mine + _STEP, gone), *works))
    places.append((gone, *works))
    return tuple(places)


def _moments(
    waits: _Array, began: _Array, service: float, longest: int, total: float
) -> tuple[tuple[float, str], ...]:
    """Tell what the colors mean, who waited longest, and how it ends."""
    slowest = int(np.argmax(waits))
    told = [
        (
            0.0,
            "Requests come from the left, stand in line, and are served at the right end. Green"
            " ones do not wait, orange ones for up to a service time, and red ones for longer.",
        )
    ]
    if waits[slowest] > _NONE:
        after = _show(float(waits[slowest]) * service, "s")
        told.append(
            (round(float(began[slowest]), 4), f"Request {slowest + 1} waited longest: {after}.")
        )
    most = f"At most {ph.counted(longest, 'request')} stood in line" if longest else "Nobody waited"
    told.append((SECONDS, f"{most} during these {_show(total, 's')}."))
    return tuple(told)
