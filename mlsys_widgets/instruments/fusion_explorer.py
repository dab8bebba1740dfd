"""Fusion as an instrument: traffic, launches and time of a chain, as many kernels and as one.

On its own, each operation reads its inputs from memory and writes its output back; one fused
kernel reads and writes only what enters and leaves the chain.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache
from typing import Any, ClassVar, Final

import numpy as np

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.film import Film
from mlsys_widgets.drawing.scene import Array, Handle, Scene
from mlsys_widgets.instruments import fusion_film, fusion_scenes
from mlsys_widgets.instruments.controls import Count, Select, Slider, Switch
from mlsys_widgets.instruments.instrument import Instrument, NumberCard, Table
from mlsys_widgets.measured import MeasurementError, load
from mlsys_widgets.physics.roofline import Ridge
from mlsys_widgets.wording.units import in_one_unit

_show = ph.format_quantity

#: The device whose measured fusions are shown.
MEASURED_ON: Final = "h200-sxm"
MOST_STEPS: Final = 6
NONE: Final = "none"
_MEASURED_NAME: Final = ph.devices[MEASURED_ON].name
#: What would shorten a fused kernel, by what most of its time is.
_OUTLOOK: Final = {
    "the launch": "Larger tensors make a launch count for less, and so do launches that are "
    "recorded once and replayed as a graph.",
    "arithmetic": "Fusion leaves arithmetic as it is, so nothing more is to be had from it.",
    "memory traffic": "A narrower precision would move less, and so would one kernel for this "
    "chain and its neighbors.",
}
#: Names for the measured ways of fusing.
_VARIANTS: Final = {
    "triton": "hand-written kernel",
    "compiled": "torch.compile",
    "compiled_graph": "torch.compile with a graph",
}

_COURSE = ph.workloads["layernorm-dropout-relu"]
assert isinstance(_COURSE, ph.ElementwiseChain)
_ELEMENTS: Final = _COURSE.elements
#: The chain that the course's claim is about.
_CLAIMED: Final = ("layernorm", "dropout", "relu")
_CHAINS: Final[dict[str, tuple[str, ...]]] = {
    "layernorm-dropout-relu": _CLAIMED,
    "sigmoid-relu": ("mul", "add", "relu", "sigmoid"),
}
_OPS: Final = {key: op.name for key, op in ph.ops.items() if ph.chainable(op)}
_STEPS: Final = tuple(f"step{k + 1}" for k in range(MOST_STEPS))

#: The devices of the course that have a cost of a launch on record.
_DEVICES: Final = {
    key: device.name for key, device in ph.devices.items() if device.launch_overhead is not None
}
_A100: Final = ph.devices["a100-sxm"]
_FEWEST, _MOST_ELEMENTS = 1e3, 1e9
#: Sizes for which the speedup is drawn.
_SIZES: Final = np.geomspace(_FEWEST, _MOST_ELEMENTS, 25)
#: Sizes for which the table gives it.
_SAMPLES: Final = ((0, "1,000 elements"), (24, "1 billion elements"))


def _precisions(instrument: Any) -> dict[str, str]:
    """The precisions for which the device has a peak on record."""
    return {
        key: f"{key}, {_show(ph.BYTES_PER_ELEMENT[key], 'B')}"
        for key in ("fp32", "fp16", "int8")
        if key in ph.devices[instrument.device].precisions
    }


def _step(k: int) -> Select[str]:
    start = _CLAIMED[k] if k < len(_CLAIMED) else NONE
    return Select(
        f"Step {k + 1}",
        default=start,
        options=_OPS if k == 0 else {NONE: "–", **_OPS},
        help="The first operation of the chain. Changing a step makes the chain your own."
        if k == 0
        else "The next operation of the chain; – removes it.",
        rare=True,
    )


@lru_cache(maxsize=256)
def _chain(*keys: str) -> ph.Chain:
    return ph.chain(*keys)


@lru_cache(maxsize=64)
def _curve(
    keys: tuple[str, ...], width: int, device: str, bandwidth: float, launch: float
) -> Array:
    """The speedup at each of ``_SIZES``, which moving the size leaves as it is."""
    fused = ph.fuse(
        _chain(*keys), _SIZES, width, device, bandwidth=bandwidth, launch_overhead=launch
    )
    return np.asarray(fused.speedup, dtype=np.float64)


@cache
def _measurements() -> tuple[Any, ...]:
    """Read the measurements on first use, because checking the document takes a while."""
    from mlsys_widgets.measured import findings, trial

    try:
        document = load(MEASURED_ON)
    except MeasurementError:
        return ()
    return tuple(findings.fusions(document, trial.roofs_of(document)))


@cache
def _claim() -> float:
    from mlsys_widgets.measured.findings import CLAIMED_FUSION_SPEEDUP

    return CLAIMED_FUSION_SPEEDUP


class FusionExplorer(Instrument):
    """A chain of operations as separate kernels and as one.

    Fusion leaves the arithmetic as it is. It saves launches, and the trips of intermediate results
    to memory and back. Small tensors gain from fewer launches, large ones from less traffic. The
    vector units of a GPU do the arithmetic in a fraction of that time, so little of it shows.

    Examples
    --------
    >>> w = FusionExplorer()
    >>> w.result.traffic_reduction, round(w.result.speedup, 1)
    (3.0, 2.9)
    >>> w.set(chain="sigmoid-relu", device="orin-nx")
    >>> w.operations.unfused_reads, w.operations.unfused_writes, w.result.fused_tensors
    (6, 4, 4.0)
    """

    title = "Fusion explorer"
    showcase = ("elements", "fused")
    evidence = ("fusion",)
    plot_names = ("Data moved", "Intensity", "Time", "Speedup")
    leading = ("Traffic reduction", "Speedup")
    predictable: ClassVar[Mapping[str, str]] = {"speedup": "×"}
    depends: ClassVar[Mapping[str, Sequence[str]]] = {
        "speedup": (
            "device", "step1", "step2", "step3", "step4", "step5", "step6",
            "elements", "precision", "bandwidth", "launch_overhead",
        ),
    }  # fmt: skip
    headline = "speedup"

    device = Select(
        "Device",
        default="a100-sxm",
        options=_DEVICES,
        help="Sets the bandwidth, the cost of a launch, and the rate of the vector units.",
    )
    chain = Select(
        "Chain",
        default="layernorm-dropout-relu",
        options={
            "layernorm-dropout-relu": "LayerNorm → Dropout → ReLU",
            "sigmoid-relu": "sigmoid(relu(x·w + b))",
            "own": "Your own",
        },
        help="A chain to start with; change its steps to make it your own.",
    )
    step1, step2, step3, step4, step5, step6 = (_step(k) for k in range(MOST_STEPS))
    fused = Switch(
        "Fused", default=False, help="Off: one kernel per step. On: one kernel for the whole chain."
    )
    elements = Count(
        "Elements",
        default=_ELEMENTS,
        low=_FEWEST,
        high=_MOST_ELEMENTS,
        log=True,
        whole=True,
        help="Size of every tensor in the chain. The default is 1,024 tokens of 768 hidden units.",
    )
    precision = Select(
        "Precision",
        default="fp16",
        options=_precisions,
        buttons=True,
        help="Sets the bytes per element. The vector units compute in fp32 either way.",
    )
    bandwidth = Slider(
        "Memory bandwidth",
        default=_A100.bandwidth,
        low=1e7,
        high=1e13,
        log=True,
        unit="B/s",
        help="How fast data moves between memory and chip; the device sets it.",
    )
    launch_overhead = Slider(
        "Cost of a launch",
        default=_A100.launch(),
        low=1e-7,
        high=1e-2,
        log=True,
        zero=True,
        unit="s",
        help="Paid for every kernel: once per step when unfused, once in total when fused.",
        rare=True,
    )
    measured = Switch(
        "Measurements",
        default=False,
        help="Measured speedups of this chain on a real H200. Loading them takes a moment the "
        "first time.",
        rare=True,
    )

    def adjust(self, inputs: dict[str, Any], changed: AbstractSet[str]) -> dict[str, Any]:
        """Keep chain and steps consistent, the steps without gaps, and the device's own values."""
        device = ph.devices[inputs["device"]]
        if "device" in changed:
            own = {"bandwidth": device.bandwidth, "launch_overhead": device.launch()}
            inputs |= {name: value for name, value in own.items() if name not in changed}
        if inputs["precision"] not in device.precisions and "precision" not in changed:
            inputs["precision"] = device.native
        preset = _CHAINS.get(inputs["chain"])
        if preset is not None and "chain" in changed:
            padded = (*preset, *(NONE,) * (MOST_STEPS - len(preset)))
            asked = {step: inputs[step] for step in _STEPS if step in changed}
            inputs |= dict(zip(_STEPS, padded, strict=True)) | asked
        taken = [inputs[step] for step in _STEPS if inputs[step] != NONE]
        inputs |= dict(zip(_STEPS, taken + [NONE] * (MOST_STEPS - len(taken)), strict=True))
        if preset is not None and tuple(taken) != preset:
            inputs["chain"] = "own"
        return inputs

    def hidden(self) -> AbstractSet[str]:
        """One empty step at most."""
        return set(_STEPS[len(self._taken) + 1 :])

    @property
    def _taken(self) -> tuple[str, ...]:
        return tuple(op for op in (getattr(self, step) for step in _STEPS) if op != NONE)

    @property
    def operations(self) -> ph.Chain:
        """The operations, one after the other."""
        return _chain(*self._taken)

    @property
    def _machine(self) -> ph.Device:
        return ph.devices[self.device]

    def _fuse(self, chain: ph.Chain) -> ph.Fusion:
        return ph.fuse(
            chain,
            self.elements,
            ph.BYTES_PER_ELEMENT[self.precision],
            self._machine,
            bandwidth=self.bandwidth,
            launch_overhead=self.launch_overhead,
        )

    def compute(self) -> ph.Fusion:
        return self._fuse(self.operations)

    @property
    def kernels(self) -> tuple[ph.Fusion, ...]:
        """Each operation of the chain alone."""
        return tuple(self._fuse(_chain(op)) for op in self._taken)

    @property
    def _over_sizes(self) -> Array:
        """The speedup at each of ``_SIZES``."""
        width = ph.BYTES_PER_ELEMENT[self.precision]
        return _curve(self._taken, width, self.device, self.bandwidth, self.launch_overhead)

    @property
    def _ridge(self) -> Ridge:
        return Ridge(peak=self._machine.elementwise_rate(), bandwidth=self.bandwidth)

    @property
    def ridge(self) -> float:
        """Intensity from which arithmetic takes longer than memory, on the vector units."""
        return float(self._ridge.ridge)

    @property
    def capacity(self) -> ph.Capacity:
        """Whether the tensors that enter and leave the chain fit into the device."""
        return ph.capacity(self.result.fused_traffic, self.device)

    @property
    def explanations(self) -> dict[str, Any]:
        """Fusion and the ridge; the memory too, once it is full."""
        found = {"Fusion": self.result, "Ridge": self._ridge}
        return found | ({"Memory": self.capacity} if self.capacity.out_of_memory else {})

    def dominant(self, result: Any) -> str:
        """The largest saving of fusion, where that is a step of the derivation."""
        if not isinstance(result, ph.Fusion):
            return ""
        launches = (result.unfused_launches - result.fused_launches) * result.launch_overhead
        moved = (result.unfused_traffic - result.fused_traffic) / result.bandwidth
        return "traffic_reduction" if moved > launches else ""

    @property
    def _claimed(self) -> bool:
        return self._taken == _CLAIMED

    @property
    def findings(self) -> tuple[Any, ...]:
        """The measurements of this chain; none while they are off."""
        name = "_".join(self._taken)
        return tuple(one for one in _measurements() if one.chain == name) if self.measured else ()

    @property
    def finding(self) -> Any:
        """The measurement of this chain at the nearest size, or ``None``."""
        target = math.log(self.elements)
        return min(
            self.findings,
            key=lambda found: abs(math.log(found.rows * found.columns) - target),
            default=None,
        )

    # What it says.

    def cards(self, result: ph.Fusion) -> Sequence[NumberCard]:
        moved = in_one_unit("B", result.unfused_traffic, result.fused_traffic, pad=True)
        times = in_one_unit("s", result.unfused_time, result.fused_time, pad=True)
        return [
            ("Data moved", " → ".join(moved), "memory"),
            ("Traffic reduction", _show(result.traffic_reduction, "×", pad=True), "memory"),
            (
                "Launches",
                f"{_show(result.unfused_launches)} → {_show(result.fused_launches)}",
                "dispatch",
            ),
            (
                "Intensity",
                f"{_show(result.unfused_intensity, pad=True)} → "
                f"{_show(result.fused_intensity, 'FLOP/B', pad=True)}",
                "gray",
            ),
            ("Time", " → ".join(times), "gray"),
            ("Speedup", _show(result.speedup, "×", pad=True), "gray"),
        ]

    def sentence(self, result: ph.Fusion) -> str:
        chain, ridge = self.operations, self.ridge
        if len(chain.links) == 1:
            below = "below" if result.unfused_intensity < ridge else "not below"
            return (
                f"{chain.name} alone has nothing to fuse with. It moves "
                f"{_show(result.unfused_traffic, 'B')} and takes {_show(result.unfused_time, 's')} "
                f"at an intensity of {_show(result.unfused_intensity, 'FLOP/B')}, {below} the "
                f"ridge at {_show(ridge, 'FLOP/B')}."
            )
        counts = [
            f"{ph.counted(reads, 'read')} and {ph.counted(writes, 'write')}"
            for reads, writes in (
                (chain.unfused_reads, chain.unfused_writes),
                (chain.fused_reads, chain.fused_writes),
            )
        ]
        needs = (
            f"Fused, {chain.name} needs {counts[1]} of a tensor instead of {counts[0]}."
            if self.fused
            else f"Unfused, {chain.name} needs {counts[0]} of a tensor; fused, {counts[1]}."
        )
        unfused, fused = in_one_unit("s", result.unfused_time, result.fused_time)
        return (
            f"{needs} Fusion moves {_show(result.traffic_reduction, '×')} less data, and on the "
            f"{self._machine.name} the time drops from {unfused} to {fused}, a speedup of "
            f"{_show(result.speedup, '×')}. "
            f"{self._said_limit}{self._said_measured}"
        )

    @property
    def _said_limit(self) -> str:
        """What the fused kernel waits for, besides its launch."""
        intensity = self.result.fused_intensity
        memory = intensity < self.ridge
        return (
            f"At {_show(intensity, 'FLOP/B')} the fused kernel is {'left' if memory else 'right'} "
            f"of the vector units' ridge at {_show(self.ridge, 'FLOP/B')}: once launched, it waits "
            f"for {'memory' if memory else 'arithmetic'}."
        )

    @property
    def _said_measured(self) -> str:
        """The nearest measurement as a sentence of its own, with a space before it."""
        found = self.finding
        if found is None or "triton" not in found.wall:
            return ""
        elsewhere = (
            ""
            if self.device == MEASURED_ON
            else f" Nothing was measured on the {self._machine.name}."
        )
        return (
            f" Measured on an {_MEASURED_NAME} ({_size(found)} elements, fp16), a hand-written "
            f"kernel is {_show(found.wall['triton'], '×')} as fast.{elsewhere}"
        )

    def remark(self, result: ph.Fusion) -> str:
        chain = self.operations
        if len(chain.links) == 1:
            return f"{chain.name} alone has nothing to fuse with."
        unfused, fused = in_one_unit("s", result.unfused_time, result.fused_time)
        return f"The time drops from {unfused} to {fused}. {self._said_limit}{self._said_measured}"

    def table(self, result: ph.Fusion) -> Table:
        header = (
            *("Kernel", "Reads", "Writes", "Data moved", "Intensity (FLOP/B)", "Launches"),
            *("Time", "Speedup"),
        )
        rows = []
        chain = self.operations
        for link, alone in zip(chain.links, self.kernels, strict=True):
            rows.append(
                (
                    link.op.name,
                    _show(1 + len(link.operands)),
                    _show(1),
                    _show(alone.unfused_traffic, "B"),
                    _show(alone.unfused_intensity),
                    _show(alone.unfused_launches),
                    _show(alone.unfused_time, "s"),
                    "",
                )
            )
        rows.append(
            (
                "All, unfused",
                _show(chain.unfused_reads),
                _show(chain.unfused_writes),
                _show(result.unfused_traffic, "B"),
                _show(result.unfused_intensity),
                _show(result.unfused_launches),
                _show(result.unfused_time, "s"),
                _show(1, "×"),
            )
        )
        rows.append(
            (
                "Fused",
                _show(chain.fused_reads),
                _show(chain.fused_writes),
                _show(result.fused_traffic, "B"),
                _show(result.fused_intensity),
                _show(result.fused_launches),
                _show(result.fused_time, "s"),
                _show(result.speedup, "×"),
            )
        )
        return header, rows + [(words, *("",) * 6, value) for words, value in self._speedups]

    @property
    def _speedups(self) -> list[tuple[str, str]]:
        """The speedups beside that of the model here: over sizes, claimed and measured."""
        curve = self._over_sizes
        found = [(f"Fused, {words}", _show(curve[k], "×")) for k, words in _SAMPLES]
        if self._claimed:
            found.append(("Claim in the text", _show(_claim(), "×")))
        near = self.finding
        for one in self.findings:
            # All points that are drawn, and at the nearest size every way of fusing.
            for variant in _VARIANTS if one is near else ("triton",):
                if variant in one.wall:
                    alone = one.device.get(variant) if one is near else None
                    on_chip = "" if alone is None else f" (GPU alone {_show(alone, '×')})"
                    how = f"{_VARIANTS[variant]}, " if one is near else ""
                    words = f"Measured, {how}{_size(one)}"
                    found.append((words, f"{_show(one.wall[variant], '×')}{on_chip}"))
        return found

    def alert(self, result: ph.Fusion) -> tuple[str, str] | None:
        """The tensors do not fit, or there is no measurement to show."""
        room = self.capacity
        if room.out_of_memory:
            return (
                f"Out of memory: what enters and leaves the chain takes {_show(room.size, 'B')}, "
                f"{_show(room.fill, '×')} the {_show(room.memory, 'B')} of the "
                f"{self._machine.name}.",
                "red",
            )
        if self.measured and not self.findings:
            return "There is no measurement of this chain.", "gray"
        return None

    def hint(self, result: ph.Fusion) -> str:
        room = self.capacity
        if room.out_of_memory:
            most = float(room.memory) / float(result.fused_tensors * result.bytes_per_element)
            return (
                f"In {self.precision}, at most {_show(math.floor(most))} elements per tensor fit "
                f"into the {self._machine.name}."
            )
        if self.measured and not self.findings:
            known = sorted({one.chain for one in _measurements()})
            names = " and ".join(_chain(*name.split("_")).name for name in known)
            return f"Measured chains are {names}." if names else "No chain has been measured."
        parts = {
            "the launch": result.fused_launches * result.launch_overhead,
            "arithmetic": result.compute_time,
            "memory traffic": result.fused_traffic / result.bandwidth,
        }
        most_of = max(parts, key=lambda part: float(parts[part]))
        share = _show(parts[most_of] / result.fused_time, "%")
        return f"Of the fused kernel's time, {share} is {most_of}. {_OUTLOOK[most_of]}"

    # What it draws.

    def scenes(self, result: ph.Fusion) -> tuple[Scene, ...]:
        ridge_words = (
            f"Ridge: {_show(self._machine.elementwise_rate(), 'FLOP/s')} of the vector units "
            f"over {_show(self.bandwidth, 'B/s')} = {_show(self.ridge, 'FLOP/B')}"
        )
        known = fusion_scenes.Speedups(
            _SIZES,
            self._over_sizes,
            _claim() if self._claimed else None,
            tuple(
                (float(found.rows * found.columns), found.wall["triton"])
                for found in self.findings
                if "triton" in found.wall
            ),
            f"Measured on an {_MEASURED_NAME}, hand-written kernel",
            self.predicted("speedup"),
        )
        return (
            fusion_scenes.traffic(self.operations, result, self.fused),
            fusion_scenes.intensity(result, self.ridge, ridge_words),
            fusion_scenes.times(result),
            fusion_scenes.speedups(result, known),
        )

    def film(self, result: ph.Fusion) -> Film:
        """Tensors between memory and chip, as separate kernels and as one."""
        return fusion_film.film(self.operations, result, self.kernels)

    def dragged(self, handle: Handle, x: float, y: float) -> dict[str, Any]:
        """The size or the launch for which a bar ends there.

        A bar is dragged only as far as its axis reaches, because the next axis would move it away
        from the pointer.
        """
        result = self.result
        if handle.name == "elements":
            return {"elements": x}
        if handle.name == "data":
            low, high = fusion_scenes.span(float(result.unfused_traffic))
            shown = result.fused_tensors if self.fused else result.unfused_tensors
            size = result.bytes_per_element
            elements = x / (shown * size)
            unfused = result.unfused_tensors * size
            return {"elements": min(max(elements, 1.01 * low / unfused), 0.99 * high / unfused)}
        low, high = fusion_scenes.span(float(result.unfused_time))
        rest = float(result.unfused_time - result.unfused_launches * result.launch_overhead)
        launches = min(max(x, 1.01 * low - rest, 0.0), max(0.99 * high - rest, 0.0))
        return {"launch_overhead": launches / result.unfused_launches}


def _size(found: Any) -> str:
    return f"{_show(found.rows)} × {_show(found.columns)}"
