"""The iron law as an instrument: data moved, operations done and latency, and which one binds."""

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
from mlsys_widgets.instruments.controls import Choice, Slider, Switch
from mlsys_widgets.instruments.instrument import Card, Instrument, Table

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
#: How far below the tallest part of the second plot anything is still drawn.
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
_NAMES = {key: name for key, (name, _, _) in _SIZES.items()} | {_OWN: "Sizes of your own"}


class IronLaw(Instrument):
    """How long one batch takes, in three terms, and from which batch on compute is the limit.

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

    device = Choice(
        "Device",
        default="h100-sxm",
        options=_DEVICES,
        help="Gives the bandwidth, the peak at its native precision, and the memory.",
    )
    workload = Choice(
        "Workload",
        default=_FIRST,
        options=_NAMES,
        help="Sets data and operations of one inference; move those to make it your own.",
    )
    data = Slider(
        "Data moved",
        default=_SIZES[_FIRST][1],
        low=1e3,
        high=1e12,
        log=True,
        unit="B",
        help="The weights. They move once for a whole batch, and must fit into the device.",
    )
    operations = Slider(
        "Operations of one inference",
        default=_SIZES[_FIRST][2],
        low=1e6,
        high=1e15,
        log=True,
        unit="FLOP",
        help="Every inference of the batch does these again.",
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
        help="Share of the peak that the arithmetic reaches. It slows the compute term alone.",
    )
    latency = Slider(
        "Latency",
        default=ph.devices["h100-sxm"].launch(),
        low=1e-7,
        high=1.0,
        log=True,
        zero=True,
        unit="s",
        help="Fixed time of every batch: launch, dispatch, network. One GPU launch is about 10 µs.",
    )
    overlapped = Switch(
        "Memory and compute overlap",
        default=False,
        help="Off: one term after the other. On: both at once, and only the longer one counts.",
    )

    def adjust(self, inputs: dict[str, Any], changed: AbstractSet[str]) -> dict[str, Any]:
        """A workload sets the sizes; sizes that differ from it make it the student's own."""
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

    def compute(self) -> ph.IronLaw:
        """The three terms of one batch."""
        return self._law(self.batch)

    def _law(self, batch: ph.Numeric) -> ph.IronLaw:
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
        """Whether the data fit into the device."""
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
        return "Your workload" if self.workload == _OWN else _NAMES[self.workload]

    def cards(self, result: ph.IronLaw) -> Sequence[Card]:
        """The terms, their sum, and where compute takes over."""
        tones = {term: tone for term, tone, _ in _TERMS}
        return [
            ("Time of the batch", _show(result.total, "s", pad=True), "ink"),
            *(
                (f"{term.capitalize()} term", _show(_time(result, term), "s", pad=True), tone)
                for term, tone, _ in _TERMS
            ),
            ("Binding term", str(result.binding), tones[str(result.binding)]),
            ("Compute-bound from", f"batch {_show(result.compute_bound_batch)}", "compute"),
            ("Throughput", _show(result.batch / result.total, "inferences/s", pad=True), "green"),
            ("Peak", self._machine.peak_label(self._machine.native), "gray"),
        ]

    def sentence(self, result: ph.IronLaw) -> str:
        """Terms, binding term and total."""
        how = "at the same time" if self.overlapped else "one after the other"
        start = "If it fitted: " if self.capacity.out_of_memory else ""
        return (
            f"{start}{self._what} on the {self._machine.name}, batch {_show(result.batch)}: "
            f"memory {_show(result.memory_time, 's')} and compute "
            f"{_show(result.compute_time, 's')} {how}, and {_show(result.latency, 's')} of "
            f"latency, make {_show(result.total, 's')}. The largest term is {result.binding}; "
            f"compute outgrows memory from batch {_show(result.compute_bound_batch)} on."
        )

    def table(self, result: ph.IronLaw) -> Table:
        """One row a term, and the total."""
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
        combined = "the longer of both, and latency" if self.overlapped else "the sum"
        per_one = _show(result.total / result.batch, "s")
        rows.append(("Total", combined, _show(result.total, "s"), per_one, ""))
        return ("Term", "From", "Time of the batch", "Per inference", "Binding"), rows

    def alert(self, result: ph.IronLaw) -> tuple[str, str] | None:
        """Out of memory: by how much, and what would fit."""
        fits = self.capacity
        if not fits.out_of_memory:
            return None
        machine = self._machine
        parameters = machine.memory / ph.BYTES_PER_ELEMENT[machine.native]
        roomy = [device for device in ph.devices.values() if device.memory >= self.data]
        if roomy:
            smallest = min(roomy, key=lambda device: device.memory)
            where = f"The smallest device here that holds it is the {smallest.name} with "
            where += f"{_show(smallest.memory, 'B')}."
        else:
            where = "No device here holds it."
        return (
            f"Out of memory: {self._what} needs {_show(self.data, 'B')}, the {machine.name} has "
            f"{_show(machine.memory, 'B')}. It is {_show(fits.fill, '×')} too large to be loaded, "
            f"so its speed does not matter. What fits are {_show(parameters, 'parameters')} in "
            f"{machine.native}. {where}",
            "red",
        )

    # What it draws.

    def scenes(self, result: ph.IronLaw) -> tuple[Scene, ...]:
        """The terms of this batch, and the time per inference over all batches."""
        return self._bars(result), self._curves(result)

    def _bars(self, result: ph.IronLaw) -> Scene:
        across = from_zero("Time of one batch", 1.35 * float(result.total), "s")
        height = 4 * _ROW + _MARGINS
        # Text is written above its place; this brings it to the middle of a bar.
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

    def _curves(self, result: ph.IronLaw) -> Scene:
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
            # What is shared falls as 1/batch, straight on these axes; it ends where they end.
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
                (result.batch,),
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


def _time(result: ph.IronLaw, term: str) -> ph.Numeric:
    return {
        "memory": result.memory_time,
        "compute": result.compute_time,
        "latency": result.latency,
    }[term]


def _is_close(wanted: Any, value: float, control: Any) -> bool:
    """Whether an input, typed or not, is the value; what cannot be read is not."""
    try:
        return math.isclose(control.validate(None, wanted), value, rel_tol=1e-9)
    except ValueError:
        return False
