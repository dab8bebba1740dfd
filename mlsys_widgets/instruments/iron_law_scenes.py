"""Scenes of the iron law: the terms of a batch, all batches, and the memories of the devices."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.curves import Curve, Dots, curve_scene, decade_axis, prediction
from mlsys_widgets.drawing.scene import (
    AnyMark,
    Axis,
    Blocks,
    Handle,
    Scene,
    Words,
    decades,
    from_zero,
    notes,
)
from mlsys_widgets.instruments.batches import BATCHES, LARGEST_BATCH, TICKS

_show = ph.format_quantity
#: The three terms in their order: name, tone, dash of the line.
TERMS = (
    ("memory", "memory", "dashed"),
    ("compute", "compute", "solid"),
    ("latency", "green", "dotted"),
)
#: The input that moves each term.
_INPUTS = {"memory": "data", "compute": "operations", "latency": "latency"}
_ROW, _MARGINS = 36, 64
#: How much of their axis the bars may fill before it takes a step: the rest is for words. While a
#: bar is held it may fill all of its axis, and its words begin at this part of it at the latest.
_FULL, _WORDS = 0.74, 0.8
#: How far below the highest value of the second plot anything is still drawn.
_DEPTH = 1e4
_LEAST_SIZE, _MOST_SIZE = 3e2, 3e13
_DEVICES = tuple(ph.devices.values())
_LEVELS = {device.key: len(_DEVICES) - k - 0.5 for k, device in enumerate(_DEVICES)}
_DEVICE_AXIS = Axis(
    "",
    0.0,
    float(len(_DEVICES)),
    ticks=tuple(reversed(_LEVELS.values())),
    # Without the family's name, for which there is no room beside the axis.
    words=tuple(device.name.removeprefix("Jetson ") for device in reversed(_DEVICES)),
    grid=False,
)

_SIZE_TICKS = decades(1e3, 1e12)
_SIZE_AXIS = Axis(
    "Size",
    _LEAST_SIZE,
    _MOST_SIZE,
    True,
    _SIZE_TICKS,
    tuple(_show(tick, "B") for tick in _SIZE_TICKS),
)
#: Half the height of a memory.
_HALF = 0.38
_MEMORIES = tuple(
    (_LEAST_SIZE, _LEVELS[each.key] - _HALF, each.memory, _LEVELS[each.key] + _HALF, "gray")
    for each in _DEVICES
)


def term_time(result: ph.IronLawTime, term: str) -> ph.Numeric:
    """The time of one term, by its name."""
    return {
        "memory": result.memory_time,
        "compute": result.compute_time,
        "latency": result.latency,
    }[term]


# The bars.


def _starts(result: ph.IronLawTime, overlapped: bool) -> dict[str, float]:
    """Where the bar of each term begins."""
    memory, compute = float(result.memory_time), float(result.compute_time)
    if overlapped:
        return {"memory": 0.0, "compute": 0.0, "latency": max(memory, compute)}
    return {"memory": 0.0, "compute": memory, "latency": memory + compute}


def _end(total: float) -> float:
    """Where the axis of the bars ends: at 1 or 3 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(total / _FULL))
    ends = (power, power * 3, power * 10)
    return next(end for end in ends if total <= _FULL * end * (1 + 1e-12))


def term_at(
    result: ph.IronLawTime, anchor: ph.IronLawTime, overlapped: bool, term: str, x: float
) -> float:
    """The time of a term whose bar ends at a place, as far as the total stays on the axis.

    The axis is that of ``anchor``.
    """
    end = _end(float(anchor.total))
    times = {name: float(term_time(result, name)) for name, _, _ in TERMS}
    # The total without the term, and what is added to the term to make the total.
    without = {**times, term: 0.0}
    rest = sum(without.values())
    if overlapped:
        rest = max(without["memory"], without["compute"]) + without["latency"]
    added = without["latency"] if overlapped and term != "latency" else rest
    wanted = x - _starts(result, overlapped)[term]
    return max(0.0, min(wanted, end - added))


