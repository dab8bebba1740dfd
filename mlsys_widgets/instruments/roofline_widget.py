"""The roofline as an instrument: one kernel, or the kernels of a language model, under a roof."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, ClassVar

import numpy as np

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import AnyMark, Handle, Line, Scene
from mlsys_widgets.instruments import roofline_marks as draw
from mlsys_widgets.instruments.controls import Select, Several, Slider, Switch
from mlsys_widgets.instruments.forms import TwoFormInstrument, form_select
from mlsys_widgets.instruments.instrument import NumberCard, Table
from mlsys_widgets.instruments.roofline_kernels import (
    MEASURED,
    WORKLOADS,
    Operation,
    calibrated_time,
)
from mlsys_widgets.instruments.roofline_machine import Machine, is_integer, rate
from mlsys_widgets.instruments.roofline_overlays import Overlays, measured_kernels, own_machine
from mlsys_widgets.instruments.serving_curve import rounded
from mlsys_widgets.measured import Ceilings, ceilings, points

_show = ph.format_quantity
_DEVICES = {device.key: device.name for device in ph.devices.values()}
_STRATEGIES = {key: entry.name for key, entry in ph.fusion_strategies.items()}
#: The inputs that say which kernel runs where.
_KERNEL = (
    "device", "precision", "sparse", "workload", "m", "n", "k", "fusion",
    "peak_share", "bandwidth_share",
)  # fmt: skip
#: Where the flat roof is taken, if it reaches that far.
_GRIP = 5e4
#: A share this close to 1 is meant to be 1: on the screen it is less than a pixel off.
_DETENT = 0.03


def _precisions(instrument: Any) -> dict[str, str]:
    device = ph.devices[instrument.device]
    keys = [key.removesuffix(" sparse") for key in device.peaks]
    return {key: key for key in dict.fromkeys(keys)}


class RooflineWidget(TwoFormInstrument):
    """Where a kernel lies under the roof of a device, and what it could attain.

    Whether memory or arithmetic limits a kernel depends on its operations per byte and on the
    ridge of the device, so the same product can be memory-bound on one device and compute-bound on
    another. Move a kernel along the axis, bend the roof, and compare with what was measured.

    Parameters
    ----------
    machine
        A measurement of your own machine, drawn beside the device: its name, path or document.
    measurements
        A gate that must be open before measured points and the calibrated form are offered.
    prediction
        A rate in FLOP/s, or ``{"mfu": 0.4}`` for a fraction of the peak, drawn as a line.

    Examples
    --------
    >>> w = RooflineWidget(device="h100-sxm", precision="fp16", n=512)
    >>> round(w.result.mfu, 3), w.result.regime
    (0.578, 'memory-bound')
    >>> w.set(n=4096, precision="int8")
    >>> w.result.regime
    'compute-bound'
    >>> w.set(bandwidth_share=2)
    >>> w.modeled.name
    'H100 SXM with 2× its bandwidth'
    >>> w = RooflineWidget(device="h200-sxm", workload="decode", form="calibrated")
    >>> w.operations[0].rate < w.result.attainable
    True
    """

    title = "Roofline"
    showcase = ("n", "device")
    evidence = ("products", "attention over prompts", "attention over a cache")
    predictable: ClassVar[Mapping[str, str]] = {"rate": "FLOP/s", "mfu": "%"}
    #: Batch and sequence belong to one kernel of three, so only a question that names them counts
    #: them; a form is a way to answer a question, not a part of it.
    depends: ClassVar[Mapping[str, Sequence[str]]] = {"rate": _KERNEL, "mfu": _KERNEL}
    _measuring = frozenset({"form", "measured"})
    headline: ClassVar[str] = "attainable"

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
        rare=True,
    )
    workload = Select(
        "Kernels",
        default="gemm",
        options=WORKLOADS,
        buttons=True,
        help="One product of any size; a projection, layer norm and softmax together; the "
        "attention of a layer, reading a prompt or writing one token; or ReLU.",
    )
    square = Switch(
        "Square: M = N = K", default=True, help="One size for all three sides.", rare=True
    )
    m = Slider(
        "M",
        default=512,
        low=1,
        high=32768,
        log=True,
        whole=True,
        help="Rows of the result.",
        rare=True,
    )
    n = Slider(
        "N",
        default=512,
        low=1,
        high=32768,
        log=True,
        whole=True,
        help="Side of the square matrices, or columns of a result that is not square.",
    )
    k = Slider(
        "K",
        default=512,
        low=1,
        high=32768,
        log=True,
        whole=True,
        help="Length of a dot product.",
        rare=True,
    )
    batch = Slider(
        "Batch", default=8, low=1, high=1024, log=True, whole=True, help="Sequences at once."
    )
    sequence = Slider(
        "Sequence length",
        default=512,
        low=1,
        high=131072,
        log=True,
        whole=True,
        help="Tokens of each sequence that are processed at once; 1 is a decode step. For the "
        "attention of a new token: how many tokens it looks at.",
    )
    fusion = Select(
        "Fusion",
        default="none",
        options=_STRATEGIES,
        help="How much memory traffic fusion leaves to the elementwise kernels.",
    )
    compare = Several(
        "Other devices",
        default=(),
        options=_DEVICES,
        help="Draws their roofs at this precision.",
        rare=True,
    )
    measured = Switch(
        "Measured points",
        default=False,
        help="What real kernels reached on the device, if it was measured.",
        rare=True,
    )
    form = form_select()
    peak_share = Slider(
        "Peak (what if)",
        default=1,
        low=0.1,
        high=10,
        unit="×",
        log=True,
        help="The peak as a multiple of the device's. At 1× it is the device's own.",
        rare=True,
    )
    bandwidth_share = Slider(
        "Bandwidth (what if)",
        default=1,
        low=0.1,
        high=10,
        unit="×",
        log=True,
        help="The bandwidth as a multiple of the device's. At 1× it is the device's own.",
        rare=True,
    )

    def __init__(self, *, machine: Any = None, **options: Any) -> None:
        self._take_machine(machine)
        self._operations: tuple[Operation, ...] = ()
        super().__init__(**options)

    def _take_machine(self, machine: Any) -> None:
        self._source = machine
        self._own: Ceilings | None = ceilings(machine) if machine is not None else None
        products = points(machine, kind="gemm") if machine is not None else ()
        # The chart is about square products; a document may also hold those of a transformer.
        self._own_products = tuple(point for point in products if point.is_square)

    def show_machine(self, machine: Any) -> None:
        """Draw another measurement beside the device, or none; as the parameter ``machine``."""
        self._take_machine(machine)
        self._show()

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
        idle = set(super().hidden()) | (set() if both else {"sparse"})
        if self.workload == "llm":
            return idle | {"square", "m", "n", "k", "form"}
        if self.workload == "relu":
            return idle | {"square", "m", "k", "batch", "sequence", "fusion", "form"}
        if self.workload != "gemm":
            return idle | {"square", "m", "n", "k", "fusion"}
        return idle | {"batch", "sequence", "fusion"} | ({"m", "k"} if self.square else set())

    # The physics.

    @property
    def modeled(self) -> Machine:
        """The device whose roof is drawn, with the peak and bandwidth that are asked for."""
        device = ph.devices[self.device]
        shares = self.peak_share, self.bandwidth_share
        return Machine(device, self.precision, self.sparse, *shares)

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The kernels in the plot, starting with the one that ``result`` is about."""
        assert self.result is not None  # computing it finds the operations
        return self._operations

    def _moved_kernel(self, value: Any) -> ph.Kernel:
        """The first kernel, with another size in place of the one that its handle moves."""
        width, model = ph.BYTES_PER_ELEMENT[self.precision], _model()
        if self.workload == "llm":
            return ph.projection(value, self.sequence, model.width, width)
        if self.workload in ("attention", "decode"):
            prompt = self.workload == "attention"
            return ph.attention(
                self.batch,
                model.heads,
                value if prompt else 1,
                value,
                model.head_width,
                width,
                kv_heads=model.kv_heads,
                causal=prompt,
            )
        if self.workload == "relu":  # compares each element of a square with zero
            return ph.elementwise(value**2, width, flops_per_element=1, passes=2)
        m, k = (value, value) if self.square else (self.m, self.k)
        return ph.gemm(m, value, k, width)

    def compute(self) -> ph.Roofline:
        width = ph.BYTES_PER_ELEMENT[self.precision]
        kernels: dict[str, ph.Kernel]
        if self.workload == "gemm":
            kernels = {"GEMM": self._moved_kernel(self.n)}
        elif self.workload == "relu":
            kernels = {"ReLU": self._moved_kernel(self.n)}
        elif self.workload != "llm":
            kernels = {WORKLOADS[self.workload]: self._moved_kernel(self.sequence)}
        else:
            share = ph.fusion_strategies[self.fusion].traffic_share
            tokens = self.batch * self.sequence
            scores = tokens * self.sequence * _model().heads
            kernels = {
                "Projection": self._moved_kernel(self.batch),
                "Layer norm": ph.elementwise(tokens * _model().width, width, traffic_share=share),
                "Softmax": ph.elementwise(scores, width, traffic_share=share),
            }
        machine = self.modeled
        self._operations = tuple(
            Operation(name, kernel, machine.roof(kernel.intensity), self._timed(kernel))
            for name, kernel in kernels.items()
        )
        return self._operations[0].roof

    def _timed(self, kernel: ph.Kernel) -> ph.CalibratedTime | None:
        """The calibrated time of a kernel on the device as it is, if that form is asked for."""
        if self.form == "textbook" or self.workload in ("llm", "relu") or self._imagined:
            return None
        return calibrated_time(kernel, self.device, self.precision)

    @property
    def _imagined(self) -> bool:
        return self.sparse or not self.modeled.real

    @property
    def unmeasured(self) -> str:
        """The calibrated form may lack the device, its present roof, or kernels like these."""
        if self.form == "textbook" or not self._measured_device:
            return super().unmeasured
        if self.operations[0].timed is not None:
            return ""
        if self._imagined:
            return "only the dense roof of the device as it is was measured"
        return f"no measurement of such kernels in {self.precision} is on record"

    @property
    def explanations(self) -> dict[str, Any]:
        """The roof over each kernel on the chart, and its calibrated time."""
        first = self.operations[0]
        if first.timed is not None and not is_integer(self.precision):
            return {f"{first.name}, textbook": first.roof, first.shown_name: first.timed}
        if len(self.operations) == 1:
            return super().explanations
        return {operation.name: operation.roof for operation in self.operations}

    def dominant(self, result: Any) -> str:
        """Left of the ridge the intensity decides, right of it the lesser of the two roofs."""
        if isinstance(result, ph.CalibratedTime):
            return "memory_time" if result.memory_time > result.compute_time else "compute_time"
        return "intensity" if result.memory_bound else "attainable"

    def _code_beyond_inputs(self) -> list[str]:
        more = super()._code_beyond_inputs()
        if isinstance(self._source, (str, os.PathLike)):
            more.insert(0, f"machine={os.fspath(self._source)!r}")
        return more

    # What it says.

    def _rate(self, value: Any, *, pad: bool = False) -> str:
        return rate(float(value), self.precision, pad=pad)

    def cards(self, result: ph.Roofline) -> Sequence[NumberCard]:
        operations = self.operations
        # Where there are two forms, numbers say which one they are from.
        form = ", textbook" if self._measured_device else ""
        if len(operations) > 1:
            roofs = [(op.name, op.roof, _tone(op.roof)) for op in operations]
            attainable = [
                (f"{n}{form}", self._rate(r.attainable, pad=True), tone) for n, r, tone in roofs
            ]
            shares = [
                (f"{n}, MFU{form}", _show(r.mfu, "%", pad=True), tone) for n, r, tone in roofs
            ]
            regimes = [
                (f"{n}, regime", f"{r.regime}, {_show(r.intensity, 'FLOP/B')}", tone)
                for n, r, tone in roofs
            ]
            return [*attainable, *shares, *regimes]
        tone = _tone(result)
        return [
            (f"Attainable{form}", self._rate(result.attainable, pad=True), tone),
            (f"Fraction of the peak (MFU){form}", _show(result.mfu, "%", pad=True), tone),
            *self._calibrated_cards(operations[0]),
            ("Regime", str(result.regime), tone),
            ("Intensity", _show(result.intensity, "FLOP/B", pad=True), "red"),
            ("Ridge", _show(result.ridge, "FLOP/B"), "gray"),
            *self._side_cards(result),
            ("Peak", self.modeled.peak_label, "gray"),
        ]

    def _side_cards(self, result: ph.Roofline) -> list[NumberCard]:
        """The square product that lies exactly at the ridge."""
        if self.workload != "gemm" or not self.square:
            return []
        one = ph.gemm(1, 1, 1, ph.BYTES_PER_ELEMENT[self.precision])
        # The intensity of a square grows in proportion to its side.
        return [("N at the ridge", _show(round(float(result.ridge / one.intensity))), "gray")]

    def _calibrated_cards(self, op: Operation) -> list[NumberCard]:
        if op.timed is None:
            return []
        return [
            ("Reached, calibrated", self._rate(rounded(op.rate)), "red"),
            ("Time, calibrated", _show(rounded(op.timed.time), "s"), "red"),
        ]

    def sentence(self, result: ph.Roofline) -> str:
        machine = self.modeled
        ridge = f"the ridge at {_show(result.ridge, 'FLOP/B')}"
        start = "" if machine.real else f"{machine.name}: "
        if len(self.operations) == 1:
            words = (
                f"{self._side(result)}, "
                f"and the kernel can attain {self._rate(result.attainable)}, "
                f"{_show(result.mfu, '%')} of the peak of {machine.peak_label}."
                f"{self._calibrated_sentence(self.operations[0])}"
            )
        else:
            each = "; ".join(self._of_one(op, first=k == 0) for k, op in enumerate(self.operations))
            words = f"{start}{each}. {self._shared_place()}"
            words += f"The peak is {machine.peak_label}, with {ridge}."
        return " ".join((words, *self.overlays.sentences()))

    def remark(self, result: ph.Roofline) -> str:
        if len(self.operations) == 1:
            words = f"{self._side(result)}.{self._calibrated_sentence(self.operations[0])}"
        else:
            words = f"{self._shared_place()}The ridge is at {_show(result.ridge, 'FLOP/B')}."
        return " ".join((words, *self.overlays.sentences()))

    def _side(self, result: ph.Roofline) -> str:
        """On which side of the ridge a kernel lies, and what that means."""
        machine = self.modeled
        start = "" if machine.real else f"{machine.name}: "
        side, limit = (
            ("left", "memory bandwidth") if result.memory_bound else ("right", "arithmetic")
        )
        return (
            f"{start}{self.operations[0].name} has an intensity of "
            f"{_show(result.intensity, 'FLOP/B')}, {side} of the ridge at "
            f"{_show(result.ridge, 'FLOP/B')}: {limit} is the limit"
        )

    def _calibrated_sentence(self, op: Operation) -> str:
        if op.timed is not None:
            return (
                f" That is the textbook; calibrated, from a measurement of the device, it reaches "
                f"about {self._rate(rounded(op.rate))} and takes about "
                f"{_show(rounded(op.timed.time), 's')}."
            )
        if self.form == "calibrated":
            return f" That is the textbook: {self.unmeasured}."
        return ""

    def _shared_place(self) -> str:
        """Say so where two kernels lie on one another, or a reader would miss one of them."""
        *_, norm, softmax = self.operations
        if norm.roof.intensity != softmax.roof.intensity:
            return ""
        return (
            f"{norm.name} and {softmax.name.lower()} do equally many operations per byte, so they "
            "share one place on the chart. "
        )

    def _of_one(self, op: Operation, *, first: bool) -> str:
        name = op.name if first else op.name.lower()
        return (
            f"{name}, at {_show(op.roof.intensity, 'FLOP/B')}, is {op.roof.regime} and can attain "
            f"{self._rate(op.roof.attainable)}, {_show(op.roof.mfu, '%')} of the peak"
        )

    def table(self, result: ph.Roofline) -> Table:
        header = ("Kernel or roof", "Operations", "Data", "Intensity", "Rate", "MFU", "Regime")
        rows = [
            (
                op.name,
                _show(op.kernel.flops, "FLOP"),
                _show(op.kernel.bytes, "B"),
                _show(op.roof.intensity, "FLOP/B"),
                self._rate(op.roof.attainable),
                _show(op.roof.mfu, "%"),
                str(op.roof.regime),
            )
            for op in self.operations
        ]
        rows += [
            (op.shown_name, "", "", "", self._rate(rounded(op.rate)), "", "")
            for op in self.operations
            if op.timed is not None
        ]
        return header, [*rows, *self.overlays.rows()]

    @property
    def overlays(self) -> Overlays:
        """Roofs, measurements and the prediction beside the kernels."""
        compared = tuple(ph.devices[key] for key in self.compare if key != self.device)
        kind, words = MEASURED[self.workload]
        found = measured_kernels(self.device, self.precision, kind) if self.measured else ()
        own = own_machine(self._own, self._own_products, self.precision)
        return Overlays(self.modeled, compared, found, own, self._predicted_rate, words)

    @property
    def _predicted_rate(self) -> tuple[float, str] | None:
        """The rate that was predicted, and what was predicted in words."""
        predicted = self.predicted("rate")
        if predicted is not None:
            return predicted, self._rate(predicted)
        predicted = self.predicted("mfu")
        if predicted is None or predicted <= 0:
            return None
        level = predicted * float(self.modeled.peak)
        return level, f"{_show(predicted, '%')} of the peak"

    # What it draws.

    def scenes(self, result: ph.Roofline) -> tuple[Scene, ...]:
        machine = self.modeled
        peak, bandwidth, ridge = (float(v) for v in (result.peak, result.bandwidth, result.ridge))
        overlays = self.overlays
        up = draw.rates(machine.device_peak, overlays.peaks, is_integer(self.precision))
        corner = min(ridge, draw.RIGHT)
        marks: list[AnyMark] = [
            *draw.zones(ridge, up),
            draw.roof("roof", peak, bandwidth, up, "ink", width=3.0),
            Line("ridge", (corner, corner), (up.low, peak), "ink", "dotted", 1.5),
        ]
        beside, entries = overlays.marks(up)
        marks += beside
        legend = [(f"{machine.name}, {machine.peak_label}", "ink", "solid"), *entries]
        # A kernel that does next to nothing reaches less than the chart shows.
        places = {
            op.name: (float(op.roof.intensity), max(op.rate, up.low)) for op in self.operations
        }
        names = {op.name: op.shown_name for op in self.operations}
        marks += draw.kernels(places, names, up.low)
        legend += [(names[name], "red", draw.SYMBOLS[name][0]) for name in places]
        name, place = next(iter(places.items()))
        flat = _GRIP if ridge < _GRIP / 1.5 else min(ridge * 1.5, draw.RIGHT)
        handles = [
            Handle("roof", "peak_share", flat, peak, "y"),
            Handle("ridge", "bandwidth_share", corner, peak, "x", flip=True),
        ]
        if self.workload != "relu":  # whose intensity no size changes
            handles.append(Handle(name, self._moves, *place, "x"))
        return (Scene(draw.ACROSS, up, tuple(marks), 400, tuple(legend), tuple(handles)),)

    @property
    def _moves(self) -> str:
        """The size that the first kernel's handle moves."""
        return {"gemm": "n", "llm": "batch"}.get(self.workload, "sequence")

    def dragged(self, handle: Handle, x: float, y: float) -> dict[str, Any]:
        """The kernel of that intensity, or the roof that passes through a place."""
        machine = self.modeled
        if handle.name == "roof":
            return {"peak_share": _detent(y / machine.device_peak)}
        if handle.name == "ridge":
            return {"bandwidth_share": _detent(machine.peak / x / machine.device.bandwidth)}
        size = self.controls[self._moves]
        assert isinstance(size, Slider)
        found = _inverse(lambda v: self._moved_kernel(v).intensity, x, size.low, size.high)
        return {self._moves: found}

    def alert(self, result: ph.Roofline) -> tuple[str, str] | None:
        """Say so when there is nothing to overlay."""
        if self.measured and not self.overlays.measured:
            name = ph.devices[self.device].name
            kernel = MEASURED[self.workload][1]
            words = "matrix products were" if kernel == "product" else f"{kernel} was"
            return f"No {self.precision} {words} measured on the {name}.", "gray"
        return None


def _tone(roof: ph.Roofline) -> str:
    return "memory" if roof.memory_bound else "compute"


def _model() -> ph.LanguageModel:
    model = ph.workloads["llama31-8b"]
    assert isinstance(model, ph.LanguageModel)
    return model


def _detent(share: float) -> float:
    return 1.0 if abs(share - 1) < _DETENT else share


def _inverse(rising: Callable[[Any], Any], wanted: float, low: float, high: float) -> float:
    """Where a rising function has a value, clipped to the range.

    Each round asks for many values at once and goes on between the two next to the wanted one.
    """
    for _ in range(3):  # leaves a thirty-thousandth of the range, less than a pixel
        tried = np.geomspace(low, high, 33)
        after = int(np.searchsorted(rising(tried), wanted))
        if after in (0, len(tried)):
            return low if after == 0 else high
        low, high = float(tried[after - 1]), float(tried[after])
    return math.sqrt(low * high)
