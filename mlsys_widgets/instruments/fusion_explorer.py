"""Fusion as an instrument: traffic, launches and time of a chain, as many kernels and as one.

On its own, each operation reads its inputs from memory and writes its output back; one fused
kernel reads and writes only what enters and leaves the chain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, Final

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import Scene
from mlsys_widgets.instruments import fusion_scenes
from mlsys_widgets.instruments.controls import Count, Select, Slider, Switch
from mlsys_widgets.instruments.instrument import Instrument, NumberCard, Table, table_html
from mlsys_widgets.measured import MeasurementError, load
from mlsys_widgets.physics.roofline import Ridge

_show = ph.format_quantity

#: The device whose measured fusions are shown.
MEASURED_ON: Final = "h200-sxm"
MOST_STEPS: Final = 6
NONE: Final = "none"
_SAID: Final = {"claim": "Claim in the text", "measured": "Measured, hand-written kernel"}
#: Names for the measured ways of fusing.
_VARIANTS: Final = {
    "triton": "one hand-written kernel",
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

#: Bandwidths to choose from: label, bytes per second, and the device whose peak goes with it.
_BANDWIDTHS: Final = {
    _show(bandwidth, "B/s"): (bandwidth, ph.devices[key])
    for bandwidth, key in (
        (ph.devices["a100-sxm"].bandwidth / 2, "a100-sxm"),
        *((ph.devices[key].bandwidth, key) for key in ("a100-sxm", "h100-sxm", "h200-sxm")),
    )
}


def _whose(bandwidth: float, device: ph.Device) -> str:
    if bandwidth == device.bandwidth:
        return device.name
    return f"{device.name} at {_show(bandwidth / device.bandwidth, '%')} of its bandwidth"


def _step(k: int) -> Select[str]:
    start = _CLAIMED[k] if k < len(_CLAIMED) else NONE
    return Select(
        f"Step {k + 1}",
        default=start,
        options=_OPS if k == 0 else {NONE: "–", **_OPS},
        help="The first operation of the chain. Changing a step makes the chain your own."
        if k == 0
        else "The next operation of the chain; – removes it.",
    )


@lru_cache(maxsize=256)
def _chain(*keys: str) -> ph.Chain:
    return ph.chain(*keys)


@cache
def _measurements() -> tuple[Any, ...]:
    """What was measured, read on first use because checking the document takes a while."""
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

    Examples
    --------
    >>> w = FusionExplorer()
    >>> w.result.traffic_reduction, round(w.result.speedup, 1)
    (3.0, 2.4)
    >>> w.set(chain="sigmoid-relu", bandwidth="3.35 TB/s")
    >>> w.operations.unfused_reads, w.operations.unfused_writes, w.result.fused_tensors
    (6, 4, 4.0)
    """

    title = "Fusion explorer"

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
    elements = Count(
        "Elements",
        default=_ELEMENTS,
        low=1e3,
        high=1e9,
        log=True,
        whole=True,
        help="Size of every tensor in the chain. The default is 1,024 tokens of 768 hidden units.",
    )
    precision = Select(
        "Precision",
        default="fp16",
        options={
            key: f"{key}, {_show(ph.BYTES_PER_ELEMENT[key], 'B')}"
            for key in ("fp32", "fp16", "int8")
        },
        buttons=True,
        help="Sets the bytes per element, the peak, and with it the ridge.",
    )
    bandwidth = Select(
        "Memory bandwidth",
        default=_show(ph.devices["a100-sxm"].bandwidth, "B/s"),
        options={key: f"{key} ({_whose(*pair)})" for key, pair in _BANDWIDTHS.items()},
        help="How fast data moves between memory and chip, and whose peak sets the ridge.",
    )
    launch_overhead = Slider(
        "Cost of a launch",
        default=ph.devices["a100-sxm"].launch(),
        low=0,
        high=50e-6,
        unit="s",
        help="Paid for every kernel: once per step when unfused, once in total when fused.",
    )
    measured = Switch(
        "Measurement",
        default=False,
        help="The measured speedup of this chain on a real H200, at the size nearest to yours. "
        "Loading it takes a moment the first time.",
    )

    def adjust(self, inputs: dict[str, Any], changed: AbstractSet[str]) -> dict[str, Any]:
        """Keep chain and steps consistent, and the steps without gaps."""
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

    def _fuse(self, chain: ph.Chain) -> ph.Fusion:
        bandwidth, device = _BANDWIDTHS[self.bandwidth]
        return ph.fuse(
            chain,
            self.elements,
            ph.BYTES_PER_ELEMENT[self.precision],
            device,
            bandwidth=bandwidth,
            launch_overhead=self.launch_overhead,
        )

    def compute(self) -> ph.Fusion:
        """The chain unfused and fused."""
        return self._fuse(self.operations)

    @property
    def kernels(self) -> tuple[ph.Fusion, ...]:
        """Each operation of the chain alone."""
        return tuple(self._fuse(_chain(op)) for op in self._taken)

    @property
    def ridge(self) -> float:
        """Intensity from which arithmetic would limit the chosen GPU."""
        bandwidth, device = _BANDWIDTHS[self.bandwidth]
        return float(Ridge(peak=device.peak(self.precision), bandwidth=bandwidth).ridge)

    @property
    def _claimed(self) -> bool:
        return self._taken == _CLAIMED

    @property
    def finding(self) -> Any:
        """What was measured for this chain at the nearest size, or ``None``."""
        if not self.measured:
            return None
        name = "_".join(self._taken)
        same = [one for one in _measurements() if one.chain == name]
        target = math.log(self.elements)
        return min(same, key=lambda f: abs(math.log(f.rows * f.columns) - target), default=None)

    # What it says.

    def cards(self, result: ph.Fusion) -> Sequence[NumberCard]:
        """Traffic, launches, intensity and time, unfused and fused."""
        return [
            (
                "Data moved",
                f"{_show(result.unfused_traffic, 'B', pad=True)} → "
                f"{_show(result.fused_traffic, 'B', pad=True)}",
                "memory",
            ),
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
                "blue",
            ),
            (
                "Time",
                f"{_show(result.unfused_time, 's', pad=True)} → "
                f"{_show(result.fused_time, 's', pad=True)}",
                "gray",
            ),
            ("Speedup", _show(result.speedup, "×", pad=True), "green"),
        ]

    def sentence(self, result: ph.Fusion) -> str:
        """What fusion saves, and where the fused kernel stands against the ridge."""
        chain, ridge = self.operations, self.ridge
        reads = ph.counted(chain.unfused_reads, "read")
        writes = ph.counted(chain.unfused_writes, "write")
        side = "still" if result.fused_intensity < ridge else "no longer"
        if len(chain.links) == 1:
            return (
                f"{chain.name} alone has nothing to fuse with. It moves "
                f"{_show(result.unfused_traffic, 'B')} and takes {_show(result.unfused_time, 's')} "
                f"at an intensity of {_show(result.unfused_intensity, 'FLOP/B')}, below the ridge "
                f"at {_show(ridge, 'FLOP/B')}."
            )
        return (
            f"Fused, {chain.name} needs {ph.counted(chain.fused_reads, 'read')} and "
            f"{ph.counted(chain.fused_writes, 'write')} of a tensor instead of {reads} and "
            f"{writes}. That is {_show(result.traffic_reduction, '×')} less data, and the time "
            f"drops from {_show(result.unfused_time, 's')} to {_show(result.fused_time, 's')}, a "
            f"speedup of {_show(result.speedup, '×')}. At "
            f"{_show(result.fused_intensity, 'FLOP/B')} against a ridge of "
            f"{_show(ridge, 'FLOP/B')}, memory is {side} the limit."
        )

    def table(self, result: ph.Fusion) -> Table:
        """One row per kernel, then the whole chain unfused and fused."""
        header = ("Kernel", "Reads", "Writes", "Data moved", "Intensity", "Launches", "Time")
        rows = []
        chain = self.operations
        for link, alone in zip(chain.links, self.kernels, strict=True):
            rows.append(
                (
                    link.op.name,
                    _show(1 + len(link.operands)),
                    _show(1),
                    _show(alone.unfused_traffic, "B"),
                    _show(alone.unfused_intensity, "FLOP/B"),
                    _show(alone.unfused_launches),
                    _show(alone.unfused_time, "s"),
                )
            )
        rows.append(
            (
                "All, unfused",
                _show(chain.unfused_reads),
                _show(chain.unfused_writes),
                _show(result.unfused_traffic, "B"),
                _show(result.unfused_intensity, "FLOP/B"),
                _show(result.unfused_launches),
                _show(result.unfused_time, "s"),
            )
        )
        rows.append(
            (
                "Fused",
                _show(chain.fused_reads),
                _show(chain.fused_writes),
                _show(result.fused_traffic, "B"),
                _show(result.fused_intensity, "FLOP/B"),
                _show(result.fused_launches),
                _show(result.fused_time, "s"),
            )
        )
        return header, rows

    def html(self, result: ph.Fusion) -> str:
        """Model, claim and measurement side by side."""
        rows = [
            (
                "Model",
                _show(result.speedup, "×"),
                _show(replace(result, launch_overhead=0.0).speedup, "×"),
                "with these settings",
            ),
            (_SAID["claim"], _show(_claim(), "×"), "–", _chain(*_CLAIMED).name),
        ]
        found = self.finding
        if found is not None:
            case = (
                f"{ph.devices[MEASURED_ON].name}, "
                f"{_show(found.rows)} × {_show(found.columns)}, fp16"
            )
            rows.append(("Model, measured case", _show(found.modeled, "×"), "–", case))
            for variant, words in _VARIANTS.items():
                if variant in found.wall:
                    device = found.device.get(variant)
                    rows.append(
                        (
                            f"Measured, {words}",
                            _show(found.wall[variant], "×"),
                            "–" if device is None else _show(device, "×"),
                            case,
                        )
                    )
        header = ("Speedup from fusion", "Wall clock", "GPU alone", "Case")
        return table_html((header, rows), "Model, claim and measurement")

    def alert(self, result: ph.Fusion) -> tuple[str, str] | None:
        """Say so when there is no measurement to show."""
        if self.measured and self.finding is None:
            known = sorted({one.chain for one in _measurements()})
            names = " and ".join(_chain(*name.split("_")).name for name in known)
            others = f"measured chains are {names}" if names else "no chain has been measured"
            return f"There is no measurement of this chain; {others}.", "gray"
        return None

    def scenes(self, result: ph.Fusion) -> tuple[Scene, ...]:
        """Traffic step by step, intensity against the ridge, and time."""
        bandwidth, device = _BANDWIDTHS[self.bandwidth]
        ridge_words = (
            f"Ridge, {_show(self.ridge, 'FLOP/B')}: {device.peak_label(self.precision)} over "
            f"{_show(bandwidth, 'B/s')}"
        )
        found = self.finding
        ratios = {
            "claim": (_SAID["claim"], _claim() if self._claimed else None),
            "measured": (_SAID["measured"], found.wall.get("triton") if found else None),
        }
        return (
            fusion_scenes.traffic(self.operations, result),
            fusion_scenes.intensity(result, self.ridge, ridge_words),
            fusion_scenes.times(result, ratios),
        )
