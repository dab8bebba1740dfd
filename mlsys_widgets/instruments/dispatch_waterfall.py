"""The dispatch tax as an instrument: where the time of a forward pass goes, and how to win it back.

One pass is a bar of computing, waiting for launches and moving data. A meter shows how much of it
is computing, and a timeline of the first kernels shows when the GPU has nothing to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any, ClassVar, Final

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.film import Film
from mlsys_widgets.drawing.scene import (
    AnyMark,
    Axis,
    Blocks,
    Handle,
    Points,
    Scene,
    from_zero,
    note,
    upright,
)
from mlsys_widgets.instruments.controls import Select, Slider
from mlsys_widgets.instruments.dispatch_film import film_of
from mlsys_widgets.instruments.dispatch_timeline import kernels_for, rows_of, scene_of
from mlsys_widgets.instruments.instrument import Instrument, NumberCard, Table
from mlsys_widgets.physics.dispatch import Launch, Mode
from mlsys_widgets.wording.units import in_one_unit

_show = ph.format_quantity

#: Utilization from which a GPU counts as well used, and below which most of it is wasted.
WELL_USED: Final = 0.8
WASTED: Final = 0.4

_MODELS: Final = {key: load for key, load in ph.workloads.items() if isinstance(load, ph.ModelPass)}
_PLACES: Final = {"a100-sxm": "cloud", "h100-sxm": "cloud", "h200-sxm": "cloud", "orin-nx": "edge"}
_MODES: Final[dict[Mode, str]] = {"eager": "Eager", "compiled": "Compiled"}
_LAUNCHES: Final[dict[Launch, str]] = {
    "serial": "Serial",
    "async": "Asynchronous",
    "graph": "Graph",
}
_HOW: Final = {
    "serial": "launched one by one",
    "async": "launched ahead",
    "graph": "replayed as a graph",
}
#: The parts of a pass, which are names of its quantities and of tones alike.
_PARTS: Final = ("compute", "dispatch", "memory")
#: What the table tells about a pass: (name, quantity, unit).
_ROWS: Final = (
    ("Utilization", "utilization", "%"),
    ("Total", "total", "s"),
    ("Compute", "compute", "s"),
    ("Dispatch", "dispatch", "s"),
    ("Memory", "memory", "s"),
    ("Kernels", "kernels", ""),
    ("Cost of a launch", "launch_overhead", "s"),
)


@lru_cache(maxsize=64)
def _textbook(model: str, device: str) -> ph.ForwardPass:
    """The pass to compare with: eager and serial, with the model's own kernels."""
    return ph.run(model, device)


@lru_cache(maxsize=64)
def _gains(device: str, launch: Launch, speedup: float, launch_cost: float) -> str:
    """Tell what compiling does for each model on one device."""
    told = []
    for key, load in _MODELS.items():
        eager, compiled = (
            ph.run(key, device, mode, launch, speedup=speedup, launch_overhead=launch_cost)
            for mode in _MODES
        )
        faster = _show(eager.total / compiled.total, "×")
        told.append(f"{load.name} {faster} faster, at {_show(compiled.utilization, '%')}")
    return f"Compiled, with its own number of kernels, each model runs: {'; '.join(told)}."


