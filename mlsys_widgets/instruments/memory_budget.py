"""The memory budget as an instrument: what a served language model needs, and what a device has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
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
_KEY = "llama3-8b"
_LARGEST_BATCH, _SHORTEST = 1024, 128
_BATCHES = np.geomspace(1, _LARGEST_BATCH, 31)
#: What is in memory, in the order of the bar: attribute, words, tone.
_PARTS = (
    ("weights", "Weights", "blue"),
    ("kv_cache", "KV cache", "orange"),
    ("activations", "Activations", "green"),
)
#: A part of the bar is labeled if it fills at least this fraction of the axis, so that no two
#: labels collide.
_LABELLED = 0.24
_NONE = "does not fit"


def _language_model() -> ph.LanguageModel:
    entry = ph.workloads[_KEY]
    assert isinstance(entry, ph.LanguageModel)
    return entry


_MODEL = _language_model()
_HEADS = {"grouped": _MODEL.kv_heads, "full": _MODEL.heads}


def _precisions(instrument: Any) -> dict[str, str]:
    """The precisions of the device, with the bytes of one element."""
    return {
        precision: f"{precision}, {_show(ph.BYTES_PER_ELEMENT[precision], 'B')} each"
        for precision in ph.devices[instrument.device].precisions
    }


class MemoryBudget(Instrument):
    """Whether a language model, its KV cache and its activations fit into a device.

    Examples
    --------
    >>> w = MemoryBudget(device="h100-sxm", batch=64, sequence=2048)
    >>> w.result.out_of_memory, round(w.result.kv_cache / 1e9, 1), w.result.largest_batch
    (False, 17.2, 208.0)
    >>> w.set(heads="full")
    >>> w.result.out_of_memory, round(w.result.kv_cache / 1e9, 1)
    (True, 68.7)
    """

    title = f"Memory budget of {_MODEL.name}"

    device = Select(
        "Device",
        default="h100-sxm",
        options=_DEVICES,
        help="Its memory must hold everything.",
    )
    precision = Select(
        "Precision",
        default="fp16",
        options=_precisions,
        help="Sets the bytes per weight and per cached number, and the peak.",
    )
    batch = Slider(
        "Batch",
        default=64,
        low=1,
        high=_LARGEST_BATCH,
        log=True,
        whole=True,
        help="Sequences served at once; each keeps its own cache.",
    )
    sequence = Slider(
        "Sequence length (tokens)",
        default=2048,
        low=_SHORTEST,
        high=131072,
        log=True,
        whole=True,
        help="Tokens per sequence, prompt and answer together.",
    )
    heads = Select(
        "Attention heads",
        default="grouped",
        options={
            "grouped": f"Grouped-query: {_show(_HEADS['grouped'])} KV heads",
            "full": f"Full: {_show(_HEADS['full'])} KV heads",
        },
        buttons=True,
        help="How many heads keep their own keys and values. The model ships with grouped queries.",
    )
    attention = Switch(
        "Count the operations of attention",
        default=False,
        help="The textbook form leaves them out; with long sequences they slow down prefill.",
    )

    def adjust(self, inputs: dict[str, Any], changed: AbstractSet[str]) -> dict[str, Any]:
        """Keep to precisions that the device has."""
        device = ph.devices.get(inputs["device"])
        if (
            device is not None
            and inputs["precision"] not in device.precisions
            and "precision" not in changed
        ):
            inputs["precision"] = device.native
        return inputs

    def hidden(self) -> AbstractSet[str]:
        """The precision, where the device has only one."""
        return {"precision"} if len(ph.devices[self.device].precisions) == 1 else set()

    def compute(self) -> ph.Footprint:
        """What must fit into memory."""
        return self._kept(self.batch, self.heads)

    def _kept(self, batch: ph.Numeric, heads: str) -> ph.Footprint:
        return ph.footprint(
            _MODEL,
            self.device,
            batch,
            self.sequence,
            ph.BYTES_PER_ELEMENT[self.precision],
            kv_heads=_HEADS[heads],
        )

    @property
    def decode(self) -> ph.Generation:
        """Writing one more token of every sequence."""
        return self._generation(ph.decode)

    @property
    def prefill(self) -> ph.Generation:
        """Reading all prompts."""
        return self._generation(ph.prefill)

    def _generation(self, kind: Any) -> ph.Generation:
        step: ph.Generation = kind(
            _MODEL,
            self.device,
            self.batch,
            self.sequence,
            self.precision,
            kv_heads=_HEADS[self.heads],
            attention=self.attention,
        )
        return step

    @property
    def explanations(self) -> dict[str, Any]:
        """The memory, and both speeds."""
        return {"Memory": self.result, "Decode": self.decode, "Prefill": self.prefill}

    # What it says.

    @property
    def _machine(self) -> ph.Device:
        return ph.devices[self.device]

    @property
    def _other_heads(self) -> str:
        return "full" if self.heads == "grouped" else "grouped"

    def cards(self, result: ph.Footprint) -> Sequence[NumberCard]:
        """Sizes, what is left, what would fit, and the speeds."""
        short = bool(result.out_of_memory)
        left = ("Over by", "red") if short else ("Left over", "green")
        speeds = []
        for label, step in (("Decode", self.decode), ("Prefill", self.prefill)):
            tone = "red" if short else "memory" if step.memory_bound else "compute"
            speeds.append((label, _speed(step, short), tone))
        return [
            ("Memory needed", _show(result.total, "B", pad=True), "red" if short else "ink"),
            (left[0], _show(abs(float(result.headroom)), "B", pad=True), left[1]),
            *(
                (words, _show(size, "B", pad=True), tone)
                for (_, words, tone), size in zip(_PARTS, _sizes(result), strict=True)
            ),
            ("Largest batch that fits", _fitting(result.largest_batch), "gray"),
            ("Longest sequence that fits", _fitting(result.largest_sequence, "token"), "gray"),
            *speeds,
        ]

    def sentence(self, result: ph.Footprint) -> str:
        """Parts, sum and limit; speeds if it runs."""
        weights, cache, activations = (_show(size, "B") for size in _sizes(result))
        start = (
            f"{ph.counted(result.batch, 'sequence')} of {ph.counted(result.sequence, 'token')} "
            f"with {_show(result.kv_heads)} KV heads in {self.precision}: {weights} of weights, "
            f"{cache} of KV cache and {activations} of activations, together "
            f"{_show(result.total, 'B')} of the {_show(result.memory, 'B')} on the "
            f"{self._machine.name}"
        )
        if result.out_of_memory:
            return f"{start}. That does not fit."
        decode, prefill = self.decode, self.prefill
        return (
            f"{start}. Decoding writes {_speed(decode)} ({_regime(decode)}) and prefill reads "
            f"{_speed(prefill)} ({_regime(prefill)}), at a peak of "
            f"{self._machine.peak_label(self.precision)}."
        )

    def table(self, result: ph.Footprint) -> Table:
        """Sizes and what fraction of the device they fill, then the speeds."""
        rows = [
            (words, _show(size, "B"), self._fill(size))
            for (_, words, _), size in zip(_PARTS, _sizes(result), strict=True)
        ]
        rows.append(("Needed", _show(result.total, "B"), self._fill(result.total)))
        rows.append((self._machine.name, _show(result.memory, "B"), self._fill(result.memory)))
        short = bool(result.out_of_memory)
        for label, step in (("Decode", self.decode), ("Prefill", self.prefill)):
            rows.append((label, _speed(step, short), "" if short else _regime(step)))
        return ("Part", "Size or speed", "Fraction of the device, or limit"), rows

    def _fill(self, size: ph.Numeric) -> str:
        return _show(ph.capacity(size, self.device).fill, "%")

    def alert(self, result: ph.Footprint) -> tuple[str, str] | None:
        """Out of memory: by how much, and what would fit."""
        if not result.out_of_memory:
            return None
        fill = ph.capacity(result.total, self.device).fill
        return (
            f"Out of memory: this needs {_show(result.total, 'B')}, but the {self._machine.name} "
            f"has {_show(result.memory, 'B')}. That is {_show(-result.headroom, 'B')} too much, "
            f"{_show(fill, '×')} the memory of the device. {self._remedies(result)}",
            "red",
        )

    def _remedies(self, result: ph.Footprint) -> str:
        fixes = []
        if result.largest_batch >= 1:
            fixes.append(f"batch {_show(result.largest_batch)} at this length")
        if result.largest_sequence >= _SHORTEST:
            fixes.append(f"{ph.counted(result.largest_sequence, 'token')} at this batch")
        if self.heads == "full":
            grouped = self._kept(self.batch, "grouped")
            if not grouped.out_of_memory:
                fixes.append(
                    f"{_show(grouped.kv_heads)} KV heads, which need {_show(grouped.total, 'B')}"
                )
        for precision in self._machine.precisions:
            smaller = replace(result, bytes_per_element=ph.BYTES_PER_ELEMENT[precision])
            if smaller.total < result.total and not smaller.out_of_memory:
                fixes.append(f"{precision}, which needs {_show(smaller.total, 'B')}")
                break
        roomy = [device for device in ph.devices.values() if device.memory >= result.total]
        if roomy:
            best = min(roomy, key=lambda device: device.memory)
            fixes.append(f"the {best.name} with {_show(best.memory, 'B')}")
        start = ""
        if result.weights + result.activations > result.memory:
            start = "Weights and activations alone do not fit. "
        elif result.largest_batch < 1:
            start = "Not even one sequence of this length fits. "
        return f"{start}What would fit: {', or '.join(fixes) if fixes else 'nothing here'}."

    # What it draws.

    def scenes(self, result: ph.Footprint) -> tuple[Scene, ...]:
        """The parts against the device, and the memory needed for all batch sizes."""
        return self._bar(result), self._curve(result)

    def _bar(self, result: ph.Footprint) -> Scene:
        limit, total = float(result.memory), float(result.total)
        across = from_zero("Memory", 1.12 * max(limit, total), "B")
        end, blocks, words = 0.0, [], []
        for (_, label, tone), size in zip(_PARTS, _sizes(result), strict=True):
            blocks.append((end, 0.25, end + size, 0.65, tone))
            if size >= _LABELLED * across.high:
                words.append((end + size / 2, f"{label} {_show(size, 'B', pad=True)}"))
            end += size
        short = bool(result.out_of_memory)
        over_x, over_y = ((limit, total), (0.13, 0.13)) if short else ((), ())
        left = limit > across.high / 2
        gap = across.high / 120
        said = f"{self._machine.name}: {_show(limit, 'B')}"
        place = (limit - gap if left else limit + gap, 0.85, said)
        marks: tuple[AnyMark, ...] = (
            Blocks("parts", tuple(blocks)),
            Words(
                "part sizes",
                tuple(x for x, _ in words),
                (0.65,) * len(words),
                tuple(text for _, text in words),
                "text",
                "middle",
            ),
            Line("too much", over_x, over_y, "red", "solid", 8.0),
            Line("limit", (limit, limit), (0.0, 1.0), "red", "dashed", 2.5),
            note("limit note", None if left else place, "red"),
            note("limit note left", place if left else None, "red", "end"),
        )
        legend = [(label, tone, "block") for _, label, tone in _PARTS]
        legend.append(("Memory of the device", "red", "dashed"))
        if short:
            legend.append(("Too much", "red", "solid"))
        rows = Axis("", 0.0, 1.0, False, (0.45,), ("Needed",), grid=False)
        return Scene(across, rows, marks, 190, tuple(legend))

    def _curve(self, result: ph.Footprint) -> Scene:
        need = np.asarray(self._kept(_BATCHES, self.heads).total)
        other = np.asarray(self._kept(_BATCHES, self._other_heads).total)
        limit = float(result.memory)
        everything = (limit, *need[[0, -1]], *other[[0, -1]])
        low = 10.0 ** math.floor(math.log10(min(everything) / 1.1))
        high = 10.0 ** math.ceil(math.log10(max(everything) * 1.1))
        largest = float(result.largest_batch)
        inside = 1 <= largest <= _LARGEST_BATCH
        left = largest > _LARGEST_BATCH**0.6
        x, y = ((largest, largest), (low, limit)) if inside else ((), ())
        said = f"fits up to batch {_show(largest)}"
        place = (largest * (0.95 if left else 1.05), low * (high / low) ** 0.04, said)
        ends = (1.0, float(_LARGEST_BATCH))
        marks: tuple[AnyMark, ...] = (
            Blocks(
                "zones",
                ((1.0, low, ends[1], limit, "green"), (1.0, limit, ends[1], high, "red")),
                opacity=0.07,
            ),
            Line("device", ends, (limit, limit), "red", "dashed", 2.5),
            Line("other heads", tuple(_BATCHES), tuple(other), "purple", "dash_dotted", 2.0),
            Line("need", tuple(_BATCHES), tuple(need), "ink", "solid", 3.0),
            Line("last", x, y, "green", "dotted", 1.5),
            note("last note", place if inside and not left else None, "green"),
            note("last note left", place if inside and left else None, "green", "end"),
            Points("now", (float(result.batch),), (float(result.total),), "blue", "circle", 110),
        )
        ticks = (1.0, 4.0, 16.0, 64.0, 256.0, 1024.0)
        across = Axis("Batch (sequences)", *ends, True, ticks, tuple(_show(t) for t in ticks))
        sizes = decades(low, high)
        words = tuple(_show(size, "B") for size in sizes)
        up = Axis("Memory needed", low, high, True, sizes, words)
        legend = (
            (f"Needed with {_show(_HEADS[self.heads])} KV heads", "ink", "solid"),
            (f"With {_show(_HEADS[self._other_heads])} KV heads", "purple", "dash_dotted"),
            ("This batch", "blue", "circle"),
        )
        return Scene(across, up, marks, 300, legend)


def _sizes(result: ph.Footprint) -> tuple[float, ...]:
    return tuple(float(getattr(result, name)) for name, _, _ in _PARTS)


def _fitting(count: ph.Numeric, noun: str = "") -> str:
    if count < 1:
        return "none"
    return ph.counted(count, noun) if noun else _show(count)


def _speed(step: ph.Generation, short: bool = False) -> str:
    return _NONE if short else _show(step.tokens_per_second, "tokens/s")


def _regime(step: ph.Generation) -> str:
    return "memory-bound" if step.memory_bound else "compute-bound"
