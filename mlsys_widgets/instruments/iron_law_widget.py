"""The iron law as an instrument: memory, compute and latency, and which of them binds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, ClassVar

import numpy as np

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import Handle, Scene
from mlsys_widgets.instruments.batches import BATCHES, LARGEST_BATCH
from mlsys_widgets.instruments.controls import Select, Slider, Switch
from mlsys_widgets.instruments.instrument import Instrument, NumberCard, Table
from mlsys_widgets.instruments.iron_law_scenes import (
    TERMS,
    bars,
    curves,
    device_at,
    memories,
    term_at,
    term_time,
)
from mlsys_widgets.instruments.target import LimitedQuantity
from mlsys_widgets.wording.units import in_one_unit

_show = ph.format_quantity
_DEVICES = {device.key: device.name for device in ph.devices.values()}
#: What the runtime may keep at most, so that something is left for the weights.
_MOST_RESERVED = 0.99
#: A block of weights that is dropped this near to the size of its workload keeps that size.
_NEAR = 0.1
#: The batches in the table.
_TABLE = (1.0, 16.0, 128.0, 1024.0)
#: Which output of the law each term is.
_OUTPUTS = {"memory": "memory_time", "compute": "compute_time", "latency": ""}


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

    Time is data over bandwidth, plus operations over the rate, plus latency, and only the largest
    of the three is worth attacking. With one image even a large GPU waits for memory; a larger
    batch reads the weights once for all images, until arithmetic takes over.

    The weights must fit into the memory of the device, less what is reserved. Memory, bandwidth
    and peak rate are the device's own unless they are set, for example to those of a board that
    is not on record; choosing another device restores that device's own and clears the reserve.

    Parameters
    ----------
    called
        What a device is called, with its article, while any of these three is set: by its key.

    Examples
    --------
    >>> w = IronLaw(device="h100-sxm", batch=1)
    >>> w.result.binding, round(w.result.memory_to_compute, 1), w.result.compute_bound_batch
    ('memory', 3.6, 4.0)
    >>> w.set(device="cortex-m7")
    >>> w.capacity.out_of_memory, round(w.capacity.fill)
    (True, 195)
    """

    title = "Iron law"
    showcase = ("batch", "device")
    plot_names = ("This batch", "All batches", "Memory")
    leading = ("Batch time", "Binding term")
    predictable: ClassVar[Mapping[str, str]] = {"batch": ""}
    depends: ClassVar[Mapping[str, Sequence[str]]] = {
        "batch": ("data", "operations", "efficiency", "bandwidth", "rate")
    }
    headline = "total"
    quantities: ClassVar[Mapping[str, LimitedQuantity]] = {
        "data": LimitedQuantity("B", "fits", "does not fit", "too much", ((2, "x"),)),
        "total": LimitedQuantity("s", "in time", "too late", "too late", ((0, "x"),)),
        "throughput": LimitedQuantity("inferences/s", "enough", "too few", "too few"),
    }

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
        high=LARGEST_BATCH,
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
        rare=True,
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
        rare=True,
    )
    bandwidth = Slider(
        "Bandwidth of the device",
        default=ph.devices["h100-sxm"].bandwidth,
        low=1e6,
        high=1e14,
        log=True,
        unit="B/s",
        rare=True,
        help="How fast the weights arrive. The device's own, until you change it.",
    )
    rate = Slider(
        "Peak rate of the device",
        default=ph.devices["h100-sxm"].peak(ph.devices["h100-sxm"].native),
        low=1e7,
        high=1e17,
        log=True,
        unit="FLOP/s",
        rare=True,
        help="How fast it can compute. The device's own, until you change it.",
    )
    memory = Slider(
        "Memory of the device",
        default=ph.devices["h100-sxm"].memory,
        low=1e4,
        high=1e12,
        log=True,
        unit="B",
        rare=True,
        help="The device's own, until you change it; another device brings its own.",
    )
    reserve = Slider(
        "Reserved",
        default=0.0,
        low=1e3,
        high=1e12,
        log=True,
        zero=True,
        unit="B",
        rare=True,
        help="What runtime and activations keep, at most 99% of the memory. The weights get the "
        "rest.",
    )

    def __init__(self, *, called: Mapping[str, str] | None = None, **given: Any) -> None:
        # Before the inputs are set, which shows the name.
        self._called = dict(called or {})
        super().__init__(**given)

    def adjust(self, inputs: dict[str, Any], changed: AbstractSet[str]) -> dict[str, Any]:
        """A workload sets the sizes, a device what it has; other sizes are the student's own."""
        if "device" in changed:
            own = {**_machine_inputs(inputs["device"]), "reserve": 0.0}
            inputs |= {name: value for name, value in own.items() if name not in changed}
        inputs["reserve"] = min(inputs["reserve"], _MOST_RESERVED * inputs["memory"])
        named = inputs["workload"]
        if not isinstance(named, str) or named not in _SIZES:
            return inputs
        sizes = _SIZES[named]
        for name, value in zip(("data", "operations"), sizes[1:], strict=True):
            if name not in changed and "workload" in changed:
                inputs[name] = value
            elif not _is_close(inputs[name], value, self.controls[name]):
                inputs["workload"] = _OWN
        return inputs

    def compute(self) -> ph.IronLawTime:
        return self._law(self.batch)

    def _law(self, batch: ph.Numeric) -> ph.IronLawTime:
        return ph.iron_law(
            self.data,
            self.operations,
            bandwidth=self.bandwidth,
            rate=self.rate,
            efficiency=self.efficiency,
            latency=self.latency,
            batch=batch,
            overlapped=self.overlapped,
        )

    @property
    def capacity(self) -> ph.Capacity:
        """Whether the data fits into what the device has left for it."""
        return ph.Capacity(size=self.data, memory=self.memory - self.reserve)

    @property
    def throughput(self) -> float:
        """Inferences per second, if one batch follows the other."""
        return float(self.result.batch / self.result.total)

    @property
    def explanations(self) -> dict[str, Any]:
        return {"Time": self.result, "Memory": self.capacity}

    def dominant(self, result: Any) -> str:
        """The binding term, and whether it fits."""
        if isinstance(result, ph.Capacity):
            return "out_of_memory" if result.out_of_memory else ""
        return _OUTPUTS[str(result.binding)]

    def dragged(self, handle: Handle, x: float, y: float) -> dict[str, Any]:
        """The input whose term ends at a place, the batch, or the block of weights."""
        law = self.result
        if handle.name in _OUTPUTS:
            time = term_at(law, self.anchor(handle.name), self.overlapped, handle.name, x)
            per_second = {
                "memory": law.bandwidth,
                "compute": law.rate * law.efficiency / law.batch,
                "latency": 1.0,
            }
            return {handle.control: time * per_second[handle.name]}
        if handle.name == "weights":
            near = self.workload != _OWN and abs(math.log10(x / self.data)) < _NEAR
            dropped: dict[str, Any] = {} if near else {"data": x}
            device = device_at(y)
            return {**dropped, "device": device} if device != self.device else dropped
        return {handle.control: x}

    # What it says.

    @property
    def _machine(self) -> ph.Device:
        return ph.devices[self.device]

    @property
    def _changed_rates(self) -> tuple[str, ...]:
        """Peak rate and bandwidth, in words, as far as they are not the device's own."""
        own = _machine_inputs(self.device)
        rates = (("rate", "FLOP/s"), ("bandwidth", "B/s"))
        return tuple(
            _show(getattr(self, name), unit)
            for name, unit in rates
            if getattr(self, name) != own[name]
        )

    @property
    def _name(self) -> str:
        """The device, with its article: its own name, or that of the machine that was set."""
        own = _machine_inputs(self.device)
        is_set = any(getattr(self, name) != value for name, value in own.items())
        recorded = f"the {self._machine.name}"
        return self._called.get(self.device, recorded) if is_set else recorded

    @property
    def _where(self) -> str:
        """The device, and what of it was set."""
        changed = " and ".join(self._changed_rates)
        return f"{self._name}{f', set to {changed},' if changed else ''}"

    @property
    def _peak(self) -> str:
        if self.rate != _machine_inputs(self.device)["rate"]:
            return f"{_show(self.rate, 'FLOP/s')}, as set"
        return self._machine.peak_label(self._machine.native)

    @property
    def _what(self) -> str:
        return "your workload" if self.workload == _OWN else _NAMES[self.workload]

    def cards(self, result: ph.IronLawTime) -> Sequence[NumberCard]:
        tones = {term: tone for term, tone, _ in TERMS}
        fits = self.capacity
        return [
            ("Batch time", _show(result.total, "s", pad=True), "ink"),
            *(
                (f"{term.capitalize()} term", _show(term_time(result, term), "s", pad=True), tone)
                for term, tone, _ in TERMS
            ),
            ("Binding term", str(result.binding), tones[str(result.binding)]),
            ("Throughput", _show(self.throughput, "inferences/s", pad=True), "ink"),
            ("Memory filled", _fill(fits), "red" if fits.out_of_memory else "memory"),
            ("Peak", self._peak, "gray"),
        ]

    @property
    def _kept(self) -> str:
        return f", of which {_show(self.reserve, 'B')} are reserved" if self.reserve else ""

    def sentence(self, result: ph.IronLawTime) -> str:
        how = "at the same time" if self.overlapped else "one after the other"
        what, takes = f"{self._what[:1].upper()}{self._what[1:]}", "takes"
        fits = self.capacity
        if fits.out_of_memory:
            what, takes = f"If it did fit, {self._what}", "would take"
        total, memory, compute, latency = in_one_unit(
            "s", result.total, result.memory_time, result.compute_time, result.latency
        )
        return (
            f"{what} on {self._where} with batch {_show(result.batch)} {takes} {total}: {memory} "
            f"for memory and {compute} for compute, {how}, plus {latency} of latency. The largest "
            f"term is {result.binding}. Its {_show(self.data, 'B')} are {_fill(fits)}"
            f"{'' if fits.out_of_memory else ' of'} what the device can hold "
            f"({_show(self.memory, 'B')}{self._kept})."
        )

    def remark(self, result: ph.IronLawTime) -> str:
        fits = self.capacity
        how = "at the same time" if self.overlapped else "one after the other"
        if fits.out_of_memory:
            # By how much it does not fit is said by the alert.
            return f"If it did fit, memory and compute would work {how}."
        return (
            f"Memory and compute work {how}. The {_show(self.data, 'B')} are {_fill(fits)} of what "
            f"the device can hold ({_show(self.memory, 'B')}{self._kept})."
        )

    def table(self, result: ph.IronLawTime) -> Table:
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
                _show(term_time(result, term), "s"),
                _show(term_time(result, term) / result.batch, "s"),
                "yes" if term == result.binding else "",
            )
            for term, _, _ in TERMS
        ]
        combined = "the longer of the two, plus latency" if self.overlapped else "the sum"
        per_one = _show(result.total / result.batch, "s")
        rows.append(("Total", combined, _show(result.total, "s"), per_one, ""))
        several = self._law(np.array(_TABLE))
        for batch, total, binding in zip(
            _TABLE, np.asarray(several.total), np.asarray(several.binding), strict=True
        ):
            times = _show(total, "s"), _show(total / batch, "s")
            rows.append((f"Batch {_show(batch)}", "", *times, str(binding)))
        rooms = {device.key: device.memory for device in ph.devices.values()}
        rooms[self.device] = self.memory - self.reserve
        sizes = {key: _show(device.memory, "B") for key, device in ph.devices.items()}
        sizes[self.device] = f"{_show(self.memory, 'B')}{self._kept}"
        names = {**_DEVICES, self.device: self._name.removeprefix("the ")}
        for label, fits in (("Holds the weights", True), ("Too small", False)):
            found = [key for key, room in rooms.items() if (self.data <= room) is fits]
            named = "; ".join(f"{names[key]}: {sizes[key]}" for key in found)
            rows.append((label, named or "none", "", "", ""))
        return ("Term", "Calculation, or memory", "Batch time", "Per inference", "Binding"), rows

    def alert(self, result: ph.IronLawTime) -> tuple[str, str] | None:
        """Out of memory: by how much."""
        fits = self.capacity
        if not fits.out_of_memory:
            return None
        needs, over = in_one_unit("B", self.data, self.data - fits.memory)
        return (
            f"Out of memory: {self._what} needs {needs}, but {self._name} "
            f"has {_show(self.memory, 'B')}{self._kept}. That is {over} too much, "
            f"{_show(fits.fill, '×')} what it can hold.",
            "red",
        )

    def hint(self, result: ph.IronLawTime) -> str:
        if not self.capacity.out_of_memory:
            return (
                f"From batch {_show(result.compute_bound_batch)} up, compute takes at least as "
                "long as memory."
            )
        native = self._machine.native
        parameters = math.floor(self.capacity.memory / ph.BYTES_PER_ELEMENT[native])
        others = (device for device in ph.devices.values() if device is not self._machine)
        roomy = [device for device in others if device.memory >= self.data]
        where = "No other device here can hold it."
        if roomy:
            smallest = min(roomy, key=lambda device: device.memory)
            where = f"The smallest device here that can hold it is the {smallest.name} with "
            where += f"{_show(smallest.memory, 'B')}."
        return f"At most {ph.counted(parameters, 'parameter')} fit in {native}. {where}"

    # What it draws.

    def scenes(self, result: ph.IronLawTime) -> tuple[Scene, ...]:
        every = self._law(BATCHES)
        return (
            bars(result, self.overlapped, self.anchor(*_OUTPUTS)),
            curves(result, np.asarray(every.total / BATCHES), self.predicted("batch")),
            memories(self.device, self.data, self.memory, self.reserve),
        )


def _machine_inputs(device: str) -> dict[str, float]:
    """Return the inputs that a device brings along, by name."""
    machine = ph.devices[device]
    return {
        "bandwidth": machine.bandwidth,
        "rate": machine.peak(machine.native),
        "memory": machine.memory,
    }


def _fill(fits: ph.Capacity) -> str:
    return _show(fits.fill, "×" if fits.out_of_memory else "%")


def _is_close(wanted: Any, value: float, control: Any) -> bool:
    """Whether an input, typed or not, equals the value; what cannot be read does not."""
    try:
        return math.isclose(control.validate(None, wanted), value, rel_tol=1e-9)
    except ValueError:
        return False
