"""Scenes of the break-even timeline: the crossing of cost and gain, and the time in service.

The axes of the crossing are taken from ladders of round spans. While a handle is dragged they stay
those of ``anchor``, the result when the hand took it, so that the handle follows the hand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import (
    AnyMark,
    Axis,
    Blocks,
    Handle,
    Line,
    Points,
    Scene,
    Words,
    from_zero,
    note,
    notes,
    upright,
)

_show = ph.format_quantity
_DAY: Final = 86_400.0
_MINUTE: Final = 60 / _DAY

#: Times that the strip names, in days.
_MOMENTS: Final = {
    "1 s": _MINUTE / 60,
    "1 min": _MINUTE,
    "1 hour": 1 / 24,
    "1 day": 1.0,
    "1 month": 30.0,
    "1 year": 365.0,
    "100 years": 36500.0,
}
_EARLIEST, _LATEST = _MINUTE / 60, 1e5
#: A break-even this many times later than the end of service is only mentioned, not drawn.
_FAR: Final = 20.0
#: Spans of the crossing, in days: each at most five times the one before.
_DAYS: Final = (
    *(lead * 10.0**power / _DAY for power in range(-9, 0) for lead in (2.0, 5.0)),
    *(seconds / _DAY for seconds in (2, 10, 40, 150, 600, 2400, 9000, 36000)),
    *(2.0, 10.0, 40.0, 200.0, 730.0, 3650.0, 18_250.0, 73_000.0),
)
#: Spans of the time saved, in seconds. The cost of compiling takes at most this part of one, to
#: leave room for words above it.
_SECONDS: Final = (0.0, 0.5, 2.0, 5.0, 15.0, 50.0, 180.0, 480.0, 900.0)
_PART: Final = 0.8
#: What rounding an input to three digits may shift, twice over.
_ROUNDING: Final = 0.01


def is_near(result: ph.Deployment) -> bool:
    """Whether the break-even is close enough to the time in service to be drawn with it."""
    return float(result.days_to_break_even) <= _FAR * float(result.days)


def _span(ladder: Sequence[float], least: float) -> float:
    """The first rung that is not below a value."""
    # Equal up to rounding is equal.
    return next((rung for rung in ladder if rung >= least * (1 - 1e-9)), ladder[-1])


def _across(result: ph.Deployment) -> float:
    crossing, end = float(result.days_to_break_even), float(result.days)
    return _span(_DAYS, crossing if is_near(result) else end)


def _up(result: ph.Deployment) -> float:
    return _span(_SECONDS, float(result.compile_time) / _PART)


def volume_for(anchor: ph.Deployment, days: float) -> float:
    """The inferences per day that break even at a time, as far as the axis goes."""
    high = _across(anchor)
    latest = min(high, _FAR * float(anchor.days)) * (1 - _ROUNDING / 2)
    return float(anchor.break_even) / min(max(days, high / 1000), latest)


def compile_time_at(anchor: ph.Deployment, seconds: float) -> float:
    """The compile time at a height, as far as the axis goes."""
    return min(seconds, _PART * _up(anchor) * (1 - _ROUNDING / 2))


def crossing_of(
    result: ph.Deployment, predicted: float | None, anchor: ph.Deployment | None = None
) -> Scene:
    """Time saved against the cost, around the moment at which one reaches the other."""
    anchor = anchor or result
    # A hair less, so that rounding does not ask for another step.
    across = from_zero("Time in service", _across(anchor) * (1 - 1e-9), "days")
    up = from_zero("Time saved", _up(anchor) * (1 - 1e-9), "s")
    until = across.high
    cost, end = float(result.compile_time), float(result.days)
    crossing = float(result.days_to_break_even)
    near = is_near(result) and crossing <= until * (1 + 1e-6)
    per_day = float(result.per_day * result.saved_per_inference)
    top = up.high / per_day if per_day > 0 else math.inf
    served, stop, leaves = min(until, end), min(until, end, top), min(until, top)
    at: Sequence[float] = (crossing,) if near else ()
    ends = end < until
    guess = predicted / float(result.per_day) if predicted is not None else math.inf
    marks: list[AnyMark] = [
        Blocks("loss", ((0.0, 0.0, min(served, crossing), cost, "red"),), 0.08),
        Blocks(
            "profit", ((crossing, 0.0, served, up.high, "green"),) if crossing < served else (), 0.1
        ),
        Line("compile cost", (0.0, until), (cost, cost), "red", "dashed"),
        Line("time saved", (0.0, stop), (0.0, per_day * stop), "green", width=3.0),
        Line(
            "time saved beyond",
            (end, leaves) if end < leaves else (),
            (per_day * end, per_day * leaves) if end < leaves else (),
            "green",
            "dotted",
        ),
        # It must not run through the words above the cost.
        upright(
            "end of service",
            end if ends else None,
            (0.0, cost if end < crossing else up.high),
            "ink",
            "dotted",
        ),
        upright(
            "prediction",
            guess if guess <= until else None,
            (0.0, up.high),
            "prediction",
            "dash_dotted",
        ),
        upright("drop", crossing if near else None, (0.0, cost), "blue", "dashed", 1.5),
        Points("break-even", at, (cost,) * len(at), "blue", "circle", 120),
        *_break_even_words(result, crossing if near else 0.6 * until, until, cost, up.high / 14),
    ]
    legend = [
        (f"Compile time, {_show(cost, 's')}", "red", "dashed"),
        ("Time saved so far", "green", "solid"),
    ]
    handles = [Handle("compile time", "compile_time", 0.03 * until, cost, "y")]
    if near:
        legend.append(("Break-even", "blue", "circle"))
        handles.append(Handle("break-even point", "per_day", crossing, cost, "x", flip=True))
    if ends:
        legend.append(("End of service", "ink", "dotted"))
    if guess <= until:
        legend.append(_named(predicted))
    return Scene(across, up, tuple(marks), 300, tuple(legend), tuple(handles))


def _break_even_words(
    result: ph.Deployment, place: float, until: float, cost: float, line: float
) -> tuple[Words, Words]:
    """How many inferences and when: left above the crossing, or right below it near the start."""
    never = math.isinf(result.break_even)
    words = (
        ("", "never recovered")
        if never
        else (ph.counted(result.break_even, "inference"), _when(result))
    )
    left = place >= 0.35 * until
    x, above, below = place - 0.012 * until, cost + 1.2 * line, cost + 0.2 * line
    if not left:
        x, above, below = place + 0.012 * until, cost - 1.2 * line, cost - 2.2 * line
    lines = [(x, above, words[0]), (x, below, words[1])]
    return (
        notes("break-even label", lines if left else (), "end"),
        notes("break-even label beside", () if left else lines),
    )


def strip_of(result: ph.Deployment, predicted: float | None) -> Scene:
    """The whole time in service, from seconds to years."""
    end = max(float(result.days), _EARLIEST)
    crossing = min(max(float(result.days_to_break_even), _EARLIEST), _LATEST)
    paid = min(crossing, end)
    known = crossing < _LATEST
    guess = None
    if predicted is not None:
        guess = min(max(predicted / float(result.per_day), _EARLIEST), _LATEST)
    marks: tuple[AnyMark, ...] = (
        Blocks("owing", ((_EARLIEST, 0.15, paid, 0.55, "red"),) if paid > _EARLIEST else (), 0.55),
        Blocks("earning", ((paid, 0.15, end, 0.55, "green"),) if end > paid else (), 0.75),
        upright("end of the strip", end, (0.0, 0.7), "ink", "dotted"),
        upright("prediction on the strip", guess, (0.0, 0.7), "prediction", "dash_dotted"),
        Points("break-even moment", (crossing,) if known else (), (0.35,) * known, "blue"),
        note(
            "break-even moment label",
            # Centered where all of it fits.
            (min(crossing, _LATEST / 8), 0.6, _when(result)) if known else None,
            align="middle",
        ),
    )
    across = Axis(
        "Time in service (seconds to years)",
        _EARLIEST,
        _LATEST,
        True,
        tuple(_MOMENTS.values()),
        tuple(_MOMENTS),
    )
    up = Axis("", 0.0, 1.0, ticks=(0.35,), words=("Service",), grid=False)
    legend = [
        ("Not yet recovered", "red", "block"),
        ("Earning", "green", "block"),
        (f"End of service, {_show(result.days, 'days')}", "ink", "dotted"),
    ]
    if known:
        legend.append(("Break-even", "blue", "circle"))
    if predicted is not None:
        legend.append(_named(predicted))
    handle = Handle("end of service", "days", end, 0.35, "x")
    return Scene(across, up, marks, 120, tuple(legend), (handle,))


def _named(predicted: float | None) -> tuple[str, str, str]:
    words = ph.counted(predicted or 0.0, "inference")
    return f"Your prediction, {words}", "prediction", "dash_dotted"


def _when(result: ph.Deployment) -> str:
    return f"after {_show(result.days_to_break_even, 'days')}"
