"""Scenes of the serving explorer: throughput against latency, and the parts of a token's time.

Axes, curves and bars depend on device, precision and context, and not on batch or target: they
stand still while a hand drags either, and are made once for all of its way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

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
    upright,
)
from mlsys_widgets.instruments.batches import LARGEST_BATCH, TICKS
from mlsys_widgets.instruments.serving_curve import BARS, DRAWN, WHOLE, Array, Serving, TokenTimes

_show = ph.format_quantity
#: Batch and seconds of tokens that were measured.
Measured = tuple[tuple[float, float], ...]
#: What a bar is made of: (part, words) of either form by the place in the stack, and its tone.
PARTS: dict[str, tuple[tuple[str, str], ...]] = {
    "calibrated": (
        ("products", "Products with the weights"),
        ("attention", "Attention"),
        ("small kernels", "Norms, small kernels and gaps"),
        ("waiting", "Waiting for launches"),
    ),
    "textbook": (
        ("weights", "Reading the weights"),
        ("cache", "Reading the cache"),
        ("arithmetic", "Arithmetic beyond that"),
    ),
}
_TONES = ("blue", "orange", "gray", "dispatch")
#: What binds, as it is written over the bars.
REASONS = {
    "floor": "floor",
    "bandwidth": "bandwidth",
    "arithmetic": "arithmetic",
    "launch": "launches",
}
#: Half the width of a bar, where bars are one apart, and the room beside it.
_HALF, _MARGIN = 0.3, 0.45
#: The room over the bars for what binds, and how far it is above them: over a handle's circle.
_ROOM, _LIFT = 1.16, 0.035
#: Heights of the target's handle, of its words and of the lines at the wall, as fractions of the
#: plot. Two short lines at the wall stay clear of the curve where one long one would not.
_GRIP, _TARGET_NOTE, _WALL_NOTE = 0.07, 0.13, (0.37, 0.3)
#: How far words are from their line, and from where on they stand to the left of it, as fractions
#: of the width: they need room in a window of 600 pixels.
_ASIDE, _FAR = 0.015, 0.75
#: Heights of two short lines in the zone without memory, which may be one bar wide: below the words
#: over the bar before it.
_NO_MEMORY = (0.25, 0.16)
#: How wide the name of a batch is beside its point, and how far it is below, in such fractions.
_NAME_WIDE, _LOWER = 0.08, 0.06
#: How far a curve must bend away from the straight way between its ends to have a knee.
_BEND = 0.08
_TITLE = (
    "Each point is a batch: across, the wait for a token; up, what the device writes for everybody."
)


def _round_axis(label: str, unit: str, low: float, high: float) -> Axis:
    """A logarithmic axis around two values, with ends and ticks at 1, 2 and 5."""
    steps = [
        m * 10.0**p
        for p in range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
        for m in (1.0, 2.0, 5.0)
    ]
    start = max(step for step in steps if step <= low / 1.1)
    end = min(step for step in [*steps, 10 * steps[-1]] if step >= max(high * 1.1, 4 * start))
    ticks = [step for step in steps if start <= step <= end]
    if len(ticks) > 6:
        ticks = [step for step in ticks if math.isclose(math.log10(step) % 1, 0, abs_tol=1e-9)]
    words = tuple(_show(tick, unit) for tick in ticks)
    return Axis(label, start, end, True, tuple(ticks), words)


def axes(serving: Serving) -> tuple[Axis, Axis]:
    """Time per token across and tokens per second up, with room for all batches that fit.

    What was measured has room too: the textbook form is faster than any of it.
    """
    return _axes(serving.times, serving.beside, serving.fits, serving.measured)


@lru_cache(64)
def _axes(
    times: TokenTimes, beside: TokenTimes | None, fits: int, measured: Measured
) -> tuple[Axis, Axis]:
    last = min(max(fits, 1), LARGEST_BATCH)
    seconds = [each.seconds[:last] for each in (times, beside) if each is not None]
    rates = [WHOLE[:last] / each for each in seconds]
    if measured:
        batches, taken = np.array(measured).T
        seconds.append(taken)
        rates.append(batches / taken)
    fast, slow = min(map(np.min, seconds)), max(map(np.max, seconds))
    least, most = min(map(np.min, rates)), max(map(np.max, rates))
    across = _round_axis("Time per token", "s", fast, slow)
    return across, _round_axis("Tokens/s of the device", "", least, most)


def _into(axis: Axis, value: float) -> float:
    return min(max(value, axis.low), axis.high)


def _path(
    times: TokenTimes, batches: Array, across: Axis, up: Axis
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The places of batches, as far as they lie on the chart."""
    seconds = times.seconds[batches.astype(int) - 1]
    rates = batches / seconds
    inside = (
        (seconds >= across.low) & (seconds <= across.high) & (rates >= up.low) & (rates <= up.high)
    )
    return tuple(seconds[inside].tolist()), tuple(rates[inside].tolist())