def bars(result: ph.IronLawTime, overlapped: bool, anchor: ph.IronLawTime | None = None) -> Scene:
    """The terms of this batch, one bar each, and their total, on the axis of ``anchor``."""
    across = from_zero("Batch time", _end(float((anchor or result).total)), "s")
    longer = max(result.memory_time, result.compute_time)
    starts = _starts(result, overlapped)
    stages, total, places, handles = [], [], [], []
    for row, (term, tone, _) in enumerate(TERMS):
        start, time = starts[term], float(term_time(result, term))
        low = 2.2 - row
        stages.append((start, low, start + time, low + 0.6, tone))
        hidden = overlapped and term != "latency" and time < longer
        total.append((start, 3.2, start if hidden else start + time, 3.8, tone))
        binds = ", binding" if term == result.binding else ""
        places.append((start + time, low + 0.3, _show(time, "s", pad=True) + binds))
        handles.append(Handle(term, _INPUTS[term], start + time, low + 0.3))
    places.append((float(result.total), 3.5, _show(result.total, "s", pad=True)))
    gap = across.high / 70
    marks: tuple[AnyMark, ...] = (
        # The terms, then their parts of the total.
        Blocks("terms", (*stages, *total)),
        notes(
            "times",
            [(min(x + gap, _WORDS * across.high), y, text) for x, y, text in places],
            above=False,
        ),
    )
    words = [
        f"▸ {term.capitalize()}" if term == result.binding else term.capitalize()
        for term, _, _ in TERMS
    ]
    rows = Axis("", 0.0, 4.0, False, (3.5, 2.5, 1.5, 0.5), ("Total", *words), grid=False)
    # The rows name their colors, so there is no legend.
    return Scene(across, rows, marks, 4 * _ROW + _MARGINS, handles=tuple(handles))


# The curves.


def curves(result: ph.IronLawTime, totals: NDArray[np.float64], predicted: float | None) -> Scene:
    """The time per inference for all batch sizes."""
    compute = float(result.compute_time / result.batch)
    most = float(totals.max())
    least = min(float(totals.min()), max(compute, most / _DEPTH))
    up = decade_axis("Time per inference", least / 2, most * 1.05, "s")
    ends = (1.0, float(LARGEST_BATCH))
    across = Axis("Batch (inferences)", *ends, True, TICKS, tuple(_show(tick) for tick in TICKS))
    terms = []
    for term, tone, dash in TERMS:
        once = compute if term == "compute" else float(term_time(result, term))
        # What a batch shares falls as 1/batch, straight on these axes; it ends where they end.
        last = LARGEST_BATCH if term == "compute" else min(LARGEST_BATCH, once / up.low)
        shown = once >= up.low
        x = (1.0, last) if shown else ()
        y = (once, once if term == "compute" else once / last) if shown else ()
        words, name = f"{term.capitalize()} term", f"{term} per inference"
        terms.append(Curve(x, y, words, tone, dash, 2.0, name))
    return curve_scene(
        across,
        up,
        (
            *terms,
            Curve(BATCHES, totals, "Total", name="total per inference"),
            Dots(
                result.batch, result.total / result.batch, "This batch", name="now", moves="batch"
            ),
            prediction(predicted, axis="x", before="batch "),
        ),
    )


# The memories.


def device_at(y: float) -> str:
    """The device whose row is nearest to a height."""
    return min(_LEVELS, key=lambda key: abs(_LEVELS[key] - y))


def memories(device: str, data: float, memory: float, reserve: float) -> Scene:
    """The memory of every device, and the block of weights in one of them."""
    room, here = memory - reserve, _LEVELS[device]
    holds = data <= room
    tone = "memory" if holds else "red"
    low, high = here - _HALF, here + _HALF
    changed = memory != ph.devices[device].memory
    # Flat where nothing is reserved or changed, so that the mark keeps its shape.
    blocks = (
        (_LEAST_SIZE, low, memory, low + (0.1 if changed else 0.0), "gray"),
        (room, low, memory, high, "gray"),
        (_LEAST_SIZE, here - _HALF / 2, data, here + _HALF / 2, tone),
    )
    marks: tuple[AnyMark, ...] = (
        Blocks("memories", _MEMORIES, 0.3),
        Blocks("weights", blocks, 0.9),
        Words(
            "memory sizes",
            (1.5 * 1e12,) * len(_DEVICES),
            tuple(_LEVELS[each.key] for each in _DEVICES),
            tuple(_show(memory if each.key == device else each.memory, "B") for each in _DEVICES),
            above=False,
        ),
    )
    legend = [
        (f"Weights, {_show(data, 'B')}{'' if holds else ': too large'}", tone, "block"),
        ("Memory of a device", "gray", "block"),
    ]
    if changed:
        legend.append((f"Thin: memory as set, {_show(memory, 'B')}", "gray", "block"))
    if reserve:
        legend.append((f"Solid: reserved, {_show(reserve, 'B')}", "gray", "block"))
    handles = (
        Handle("capacity", "memory", memory, here),
        Handle("weights", "data", data, here, "xy"),
    )
    height = 30 * len(_DEVICES) + _MARGINS
    return Scene(_SIZE_AXIS, _DEVICE_AXIS, marks, height, tuple(legend), handles)
