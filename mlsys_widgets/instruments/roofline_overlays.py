"""Overlays of a roofline: other roofs, what was measured, and what was predicted.

Each is drawn, named in the legend, told in a sentence and given in rows of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import AnyMark, Axis, Line
from mlsys_widgets.instruments import roofline_marks as draw
from mlsys_widgets.instruments.roofline_machine import Machine, rate
from mlsys_widgets.measured import Ceilings, MeasurementError, Point, points

_show = ph.format_quantity
#: How many measured kernels the table names.
_NAMED = 4

Entry = tuple[str, str, str]


@dataclass(frozen=True)
class OwnMachine:
    """A machine that was measured, at one precision."""

    name: str
    precision: str
    peak: float
    bandwidth: float
    products: tuple[Point, ...]

    @property
    def peak_label(self) -> str:
        """The best rate that was measured, in words."""
        return f"{rate(self.peak, self.precision)} {self.precision}"


def own_machine(
    found: Ceilings | None, products: Sequence[Point], precision: str
) -> OwnMachine | None:
    """A measured machine in a precision, or in its fastest one if that was not measured."""
    if found is None or not found.peaks or not found.bandwidth:
        return None
    fastest = max(found.peaks, key=found.peaks.__getitem__)
    used = precision if precision in found.peaks else fastest
    chosen = tuple(point for point in products if point.precision == used)
    return OwnMachine(found.device, used, found.peaks[used], found.bandwidth, chosen)


@cache
def measured_kernels(device: str, precision: str, kind: str) -> tuple[Point, ...]:
    """Kernels of a kind measured on a device, without launches; empty if it was not measured.

    Attention that writes its scores to memory is left out: it is another kernel. So are products
    that are not square, since the chart's own product has one side, and chains of operations.
    """
    try:
        found = points(device, precision, kind)
    except MeasurementError:
        return ()
    return tuple(
        point
        for point in found
        if point.variant != "eager"
        and point.shape.get("form") != "naive"
        and point.shape.get("operation", "relu") == "relu"
        and len({point.shape.get(side) for side in "mnk"}) == 1
    )


@dataclass(frozen=True)
class Overlays:
    """All that lies on the chart beside the kernels and the roof over them."""

    machine: Machine
    compared: tuple[ph.Device, ...]
    measured: tuple[Point, ...]
    own: OwnMachine | None
    #: The rate that was predicted, and what was predicted in words: ``"5% of the peak"``.
    predicted: tuple[float, str] | None
    #: What one of the measured kernels is called.
    kernel: str = "product"

    @property
    def roofs(self) -> list[Machine]:
        """The device itself where it was changed, and the devices that it is compared with."""
        device, precision = self.machine.device, self.machine.precision
        itself = [] if self.machine.real else [Machine(device, precision, self.machine.sparse)]
        known = [other for other in self.compared if precision in other.peaks]
        return itself + [Machine(other, precision) for other in known]

    @property
    def lacking(self) -> list[str]:
        """Devices to compare with that have no peak in this precision."""
        precision = self.machine.precision
        return [other.name for other in self.compared if precision not in other.peaks]

    @property
    def peaks(self) -> list[float]:
        """Peaks for which the chart must have room."""
        return [r.device_peak for r in self.roofs] + ([self.own.peak] if self.own else [])

    def sentences(self) -> list[str]:
        """Return what is drawn, in words."""
        sentences, precision = [], self.machine.precision
        roofs = [f"{r.name} ({r.peak_label}, {_show(r.bandwidth, 'B/s')})" for r in self.roofs]
        if roofs:
            sentences.append(f"Other roofs: {', '.join(roofs)}.")
        if self.lacking:
            sentences.append(f"No dense {precision} peak on record: {', '.join(self.lacking)}.")
        if self.measured:
            best = rate(max(point.attained for point in self.measured), precision)
            sentences.append(f"{self._counted}, the fastest at {best}.")
        if self.own:
            both = f"{self.own.peak_label} and {_show(self.own.bandwidth, 'B/s')}"
            sentences.append(f"{self.own.name}, as measured: {both}.")
        if self.predicted:
            sentences.append(f"You predicted {self.predicted[1]}.")
        return sentences

    @property
    def _counted(self) -> str:
        """How many kernels were measured."""
        if self.kernel == "product":
            return ph.counted(len(self.measured), "measured product")
        return f"{ph.counted(len(self.measured), 'measurement')} of {self.kernel}"

    def rows(self) -> list[tuple[str, ...]]:
        """Return what is drawn, in numbers, the roof over the kernels first."""
        rows: list[tuple[str, ...]] = [
            (
                f"Roof: {roof.name}",
                "",
                _show(roof.bandwidth, "B/s"),
                _show(roof.peak / roof.bandwidth, "FLOP/B"),
                roof.peak_label,
                "",
                "",
            )
            for roof in (self.machine, *self.roofs)
        ]
        lacks = f"no dense {self.machine.precision} peak on record"
        rows += [(f"Roof: {name}", "", "", "", lacks, "", "") for name in self.lacking]
        rows += _measured_rows("Measured", self.measured)
        own = self.own
        if own:
            # Its ridge is for its owner to find out.
            bandwidth = _show(own.bandwidth, "B/s")
            rows.append((f"Roof: {own.name}", "", bandwidth, "", own.peak_label, "", ""))
            rows += _measured_rows(own.name, own.products)
        return rows

    def marks(self, up: Axis) -> tuple[list[AnyMark], list[Entry]]:
        """Return the marks, and their entries of the legend."""
        own, roofs = self.own, self.roofs
        legend = [("Other roofs, named on the chart", "gray", "dashed")] if roofs else []
        if self.measured:
            words = "products" if self.kernel == "product" else self.kernel
            legend.append((f"Measured {words}", "measured", "triangle-up"))
        x: tuple[float, ...] = ()
        y: tuple[float, ...] = ()
        if self.predicted:
            level, words = self.predicted
            x, y = (draw.LEFT, draw.RIGHT), (level, level)
            beyond = "" if up.low <= level <= up.high else " (beyond the chart)"
            legend.append((f"Your prediction, {words}{beyond}", "prediction", "dash_dotted"))
        roof = Line("your machine", (), (), "measured", "dash_dotted")
        if own:
            roof = draw.roof("your machine", own.peak, own.bandwidth, up, "measured", "dash_dotted")
            legend.append((f"{own.name}, {own.peak_label}", "measured", "dash_dotted"))
            legend.append(("Its measured products", "measured", "triangle-down"))
        products = own.products if own else ()
        marks: list[AnyMark] = [
            draw.other_roofs([(float(r.peak), float(r.bandwidth)) for r in roofs], up),
            draw.roof_names({r.name: float(r.peak) for r in roofs}),
            draw.measured("measured", self.measured, up.low, "triangle-up"),
            Line("prediction", x, y, "prediction", "dash_dotted"),
            roof,
            draw.measured("your products", products, up.low, "triangle-down"),
        ]
        return marks, legend


def _measured_rows(whose: str, found: Sequence[Point]) -> list[tuple[str, ...]]:
    """Some measured kernels, from the least intense to the most."""
    ordered = sorted(found, key=lambda point: point.intensity)
    count = min(len(ordered), _NAMED)
    few = [ordered[round((len(ordered) - 1) * k / max(count - 1, 1))] for k in range(count)]
    rows: list[tuple[str, ...]] = []
    for point in few:
        attained = rate(point.attained, point.precision or "")
        name = f"{whose}, {point.size}"
        rows.append((name, "", "", _show(point.intensity, "FLOP/B"), attained, "", ""))
    return rows