def nearest_batch(serving: Serving, x: float, y: float) -> float:
    """The batch whose place on the curve is nearest to a place of the chart."""
    across, up = axes(serving)
    seconds = serving.times.seconds
    wide, high = (math.log(axis.high / axis.low) for axis in (across, up))
    beside = np.log(np.clip(seconds, across.low, across.high) / _into(across, x)) / wide
    above = np.log(np.clip(WHOLE / seconds, up.low, up.high) / _into(up, y)) / high
    return float(WHOLE[np.argmin(beside**2 + above**2)])


def _level(axis: Axis, share: float) -> float:
    return float(axis.low * (axis.high / axis.low) ** share)


@dataclass(frozen=True)
class Curves:
    """Draw what stands still on the chart of throughput against latency."""

    across: Axis
    up: Axis
    #: Behind the target; between it and what was predicted; before that; and before everything.
    wall: tuple[AnyMark, ...]
    lines: tuple[AnyMark, ...]
    points: tuple[AnyMark, ...]
    notes: tuple[Words, ...]


def _knee(
    path: tuple[tuple[float, ...], tuple[float, ...]], across: Axis, up: Axis
) -> tuple[float, float] | None:
    """The place where a curve turns from up to across: farthest from the way between its ends."""
    if len(path[0]) < 3:
        return None
    x, y = (
        np.log(np.array(values) / axis.low) / math.log(axis.high / axis.low)
        for values, axis in zip(path, (across, up), strict=True)
    )
    wide, high = x[-1] - x[0], y[-1] - y[0]
    bends = ((y - y[0]) * wide - (x - x[0]) * high) / math.hypot(wide, high)
    k = int(np.argmax(bends))
    return (path[0][k], path[1][k]) if bends[k] > _BEND else None


def _named(
    name: str, path: tuple[tuple[float, ...], tuple[float, ...]], words: str, before: float
) -> Words:
    """The name of a curve, above the end of it that lies before a place."""
    inside = [(x, y) for x, y in zip(*path, strict=True) if x < before]
    return note(name, (*inside[-1], words) if inside else None, align="end")


def _batch_names(
    dots: tuple[tuple[float, ...], tuple[float, ...]],
    batches: Array,
    measured: Sequence[tuple[float, float]],
    across: Axis,
    up: Axis,
) -> Words:
    """The batches, each beside its point: to the right, or to the left where fewer marks lie."""
    wide, high = (math.log(axis.high / axis.low) for axis in (across, up))
    lower = (up.high / up.low) ** _LOWER
    beside, levels = dots[0], [y / lower for y in dots[1]]

    def covered(side: int) -> int:
        """How many measurements would lie under the names."""
        return sum(
            0 <= side * math.log(time / x) / wide < _NAME_WIDE
            and abs(math.log(rate / y)) / high < _LOWER
            for x, y in zip(beside, dots[1], strict=True)
            for time, rate in measured
        )

    room = min((math.log(x / across.low) / wide for x in beside), default=0.0)
    left = room > _NAME_WIDE and covered(-1) < covered(1)
    names = tuple(_show(batch) for batch in batches[: len(beside)])
    places = [x / 1.03 if left else x * 1.03 for x in beside]
    return Words("batch names", places, levels, names, "end" if left else "start")