class DispatchWaterfall(Instrument):
    """One forward pass: computing, waiting for launches, moving data.

    A model of many small kernels can keep a fast GPU idle most of the time, because each kernel
    has to be launched. A faster GPU then waits more, not less; what helps is fewer launches,
    launches that run ahead, or a graph that is recorded once and replayed.

    A prediction is about the utilization, as a fraction; it is marked on the meter.

    Examples
    --------
    >>> w = DispatchWaterfall(model="kws", device="a100-sxm", mode="compiled", launch="serial")
    >>> round(w.result.utilization, 3)
    0.667
    >>> w.set(mode="eager", speedup=2)  # a faster GPU waits more
    >>> round(w.result.utilization, 3)
    0.192
    """

    title = "Dispatch waterfall"
    showcase = ("launch_cost", "launch")
    evidence = ("dispatch", "graph replay", "launches of whole models")
    plot_names = ("One pass", "Utilization", "First kernels")
    predictable: ClassVar = {"utilization": "%"}
    headline = "utilization"

    model = Select(
        "Model",
        default="kws",
        options={key: load.name for key, load in _MODELS.items()},
        buttons=True,
        help="The model to run; each has its own number of kernels.",
    )
    device = Select(
        "Device",
        default="a100-sxm",
        options={key: f"{ph.devices[key].name} ({place})" for key, place in _PLACES.items()},
        help="Sets the cost of a launch and the speed of memory.",
    )
    mode = Select[Mode](
        "Execution",
        default="eager",
        options=_MODES,
        buttons=True,
        help="Compiling fuses kernels: fewer launches for the same arithmetic.",
    )
    launch = Select[Launch](
        "Launches",
        default="serial",
        options=_LAUNCHES,
        buttons=True,
        help="Serial: each launch waits for the previous kernel. Asynchronous: launches run ahead. "
        "Graph: all kernels are recorded once and replayed with one launch.",
    )
    kernels = Slider(
        "Eager kernels",
        default=_MODELS["kws"].kernels,
        low=10,
        high=10_000,
        log=True,
        whole=True,
        help="Splits the same total work into more or fewer kernels. "
        "Choosing a model restores its own count.",
        rare=True,
    )
    speedup = Slider(
        "Faster GPU",
        default=1,
        low=1,
        high=16,
        unit="×",
        log=True,
        help="How many times faster the arithmetic is; launches and memory stay the same.",
    )

    launch_cost = Slider(
        "Launch cost",
        default=ph.devices["a100-sxm"].launch(),
        low=1e-7,
        high=1e-3,
        unit="s",
        log=True,
        help="What one launch costs the CPU. Choosing a device restores its own.",
    )

    def adjust(self, inputs: dict[str, Any], changed: AbstractSet[str]) -> dict[str, Any]:
        """A new model comes with its kernels and a new device with its launches, unless asked."""
        if "model" in changed and "kernels" not in changed:
            inputs["kernels"] = _MODELS[inputs["model"]].kernels
        if "device" in changed and "launch_cost" not in changed and inputs["device"] in _PLACES:
            inputs["launch_cost"] = ph.devices[inputs["device"]].launch()
        return inputs

    def compute(self) -> ph.ForwardPass:
        return self._run()

    def _run(self, **other: Any) -> ph.ForwardPass:
        """The pass with some inputs replaced."""
        inputs = {**self.inputs, **other}
        return ph.run(
            inputs["model"],
            inputs["device"],
            inputs["mode"],
            inputs["launch"],
            kernels=inputs["kernels"],
            speedup=inputs["speedup"],
            launch_overhead=inputs["launch_cost"],
        )

    @property
    def textbook(self) -> ph.ForwardPass:
        """The same model eager and serial, with its own kernels and the device's own launches."""
        return _textbook(self.model, self.device)

    def dominant(self, result: ph.ForwardPass) -> str:
        """The largest part of the time."""
        largest = max(_PARTS, key=lambda part: float(getattr(result, part)))
        # Under this name its own derivation leads to it.
        return "memory_time" if largest == "memory" else largest

    # What it says.

    def cards(self, result: ph.ForwardPass) -> Sequence[NumberCard]:
        return [
            ("Utilization", _show(result.utilization, "%", pad=True), _severity(result)),
            ("One pass", _show(result.total, "s", pad=True), "gray"),
            ("Compute", _show(result.compute, "s", pad=True), "compute"),
            ("Dispatch", _show(result.dispatch, "s", pad=True), "dispatch"),
            ("Memory", _show(result.memory, "s", pad=True), "memory"),
            ("Kernels launched", _show(result.kernels), "gray"),
        ]

    def sentence(self, result: ph.ForwardPass) -> str:
        name = _MODELS[self.model].name
        own = self.launch_cost == ph.devices[self.device].launch()
        cost = "" if own else f" at {_show(self.launch_cost, 's')} per launch"
        rest = "dispatch takes" if result.dispatch >= result.memory else "memory takes"
        share = max(result.dispatch, result.memory) / result.total
        total, textbook = in_one_unit("s", result.total, self.textbook.total)
        return (
            f"{name} ({self.mode}, {_HOW[self.launch]}{cost}) takes {total} on "
            f"the {ph.devices[self.device].name}; the textbook version (eager, serial) takes "
            f"{textbook}. The GPU spends {_show(result.utilization, '%')} of the time computing, "
            f"while {rest} {_show(share, '%')}."
        )

    def remark(self, result: ph.ForwardPass) -> str:
        return f"The textbook version (eager, serial) takes {_show(self.textbook.total, 's')}."

    def table(self, result: ph.ForwardPass) -> Table:
        both = (result, self.textbook)
        rows = [
            (name, *(_show(getattr(one, of), unit) for one in both)) for name, of, unit in _ROWS
        ]
        each = ("Dispatch per kernel", *(_show(one.dispatch / one.kernels, "s") for one in both))
        return ("", "This run", "Textbook: eager, serial"), [*rows, each, *rows_of(*both)]

    def alert(self, result: ph.ForwardPass) -> tuple[str, str] | None:
        """Launches take more time than anything else."""
        if result.dispatch <= max(result.compute, result.memory):
            return None
        return (
            f"Launches take {_show(result.dispatch / result.total, '%')} of the pass.",
            "dispatch",
        )

    def hint(self, result: ph.ForwardPass) -> str:
        faster = self._run(speedup=2 * self.speedup)
        words = (
            f"On a GPU twice as fast, utilization would be {_show(faster.utilization, '%')} "
            f"and the pass would take {_show(faster.total, 's')}."
        )
        better = {
            "compiling": {"mode": "compiled"},
            "launches that run ahead": {"launch": "async"},
            "a graph": {"launch": "graph"},
        }
        helps = []
        for what, change in better.items():
            other = self._run(**change)
            if other.utilization > result.utilization:
                helps.append(f"{what} (to {_show(other.utilization, '%')})")
        if helps:
            words += f" What would raise it from {_show(result.utilization, '%')}: "
            words += f"{', '.join(helps)}."
        return f"{words} {_gains(self.device, self.launch, self.speedup, self.launch_cost)}"

    def film(self, result: ph.ForwardPass) -> Film:
        """Launches and kernels on their lanes."""
        return film_of(result)

    def dragged(self, handle: Handle, x: float, y: float) -> dict[str, Any]:
        """A shorter bar of computing is a faster GPU; a shorter kernel is one of more kernels."""
        if handle.control == "speedup":
            return {"speedup": float(self.result.compute) * self.speedup / max(x, 1e-12)}
        if handle.control == "kernels":
            return {"kernels": kernels_for(self.result, self.kernels, x)}
        return {"launch_cost": x}

    # What it draws.

    def scenes(self, result: ph.ForwardPass) -> tuple[Scene, ...]:
        return self._bars(result), self._meter(result), scene_of(result, self.textbook)

    def _bars(self, result: ph.ForwardPass) -> Scene:
        textbook = self.textbook
        # The axis must not follow what is dragged along it.
        slowest = self._run(speedup=1.0)
        across = from_zero("Time of one pass", float(max(slowest.total, textbook.total)), "s")
        blocks = (*_stacked(result, 1.6, 2.2), *_stacked(textbook, 0.5, 0.9))
        marks: list[AnyMark] = [Blocks("passes", blocks)]
        for left, _, right, high, tone in _stacked(result, 1.6, 2.2):
            # A label needs a fifth of the width where the plot is narrowest.
            fits = right - left >= 0.24 * across.high
            place = ((left + right) / 2, high, f"{tone} {_show(right - left, 's')}")
            marks.append(note(f"{tone} label", place if fits else None, "middle"))
        up = Axis("", 0.2, 2.8, ticks=(0.7, 1.9), words=("Textbook", "This run"), grid=False)
        legend = (
            ("Compute", "compute", "block"),
            ("Dispatch: waiting for launches", "dispatch", "block"),
            ("Memory: moving data", "memory", "block"),
        )
        handle = Handle("end of computing", "speedup", float(result.compute), 1.9, flip=True)
        return Scene(across, up, tuple(marks), 190, legend, (handle,))

    def _meter(self, result: ph.ForwardPass) -> Scene:
        use, guess = float(result.utilization), self.predicted("utilization")
        marks: list[AnyMark] = [
            Blocks("meter", ((0.0, 0.0, 1.0, 0.5, "gray"),), 0.18),
            Blocks("utilization", ((0.0, 0.0, use, 0.5, _tone(result)),)),
            upright("well used", WELL_USED, (0.0, 0.8), "green", width=3.0),
            note(
                "utilization label",
                (0.0, 0.5, f"computing {_show(use, '%', pad=True)} of the time"),
            ),
        ]
        at: Sequence[float] = () if guess is None else (guess,)
        marks += [
            Points("prediction", at, (0.25,) * len(at), "prediction", "diamond", 110),
            upright("prediction line", guess, (0.0, 0.5), "prediction", "dotted"),
        ]
        legend = [(f"{_show(WELL_USED, '%')}: a well-used GPU", "green", "solid")]
        if guess is not None:
            legend.append((f"Your prediction, {_show(guess, '%')}", "prediction", "diamond"))
        shares = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
        across = Axis(
            "Utilization (% of the time spent computing)",
            0.0,
            1.0,
            ticks=shares,
            words=tuple(_show(share, "%") for share in shares),
        )
        up = Axis("", 0.0, 1.0, ticks=(0.25,), words=("GPU",), grid=False)
        return Scene(across, up, tuple(marks), 120, tuple(legend))


def _tone(result: ph.ForwardPass) -> str:
    return "green" if result.utilization >= WELL_USED else "compute"


def _severity(result: ph.ForwardPass) -> str:
    """How bad it is, as a color."""
    if result.utilization >= WELL_USED:
        return "green"
    return "orange" if result.utilization >= WASTED else "red"


def _stacked(
    result: ph.ForwardPass, low: float, high: float
) -> list[tuple[float, float, float, float, str]]:
    """One pass as blocks end to end."""
    blocks, start = [], 0.0
    for part in _PARTS:
        end = start + float(getattr(result, part))
        blocks.append((start, low, end, high, part))
        start = end
    return blocks
