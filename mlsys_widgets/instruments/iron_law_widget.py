"""The iron law as an instrument: memory, compute and latency, and which of them binds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

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
    from_zero,
    note,
)
from mlsys_widgets.instruments.controls import Select, Slider, Switch
from mlsys_widgets.instruments.instrument import Instrument, NumberCard, Table

_show = ph.format_quantity
_DEVICES = {device.key: device.name for device in ph.devices.values()}
_LARGEST_BATCH = 1024
_BATCHES = np.geomspace(1, _LARGEST_BATCH, 31)
#: The three terms in their order: name, tone, dash of the line.
_TERMS = (
    ("memory", "memory", "dashed"),
    ("compute", "compute", "solid"),
    ("latency", "purple", "dotted"),
)
_ROW, _MARGINS = 36, 64
#: How far below the highest value of the second plot anything is still drawn.
_DEPTH = 1e4


def _sizes() -> Mapping[str, tuple[str, float, float]]:
    """Name, data and operations of one inference, for every workload on record that has them."""
    found = {
        key: (entry.name, entry.data, entry.operations)
        for key, entry in ph.workloads.items()
        if isinstance(entry, ph.Inference)
    }
    for key, entry in ph.workloads.items():
        if isinstance(entry, ph.LanguageModel):
            # The weights move once for a whole batch, whatever the device.
            token = ph.decode(entry, "h100-sxm", batch=1, sequence=1)
            found[key] = (f"{entry.name}, one token", float(token.weights), float(token.flops))
    return found


_SIZES = _sizes()
_FIRST, _OWN = next(iter(_SIZES)), "own"
_NAMES = {key: name for key, (name, _, _) in _SIZES.items()} | {_OWN: "Your own sizes"}


class IronLaw(Instrument):
    """How long one batch takes, in three terms, and from which batch size compute is the limit.

    Examples
    --------
    >>> w = IronLaw(device="h100-sxm", batch=1)
    >>> w.result.binding, round(w.result.memory_to_compute, 1), w.result.compute_bound_batch
    ('memory', 7.4, 8.0)
    >>> w.set(device="cortex-m7")
    >>> w.capacity.out_of_memory, round(w.capacity.fill)
    (True, 195)
    """

    title = "Iron law"

    device = Select(
        "Device",
        default="h100-sxm",
        options=_DEVICES,
        help="Sets the bandwidth, the peak at its native precision, and the memory.",
    )
    workload = Select(
        "Workload",
        default=_FIRST,
        options=_NAMES,
        help="Sets the data and operations of one inference; change those to make it your own.",
    )
    data = Slider(
        "Data moved",
        default=_SIZES[_FIRST][1],
        low=1e3,
        high=1e12,
        log=True,
        unit="B",
        help="The weights. They move once per batch and must fit into the device.",
    )
    operations = Slider(
        "Operations per inference",
        default=_SIZES[_FIRST][2],
        low=1e6,
        high=1e15,
        log=True,
        unit="FLOP",
        help="Every inference of the batch repeats these.",
    )
    batch = Slider(
        "Batch",
        default=1,
        low=1,
        high=_LARGEST_BATCH,
        log=True,
        whole=True,
        help="Inferences that share one trip of the weights through memory.",
    )
    efficiency = Slider(
        "Efficiency η",
        default=1.0,
        low=0.01,
        high=1.0,
        unit="%",
        help="Fraction of the peak that the arithmetic reaches. It affects only the compute term.",
    )
    latency = Slider(
        "Latency",
        default=ph.devices["h100-sxm"].launch(),
        low=1e-7,
        high=1.0,
        log=True,
        zero=True,
        unit="s",
        help="Fixed time per batch: launch, dispatch, network. One GPU launch takes about 10 µs.",
    )
    overlapped = Switch(
        "Memory and compute overlap",
        default=False,
        help="Off: one term after the other. On: both at once, and only the longer one counts.",
    )

    def adjust(self, inputs: dict[str, Any], changed: AbstractSet[str]) -> dict[str, Any]:
        """A workload sets the sizes; other sizes turn it into the student's own."""
        named = inputs["workload"]
        if not isinstance(named, str) or named not in _SIZES:
            return inputs
        sizes = _SIZES[named]
        for name, value in zip(("data", "operations"), sizes[1:], strict=True):
            if name not in changed and "workload" in changed:
                inputs[name] = value
            elif not _is_close(inputs[name], value, self._controls[name]):
                inputs["workload"] = _OWN
        return inputs

    def compute(self) -> ph.IronLawTime:
        """The three terms of one batch."""
        return self._law(self.batch)

    def _law(self, batch: ph.Numeric) -> ph.IronLawTime:
        return ph.iron_law(
            self.data,
            self.operations,
            self.device,
            efficiency=self.efficiency,
            latency=self.latency,
            batch=batch,
            overlapped=self.overlapped,
        )

    @property
    def capacity(self) -> ph.Capacity:
        """Whether the data fits into the device."""
        return ph.capacity(self.data, self.device)

    @property
    def explanations(self) -> dict[str, Any]:
        """The time, and whether it fits."""
        return {"Time": self.result, "Memory": self.capacity}

    # What it says.

    @property
    def _machine(self) -> ph.Device:
        return ph.devices[self.device]

    @property
    def _what(self) -> str:
        return "your workload" if self.workload == _OWN else _NAMES[self.workload]

    def cards(self, result: ph.IronLawTime) -> Sequence[NumberCard]:
        """The terms, their total, and the batch from which compute is the limit."""
        tones = {term: tone for term, tone, _ in _TERMS}
        return [
            ("Batch time", _show(result.total, "s", pad=True), "ink"),
            *(
                (f"{term.capitalize()} term", _show(_time(result, term), "s", pad=True), tone)
                for term, tone, _ in _TERMS
            ),
            ("Binding term", str(result.binding), tones[str(result.binding)]),
            ("Compute-bound from", f"batch {_show(result.compute_bound_batch)}", "compute"),
            ("Throughput", _show(result.batch / result.total, "inferences/s", pad=True), "green"),
            ("Peak", self._machine.peak_label(self._machine.native), "gray"),
        ]

    def sentence(self, result: ph.IronLawTime) -> str:
        """Terms, binding term and total."""
        how = "at the same time" if self.overlapped else "one after the other"
        what, takes = f"{self._what[:1].upper()}{self._what[1:]}", "takes"
        if self.capacity.out_of_memory:
            what, takes = f"If it fit, {self._what}", "would take"
        return (
            f"{what} on the {self._machine.name} with batch {_show(result.batch)} {takes} "
            f"{_show(result.total, 's')}: {_show(result.memory_time, 's')} for memory and "
            f"{_show(result.compute_time, 's')} for compute, {how}, plus "
            f"{_show(result.latency, 's')} of latency. The largest term is {result.binding}; "
            f"from batch {_show(result.compute_bound_batch)} up, compute outgrows memory."
        )

    def table(self, result: ph.IronLawTime) -> Table:
        """One row per term, and the total."""
        formulas = {
            "memory": f"{_show(result.data, 'B')} / {_show(result.bandwidth, 'B/s')}",
            "compute": (
                f"{_show(result.batch)} × {_show(result.operations, 'FLOP')} / "
                f"({_show(result.rate, 'FLOP/s')} × {_show(result.efficiency, '%')})"
            ),
            "latency": "fixed",
        }
        rows = [
            (
                term.capitalize(),
                formulas[term],
                _show(_time(result, term), "s"),
                _show(_time(result, term) / result.batch, "s"),
                "yes" if term == result.binding else "",
            )
            for term, _, _ in _TERMS
        ]
        combined = "the longer of the two, plus latency" if self.overlapped else "the sum"
        per_one = _show(result.total / result.batch, "s")
        rows.append(("Total", combined, _show(result.total, "s"), per_one, ""))
        return ("Term", "Calculation", "Batch time", "Per inference", "Binding"), rows

    def alert(self, result: ph.IronLawTime) -> tuple[str, str] | None:
        """Out of memory: by how much, and what would fit."""
        fits = self.capacity
        if not fits.out_of_memory:
            return None
        machine = self._machine
        parameters = machine.memory / ph.BYTES_PER_ELEMENT[machine.native]
        roomy = [device for device in ph.devices.values() if device.memory >= self.data]
        if roomy:
            smallest = min(roomy, key=lambda device: device.memory)
            where = f"The smallest device here that can hold it is the {smallest.name} with "
            where += f"{_show(smallest.memory, 'B')}."
        else:
            where = "No device here can hold it."
        return (
            f"Out of memory: {self._what} needs {_show(self.data, 'B')}, but the {machine.name} "
            f"has {_show(machine.memory, 'B')}. It is {_show(fits.fill, '×')} too large to load, "
            f"so its speed does not matter. At most {ph.counted(parameters, 'parameter')} fit in "
            f"{machine.native}. {where}",
            "red",
        )

    # What it draws.

    def scenes(self, result: ph.IronLawTime) -> tuple[Scene, ...]:
        """The terms of this batch, and the time per inference for all batch sizes."""
        return self._bars(result), self._curves(result)

    def _bars(self, result: ph.IronLawTime) -> Scene:
        across = from_zero("Batch time", 1.35 * float(result.total), "s")
        height = 4 * _ROW + _MARGINS
        # Text is drawn above its place; this moves it to the middle of a bar.
        lower = 9 / _ROW
        longer = max(result.memory_time, result.compute_time)
        end, starts = 0.0, {}
        for term, _, _ in _TERMS:
            starts[term] = end
            if not self.overlapped:
                end += float(_time(result, term))
            elif term == "compute":
                end = float(longer)
        stages, total, places = [], [], []
        for row, (term, tone, _) in enumerate(_TERMS):
            start, time = starts[term], float(_time(result, term))
            low = 2.2 - row
            stages.append((start, low, start + time, low + 0.6, tone))
            hidden = self.overlapped and term != "latency" and time < longer
            total.append((start, 3.2, start if hidden else start + time, 3.8, tone))
            binds = ", binding" if term == result.binding else ""
            places.append((start + time, low + 0.3 - lower, _show(time, "s", pad=True) + binds))
        places.append((float(result.total), 3.5 - lower, _show(result.total, "s", pad=True)))
        gap = across.high / 120
        marks: tuple[AnyMark, ...] = (
            Blocks("total", tuple(total)),
            Blocks("terms", tuple(stages)),
            Words(
                "times",
                tuple(x + gap for x, _, _ in places),
                tuple(y for _, y, _ in places),
                tuple(text for _, _, text in places),
                "text",
            ),
        )
        words = [
            f"▸ {term.capitalize()}" if term == result.binding else term.capitalize()
            for term, _, _ in _TERMS
        ]
        rows = Axis("", 0.0, 4.0, False, (3.5, 2.5, 1.5, 0.5), ("Total", *words), grid=False)
        return Scene(across, rows, marks, height)

    def _curves(self, result: ph.IronLawTime) -> Scene:
        totals = np.asarray(self._law(_BATCHES).total / _BATCHES)
        compute = float(result.compute_time / result.batch)
        high = 10.0 ** math.ceil(math.log10(float(totals.max()) * 1.05))
        least = min(float(totals.min()), max(compute, float(totals.max()) / _DEPTH))
        low = 10.0 ** math.floor(math.log10(least / 2))
        ends = (1.0, float(_LARGEST_BATCH))
        marks: list[AnyMark] = []
        legend = []
        for term, tone, dash in _TERMS:
            once = compute if term == "compute" else float(_time(result, term))
            # What a batch shares falls as 1/batch, straight on these axes; it ends where they end.
            last = _LARGEST_BATCH if term == "compute" else min(_LARGEST_BATCH, once / low)
            each = (once, once if term == "compute" else once / last) if once >= low else ()
            marks.append(
                Line(f"{term} per inference", (1.0, last) if each else (), each, tone, dash)
            )
            legend.append((f"{term.capitalize()} term", tone, dash))
        balance = float(result.balance_batch)
        inside = 1.0 <= balance <= _LARGEST_BATCH
        x, y = ((balance, balance), (low, high)) if inside else ((), ())
        left = balance > _LARGEST_BATCH**0.6
        said = f"compute-bound from batch {_show(result.compute_bound_batch)}"
        place = (balance * (0.95 if left else 1.05), low * (high / low) ** 0.9, said)
        marks += [
            Line("total per inference", tuple(_BATCHES), tuple(totals), "ink", "solid", 3.0),
            Line("crossover", x, y, "compute", "dotted", 1.5),
            note("crossover note", place if inside and not left else None, "compute"),
            note("crossover note left", place if inside and left else None, "compute", "end"),
            Points(
                "now",
                (float(result.batch),),
                (float(result.total / result.batch),),
                "green",
                "circle",
                110,
            ),
        ]
        legend += [("Total", "ink", "solid"), ("This batch", "green", "circle")]
        ticks = (1.0, 4.0, 16.0, 64.0, 256.0, 1024.0)
        batches = tuple(_show(tick) for tick in ticks)
        across = Axis("Batch (inferences)", *ends, True, ticks, batches)
        times = decades(low, high)
        words = tuple(_show(time, "s") for time in times)
        up = Axis("Time per inference", low, high, True, times, words)
        return Scene(across, up, tuple(marks), 300, tuple(legend))


def _time(result: ph.IronLawTime, term: str) -> ph.Numeric:
    return {
        "memory": result.memory_time,
        "compute": result.compute_time,
        "latency": result.latency,
    }[term]


def _is_close(wanted: Any, value: float, control: Any) -> bool:
    """Whether an input, typed or not, equals the value; what cannot be read does not."""
    try:
        return math.isclose(control.validate(None, wanted), value, rel_tol=1e-9)
    except ValueError:
        return False