@lru_cache(64)
def _curves(
    times: TokenTimes, beside: TokenTimes | None, fits: int, measured: Measured, form: str
) -> Curves:
    across, up = _axes(times, beside, fits, measured)
    walled = fits < LARGEST_BATCH
    last = max(0, min(fits, LARGEST_BATCH))
    ends = np.union1d(DRAWN[last >= DRAWN], [float(last)] if last else [])
    wall = across.high  # without a wall, the zone behind it has no width
    if walled:
        wall = _into(across, times.at(last)) if last else across.low
    labeled = np.array([tick for tick in TICKS if tick <= last])
    dots = _path(times, labeled, across, up)
    points = [(time, batch / time) for batch, time in measured]
    curve = _path(times, ends, across, up)
    other: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())
    if beside:
        other = _path(beside, ends, across, up)
    bend = _knee(curve, across, up)
    return Curves(
        across,
        up,
        wall=(
            Blocks(
                "no memory zone",
                ((wall, up.low, across.high, up.high, "text"),),
                opacity=0.07,
            ),
            upright(
                "wall", wall if walled else None, (up.low, up.high), "text", "dashed", 2.5
            ),
        ),
        lines=(
            Line("beside", *other, "gray", "dash_dotted", 1.5),
            Line("curve", *curve, "ink", "solid", 3.0),
        ),
        points=(
            Points("batches", *dots, "ink", "square", 25),
            _batch_names(dots, labeled, points, across, up),
            Points("measured", [x for x, _ in points], [y for _, y in points], "measured",
                   "triangle-up", 80),
        ),
        notes=(
            _beside_line("wall note", wall, across, up, _WALL_NOTE, _memory_ends(fits))
            if walled
            else note("wall note", None),
            _named("name of the curve", curve, form, wall / 1.02),
            _named("name of the curve beside", other, "textbook", across.high),
            note("knee", (bend[0] / 1.02, bend[1], "knee") if bend else None, align="end"),
        ),
    )  # fmt: skip


def tradeoff(serving: Serving, predicted: Callable[[str], float | None]) -> Scene:
    """Tokens per second against the time of each, for all batches."""
    times, fits = serving.times, serving.fits
    still = _curves(times, serving.beside, fits, serving.measured, serving.form)
    across, up = still.across, still.up
    target = _into(across, serving.target)
    place = _into(across, serving.time), _into(up, serving.tokens_per_second)
    best = serving.largest_batch
    guesses, guessed = _prediction(serving, predicted, across, up)
    marks: tuple[AnyMark, ...] = (
        *still.wall,
        upright("target", target, (up.low, up.high), "blue", "dashed"),
        *still.lines,
        *guesses,
        *still.points,
        Points("largest", *_path(times, np.array([float(best)] if best else []), across, up),
               "blue", "diamond", 150),
        Points("now", (place[0],), (place[1],), "ink", "circle", 110),
        *still.notes,
        _beside_line("target note", target, across, up, (_TARGET_NOTE,),
                     (f"target {_show(serving.target, 's')}{_beyond(across, serving.target)}",)),
    )  # fmt: skip
    # Lines are named where they run.
    legend = [("This batch", "ink", "circle")]
    if best:
        legend.append(("Largest batch within target and memory", "blue", "diamond"))
    if serving.measured:
        legend.append(("Measured, with about this context", "measured", "triangle-up"))
    legend += guessed
    handles = (
        Handle("batch", "batch", *place, "y"),
        Handle("target", "target", target, _level(up, _GRIP)),
    )
    return Scene(across, up, marks, 360, tuple(legend), handles, _TITLE)


def _memory_ends(fits: int) -> tuple[str, str]:
    if not fits:
        return "nothing fits", "into memory"
    return "memory is full", f"at batch {_show(fits)}"


def _beyond(axis: Axis, value: float) -> str:
    return "" if axis.low <= value <= axis.high else " (beyond the chart)"


def _beside_line(
    name: str, x: float, across: Axis, up: Axis, heights: Sequence[float], lines: tuple[str, ...]
) -> Words:
    """Words to the right of an upright line, or to the left where there is no room."""
    far = math.log(x / across.low) > _FAR * math.log(across.high / across.low)
    aside = (across.high / across.low) ** _ASIDE
    place = x / aside if far else x * aside
    levels = [_level(up, height) for height in heights]
    return Words(name, [place] * len(lines), levels, lines, align="end" if far else "start")


