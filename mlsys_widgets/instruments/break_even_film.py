"""Traffic as a film: compiling makes a debt, and every inference pays a little of it back."""

from __future__ import annotations

import math
from typing import Final

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.film import Actor, Film

_show = ph.format_quantity

#: How long compiling and the traffic after it take on the screen.
COMPILING: Final = 1.0
TRAFFIC: Final = 6.0
SECONDS: Final = COMPILING + TRAFFIC
#: How many blocks stand for the traffic, and how long one is under way.
BLOCKS: Final = 12
_WAY: Final = 0.5
#: How far past its break-even a service is shown.
BEYOND: Final = 1.5
#: Rows: bottom and height; the widest bar.
_REQUESTS, _OWED, _SAVED = (0.7, 0.2), (0.4, 0.2), (0.1, 0.2)
_WIDEST: Final = 0.95


def film_of(result: ph.Deployment) -> Film:
    """Traffic until a while after the break-even, or until the service ends without one."""
    pays = bool(result.roi_positive)
    crossing, days = float(result.days_to_break_even), float(result.days)
    end = min(days, BEYOND * crossing) if pays else days
    cost, each = float(result.compile_time), float(result.saved_per_inference)
    served = float(result.per_day) * end
    paid = min(1.0, served * each / cost)
    # When the debt is paid, on the screen; without a break-even, never.
    even = COMPILING + TRAFFIC * min(1.0, crossing / end)
    low, high = _OWED
    owed = (
        (0.0, 0.0, low, 0.0, high),
        (COMPILING, 0.0, low, _WIDEST, high),
        (even, 0.0, low, _WIDEST * (1 - paid), high),
    )
    actors = [*_requests(), Actor("compile time", "red", owed, even if paid == 1.0 else None)]
    if pays and end > crossing:
        low, high = _SAVED
        most = _WIDEST * (end / crossing - 1)
        grows = ((even, 0.0, low, 0.0, high), (SECONDS, 0.0, low, most, high))
        actors.append(Actor("saved", "green", grows))
    moments = [
        (0.0, f"Compiling takes {_show(cost, 's')} before the first request: the debt."),
        (
            COMPILING,
            f"Traffic begins. Each block stands for {ph.counted(served / BLOCKS, 'inference')}.",
        ),
        *_paying(result, end, even if pays else SECONDS),
    ]
    title = f"The first {_show(end, 'days')} of traffic"
    rows = tuple(
        (low + high / 2, words)
        for (low, high), words in (
            (_REQUESTS, "Requests"),
            (_OWED, "Still owed"),
            (_SAVED, "Net saved"),
        )
    )
    return Film(title, SECONDS, tuple(actors), rows, tuple(moments), 160)


def _requests() -> list[Actor]:
    """Blocks of requests that arrive one after the other."""
    low, high = _REQUESTS
    actors = []
    for k in range(BLOCKS):
        arrives = COMPILING + TRAFFIC * (k + 1) / BLOCKS
        path = ((arrives - _WAY, 0.0, low, 0.05, high), (arrives, _WIDEST - 0.05, low, 0.05, high))
        # The last one stays, so that the end of the film is not an empty row.
        actors.append(Actor("", "blue", path, arrives if k + 1 < BLOCKS else None))
    return actors


def _paying(result: ph.Deployment, end: float, even: float) -> list[tuple[float, str]]:
    """Tell what has been paid back halfway, at the break-even, and at the end."""
    cost, each = float(result.compile_time), float(result.saved_per_inference)
    pays, days = bool(result.roi_positive), float(result.days)
    half = (min(end, float(result.days_to_break_even)) if pays else end) / 2

    def so_far(time: float) -> str:
        many = float(result.per_day) * time
        return f"After {_show(time, 'days')} and {ph.counted(many, 'inference')}"

    back = min(cost, float(result.per_day) * half * each)
    moments = [
        (
            (COMPILING + even) / 2,
            f"{so_far(half)}, {_show(back, 's')} of {_show(cost, 's')} are paid back.",
        )
    ]
    if not pays:
        left = _show(-result.net_saved, "s")
        moments.append((SECONDS, f"{so_far(days)}, the service ends: {left} are not paid back."))
        return moments
    crossing = float(result.days_to_break_even)
    if even < SECONDS and not math.isclose(even, SECONDS):
        moments.append((even, f"{so_far(crossing)}, the compile time is paid back: break-even."))
    net = _show(max(0.0, float(result.per_day) * end * each - cost), "s")
    ends = ", when the service ends" if math.isclose(end, days) else ""
    moments.append((SECONDS, f"{so_far(end)}{ends}, compiling has saved {net} net."))
    return moments
