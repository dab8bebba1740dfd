"""The memory budget as an instrument: what a served language model needs, and what a device has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.film import Film
from mlsys_widgets.drawing.scene import Handle, Scene
from mlsys_widgets.instruments.batches import BATCHES, LARGEST_BATCH, TICKS
from mlsys_widgets.instruments.controls import Select, Slider, Switch
from mlsys_widgets.instruments.forms import TwoFormInstrument, form_select
from mlsys_widgets.instruments.instrument import NumberCard, Table
from mlsys_widgets.instruments.memory_budget_film import filling
from mlsys_widgets.instruments.memory_budget_scenes import PARTS, bar, batch_at, curve, sizes
from mlsys_widgets.instruments.memory_budget_speeds import (
    MODEL,
    REPLAYED,
    SERVED,
    calibrated_speeds,
)
from mlsys_widgets.instruments.serving_curve import rounded
from mlsys_widgets.instruments.target import LimitedQuantity
from mlsys_widgets.physics.model_kernels import Phase
from mlsys_widgets.wording.units import in_one_unit

_show = ph.format_quantity
_DEVICES = {device.key: device.name for device in ph.devices.values()}
_SHORTEST = 128
_NONE = "does not fit"
_HEADS = {"grouped": MODEL.kv_heads, "full": MODEL.heads}
#: The calibrated form keeps the cache in 16 bits, so it fits budgets that count it in 16 bits.
_CACHED = ("fp16", "bf16")


def _precisions(instrument: Any) -> dict[str, str]:
    """The precisions of the device, with the bytes of one element."""
    return {
        precision: f"{precision}, {_show(ph.BYTES_PER_ELEMENT[precision], 'B')} each"
        for precision in ph.devices[instrument.device].precisions
    }


class MemoryBudget(TwoFormInstrument):
    """Whether a language model, its KV cache and its activations fit into a device.

    The weights are the part that everybody counts. The KV cache grows with every sequence and every
    token of it, overtakes the weights, and decides how many conversations a device can hold. Fewer
    KV heads or a narrower precision buy room; a batch that fits also sets how fast tokens come.

    Parameters
    ----------
    measurements
        A gate that must be open before the calibrated form is offered.

    Examples
    --------
    >>> w = MemoryBudget(device="h100-sxm", batch=64, sequence=2048)
    >>> w.result.out_of_memory, round(w.result.kv_cache / 1e9, 1), w.result.largest_batch
    (False, 17.2, 208.0)
    >>> w.set(heads="full")
    >>> w.result.out_of_memory, round(w.result.kv_cache / 1e9, 1)
    (True, 68.7)
    >>> w.set(device="h200-sxm", heads="grouped", batch=1)
    >>> round(w.decode.tokens_per_second), w.calibrated is None
    (295, True)
    >>> w.set(form="calibrated")
    >>> w.calibrated[0].tokens_per_second < w.decode.tokens_per_second
    True
    """

    title = f"Memory budget of {MODEL.name}"
    showcase = ("batch", "heads")
    evidence = ("whole model",)
    plot_names = ("This batch", "All batches")
    predictable: ClassVar[Mapping[str, str]] = {"largest_batch": ""}
    depends: ClassVar[Mapping[str, Sequence[str]]] = {
        "largest_batch": ("device", "precision", "sequence", "heads", "attention", "form")
    }
    headline = "total"
    quantities: ClassVar[Mapping[str, LimitedQuantity]] = {
        "total": LimitedQuantity("B", "fits", "does not fit", "too much", ((0, "x"), (1, "y")))
    }
    #: Decode and prefill of a result, which cards, sentence and table all speak of.
    _timed: tuple[ph.Footprint, ph.Generation, ph.Generation] | None = None
    _calibrated: tuple[ph.Footprint, tuple[float, float]] | None = None

    device = Select(
        "Device", default="h100-sxm", options=_DEVICES, help="Its memory must hold everything."
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
        high=LARGEST_BATCH,
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
        rare=True,
    )
    form = form_select()

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
        """Controls without an alternative, and what the calibrated form counts in any case."""
        idle = set(super().hidden())
        if len(ph.devices[self.device].precisions) == 1:
            idle.add("precision")
        return idle | {"attention"} if self.shown_form == "calibrated" else idle

    @property
    def unmeasured(self) -> str:
        """The calibrated form may lack the device, or the precision of the cache."""
        if self._measured_device and self.precision not in _CACHED:
            return f"no measurement with a KV cache in {self.precision} is on record"
        return super().unmeasured

    def compute(self) -> ph.Footprint:
        return self._kept(self.batch, self.heads)

    def _kept(self, batch: ph.Numeric, heads: str) -> ph.Footprint:
        return ph.footprint(
            MODEL,
            self.device,
            batch,
            self.sequence,
            ph.BYTES_PER_ELEMENT[self.precision],
            kv_heads=_HEADS[heads],
        )

    @property
    def decode(self) -> ph.Generation:
        """Writing one more token of every sequence, by the textbook."""
        return self._steps[1]

    @property
    def prefill(self) -> ph.Generation:
        """Reading all prompts, by the textbook."""
        return self._steps[2]

    @property
    def calibrated(self) -> tuple[ph.ServingTime, ph.ServingTime] | None:
        """Decode and prefill in the calibrated form; `None` where the textbook is shown."""
        if self.shown_form == "textbook":
            return None
        return self._served("decode"), self._served("prefill")

    def _served(self, phase: Phase, sequence: float | None = None) -> ph.ServingTime:
        length = self.sequence if sequence is None else sequence
        served = SERVED[_HEADS[self.heads]]
        return ph.serving_time(served, self.device, phase, self.batch, length, self.precision)

    @property
    def speeds(self) -> dict[str, tuple[str, str]]:
        """Decode and prefill as cards, sentence and table have them, with what is said of each."""
        steps = {"Decode": self.decode, "Prefill": self.prefill}
        if self.shown_form == "textbook":
            return {
                name: (_show(step.tokens_per_second, "tokens/s"), _regime(step))
                for name, step in steps.items()
            }
        now = self.result
        if self._calibrated is None or self._calibrated[0] is not now:
            heads = _HEADS[self.heads]
            asked = self.device, self.precision, heads, self.batch, self.sequence
            self._calibrated = now, calibrated_speeds(*asked)
        found = zip(steps, self._calibrated[1], strict=True)
        return {name: (_show(rounded(speed), "tokens/s"), REPLAYED) for name, speed in found}

    @property
    def _steps(self) -> tuple[ph.Footprint, ph.Generation, ph.Generation]:
        kept = self.result
        if self._timed is None or self._timed[0] is not kept:
            self._timed = kept, self._generation(ph.decode), self._generation(ph.prefill)
        return self._timed

    def _generation(self, kind: Any, sequence: float | None = None) -> ph.Generation:
        step: ph.Generation = kind(
            MODEL,
            self.device,
            self.batch,
            self.sequence if sequence is None else sequence,
            self.precision,
            kv_heads=_HEADS[self.heads],
            attention=self.attention,
        )
        return step

    @property
    def explanations(self) -> dict[str, Any]:
        decode, prefill = self.calibrated or (self.decode, self.prefill)
        form = self.shown_form
        return {"Memory": self.result, f"Decode, {form}": decode, f"Prefill, {form}": prefill}

    def dominant(self, result: Any) -> str:
        """The largest part of the memory, or the longer of two times."""
        if isinstance(result, ph.Generation):
            return "memory_time" if result.memory_bound else "compute_time"
        if isinstance(result, ph.ServingTime):
            return "device_time"
        return max((name for name, _, _ in PARTS), key=lambda name: float(getattr(result, name)))

    def dragged(self, handle: Handle, x: float, y: float) -> dict[str, Any]:
        """The batch, from its place on the curve or from the end of the bar."""
        return {"batch": batch_at(self.result, x) if handle.name == "cache" else x}

    # What it says.

    @property
    def _machine(self) -> ph.Device:
        return ph.devices[self.device]

    @property
    def _other_heads(self) -> str:
        return "full" if self.heads == "grouped" else "grouped"

    def cards(self, result: ph.Footprint) -> Sequence[NumberCard]:
        short = bool(result.out_of_memory)
        tone = "red" if short else "gray"
        return [
            ("Memory needed", _show(result.total, "B", pad=True), "red" if short else "ink"),
            (
                "Over by" if short else "Left over",
                _show(abs(float(result.headroom)), "B", pad=True),
                "red" if short else "ink",
            ),
            *(
                (words, _show(size, "B", pad=True), color)
                for (_, words, color), size in zip(PARTS, sizes(result), strict=True)
            ),
            # To the byte: whoever counts how many conversations fit must not lose one to rounding.
            ("Cache of one token", f"{_token(result):,.0f} B", "orange"),
            *(
                (f"{name}, {self.shown_form}", _NONE if short else speed, tone)
                for name, (speed, _) in self.speeds.items()
            ),
        ]

    def remark(self, result: ph.Footprint) -> str:
        if result.out_of_memory:
            weights, activations, cache = in_one_unit("B", *sizes(result))
            return f"Weights take {weights}, activations {activations}, the KV cache {cache}."
        return self._limits if "Decode" in self.leading else self._said_speeds

    def sentence(self, result: ph.Footprint) -> str:
        compared = *sizes(result), result.total, result.memory
        weights, activations, cache, total, memory = in_one_unit("B", *compared)
        start = (
            f"{ph.counted(result.batch, 'sequence')} of {ph.counted(result.sequence, 'token')} "
            f"with {_show(result.kv_heads)} KV heads in {self.precision}: {weights} of weights, "
            f"{activations} of activations and {cache} of KV cache, together "
            f"{total} of the {memory} on the {self._machine.name}"
        )
        if result.out_of_memory:
            return f"{start}. That does not fit."
        return f"{start}. {self._said_speeds}"

    @property
    def _limits(self) -> str:
        """What sets the pace of either step, beside speeds that are shown large."""
        if self.shown_form == "calibrated":
            return f"Calibrated, with kernels {REPLAYED}."
        (_, writes), (prefill, reads) = self.speeds.values()
        return f"By the textbook, decoding is {writes}; prefill reads {prefill} and is {reads}."

    @property
    def _said_speeds(self) -> str:
        (decode, writes), (prefill, reads) = self.speeds.values()
        if self.shown_form == "calibrated":
            return (
                f"Calibrated, with kernels {REPLAYED}, decoding writes {decode} and "
                f"prefill reads {prefill}."
            )
        speeds = f"decoding writes {decode} ({writes}) and prefill reads {prefill} ({reads})"
        why = f" ({self.unmeasured})" if self.form == "calibrated" else ""
        peak = self._machine.peak_label(self.precision)
        return f"By the textbook{why}, {speeds}, at a peak of {peak}."

    def table(self, result: ph.Footprint) -> Table:
        rows = [
            (words, _show(size, "B"), self._fill(size))
            for (_, words, _), size in zip(PARTS, sizes(result), strict=True)
        ]
        rows.append(("Needed", _show(result.total, "B"), self._fill(result.total)))
        rows.append((self._machine.name, _show(result.memory, "B"), self._fill(result.memory)))
        short = bool(result.out_of_memory)
        for name, (speed, words) in self.speeds.items():
            label = f"{name}, {self.shown_form}"
            rows.append((label, _NONE if short else speed, "" if short else words))
        own, other = (
            self._need(heads, np.array(TICKS)) for heads in (self.heads, self._other_heads)
        )
        others = f"with {_show(_HEADS[self._other_heads])} KV heads"
        for batch, size, beside in zip(TICKS, own, other, strict=True):
            words = f"{_show(size, 'B')}; {_show(beside, 'B')} {others}"
            rows.append((f"Batch {_show(batch)}", words, self._fill(size)))
        return ("Part", "Size or speed", "Fraction of the device, or limit"), rows

    def _fill(self, size: ph.Numeric) -> str:
        return _show(size / self.result.memory, "%")

    def _need(self, heads: str, batches: ph.Numeric) -> tuple[float, ...]:
        """The memory that each of several batches needs."""
        return tuple(np.asarray(self._kept(batches, heads).total).tolist())

    def alert(self, result: ph.Footprint) -> tuple[str, str] | None:
        """Out of memory: by how much."""
        if not result.out_of_memory:
            return None
        fill = float(ph.capacity(result.total, self.device).fill)
        needs, has, excess = in_one_unit("B", result.total, result.memory, -result.headroom)
        # From twice the memory on, a factor is easier to read than a percentage.
        over = (
            f"{excess} or {_show(fill - 1, '%')} too much"
            if fill < 2
            else f"{_show(fill, '×')} its memory, {excess} too much"
        )
        what = "this needs"
        if result.weights + result.activations > result.memory:
            what = "weights and activations alone do not fit. This needs"
        return (
            f"Out of memory: {what} {needs}, but the {self._machine.name} has {has}. That is "
            f"{over}.",
            "red",
        )

    def hint(self, result: ph.Footprint) -> str:
        if result.out_of_memory:
            return self._remedies(result)
        return (
            f"At this length, batches up to {_show(result.largest_batch)} fit; at this batch, "
            f"sequences up to {ph.counted(result.largest_sequence, 'token')}."
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
        if result.largest_batch < 1 and result.weights + result.activations <= result.memory:
            start = "Not even one sequence of this length fits. "
        return f"{start}What would fit: {', or '.join(fixes) if fixes else 'nothing here'}."

    # What it draws.

    def scenes(self, result: ph.Footprint) -> tuple[Scene, ...]:
        need, other = (self._need(heads, BATCHES) for heads in (self.heads, self._other_heads))
        # A target for all of the memory has a line and words of its own at the same place.
        limits = [each.limit for each in self.targets if each.quantity == "total"]
        device = "" if result.memory in limits else self._machine.name
        guess = self.predicted("largest_batch")
        batches = curve(result, device, need, other, _HEADS[self._other_heads], guess)
        return bar(result, device), batches

    def film(self, result: ph.Footprint) -> Film:
        """Prefill and decode fill the cache; the first half of each sequence is its prompt."""
        if self.shown_form == "calibrated":
            return filling(
                result,
                self._machine.name,
                lambda tokens: _about(self._served("prefill", tokens).time),
                lambda tokens: _about(self._served("decode", tokens).time),
                "calibrated",
            )
        return filling(
            result,
            self._machine.name,
            lambda tokens: _show(self._generation(ph.prefill, tokens).time, "s"),
            lambda tokens: _show(self._generation(ph.decode, tokens).time, "s"),
            "textbook",
        )


def _token(result: ph.Footprint) -> float:
    """Return the bytes that one token of one sequence adds to the cache."""
    return float(result.kv_cache / (result.batch * result.sequence))


def _about(time: ph.Numeric) -> str:
    return f"about {_show(rounded(time), 's')}"


def _regime(step: ph.Generation) -> str:
    return "memory-bound" if step.memory_bound else "compute-bound"
