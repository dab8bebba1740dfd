"""Serving a language model as an instrument: how fast it answers, and how many it answers at once.

Two forms, and every number says which one it is from: the textbook divides by what a datasheet
promises, the calibrated form adds up kernels as they were measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, ClassVar

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import Handle, Scene
from mlsys_widgets.instruments.batches import LARGEST_BATCH
from mlsys_widgets.instruments.controls import Select, Slider, Switch
from mlsys_widgets.instruments.instrument import Instrument, NumberCard, Table
from mlsys_widgets.instruments.serving_curve import (
    BARS,
    KEY,
    CalibratedTokens,
    Form,
    Serving,
    memory_needed,
    rounded,
    serve,
)
from mlsys_widgets.instruments.serving_scenes import (
    PARTS,
    REASONS,
    batch_at,
    nearest_batch,
    stack,
    tradeoff,
)
from mlsys_widgets.physics.serving_time import ServingLaunch
from mlsys_widgets.wording.units import in_one_unit

_show = ph.format_quantity
_MODEL = ph.workloads[KEY]
#: Devices that multiply in fp16: a language model is served on these.
_DEVICES = {device.key: device.name for device in ph.devices.values() if "fp16" in device.peaks}
#: Precisions that weights are served in.
_WEIGHTS = ("fp16", "bf16", "fp8", "int8", "int4")
_LAUNCHES: dict[ServingLaunch, str] = {"async": "Kernel by kernel", "graph": "Replayed as a graph"}
_LAUNCHED: dict[str, str] = {
    "async": "kernels launched one by one",
    "graph": "kernels replayed as a graph",
}
_NONE = "does not fit"


def _precisions(instrument: Any) -> dict[str, str]:
    return {key: key for key in _served_in(instrument.device, instrument.form)}


def _served_in(device: str, form: str) -> tuple[str, ...]:
    """The precisions that a form knows of a device."""
    if form == "calibrated" and device in ph.calibrated_devices():
        measured = ph.calibration_of(device).precisions
        return tuple(key for key in _WEIGHTS if key in measured)
    return ph.devices[device].precisions


def _about(value: ph.Numeric, unit: str) -> str:
    """A number with the digits that the models deserve."""
    return _show(rounded(value), unit)


class ServingExplorer(Instrument):
    """Latency, throughput and memory of a served language model, and what sets them.

    A larger batch serves more conversations with the same trip of the weights, so throughput grows
    while each token takes little longer, until attention, the memory or the promised latency ends
    it. Launches set the pace of small batches; replaying a graph takes that limit away.

    Parameters
    ----------
    prediction
        Tokens per second of the whole device, drawn as a line.

    Examples
    --------
    >>> w = ServingExplorer(form="textbook", batch=64, sequence=2048, target="20 ms")
    >>> round(w.result.tokens_per_second), w.result.largest_batch
    (9259, 298)
    >>> w.set(device="h100-sxm", form="calibrated")
    >>> w.shown_form
    'textbook'
    """

    title = f"Serving {_MODEL.name}"
    showcase = ("batch", "launch")
    evidence = ("whole model",)
    plot_names = ("Throughput", "Time per token")
    leading = ("Time per token", "Whole device")
    predictable: ClassVar[Mapping[str, str]] = {
        "tokens_per_second": "tokens/s",
        "time_per_token": "s",
        "largest_batch": "",
    }
    #: A form is a way to answer a question, not a part of it.
    depends: ClassVar[Mapping[str, Sequence[str]]] = {
        "tokens_per_second": ("device", "precision", "launch", "batch", "sequence"),
        "time_per_token": ("device", "precision", "launch", "batch", "sequence"),
        "largest_batch": ("device", "precision", "launch", "sequence", "target"),
    }

    device = Select("Device", default="h200-sxm", options=_DEVICES, help="It serves the model.")
    form: Select[Form] = Select(
        "Form",
        default="calibrated",
        options={"calibrated": "Calibrated", "textbook": "Textbook"},
        buttons=True,
        help="Calibrated: kernel by kernel, with shares and floors from a measurement. "
        "Textbook: the datasheet's bandwidth and peak.",
    )
    precision = Select(
        "Precision of the weights",
        default="fp16",
        options=_precisions,
        help="In the calibrated form the cache stays in 16 bits; the textbook stores everything "
        "in this precision.",
    )
    launch: Select[ServingLaunch] = Select(
        "Launch",
        default="async",
        options=_LAUNCHES,
        buttons=True,
        help="Whether the host launches every kernel, or recorded all of them once.",
    )
    batch = Slider(
        "Batch",
        default=16,
        low=1,
        high=LARGEST_BATCH,
        log=True,
        whole=True,
        help="Conversations served at once; each gets one token per step.",
    )
    sequence = Slider(
        "Context length (tokens)",
        default=2048,
        low=128,
        high=131072,
        log=True,
        whole=True,
        help="Tokens in the cache of each conversation. Prompts are as long as this, too.",
    )
    target = Slider(
        "Target per token",
        default=20e-3,
        low=1e-3,
        high=1,
        unit="s",
        log=True,
        help="How long a token may take at most.",
    )
    measured = Switch(
        "Measured points",
        default=True,
        help="What whole models took on the device, if they were measured.",
        rare=True,
    )

    def adjust(self, inputs: dict[str, Any], changed: AbstractSet[str]) -> dict[str, Any]:
        """Keep to precisions that the device has in this form."""
        device = inputs["device"]
        if (
            device in _DEVICES
            and inputs["precision"] not in _served_in(device, inputs["form"])
            and "precision" not in changed
        ):
            inputs["precision"] = "fp16"
        return inputs

    def hidden(self) -> AbstractSet[str]:
        """The form where only one is known, and launches where nothing speaks of them."""
        idle = set() if self._calibrated else {"form", "measured"}
        if self.shown_form == "textbook" and not (self.measured and self._calibrated):
            idle.add("launch")
        if len(_served_in(self.device, self.form)) == 1:
            idle.add("precision")
        return idle

    @property
    def _calibrated(self) -> bool:
        return self.device in ph.calibrated_devices()

    @property
    def shown_form(self) -> Form:
        """The form of all numbers: the one that is set, if there is a measurement to base it on."""
        return self.form if self._calibrated else "textbook"

    def compute(self) -> Serving:
        return serve(
            self.device,
            self.shown_form,
            self.precision,
            self.launch,
            self.batch,
            self.sequence,
            self.target,
            self.measured,
        )

    @property
    def decode(self) -> ph.ServingTime | ph.Generation:
        """Writing one token of every conversation."""
        now = self.result
        if isinstance(now.times, CalibratedTokens):
            return now.times.step(now.batch)
        return ph.decode(KEY, now.device.key, now.batch, now.sequence, now.precision)

    @property
    def explanations(self) -> dict[str, Any]:
        form = self.shown_form
        return {
            f"Time per token, {form}": self.decode,
            f"Time to first token, {form}": self.result.prefill,
            f"Memory, {form}": self.result.memory,
        }

    def dominant(self, result: Any) -> str:
        """The longer of two times, or the largest part of the memory."""
        if isinstance(result, ph.ServingTime):
            return "host_time" if result.time > result.device_time else "device_time"
        if isinstance(result, ph.Generation):
            return "memory_time" if result.memory_bound else "compute_time"
        names = ("weights", "activations", "kv_cache")
        return max(names, key=lambda name: float(getattr(result, name)))

    def dragged(self, handle: Handle, x: float, y: float) -> dict[str, Any]:
        """The batch nearest to a place of its curve or under a bar, or the target."""
        if handle.name == "batch":
            return {"batch": nearest_batch(self.result, x, y)}
        if handle.name == "bar":
            return {"batch": batch_at(x)}
        return {"target": x}

    # What it says.

    def cards(self, result: Serving) -> Sequence[NumberCard]:
        form, short = result.form, result.out_of_memory
        late = "red" if result.late > 0 else "ink"

        def card(label: str, value: str, tone: str = "ink") -> NumberCard:
            return f"{label}, {form}", _NONE if short else value, "red" if short else tone

        return [
            card("Time to first token", _about(result.first_token, "s")),
            card("Time per token", _about(result.time, "s"), late),
            card("Whole device", _about(result.tokens_per_second, "tokens/s")),
            card("Each conversation", _about(1 / result.time, "tokens/s")),
            (f"Memory, {form}", self._memory(result), "red" if short else "ink"),
            (f"Largest batch within target, {form}", self._largest(result), "blue"),
            card("What binds", self._binds(result)),
        ]

    def _memory(self, result: Serving) -> str:
        return " of ".join(in_one_unit("B", result.memory.total, result.device.memory))

    def _largest(self, result: Serving) -> str:
        best = result.largest_batch
        return "none" if not best else _show(best) + (" or more" if best == LARGEST_BATCH else "")

    def _binds(self, result: Serving) -> str:
        reason, kernel = result.times.binds(result.batch)
        return f"{REASONS[reason]} ({kernel.lower()})" if kernel else REASONS[reason]

    def sentence(self, result: Serving) -> str:
        return f"{self._basis(result)}: {self._case(result)}. {self._outcome(result)}"

    def _basis(self, result: Serving) -> str:
        if result.form == "calibrated":
            return f"Calibrated form, from a measurement of the {result.device.name}"
        if self._calibrated:
            return f"Textbook form, from the datasheet of the {result.device.name}"
        return (
            f"No measurement of the {result.device.name} is on record, so this is the textbook form"
        )

    def _case(self, result: Serving) -> str:
        words = (
            f"{ph.counted(result.batch, 'conversation')} with a context of "
            f"{ph.counted(result.sequence, 'token')}, weights in {result.precision}"
        )
        return f"{words}, {_LAUNCHED[result.launch]}" if result.form == "calibrated" else words

    def _outcome(self, result: Serving) -> str:
        if result.out_of_memory:
            return "That does not fit into memory."
        late = result.late > 0
        time, target = in_one_unit("s", rounded(result.time), result.target)
        return (
            f"A token takes about {time}, "
            f"{'more' if late else 'no more'} than the target of {target}: "
            f"about {_about(result.tokens_per_second, 'tokens/s')} for the whole device and "
            f"{_about(1 / result.time, 'tokens/s')} for each conversation. Reading all prompts, "
            f"each as long as the context, takes about {_about(result.first_token, 's')} before "
            f"the first token. What binds a token: {self._binds(result)}."
        )

    def remark(self, result: Serving) -> str:
        if result.out_of_memory:
            return f"{self._basis(result)}. {self._outcome(result)}"
        return (
            f"{self._basis(result)}. Each conversation gets about "
            f"{_about(1 / result.time, 'tokens/s')}, after about {_about(result.first_token, 's')} "
            f"for reading all prompts. What binds a token: {self._binds(result)}."
        )

    def table(self, result: Serving) -> Table:
        header = ("Batch", "Time per token", "Tokens/s", "Made of", "What binds", "Memory")
        header = (f"Batch ({result.form} form)", *header[1:])
        names = PARTS[result.form]
        needs = memory_needed(
            result.form, result.device.key, result.precision, BARS, result.sequence
        ).total
        rows = []
        for k, batch in enumerate(BARS.tolist()):
            time = result.times.at(batch)
            made = (
                f"{words.lower()} {_about(result.times.parts[name][k], 's')}"
                for name, words in names
                if result.times.parts[name][k] > 0
            )
            need = _show(needs[k], "B")  # type: ignore[index]
            if batch > result.fits:
                rows.append((_show(batch), _NONE, _NONE, "", "", need))
                continue
            rows.append(
                (
                    _show(batch),
                    _about(time, "s"),
                    _about(batch / time, "tokens/s"),
                    ", ".join(made),
                    REASONS[result.times.reasons[k]],
                    need,
                )
            )
        rows += [
            (f"{_show(b)}, measured", _show(t, "s"), _show(b / t, "tokens/s"), "", "", "")
            for b, t in result.measured
        ]
        return header, rows

    def alert(self, result: Serving) -> tuple[str, str] | None:
        """Out of memory or late: by how much."""
        if result.out_of_memory:
            needs, has, over = in_one_unit(
                "B", result.memory.total, result.device.memory, -result.memory.headroom
            )
            return (
                f"Out of memory: this needs {needs} and the {result.device.name} has {has}. That "
                f"is {over} too much.",
                "red",
            )
        if result.late > 0:
            time, late, target = in_one_unit(
                "s", rounded(result.time), rounded(result.late), result.target
            )
            return (
                f"Target missed: a token takes about {time} ({result.form} form), {late} more than "
                f"the target of {target}.",
                "orange",
            )
        if self.measured and not result.measured:
            launched = _LAUNCHES[result.launch].lower()
            return (
                f"No measurement of this model on the {result.device.name} with about this "
                f"context, in {result.precision} and {launched}, is on record.",
                "gray",
            )
        return None

    def hint(self, result: Serving) -> str:
        if result.out_of_memory:
            return f"What would fit: {_either(self._ways_to_fit(result))}."
        if result.late > 0:
            return f"What would meet the target: {_either(self._ways_to_be_in_time(result))}."
        return ""

    def _ways_to_fit(self, result: Serving) -> list[str]:
        ways = [f"batch {_show(result.fits)} at this length"] if result.fits else []
        bytes_now = ph.storages[result.precision].weight
        for precision in _served_in(self.device, self.form):
            if ph.storages[precision].weight >= bytes_now:
                continue
            asked = result.form, self.device, precision, result.batch, result.sequence
            other = memory_needed(*asked)
            if not other.out_of_memory:
                ways.append(f"weights in {precision}, with {_show(other.total, 'B')} in all")
                break
        return ways

    def _ways_to_be_in_time(self, result: Serving) -> list[str]:
        best = result.largest_batch
        ways = [f"batch {_show(best)} at this length"] if best else []
        replayed = result.times.replayed(result.batch)
        if result.launch == "async" and replayed is not None and replayed <= result.target:
            ways.append("this batch, replayed as a graph")
        return ways

    # What it draws.

    def scenes(self, result: Serving) -> tuple[Scene, ...]:
        return tradeoff(result, self.predicted), stack(result)


def _either(ways: Sequence[str]) -> str:
    return ", or ".join(ways) or "nothing here"