def _prediction(
    serving: Serving, predicted: Callable[[str], float | None], across: Axis, up: Axis
) -> tuple[list[AnyMark], list[tuple[str, str, str]]]:
    """A predicted rate or time as a line, a predicted batch as a point of the curve."""
    x: tuple[float, ...] = ()
    y: tuple[float, ...] = ()
    spot: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())
    words = sign = ""
    rate, time, batch = (
        predicted(name) for name in ("tokens_per_second", "time_per_token", "largest_batch")
    )
    if rate is not None:
        words, sign = f"Your prediction, {_show(rate, 'tokens/s')}", "dashed"
        if not _beyond(up, rate):
            x, y = (across.low, across.high), (rate, rate)
    elif time is not None:
        words, sign = f"Your prediction, {_show(time, 's')} per token", "dashed"
        if not _beyond(across, time):
            x, y = (time, time), (up.low, up.high)
    elif batch is not None:
        words, sign = f"Your prediction, batch {_show(batch)}", "square"
        if 1 <= batch <= LARGEST_BATCH:
            spot = _path(serving.times, np.array([float(round(batch))]), across, up)
    drawn = bool(x or spot[0])
    marks: list[AnyMark] = [
        Line("prediction", x, y, "prediction", "dashed", 2.5),
        Points("predicted batch", *spot, "prediction", "square", 110),
    ]
    return marks, [(words, "prediction", sign)] if drawn else []


def place_of(batch: float) -> float:
    """Where a batch lies among the bars, each of which has four times the batch of the last."""
    return math.log(batch) / math.log(4)


def batch_at(place: float) -> float:
    """The batch that lies at a place among the bars."""
    return float(4.0**place)


@lru_cache(64)
def _bars(times: TokenTimes, fits: int, form: str) -> Scene:
    """The bars, without the present batch."""
    fitting = fits >= BARS
    count = int(np.sum(fitting))
    highest = _ROOM * times.at(BARS[max(count, 1) - 1])
    last = 1.05 * times.at(min(max(fits, 1), LARGEST_BATCH))
    up = from_zero(f"Time per token, {form}", max(highest, last), "s")
    names = PARTS[form]
    end = np.zeros(len(BARS))
    blocks: list[tuple[float, float, float, float, str]] = []
    for k, tone in enumerate(_TONES):
        start = end
        if k < len(names):
            # A bar that does not fit keeps its blocks, without any height.
            end = start + np.where(fitting, times.parts[names[k][0]], 0.0)
        ends = zip(start.tolist(), end.tolist(), strict=True)
        blocks += ((i - _HALF, a, i + _HALF, b, tone) for i, (a, b) in enumerate(ends))
    right = len(BARS) - 1 + _MARGIN
    wall = -_MARGIN
    if count:
        wall = min(right, max(place_of(fits), count - 1 + _MARGIN))
    marks: tuple[AnyMark, ...] = (
        Blocks("parts", tuple(blocks)),
        Blocks("no memory zone of bars", ((wall, 0.0, right, up.high, "text"),), opacity=0.07),
        Words(
            "what binds",
            tuple(range(count)),
            (end[:count] + _LIFT * up.high).tolist(),
            tuple(REASONS[reason] for reason in times.reasons[:count]),
            "middle",
        ),
        _no_memory(wall, right, up),
    )
    ticks = tuple(float(k) for k in range(len(BARS)))
    words = tuple(_show(batch) for batch in BARS)
    across = Axis("Batch", -_MARGIN, right, False, ticks, words, grid=False)
    legend = [(words, tone, "block") for (_, words), tone in zip(names, _TONES, strict=False)]
    legend.append(("This batch", "ink", "circle"))
    return Scene(across, up, marks, 300, tuple(legend))


def _no_memory(wall: float, right: float, up: Axis) -> Words:
    """Say what the zone beyond the wall is, if at least a bar would fit there."""
    words = ("out of", "memory") if right - wall >= 1 else ()
    levels = [share * up.high for share in _NO_MEMORY[: len(words)]]
    return Words("out of memory", [(wall + right) / 2] * len(words), levels, words, align="middle")


def stack(serving: Serving) -> Scene:
    """Draw the parts of a token's time with each batch, and what binds there."""
    bars = _bars(serving.times, serving.fits, serving.form)
    x, y = place_of(serving.batch), min(serving.time, 0.97 * bars.up.high)
    now = Points("now in bars", (x,), (y,), "ink", "circle", 110)
    return replace(bars, marks=(*bars.marks, now), handles=(Handle("bar", "batch", x, y),))
