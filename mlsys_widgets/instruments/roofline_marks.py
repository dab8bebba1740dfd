"""How rooflines are drawn: axes that stand still, roofs, and kernels with their names.

Colors mean one thing each: gray is a roof, orange and blue are what limits, red is a kernel,
green is measured, purple is predicted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import AnyMark, Axis, Blocks, Line, Points, Strokes, Words, decades
from mlsys_widgets.instruments.label_places import Place, apart
from mlsys_widgets.measured import Point

#: The intensities that are shown, always the same.
LEFT, RIGHT = 0.01, 1e5
ACROSS = Axis("Arithmetic intensity (FLOP/B)", LEFT, RIGHT, True, decades(LEFT, RIGHT))
#: The rates that are shown: chips from a phone's up, and microcontrollers. Ten times the highest
#: peak of each fits. A microcontroller's peak is half way up, so that no faster chip is lower.
_CHIPS, _CONTROLLERS = (1e9, 1e17), (1e5, 1e13)
#: The symbol of each kernel. Two at one place have different sizes, and the smaller is on top.
SYMBOLS = {
    "GEMM": ("circle", 110),
    "Projection": ("circle", 110),
    "Softmax": ("square", 190),
    "Layer norm": ("diamond", 70),
    "Attention over a prompt": ("circle", 110),
    "Attention of a new token": ("circle", 110),
    "ReLU": ("circle", 110),
}
#: The room of a label, in orders of magnitude.
_WIDE, _HIGH = 1.0, 0.45
#: Where the names of other roofs end.
_NAMES_END = 3e4


def rates(peak: float, others: Iterable[float], integer: bool) -> Axis:
    """The axis of rates for a device's peak, with room for other peaks.

    It does not depend on what is done with the device, so that a roof can be dragged.
    """
    low, high = _CHIPS if peak >= 1e11 else _CONTROLLERS
    for other in others:
        low = low if other >= 10 * low else _CONTROLLERS[0]
        high = high if other <= high / 10 else _CHIPS[1]
    ticks = decades(low, high)
    flops = "OPS" if integer else "FLOPS"
    if (low, high) == _CHIPS:
        words = tuple(f"{tick / 1e12:,g}" for tick in ticks)
        return Axis(f"Attainable rate (T{flops})", low, high, True, ticks, words)
    shown = (ph.format_quantity(tick, "FLOP/s") for tick in ticks)
    words = tuple(text.removesuffix("FLOPS") for text in shown)
    return Axis(f"Attainable rate ({flops})", low, high, True, ticks, words)


def zones(ridge: float, up: Axis) -> list[AnyMark]:
    """The two sides of the ridge, each with its name."""
    corner = min(max(ridge, LEFT), RIGHT)
    sides = ((LEFT, up.low, corner, up.high, "memory"), (corner, up.low, RIGHT, up.high, "compute"))
    level = (up.high / 3,)
    return [
        Blocks("zones", sides, opacity=0.07),
        Words("memory zone", (LEFT * 1.4,), level, ("memory-bound",)),
        Words("compute zone", (RIGHT / 1.4,), level, ("compute-bound",), "end"),
    ]


def roof(
    name: str,
    peak: float,
    bandwidth: float,
    up: Axis,
    tone: str,
    dash: str = "solid",
    width: float = 2.0,
) -> Line:
    """A roof, which is three points on log-log axes; it ends where the axes do."""
    x, y = zip(*_corners(peak, bandwidth, up), strict=True)
    return Line(name, x, y, tone, dash, width)


def other_roofs(roofs: Iterable[tuple[float, float]], up: Axis) -> Strokes:
    """The roofs of other machines, each given by its peak and bandwidth."""
    return Strokes("other roofs", tuple(_corners(*each, up) for each in roofs), "gray", "dashed")


def _corners(peak: float, bandwidth: float, up: Axis) -> tuple[Place, ...]:
    start = min(max(LEFT, up.low / bandwidth), RIGHT)
    corner = min(max(peak / bandwidth, start), RIGHT)
    y = (bandwidth * start, min(peak, bandwidth * corner), min(peak, bandwidth * RIGHT))
    return tuple(zip((start, corner, RIGHT), map(float, y), strict=True))


def roof_names(peaks: Mapping[str, float]) -> Words:
    """The names of roofs above their flat parts; roofs of one height have theirs stacked."""
    wanted = [(math.log10(_NAMES_END), math.log10(peak)) for peak in peaks.values()]
    return _labels("roof names", wanted, tuple(peaks))


def kernels(
    places: Mapping[str, tuple[float, float]], names: Mapping[str, str], low: float
) -> list[AnyMark]:
    """Kernels with their names beside them, and lines down to their intensities."""
    # Above and to the left of a point its roof is out of the way, and so is what was measured.
    wanted = [(math.log10(x / 1.15), math.log10(y) + 0.15) for x, y in places.values()]
    drops = tuple(((x, low), (x, y)) for x, y in places.values())
    marks: list[AnyMark] = [Strokes("drops", drops, "red", "dashed", 1.5)]
    for name, (symbol, size) in SYMBOLS.items():
        x, y = (((place[k],) if (place := places.get(name)) else ()) for k in (0, 1))
        marks.append(Points(name, x, y, "red", symbol, size))
    return [*marks, _labels("kernel names", wanted, tuple(names[each] for each in places))]


def _labels(name: str, wanted: list[Place], text: tuple[str, ...]) -> Words:
    """Labels that end at places, given by their logarithms, or above another label."""
    found = apart([(x, -y) for x, y in wanted], _WIDE, _HIGH)  # upside down, to move up
    x, y = tuple(10.0**x for x, _ in found), tuple(10.0**-y for _, y in found)
    return Words(name, x, y, text, "end")


def measured(name: str, found: Sequence[Point], low: float, symbol: str) -> Points:
    """Measured kernels."""
    x = tuple(point.intensity for point in found)
    y = tuple(max(point.attained, low) for point in found)
    return Points(name, x, y, "measured", symbol, 36)
