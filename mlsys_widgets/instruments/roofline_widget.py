"""The roofline as an instrument: one kernel, or the kernels of a language model, under a roof."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from typing import Any

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import (
    AnyMark,
    Axis,
    Blocks,
    Line,
    Points,
    Scene,
    Words,
    decades,
)
from mlsys_widgets.instruments.controls import Select, Several, Slider, Switch
from mlsys_widgets.instruments.instrument import Instrument, NumberCard, Table
from mlsys_widgets.measured import Ceilings, MeasurementError, Point, ceilings, points

_show = ph.format_quantity
_LEFT, _RIGHT = 0.01, 1e5
#: How far below its peak a roof is drawn, in orders of magnitude.
_DEPTH = 6

_DEVICES = {device.key: device.name for device in ph.devices.values()}
_STRATEGIES = {key: entry.name for key, entry in ph.fusion_strategies.items()}
_SYMBOLS = {
    "GEMM": ("circle", "blue"),
    "Projection": ("circle", "blue"),
    "Layer norm": ("diamond", "orange"),
    "Softmax": ("square", "purple"),
}


@dataclass(frozen=True)
class Operation:
    """A kernel and what the roof allows it."""

    name: str
    kernel: ph.Kernel
    roof: ph.Roofline


def _precisions(instrument: Any) -> dict[str, str]:
    device = ph.devices[instrument.device]
    keys = [key.removesuffix(" sparse") for key in device.peaks]
    return {key: key for key in dict.fromkeys(keys)}


class RooflineWidget(Instrument):
    """Where a kernel lies under the roof of a device, and what it could attain.

    Examples
    --------
    >>> w = RooflineWidget(device="h100-sxm", precision="fp16", n=512)
    >>> round(w.result.mfu, 3), w.result.regime
    (0.578, 'memory-bound')
    >>> w.set(n=4096, precision="int8")
    >>> w.result.regime
    'compute-bound'
    """

    title = "Roofline"

    device = Select("Device", default="h100-sxm", options=_DEVICES, help="Its roof is drawn.")
    precision = Select(
        "Precision",
        default="fp16",
        options=_precisions,
        help="Changes the peak, the ridge and the bytes per element together.",
    )
    sparse = Switch(
        "Peak with 2:4 sparsity",
        default=False,
        help="The advertised peak, which requires half of all weights to be zero.",
    )
    workload = Select(
        "Kernels",
        default="gemm",
        options={"gemm": "One matrix product", "llm": "A language-model layer"},
        buttons=True,
        help="One product of any size, or a projection, layer norm and softmax together.",
    )
    square = Switch("Square: M = N = K", default=True, help="One size for all three sides.")
    m = Slider(
        "M", default=512, low=1, high=32768, log=True, whole=True, help="Rows of the result."
    )
    n = Slider(
        "N", default=512, low=1, high=32768, log=True, whole=True, help="Columns of the result."
    )
    k = Slider(
        "K", default=512, low=1, high=32768, log=True, whole=True, help="Length of a dot product."
    )
    batch = Slider(
        "Batch", default=8, low=1, high=512, log=True, whole=True, help="Sequences at once."
    )
    sequence = Slider(
        "Sequence length",
        default=512,
        low=1,
        high=8192,
        log=True,
        whole=True,
        help="Tokens processed at once; 1 is a decode step.",
    )
    fusion = Select(
        "Fusion",
        default="none",
        options=_STRATEGIES,
        help="How much memory traffic fusion leaves to the elementwise kernels.",
    )
    compare = Several(
        "Other devices", default=(), options=_DEVICES, help="Draws their roofs at this precision."
    )
    measured = Switch(
        "Measured points",
        default=False,
        help="What real matrix products reached on the device, if it was measured.",
    )

    def __init__(
        self,
        *,
        prediction: float | None = None,
        machine: Any = None,
        lock: Any = None,
        **inputs: Any,
    ) -> None:
        #: The rate in FLOP/s that the student predicted, drawn as a line.
        self._prediction = prediction
        #: A measurement of the student's own machine: a name, a path or a document.
        self._machine: Ceilings | None = ceilings(machine) if machine is not None else None
        self._own = points(machine, kind="gemm") if machine is not None else ()
        super().__init__(lock=lock, **inputs)

    def adjust(self, inputs: dict[str, Any], changed: AbstractSet[str]) -> dict[str, Any]:
        """Keep to precisions and sparsity that the device has, and a square square."""
        device = ph.devices.get(inputs["device"])
        if device is not None:
            if inputs["precision"] not in {key.removesuffix(" sparse") for key in device.peaks}:
                if "precision" in changed:
                    return inputs  # asked for by name, so it is refused by name
                inputs["precision"] = device.native
            precision = inputs["precision"]
            dense, sparse = precision in device.peaks, f"{precision} sparse" in device.peaks
            if "sparse" not in changed:
                inputs["sparse"] = (inputs["sparse"] and sparse) or not dense
        if inputs["square"]:
            side = next((inputs[name] for name in ("n", "m", "k") if name in changed), inputs["n"])
            inputs |= {"m": side, "n": side, "k": side}
        return inputs

    def hidden(self) -> AbstractSet[str]:
        """The sizes of kernels that are not shown, and a sparsity without alternative."""
        peaks = ph.devices[self.device].peaks
        both = self.precision in peaks and f"{self.precision} sparse" in peaks
        idle = set() if both else {"sparse"}
        if self.workload == "llm":
            return idle | {"square", "m", "n", "k"}
        return idle | {"batch", "sequence", "fusion"} | ({"m", "k"} if self.square else set())

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The kernels in the plot, starting with the one that ``result`` is about."""
        device = ph.devices[self.device]
        peak = device.peak(self.precision, self.sparse)
        width = ph.BYTES_PER_ELEMENT[self.precision]
        kernels: dict[str, ph.Kernel]
        if self.workload == "gemm":
            kernels = {"GEMM": ph.gemm(self.m, self.n, self.k, width)}
        else:
            model = ph.workloads["llama3-8b"]
            assert isinstance(model, ph.LanguageModel)
            share = ph.fusion_strategies[self.fusion].traffic_share
            tokens = self.batch * self.sequence
            scores = tokens * self.sequence * model.heads
            kernels = {
                "Projection": ph.projection(self.batch, self.sequence, model.width, width),
                "Layer norm": ph.elementwise(tokens * model.width, width, traffic_share=share),
                "Softmax": ph.elementwise(scores, width, traffic_share=share),
            }
        return tuple(
            Operation(name, kernel, ph.roofline(kernel.intensity, peak, device.bandwidth))
            for name, kernel in kernels.items()
        )

    def compute(self) -> ph.Roofline:
        """The roof over the first kernel."""
        return self.operations[0].roof

    # What it says.

    @property
    def _peak_label(self) -> str:
        return ph.devices[self.device].peak_label(self.precision, self.sparse)

    def cards(self, result: ph.Roofline) -> Sequence[NumberCard]:
        """Attainable rate, fraction of the peak, regime and ridge."""
        tone = "memory" if result.memory_bound else "compute"
        return [
            ("Attainable", _show(result.attainable, "FLOP/s", pad=True), tone),
            ("Fraction of the peak (MFU)", _show(result.mfu, "%", pad=True), tone),
            ("Regime", str(result.regime), tone),
            ("Intensity", _show(result.intensity, "FLOP/B", pad=True), "blue"),
            ("Ridge", _show(result.ridge, "FLOP/B"), "gray"),
            ("Peak", self._peak_label, "gray"),
        ]

    def sentence(self, result: ph.Roofline) -> str:
        """Regime, rate and the distance to the ridge."""
        first = self.operations[0].name
        side = "left" if result.memory_bound else "right"
        limit = "memory bandwidth" if result.memory_bound else "arithmetic"
        return (
            f"{first} has an intensity of {_show(result.intensity, 'FLOP/B')}, {side} of the "
            f"ridge at {_show(result.ridge, 'FLOP/B')}: {limit} is the limit, and the kernel can "
            f"attain {_show(result.attainable, 'FLOP/s')}, {_show(result.mfu, '%')} of the peak of "
            f"{self._peak_label}."
        )

    def table(self, result: ph.Roofline) -> Table:
        """One row per kernel."""
        header = ("Kernel", "Operations", "Data", "Intensity", "Attainable", "MFU", "Regime")
        rows = [
            (
                op.name,
                _show(op.kernel.flops, "FLOP"),
                _show(op.kernel.bytes, "B"),
                _show(op.roof.intensity, "FLOP/B"),
                _show(op.roof.attainable, "FLOP/s"),
                _show(op.roof.mfu, "%"),
                str(op.roof.regime),
            )
            for op in self.operations
        ]
        return header, rows

    # What it draws.

    def scenes(self, result: ph.Roofline) -> tuple[Scene, ...]:
        """Log-log roof with zones, ridge, kernels and overlays."""
        peak, ridge = float(result.peak), float(result.ridge)
        high = 10.0 ** (len(str(int(peak))) if peak >= 1 else 0)
        if peak > high / 2:
            high *= 10
        low = high / 10**_DEPTH
        up = decades(low, high)
        marks: list[AnyMark] = [
            Blocks(
                "zones",
                (
                    (_LEFT, low, ridge, high, "memory"),
                    (ridge, low, _RIGHT, high, "compute"),
                ),
                opacity=0.07,
            ),
            _roof("roof", peak, float(result.bandwidth), "ink", width=3.0),
            Line("ridge", (ridge, ridge), (low, peak), "ink", "dotted", 1.5),
            Words("memory zone", (_LEFT * 1.4,), (high / 3,), ("memory-bound",), "memory"),
            Words(
                "compute zone", (_RIGHT / 1.4,), (high / 3,), ("compute-bound",), "compute", "end"
            ),
        ]
        legend = [(f"{ph.devices[self.device].name}, {self._peak_label}", "ink", "solid")]
        marks += self._other_roofs(legend)
        marks += self._overlays(legend, low)
        marks += self._kernels(legend, low)
        across = Axis("Arithmetic intensity (FLOP/B)", _LEFT, _RIGHT, True, decades(_LEFT, _RIGHT))
        unit, one = ("TFLOPS", 1e12) if peak >= 1e11 else ("GFLOPS", 1e9)
        words = tuple(f"{tick / one:,g}" for tick in up)
        rates = Axis(f"Attainable rate ({unit})", low, high, True, up, words)
        return (Scene(across, rates, tuple(marks), 380, tuple(legend)),)

    def _kernels(self, legend: list[tuple[str, str, str]], low: float) -> list[AnyMark]:
        shown = {
            op.name: (float(op.roof.intensity), float(op.roof.attainable)) for op in self.operations
        }
        intensity, attainable = next(iter(shown.values()))
        marks: list[AnyMark] = [
            Line(
                "drop",
                (intensity, intensity),
                (low, attainable),
                "blue",
                "dashed",
                1.5,
            )
        ]
        for name, (symbol, tone) in _SYMBOLS.items():
            places = [shown[name]] if name in shown else []
            x, y = ([place[k] for place in places] for k in (0, 1))
            marks.append(Points(name, tuple(x), tuple(y), tone, symbol, 110))
            if places:
                legend.append((name, tone, symbol))
        return marks

    def _other_roofs(self, legend: list[tuple[str, str, str]]) -> list[AnyMark]:
        marks: list[AnyMark] = []
        tones = ("green", "purple", "red", "orange", "blue", "gray")
        for (key, name), tone in zip(_DEVICES.items(), tones, strict=True):
            device, mark = ph.devices[key], f"roof of {key}"
            wanted = key in self.compare and key != self.device
            if wanted and self.precision in device.peaks:
                peak = device.peak(self.precision)
                marks.append(_roof(mark, peak, device.bandwidth, tone, "dashed"))
                legend.append((f"{name}, {device.peak_label(self.precision)}", tone, "dashed"))
            else:
                marks.append(Line(mark, (), (), tone, "dashed"))
        return marks

    def _overlays(self, legend: list[tuple[str, str, str]], low: float) -> list[AnyMark]:
        found = self._measured_points()
        marks: list[AnyMark] = [
            Points(
                "measured",
                tuple(point.intensity for point in found),
                tuple(max(point.attained, low) for point in found),
                "measured",
                "triangle-up",
                36,
            )
        ]
        if found:
            legend.append(("Measured products", "measured", "triangle-up"))
        guess = self._prediction
        x, y = ((_LEFT, _RIGHT), (guess, guess)) if guess else ((), ())
        marks.append(Line("prediction", x, y, "prediction", "dash_dotted"))
        if guess:
            words = f"Your prediction, {_show(guess, 'FLOP/s')}"
            legend.append((words, "prediction", "dash_dotted"))
        marks += self._own_machine(legend, low)
        return marks

    def _own_machine(self, legend: list[tuple[str, str, str]], low: float) -> list[AnyMark]:
        """The student's machine under its own measured roof."""
        own = self._machine
        if own is None or not own.peaks or not own.bandwidth:
            return [
                Line("your machine", (), (), "red", "dash_dotted"),
                Points("your products", (), (), "red", "triangle-up", 36),
            ]
        # In the precision that is shown if it was measured, otherwise in the fastest one.
        precision = (
            self.precision
            if self.precision in own.peaks
            else max(own.peaks, key=own.peaks.__getitem__)
        )
        peak = own.peaks[precision]
        found = [point for point in self._own if point.precision == precision]
        legend.append((f"{own.device}, {_show(peak, 'FLOP/s')} {precision}", "red", "dash_dotted"))
        legend.append(("Its measured products", "red", "triangle-up"))
        return [
            _roof("your machine", peak, own.bandwidth, "red", "dash_dotted"),
            Points(
                "your products",
                tuple(point.intensity for point in found),
                tuple(max(point.attained, low) for point in found),
                "red",
                "triangle-up",
                36,
            ),
        ]

    def _measured_points(self) -> tuple[Point, ...]:
        return _products(self.device, self.precision) if self.measured else ()

    def alert(self, result: ph.Roofline) -> tuple[str, str] | None:
        """Say so when there is nothing to overlay."""
        if self.measured and not self._measured_points():
            name = ph.devices[self.device].name
            return f"No {self.precision} matrix products were measured on the {name}.", "gray"
        return None


@cache
def _products(device: str, precision: str) -> tuple[Point, ...]:
    """Matrix products measured on a device, without launches; empty if it was not measured."""
    try:
        found = points(device, precision, "gemm")
    except MeasurementError:
        return ()
    return tuple(point for point in found if point.variant != "eager")


def _roof(
    name: str, peak: float, bandwidth: float, tone: str, dash: str = "solid", width: float = 2.0
) -> Line:
    """A roof, which is three points on log-log axes."""
    ridge = peak / bandwidth
    return Line(name, (_LEFT, ridge, _RIGHT), (bandwidth * _LEFT, peak, peak), tone, dash, width)
