"""Scenes of the paged cache: what it holds over time, and who waits."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.curves import Curve, Dots, Threshold, curve_scene
from mlsys_widgets.drawing.scene import Array, Axis, Scene, from_zero
from mlsys_widgets.measured.cache_runs import TOKEN, CacheRun

_show = ph.format_quantity

#: Moments of a curve.
_POINTS: Final = 72
#: How far the axis reaches beyond the memory, so that its line can be dragged up.
_ABOVE: Final = 1.2
#: Where the handle of the memory is, as a part of the time.
_GRIP: Final = 0.97
#: A line of nobody still needs an axis.
_FEW: Final = 4.0


def moments(run: CacheRun, many: int) -> Array:
    """Moments of a run, evenly from its beginning to shortly before its end."""
    return run.served.seconds * (np.arange(many) + 0.5) / many


def _across(run: CacheRun) -> Axis:
    return from_zero("Time", run.served.seconds, "s")


def cache_over_time(
    run: CacheRun, result: ph.CacheUse, memory: float, guess: float | None
) -> Scene:
    """Memory that is handed out, and memory that holds tokens; ``memory`` sets the axis."""
    times = moments(run, _POINTS)
    held, kept, _ = run.at(times)
    mean = float(result.kept) * TOKEN
    grip = _GRIP * run.served.seconds
    parts = (
        Curve(times, held * TOKEN, "Handed out", "orange", width=5.0, name="held"),
        Curve(times, kept * TOKEN, "Holds tokens", "blue", width=2.5, name="kept"),
        Threshold("On average", y=mean, tone="blue", dash="dotted", name="mean"),
        Threshold(
            f"Your prediction, {_show(guess or 0, '%')}",
            y=None if guess is None else guess * float(result.memory),
            tone="prediction",
            dash="dash_dotted",
            name="prediction",
        ),
        Threshold("Memory", y=float(result.memory), tone="gray", dash="dashed", name="limit"),
        Dots(grip, float(result.memory), "", "gray", name="memory", moves="memory"),
    )
    made = curve_scene(_across(run), from_zero("Cache", _ABOVE * memory, "B"), parts)
    return replace(
        made,
        legend=tuple(entry for entry in made.legend if entry[0]),
        handles=tuple(replace(handle, along="y") for handle in made.handles),
    )


def line_over_time(run: CacheRun) -> Scene:
    """How many requests wait to be read."""
    times = moments(run, _POINTS)
    _, _, waiting = run.at(times)
    up = from_zero("In line", max(_FEW, float(waiting.max())), "requests")
    # With its unit, the label is longer than this plot is high, and meets the numbers below it.
    up = replace(up, label="In line")
    parts = (Curve(times, waiting, "In line", "red", width=2.0, name="line"),)
    return curve_scene(_across(run), up, parts, height=170)
