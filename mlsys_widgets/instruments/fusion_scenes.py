"""Scenes of the fusion explorer: traffic step by step, intensity, time, and speedup over size.

Colors mean the same in all of them: launches, arithmetic and memory have their own, a prediction
and measurements too; whatever else is drawn is gray.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.curves import Curve, Dots, Threshold, curve_scene, prediction
from mlsys_widgets.drawing.scene import (
    AnyMark,
    Array,
    Axis,
    Blocks,
    Handle,
    Line,
    Points,
    Scene,
    Strokes,
    Words,
    decades,
    from_zero,
    notes,
    upright,
)

_show = ph.format_quantity
_LEAST, _MOST = 0.01, 10_000.0
#: How much longer than its longest bar an axis is at least, so that a number fits beside it.
_ROOM = 1.15
#: The speedup axis ends here unless a prediction lies higher, and never beyond the second.
_TOP, _HIGHEST = 7.0, 20.0
_Block = tuple[float, float, float, float, str]
_Path = tuple[tuple[float, float], ...]


def span(longest: float) -> tuple[float, float]:
    """The longest bars, from least to most, whose axis is the one that this bar has.

    Axes end at 1, 2 or 5 times a power of ten, so that they stand still while a bar is dragged
    between two of these.
    """
    power = 10.0 ** math.floor(math.log10(longest * _ROOM))
    ends = [size * power for size in (0.5, 1.0, 2.0, 5.0, 10.0)]
    k = next(k for k, end in enumerate(ends) if longest * _ROOM <= end * (1 + 1e-9) and k)
    return ends[k - 1] / _ROOM, ends[k] / _ROOM


def _axis(label: str, longest: float, unit: str) -> Axis:
    # A little less, so that rounding does not add a tick at the end.
    return from_zero(label, span(longest)[1] * _ROOM * (1 - 1e-9), unit)


@dataclass(frozen=True)
class Trip:
    """Tensors that one operation of a chain reads and writes."""

    reads: tuple[bool, ...]
    writes: bool


def trips(chain: ph.Chain, fused: bool) -> tuple[Trip, ...]:
    """The tensors of each step, and whether each of them goes through memory.

    Examples
    --------
    >>> trips(ph.chain("relu", "add"), fused=True)
    (Trip(reads=(True,), writes=False), Trip(reads=(False, True), writes=True))
    """
    found, read = [], set()
    for k, link in enumerate(chain.links):
        moved = [not fused or k == 0]
        for operand in link.operands:
            moved.append(not fused or operand not in read)
            read.add(operand)
        found.append(Trip(tuple(moved), not fused or k == len(chain.links) - 1))
    return tuple(found)


def traffic(chain: ph.Chain, result: ph.Fusion, fused: bool) -> Scene:
    """The tensors that every step reads from memory and writes to it, fused or not.

    A tensor that stays on chip keeps its place in the mark and has no size, so that it shrinks and
    grows as fusion is switched on and off.
    """
    height = 250
    count = len(chain.links)
    across = _axis("Data moved so far", float(result.unfused_traffic), "B")
    tensor, hair = float(result.bytes_per_element * result.elements), 0.002 * across.high
    read: list[_Block] = []
    written: list[_Path] = []
    ends: list[tuple[float, float]] = []
    labels = []
    end = 0.0
    for k, trip in enumerate(trips(chain, fused)):
        y, start = float(count - k), end
        for moved in trip.reads:
            if moved:
                read.append((end, y - 0.36, end + tensor - hair, y + 0.36, "memory"))
                end += tensor
            else:
                read.append((end, y, end, y, "memory"))
        if trip.writes:
            low, high, left, right = y - 0.33, y + 0.33, end + hair, end + tensor - 2 * hair
            written.append(((left, low), (left, high), (right, high), (right, low), (left, low)))
            end += tensor
        else:
            written.append(((end, y),) * 5)
        ends.append((end, y))
        labels.append(_show(end, "B") if end > start else "stays on chip")
    up = Axis(
        "",
        0.3,
        count + 0.7,
        ticks=tuple(float(y) for y in range(1, count + 1)),
        words=tuple(link.op.name for link in reversed(chain.links)),
        grid=False,
    )
    total, words = (
        (result.unfused_traffic, "Total unfused")
        if fused
        else (result.fused_traffic, "Total when fused")
    )
    other = float(total)
    marks: tuple[AnyMark, ...] = (
        Line("other total", (other, other), (0.35, 1.6), "ink", "dashed"),
        Blocks("tensors read", tuple(read)),
        Strokes("tensors written", tuple(written), "memory", width=2.5),
        _beside("traffic labels", ends, labels),
    )
    legend = (
        ("Tensor read (filled)", "memory", "block"),
        ("Tensor written (outline)", "memory", "solid"),
        (f"{words}: {_show(other, 'B')}", "ink", "dashed"),
    )
    handles = (Handle("data", "elements", end, 1.0),)
    return Scene(across, up, marks, height, legend, handles)


def intensity(result: ph.Fusion, ridge: float, ridge_words: str) -> Scene:
    """Operations per byte, unfused and fused, against the ridge."""
    height = 140
    apart, fused = float(result.unfused_intensity), float(result.fused_intensity)
    up = Axis("", 0.4, 2.6, ticks=(1.0, 2.0), words=("Fused", "Unfused"), grid=False)
    places = [(apart, 2.0), (fused, 1.0)]
    words = [_show(value, "FLOP/B") for value, _ in places]
    # A little to the right of the symbols, on a logarithmic axis.
    aside = [(value * 1.15, y) for value, y in places]
    # A ridge beyond the axis leaves the whole of it to memory.
    shown = min(ridge, _MOST)
    marks: tuple[AnyMark, ...] = (
        Blocks(
            "zones",
            ((_LEAST, 0.4, shown, 2.6, "memory"), (shown, 0.4, _MOST, 2.6, "compute")),
            0.09,
        ),
        Strokes(
            "intensity lines",
            (((_LEAST, 2.0), (apart, 2.0)), ((_LEAST, 1.0), (fused, 1.0))),
            "ink",
            width=3.0,
        ),
        upright("ridge", ridge if ridge < _MOST else None, (0.4, 2.6), "ink", "dotted"),
        Points("intensities", (apart, fused), (2.0, 1.0), "ink", "circle", 110),
        _beside("intensity labels", aside, words),
    )
    legend = (
        (ridge_words, "ink", "dotted"),
        ("Memory-bound", "memory", "block"),
        ("Compute-bound", "compute", "block"),
    )
    across = Axis("Arithmetic intensity (FLOP/B)", _LEAST, _MOST, True, decades(_LEAST, _MOST))
    return Scene(across, up, marks, height, legend)


def times(result: ph.Fusion) -> Scene:
    """Where the time goes, unfused and fused."""
    height = 150
    across = _axis("Time", float(result.unfused_time), "s")
    up = Axis("", 0.4, 2.6, ticks=(1.0, 2.0), words=("Fused", "Unfused"), grid=False)
    blocks: list[_Block] = []
    ends = []
    for y, launches, moved in (
        (2.0, result.unfused_launches, result.unfused_traffic),
        (1.0, result.fused_launches, result.fused_traffic),
    ):
        lengths = {
            "dispatch": launches * result.launch_overhead,
            "compute": result.compute_time,
            "memory": moved / result.bandwidth,
        }
        start = 0.0
        for part, length in lengths.items():
            blocks.append((start, y - 0.3, start + float(length), y + 0.3, part))
            start += float(length)
        ends.append((start, y))
    words = [_show(result.unfused_time, "s"), _show(result.fused_time, "s")]
    legend = (
        ("Launches", "dispatch", "block"),
        ("Arithmetic", "compute", "block"),
        ("Memory", "memory", "block"),
    )
    marks: tuple[AnyMark, ...] = (
        Blocks("times", tuple(blocks)),
        _beside("time labels", ends, words),
    )
    handles = (Handle("launch", "launch_overhead", blocks[0][2], 2.0),)
    return Scene(across, up, marks, height, legend, handles)


@dataclass(frozen=True)
class Speedups:
    """The speedups from fusion: of the model and as measured."""

    #: The model over the sizes of the tensor.
    sizes: Array
    modeled: Array
    #: What the text claims for this chain.
    claim: float | None = None
    measured: tuple[tuple[float, float], ...] = ()
    measured_words: str = ""
    predicted: float | None = None


def speedups(result: ph.Fusion, known: Speedups) -> Scene:
    """The speedup over the size of the tensor, with claim, measurements and prediction."""
    low, high = float(known.sizes[0]), float(known.sizes[-1])
    top = _TOP
    drawn = known.predicted if (known.predicted or math.inf) <= _HIGHEST else None
    if drawn is not None and drawn > 0.95 * top:
        top = math.ceil(drawn * 1.1)
    step = 1.0 if top <= 8 else 5.0
    ticks = tuple(step * k for k in range(int(top / step) + 1))
    powers = decades(low, high)
    across = Axis(
        "Elements of a tensor (millions)",
        low,
        high,
        True,
        ticks=powers,
        words=tuple(f"{power / 1e6:,g}" for power in powers),
    )
    up = Axis("Speedup", 0.0, top, ticks=ticks, words=tuple(_show(tick, "×") for tick in ticks))
    claim, looks = known.claim, ("ink", "dash_dotted", 2.0, "claim")
    sizes, values = zip(*known.measured, strict=True) if known.measured else ((), ())
    parts = (
        Curve(known.sizes, known.modeled, "Model", width=2.5, name="speedup"),
        Dots(
            result.elements,
            result.speedup,
            "Your size",
            size=220,
            name="speedup now",
            moves="elements",
        ),
        Threshold(f"Claim in the text, {_show(claim or 0, '×')}", None, claim, *looks),
        Dots(sizes, values, known.measured_words, "measured", "triangle-up", 70, "measured"),
        prediction(drawn, "×"),
    )
    return curve_scene(across, up, parts, height=230)


def _beside(name: str, ends: Sequence[tuple[float, float]], words: Sequence[str]) -> Words:
    """Words to the right of bars, level with their middle."""
    # Room for a handle, which may lie at the end of a bar.
    places = [(x, y, f"\u2003{word}") for (x, y), word in zip(ends, words, strict=True)]
    return notes(name, places, above=False)
