"""Fewer bits as an instrument: what a grid does to weights, and to the time of their product."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, ClassVar

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import Handle, Scene
from mlsys_widgets.instruments.controls import Select, Slider
from mlsys_widgets.instruments.instrument import Instrument, NumberCard, Opens, Table
from mlsys_widgets.instruments.quantization_scenes import (
    DEVICE,
    MOST_ROWS,
    SHAPES,
    Quantized,
    histogram,
    measured,
    time_chart,
)
from mlsys_widgets.instruments.serving_curve import rounded
from mlsys_widgets.instruments.target import LimitedQuantity

_show = ph.format_quantity
_NAME = ph.devices[DEVICE].name
_MATRICES = {"down": "Down", "gate_up": "Gate and up", "qkv": "Queries, keys, values"}
_SCALES = {
    "tensor": "Whole matrix",
    "channel": "Each channel",
    "128": "Groups of 128",
    "64": "Groups of 64",
    "32": "Groups of 32",
}
_IN_WORDS = {"tensor": "one scale", "channel": "a scale per channel"}
_ROWS_SHOWN = (1.0, 2.0, 4.0, 8.0, 16.0, 64.0, 512.0, 4096.0)
#: The least fraction of the largest weight at which a grid may end.
_LEAST_CUT = 0.05


def _about(value: ph.Numeric, unit: str) -> str:
    """A number with the digits that the calibrated form deserves."""
    return _show(rounded(value), unit)


class QuantizationExplorer(Instrument):
    """Weights under the grid of a precision: their error, and the time of their product.

    A grid reaches to the largest of the weights that share its scale, so a single outlier stretches
    the steps of all of them. Fewer bits are fewer bytes, which is what one row waits for; every
    further row asks for arithmetic, and four bits have to be widened first.

    Parameters
    ----------
    outliers
        A gate that must be open before an outlier, the end of a grid and other scales are offered.
    fixed
        Controls that are not offered: their inputs stay as they are given.
    prediction
        Rows from which fp16 is as fast as the precision, drawn as a line.

    Examples
    --------
    >>> from mlsys_widgets import physics as ph
    >>> w = QuantizationExplorer(precision="int4", scales="128", rows=1)
    >>> ph.format_quantity(w.result.error, "%"), f"{w.result.speed.speedup:.1f}"
    ('11.8%', '1.9')
    >>> w.set(rows=256)
    >>> w.result.speed.speedup < 0.1, w.result.crossing
    (True, 7)
    """

    title = "Quantization explorer"
    showcase = ("outlier", "rows")
    evidence = ("products",)
    plot_names = ("Weights and grid", "Time")
    leading = ("Error", "Speed against fp16")
    predictable: ClassVar[Mapping[str, str]] = {"crossing": "rows"}
    depends: ClassVar[Mapping[str, Sequence[str]]] = {
        "crossing": ("weights", "precision", "scales"),
    }
    quantities: ClassVar[Mapping[str, LimitedQuantity]] = {
        "error": LimitedQuantity("%", "precise enough", "too coarse", "too much"),
        "time": LimitedQuantity("s", "in time", "too late", "too late", ((1, "y"),)),
        "rows": LimitedQuantity("rows", "enough rows", "too few rows", "too few", ((1, "x"),)),
    }

    precision = Select(
        "Precision",
        default="int4",
        options={"fp16": "fp16", "fp8": "fp8", "int8": "int8", "int4": "int4"},
        buttons=True,
        help="How the weights are stored. Eight bits also multiply in eight bits, so activations "
        "are converted first; four bits are widened inside the product.",
    )
    scales = Select(
        "Who shares a scale",
        default="128",
        options=_SCALES,
        help="A scale reaches to the largest of the weights that share it. A channel has the "
        "weights of one output.",
    )
    outlier = Slider(
        "One outlier (σ)",
        default=0,
        low=6,
        high=50,
        log=True,
        zero=True,
        help="The size of one weight in the whole matrix, in standard deviations; 0 for none.",
    )
    cut = Slider(
        "Grid ends at",
        default=1,
        low=_LEAST_CUT,
        high=1,
        unit="%",
        help="Where grids end at the latest, in percent of the largest weight. Weights beyond "
        "become the end.",
    )
    rows = Slider(
        "Rows",
        default=1,
        low=1,
        high=MOST_ROWS,
        log=True,
        whole=True,
        help="Rows of activations in the product: one for each conversation of a decode step, or "
        "for each token of a prompt.",
    )
    weights = Select(
        "Matrix",
        default="down",
        options=_MATRICES,
        help="One of the matrices in a layer of Llama-3.1-8B.",
        rare=True,
    )

    def __init__(
        self, *, outliers: Opens | None = None, fixed: Collection[str] = (), **options: Any
    ) -> None:
        self._outliers, self._fixed = outliers, frozenset(fixed)
        super().__init__(**options)
        if outliers is not None and not outliers.is_open:
            outliers.on_open(self._show)

    def hidden(self) -> AbstractSet[str]:
        """What is fixed or held back, grids where there are none, an outlier that nothing minds."""
        if self._outliers is not None and not self._outliers.is_open:
            return self._fixed | {"scales", "cut", "outlier"}
        if self.precision in ("int8", "int4"):
            return self._fixed
        return self._fixed | {"scales", "cut", *(("outlier",) if self.precision == "fp16" else ())}

    def compute(self) -> Quantized:
        columns, depth = SHAPES[self.weights]
        blocks = {"tensor": columns * depth, "channel": depth}
        block = blocks[self.scales] if self.scales in blocks else float(self.scales)
        return Quantized(self.weights, self.precision, block, self.outlier, self.cut, self.rows)

    @property
    def explanations(self) -> dict[str, Any]:
        now = self.result
        error = {} if now.lost is None else {"Error": now.lost}
        return {**error, "Time": now.speed, "Size": now.stored}

    def dominant(self, result: Any) -> str:
        """The larger part of the error, or the time that counts."""
        if isinstance(result, ph.QuantizationError):
            return "rounding" if result.rounding >= result.cut_off else "error"
        return "time" if isinstance(result, ph.ProductSpeed) else "bits_per_weight"

    def dragged(self, handle: Handle, x: float, y: float) -> dict[str, Any]:
        """Where a grid ends, as a fraction of the largest weight; or the rows."""
        if handle.name == "cut":
            return {"cut": min(max(abs(x) / self.result.largest, _LEAST_CUT), 1.0)}
        return {"rows": x}

    # What it says.

    def cards(self, result: Quantized) -> Sequence[NumberCard]:
        speed = float(result.speed.speedup)
        step = "none" if result.lost is None else f"{_show(float(result.lost.step))} σ"
        return [
            ("Error", _show(result.error, "%") if result.lost else "the reference", "orange"),
            ("Speed against fp16", _about(speed, "×"), "blue" if speed >= 1 else "red"),
            ("Time of the product", _about(result.time, "s"), "ink"),
            ("Speed if only bytes counted", _show(result.by_bytes, "×"), "gray"),
            ("Conversion", _about(result.speed.conversion, "s"), "ink"),
            ("fp16 is as fast from", self._crossing(result), "ink"),
            ("Bits per weight", _show(float(result.stored.bits_per_weight)), "ink"),
            ("Step", step, "ink"),
        ]

    def _crossing(self, result: Quantized) -> str:
        if result.precision == "fp16":
            return "always"
        return ph.counted(result.crossing, "row") if result.crossing else "no number of rows"

    def _stored(self, result: Quantized) -> str:
        """The precision and who shares a scale, in words."""
        if result.bits is None:
            return result.precision
        shared = _IN_WORDS.get(self.scales, f"a scale per {self.scales} weights")
        return f"{result.precision} with {shared}"

    def sentence(self, result: Quantized) -> str:
        matrix = _MATRICES[result.weights].lower()
        lost = "" if result.lost is None else f"Error: {_show(result.error, '%')}. "
        return (
            f"The matrix “{matrix}” in {self._stored(result)}. {lost}The product with "
            f"{ph.counted(result.rows, 'row')} takes about {_about(result.time, 's')} on an "
            f"{_NAME}, {_about(result.speed.speedup, '×')} the speed of fp16 (calibrated). "
            f"{self._beside(result)}"
        )

    def remark(self, result: Quantized) -> str:
        return self._beside(result)

    def _beside(self, result: Quantized) -> str:
        if result.precision == "fp16":
            return "Errors and times of the others are counted from here."
        parts = [f"Bytes alone would make it {_show(result.by_bytes, '×')} as fast as fp16."]
        if result.speed.conversion:
            taken = _about(result.speed.conversion, "s")
            parts.append(f"Converting its activations takes {taken} of the time.")
        if result.lost is not None and result.lost.cut_off > result.lost.rounding:
            parts.append("Most of the error is from weights beyond the end of the grid.")
        return " ".join(parts)

    def table(self, result: Quantized) -> Table:
        header = ("Rows", "fp16", result.precision, "Speed")
        rows = []
        for each in sorted({*_ROWS_SHOWN, result.rows}):
            speed = ph.product_speed(each, *result.shape, result.precision, group=result.group)
            shown = (speed.fp16_time, "s"), (speed.time, "s"), (speed.speedup, "×")
            rows.append((_show(each), *(_about(value, unit) for value, unit in shown)))
        for precision in dict.fromkeys(("fp16", result.precision)):
            for count, seconds in measured(result.weights, precision):
                taken = [_show(seconds, "s"), ""]
                taken = taken if precision == "fp16" else taken[::-1]
                alone = ", without its conversion" if precision in ("fp8", "int8") else ""
                rows.append((f"{_show(count)}, measured{alone}", *taken, ""))
        return header, rows

    def alert(self, result: Quantized) -> tuple[str, str] | None:
        """A grid whose steps leave little of the weights."""
        if result.lost is None or result.error < 0.5:
            return None
        step = f"{_show(float(result.lost.step))} standard deviations"
        return (
            f"Little is left of the weights: a step is {step} and the error "
            f"{_show(result.error, '%')}.",
            "red",
        )

    # What it draws.

    def scenes(self, result: Quantized) -> tuple[Scene, ...]:
        weights = histogram(result, movable="cut" not in self.hidden())
        return weights, time_chart(result, self.predicted("crossing"))
