"""A cache as a film: requests come, get a place, fill it with tokens, and leave.

The stage is the cache, or as many of its rooms as there are requests in the film, each a row that
is as wide as the longest request. What a user holds is orange, and the tokens in it are blue.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.film import Actor, Film, Place
from mlsys_widgets.measured.cache_runs import CacheRun, longest
from mlsys_widgets.physics.serving_simulation import Policy, Stay

_show = ph.format_quantity

#: How many requests the film shows, one batch of the replay, and how long it runs.
FIRST: Final = 32
SECONDS: Final = 10.0
#: How wide those are that wait at the left, and where the cache begins.
_WIDE, _CACHE = 0.05, 0.09
#: How long a request takes into the cache on the screen, for the eye only.
_STEP: Final = 0.15
#: Part of a row that is drawn, and in how many rows there is room for a number.
_ROW, _NUMBERED = 0.86, 16
#: Pixels of the stage, with numbers in its rows and without.
_HIGH, _HIGHER = 230, 320
#: A time that is none, up to rounding.
_NONE: Final = 1e-9


@dataclass(frozen=True)
class _Spot:
    """Where a stay is drawn, in rooms and tokens, and what it holds at first and at last."""

    row: int
    left: float
    holds: tuple[float, float]


def film_of(run: CacheRun, policy: Policy, block: int, whole: int) -> Film:
    """The first requests of a run, in a memory of so many whole rooms."""
    served, room = run.served, longest()
    stays = sorted(
        (stay for stay in served.stays if stay.number < FIRST), key=lambda stay: stay.began
    )
    end = max(stay.ended for stay in stays)
    spots = _in_pages(stays, block, room) if policy == "paged" else _in_rooms(stays, room)
    rows = max(min(whole, FIRST), *(1 + spot.row for spot in spots))
    scale, per_token, high = (SECONDS - 0.3) / end, (1 - _CACHE) / room, _ROW / rows
    lows = [1 - (row + 1) / rows + (1 / rows - high) / 2 for row in range(rows)]

    def on_film(moment: float) -> float:
        return 0.1 + scale * moment

    # Each row has a floor, so that the cache is there before anybody comes.
    actors = [Actor("", "gray", ((0.0, _CACHE, low, 1 - _CACHE, 0.008),)) for low in lows]
    here: set[int] = set()
    for stay, spot in zip(stays, spots, strict=True):
        left, low = _CACHE + spot.left * per_token, lows[spot.row]
        began, ended = on_film(stay.began), on_film(stay.ended)
        # A batch keeps its rooms until its longest answer is written.
        done = min(ended, on_film(float(served.ended[stay.number])))
        inside = min(began + _STEP, done)

        def growing(
            at_first: float,
            at_last: float,
            left: float = left,
            low: float = low,
            times: tuple[float, float] = (inside, done),
        ) -> tuple[Place, ...]:
            return tuple(
                (time, left, low, tokens * per_token, high)
                for time, tokens in zip(times, (at_first, at_last), strict=True)
            )

        held = growing(*spot.holds)
        if held[0][1:] == held[1][1:]:  # a room does not grow
            held = held[:1]
        actors.append(Actor("", "orange", held, ended))
        waits: tuple[Place, ...] = ()
        if stay.number not in here:
            here.add(stay.number)
            came = on_film(float(served.arrived[stay.number]))
            waits = tuple((time, 0.0, low, _WIDE, high) for time in (came, began))
        path = (*waits, *growing(stay.first, stay.last))
        number = str(stay.number + 1) if rows <= _NUMBERED else ""
        actors.append(Actor(number, "blue", path, done))
    title = f"The first {ph.counted(FIRST, 'request')}: {_show(end, 's')}"
    names = tuple((lows[row] + high / 2, f"room {row + 1}") for row in sorted({0, rows - 1}))
    if policy == "paged":
        names = ((0.5, "memory"),)
    told = _told(run, policy, stays, (rows, whole))
    high_stage = _HIGH if rows <= _NUMBERED else _HIGHER
    return Film(title, SECONDS, tuple(actors), names, told, high_stage)


def _in_rooms(stays: list[Stay], room: int) -> list[_Spot]:
    """A room for each: the first that is free."""
    free, found = [0.0] * len(stays), []
    for stay in stays:
        row = next(k for k, at in enumerate(free) if at <= stay.began + _NONE)
        free[row] = stay.ended
        found.append(_Spot(row, 0.0, (room, room)))
    return found


def _in_pages(stays: list[Stay], block: int, room: int) -> list[_Spot]:
    """Pages side by side, in the first row with a gap for all that a stay will hold."""
    rows: list[list[tuple[float, float, float]]] = [[] for _ in stays]
    found = []
    for stay in stays:
        first, last = (float(block * -(-tokens // block)) for tokens in (stay.first, stay.last))
        for number, taken in enumerate(rows):
            row, left = number, 0.0
            for begin, stop, until in sorted(taken):
                if until > stay.began + _NONE and begin - left < last:
                    left = max(left, stop)
            if left + last <= room:
                break
        taken.append((left, left + last, stay.ended))
        found.append(_Spot(row, left, (first, last)))
    return found


def _told(
    run: CacheRun, policy: Policy, stays: list[Stay], rooms: tuple[int, int]
) -> tuple[tuple[float, str], ...]:
    """What the colors mean, and what became of the cache; rooms are those drawn, and all."""
    most = max(sum(other.began <= stay.began < other.ended for other in stays) for stay in stays)
    waited = float((run.served.started - run.served.arrived)[:FIRST].max())
    drawn, whole = rooms
    all_of_them = "all rooms are" if drawn >= whole else f"{_show(drawn)} of {_show(whole)} are"
    how = {
        "static": f"Each row is a room, and {all_of_them} drawn. A batch keeps its rooms until its"
        " longest answer is written.",
        "continuous": f"Each row is a room, and {all_of_them} drawn.",
        "paged": "A row has as much memory as a room. Pages are drawn side by side; in memory they"
        " lie anywhere.",
    }[policy]
    wait = "nobody waited for a place"
    if waited > _NONE:
        wait = f"the longest wait for a place took {_show(waited, 's')}"
    return (
        (
            0.0,
            f"Blue are tokens; orange is handed out and empty; at the left, requests wait. {how}",
        ),
        (
            SECONDS,
            f"Of these {_show(FIRST)} requests, at most {_show(most)} were in the cache at once,"
            f" and {wait}. Later ones are not drawn.",
        ),
    )
