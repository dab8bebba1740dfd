"""Scenes of the quantization explorer: weights under their grid, and the time of their product."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

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
    Strokes,
    even,
    upright,
)
from mlsys_widgets.measured import MeasurementError, cases

_show = ph.format_quantity
DEVICE = "h200-sxm"
MOST_ROWS = 4096
#: Bits of the precisions whose grid has equal steps.
GRID_BITS = {"int8": 8.0, "int4": 4.0}
#: The matrices of a layer, as the model's kernels call them, with their sides.
_NAMES = {"down": "Down product", "gate_up": "Gate and up product", "qkv": "QKV product"}
SHAPES: dict[str, tuple[float, float]] = {
    key: (float(use.kernel.n), float(use.kernel.k))  # type: ignore[attr-defined]
    for use in ph.layer_kernels(ph.language_model("llama31-8b"), "decode", 1, 1)
    for key, name in _NAMES.items()
    if use.name == name
}
#: Bars of the histogram and where they end, and how many lines of a fine grid can be told apart.
_BARS, _TAIL, _LINES = 44, 5.5, 64
#: How far the axes go beyond what they show, and how high handle, outlier and grid stand.
_ROOM, _GRIP, _OUTLIER, _GRID = 1.12, 0.9, 0.06, 0.72
#: Rows for which the time is computed: as many as a curve needs to look smooth.
_ROWS = np.unique(np.geomspace(1, MOST_ROWS, 28).round())
_ROW_TICKS = (1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0)


@dataclass(frozen=True)
class Quantized:
    """Weights in a precision: their error, their bytes, and the product they are in."""

    weights: str
    precision: str
    #: Weights that share a scale.
    block: float
    outlier: float
    #: Where grids end at the latest, as a fraction of the largest weight.
    cut: float
    rows: float

    @property
    def shape(self) -> tuple[float, float]:
        """Columns and depth of the weights."""
        return SHAPES[self.weights]

    @property
    def count(self) -> float:
        """How many weights there are."""
        return self.shape[0] * self.shape[1]

    @property
    def bits(self) -> float | None:
        """Bits of a grid of equal steps; nothing for floating point."""
        return GRID_BITS.get(self.precision)

    @property
    def group(self) -> float:
        """Weights that share a scale, as the kernel of the product counts them."""
        return self.block

    @cached_property
    def largest(self) -> float:
        """The largest weight, in standard deviations."""
        return max(float(ph.block_reach(self.count)), self.outlier)

    @property
    def end(self) -> float:
        """Where a grid ends at the latest, in standard deviations."""
        return self.cut * self.largest

    @cached_property
    def lost(self) -> ph.QuantizationError | None:
        """The error of the weights; nothing for fp16, beside which errors are counted."""
        if self.precision == "fp16":
            return None
        if self.bits is None:
            return ph.float_error(self.largest)
        cut = self.end if self.cut < 1 else 1e30
        return ph.quantization_error(
            self.bits, self.block, weights=self.count, outlier=self.outlier, cut=cut
        )

    @property
    def error(self) -> float:
        """The error relative to the weights."""
        return 0.0 if self.lost is None else float(self.lost.error)

    @cached_property
    def speed(self) -> ph.ProductSpeed:
        """The product beside fp16."""
        return ph.product_speed(self.rows, *self.shape, self.precision, group=self.group)

    @property
    def time(self) -> float:
        """Seconds of the product, with a conversion before it."""
        return float(self.speed.time)

    @cached_property
    def stored(self) -> ph.StoredWeights:
        """The bytes of the weights."""
        if self.precision == "int4":
            return ph.stored_weights(self.count, 4, self.block)
        bits = 8 * ph.storages[self.precision].weight
        beside = ph.SCALE_BITS.value if self.bits else 0.0
        return ph.stored_weights(self.count, bits, self.block, beside=beside)

    @property
    def by_bytes(self) -> float:
        """How many times as fast the product would be if its weights were all that counts."""
        return 2.0 * self.count / float(self.stored.size)

    @cached_property
    def reach(self) -> float:
        """How far the grid of most blocks goes; a single block has the outlier."""
        if self.block >= self.count:
            return self.end
        return float(ph.block_reach(self.block, self.end if self.cut < 1 else 1e30))

    @cached_property
    def crossing(self) -> int:
        """The fewest rows with which fp16 is as fast; 0 if there are none."""
        return crossing(self.weights, self.precision, self.group)


@lru_cache(64)
def crossing(weights: str, precision: str, group: float) -> int:
    """Rows from which fp16 is at least as fast, computed once for each matrix."""
    if precision == "fp16":
        return 0
    return ph.crossing_rows(*SHAPES[weights], precision, group=group, most=MOST_ROWS)


@lru_cache(64)
def times(weights: str, precision: str, group: float) -> tuple[tuple[float, ...], ...]:
    """Rows, seconds in fp16 and in a precision."""
    speed = ph.product_speed(_ROWS, *SHAPES[weights], precision, group=group)
    fp16, other = (
        np.broadcast_to(np.asarray(each), _ROWS.shape) for each in (speed.fp16_time, speed.time)
    )
    return tuple(_ROWS.tolist()), tuple(fp16.tolist()), tuple(other.tolist())


@lru_cache(64)
def measured(weights: str, precision: str) -> tuple[tuple[float, float], ...]:
    """Rows and seconds of products that were measured with these weights, conversions left out."""
    columns, depth = SHAPES[weights]
    try:
        found = cases(
            DEVICE, kind="gemm", precision=precision, variant="graph",
            n=int(columns), k=int(depth), transposed=True,
        )  # fmt: skip
    except MeasurementError:
        return ()
    pairs = ((float(case.shape["m"]), case.seconds.median) for case in found)
    return tuple(sorted(pair for pair in pairs if pair[0] <= MOST_ROWS))


# The histogram.


def _share_below(x: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[float]:
    return [0.5 * math.erfc(-float(each) / math.sqrt(2)) for each in x]


@cache
def _bars() -> tuple[tuple[float, float, float, float, str], ...]:
    """Bars of normal weights, alike whatever else the picture has to show."""
    sides = np.linspace(-_TAIL, _TAIL, _BARS + 1)
    shares = np.diff(_share_below(sides))
    return tuple(
        (float(a), 0.0, float(b), float(share), "blue")
        for a, b, share in zip(sides, sides[1:], shares, strict=False)
    )


def grid_lines(result: Quantized, edge: float) -> list[float]:
    """Where the numbers of the grid lie, as many of them as can be told apart."""
    if result.bits is None:
        if result.precision == "fp16":
            return []
        # The numbers of fp8 grow by an eighth to a sixteenth: powers of two show how they thin out.
        ends = [result.largest * 2.0**-k for k in range(7)]
        return sorted([*ends, *(-end for end in ends)])
    steps = int(2 ** (result.bits - 1) - 1)
    step = result.reach / steps
    # All 15 of int4, however close; of 255 those that can be told apart.
    every = 1 if 2 * steps < _LINES else math.ceil(2 * edge / step / _LINES)
    places = [k * step for k in range(0, steps + 1, every)]
    return sorted({*places, *(-each for each in places)})


def histogram(result: Quantized, *, movable: bool = True) -> Scene:
    """Draw the weights, the grid of most blocks, and what lies beyond its end."""
    edge = _ROOM * result.largest
    bars = _bars()
    top = _ROOM * max(height for _, _, _, height, _ in bars)
    lines = grid_lines(result, edge)
    paths = tuple(((x, 0.0), (x, _GRID * top)) for x in lines)
    ends = movable and result.bits is not None
    cut = result.bits is not None and result.cut < 1
    zones = (
        ((-edge, 0.0, -result.end, top, "red"), (result.end, 0.0, edge, top, "red")) if cut else ()
    )
    far = (result.outlier,) if result.outlier > ph.block_reach(result.count) else ()
    marks: tuple[AnyMark, ...] = (
        Blocks("cut off", zones, 0.12),
        Blocks("weights", bars, 0.55),
        Strokes("grid", paths, "orange", "solid", 1.2),
        Points("outlier", far, tuple(_OUTLIER * top for _ in far), "red", "diamond", 130),
        upright("end", result.end if ends else None, (0.0, _GRIP * top), "ink", "dashed"),
    )
    legend = [("Weights", "blue", "block")]
    if lines:
        legend.append(_grid_words(result, lines))
    if far:
        legend.append(("The outlier", "red", "diamond"))
    if cut:
        legend.append(("Cut off", "red", "block"))
    ticks = tuple(t for t in even(edge) if t < edge)
    both = tuple(sorted({*ticks, *(-t for t in ticks)}))
    across = Axis(
        "Weight, in standard deviations", -edge, edge, False, both, tuple(_show(t) for t in both)
    )
    levels = tuple(t for t in even(top) if t <= top)
    up = Axis("Weights", 0.0, top, False, levels, tuple(_show(t, "%") for t in levels))
    handles = (Handle("cut", "cut", result.end, _GRIP * top),) if ends else ()
    return Scene(across, up, marks, 280, tuple(legend), handles)


def _grid_words(result: Quantized, lines: Sequence[float]) -> tuple[str, str, str]:
    if result.bits is None:
        return "Numbers of fp8: eight between two lines", "orange", "solid"
    numbers = 2**result.bits - 1
    some = "" if len(lines) == numbers else ", some drawn"
    whose = "The grid" if result.block >= result.count else "The grid of most blocks"
    return f"{whose}: {_show(numbers)} numbers{some}", "orange", "solid"


# The time.


def time_chart(result: Quantized, guess: float | None) -> Scene:
    """Draw the time of the product against its rows, in fp16 and in the precision."""
    rows, fp16, other = times(result.weights, result.precision, result.group)
    is_fp16 = result.precision == "fp16"
    dots = measured(result.weights, "fp16"), measured(result.weights, result.precision)
    seconds = [*fp16, *other, *(t for pairs in dots for _, t in pairs)]
    low, high = min(seconds) / 1.5, max(seconds) * 1.5
    up = _time_axis(low, high)
    across = Axis(
        "Rows of activations", 1 / 1.15, MOST_ROWS * 1.15, True, _ROW_TICKS,
        tuple(_show(tick) for tick in _ROW_TICKS),
    )  # fmt: skip
    here = guess if guess is not None and 1 <= guess <= MOST_ROWS else None
    line = upright("prediction", here, (up.low, up.high), "prediction", "dashed", 2.5)
    half, chosen = (([m for m, _ in pairs], [t for _, t in pairs]) for pairs in dots)
    if is_fp16:
        other, chosen = (), ([], [])
    marks: tuple[AnyMark, ...] = (
        line,
        Line("fp16", rows, fp16, "textbook", "dashed", 2.5),
        Line("precision", rows[: len(other)], other, "model", "solid", 3),
        Points("measured fp16", *half, tone="measured", symbol="square", size=60),
        Points("measured", *chosen, tone="measured", symbol="circle", size=70),
        Points("now", (result.rows,), (result.time,), "ink", "circle", 120),
    )
    legend = [("fp16", "textbook", "dashed")]
    if not is_fp16:
        legend.append((_named(result.precision), "model", "solid"))
    if any(dots):
        legend.append((_measured_words(result.precision, dots), "measured", "circle"))
    if guess is not None:
        legend.append((f"Your prediction, {_show(guess, 'rows')}", "prediction", "dashed"))
    handles = (Handle("rows", "rows", result.rows, result.time),)
    return Scene(across, up, marks, 280, tuple(legend), handles)


def _named(precision: str) -> str:
    return precision if precision == "int4" else f"{precision}, with its conversion"


def _measured_words(precision: str, dots: Sequence[Sequence[object]]) -> str:
    if precision == "fp16" or not dots[1]:
        return "Measured (squares: fp16)"
    conversion = "" if precision == "int4" else ", product alone"
    return f"Measured: {precision}{conversion} (squares: fp16)"


def _time_axis(low: float, high: float) -> Axis:
    steps = [m * 10.0**p for p in range(-7, 0) for m in (1.0, 2.0, 5.0)]
    start = max(step for step in steps if step <= low)
    end = min(step for step in steps if step >= high)
    ticks = [step for step in steps if start <= step <= end]
    if len(ticks) > 7:
        ticks = [step for step in ticks if f"{step:e}".startswith("1")]
    return Axis("Time of the product", start, end, True, tuple(ticks),
                tuple(_show(tick, "s") for tick in ticks))  # fmt: skip
