"""The dispatch tax as an instrument: where the time of a forward pass goes, and how to win it back.

One pass is a bar of computing, waiting for launches and moving data. A meter shows how much of it
is computing, and a timeline of the first kernels shows when the GPU has nothing to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import AnyMark, Axis, Blocks, Line, Points, Scene, Words, from_zero
from mlsys_widgets.instruments.controls import Select, Slider
from mlsys_widgets.instruments.instrument import Instrument, NumberCard, Table, table_html
from mlsys_widgets.physics.dispatch import Launch, Mode, SerialPass
from mlsys_widgets.physics.domain import FRACTION

_show = ph.format_quantity

#: Utilization from which a GPU counts as well used.
WELL_USED: Final = 0.8
#: Kernels that the timeline shows.
_FIRST: Final = 8

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

Interval = tuple[float, float]


@dataclass(frozen=True)
class Timeline:
    """When the first kernels are launched and when they run, in seconds from the first launch."""

    launches: tuple[Interval, ...]
    kernels: tuple[Interval, ...]

    @property
    def idle(self) -> tuple[Interval, ...]:
        """When the GPU has nothing to do."""
        ends = (0.0, *(end for _, end in self.kernels))
        pairs = zip(ends, self.kernels, strict=False)
        return tuple((end, start) for end, (start, _) in pairs if start > end)

    @property
    def end(self) -> float:
        """When the last of these kernels is done."""
        return self.kernels[-1][1]


def timeline(result: ph.ForwardPass, first: int = _FIRST) -> Timeline:
    """The first kernels of a pass, in the order in which they are launched.

    Examples
    --------
    >>> tiny = ph.forward_pass(1000, 5e-6, 10e-6)
    >>> [round(start * 1e6) for start, _ in timeline(tiny, first=3).kernels]
    [10, 25, 40]
    """
    # A fraction of the kernels may be a whole number only up to rounding.
    count = int(min(first, result.kernels + 1e-6))
    launch = float(result.launch_overhead)
    each = float((result.compute + result.memory) / result.kernels)
    launches: list[Interval] = []
    kernels: list[Interval] = []
    asked = done = 0.0
    if isinstance(result, ph.GraphPass):
        launches.append((0.0, launch))
        done = launch
        for _ in range(count):
            start = done + float(result.node_overhead)
            kernels.append((start, done := start + each))
        return Timeline(tuple(launches), tuple(kernels))
    waits = isinstance(result, SerialPass)
    for _ in range(count):
        begin = max(asked, done) if waits else asked
        asked = begin + launch
        launches.append((begin, asked))
        start = max(asked, done)
        kernels.append((start, done := start + each))
    return Timeline(tuple(launches), tuple(kernels))


@lru_cache(maxsize=64)
def _textbook(model: str, device: str) -> ph.ForwardPass:
    """The pass to compare with: eager and serial, with the model's own kernels."""
    return ph.run(model, device)


@lru_cache(maxsize=64)
def _models(device: str, launch: Launch, speedup: float) -> dict[str, dict[Mode, ph.ForwardPass]]:
    """Every model on one device, eager and compiled."""
    return {
        key: {mode: ph.run(key, device, mode, launch, speedup=speedup) for mode in _MODES}
        for key in _MODELS
    }


class DispatchWaterfall(Instrument):
    """One forward pass: computing, waiting for launches, moving data.

    Parameters
    ----------
    prediction
        The utilization that the student predicted, as a fraction; marked on the meter.
    lock
        A lock that must be opened first.
    **inputs
        Values of the controls, by name.

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

    def __init__(self, *, prediction: float | None = None, lock: Any = None, **inputs: Any) -> None:
        checked = None if prediction is None else FRACTION.check("prediction", prediction)
        self._prediction = None if checked is None else float(checked)
        super().__init__(lock=lock, **inputs)

    def adjust(self, inputs: dict[str, Any], changed: AbstractSet[str]) -> dict[str, Any]:
        """A new model comes with its own kernel count, unless one was asked for."""
        if "model" in changed and "kernels" not in changed:
            inputs["kernels"] = _MODELS[inputs["model"]].kernels
        return inputs

    def compute(self) -> ph.ForwardPass:
        """The pass with the current inputs."""
        return ph.run(
            self.model,
            self.device,
            self.mode,
            self.launch,
            kernels=self.kernels,
            speedup=self.speedup,
        )

    @property
    def textbook(self) -> ph.ForwardPass:
        """The same model eager and serial, with its own number of kernels."""
        return _textbook(self.model, self.device)

    @property
    def explanations(self) -> dict[str, Any]:
        """Both passes."""
        return {"This run": self.result, "Textbook: eager, serial": self.textbook}

    # What it says.

    def cards(self, result: ph.ForwardPass) -> Sequence[NumberCard]:
        """Utilization, the parts of the time, and the kernels."""
        return [
            ("Utilization", _show(result.utilization, "%", pad=True), _tone(result)),
            ("One pass", _show(result.total, "s", pad=True), "gray"),
            ("Compute", _show(result.compute, "s", pad=True), "compute"),
            ("Dispatch", _show(result.dispatch, "s", pad=True), "dispatch"),
            ("Memory", _show(result.memory, "s", pad=True), "memory"),
            ("Kernels launched", _show(result.kernels), "gray"),
        ]

    def sentence(self, result: ph.ForwardPass) -> str:
        """Utilization and where the rest of the time goes."""
        name = _MODELS[self.model].name
        rest = "dispatch takes" if result.dispatch >= result.memory else "memory takes"
        share = max(result.dispatch, result.memory) / result.total
        words = (
            f"{name} ({self.mode}, {_HOW[self.launch]}) takes {_show(result.total, 's')} on the "
            f"{ph.devices[self.device].name}; the textbook version (eager, serial) takes "
            f"{_show(self.textbook.total, 's')}. The GPU spends {_show(result.utilization, '%')} "
            f"of the time computing, while {rest} {_show(share, '%')}."
        )
        if self._prediction is None:
            return words
        off = self._prediction - float(result.utilization)
        side = "too high" if off > 0 else "too low"
        return (
            f"{words} Your prediction of {_show(self._prediction, '%')} was "
            f"{ph.counted(100 * abs(off), 'percentage point')} {side}."
        )

    def table(self, result: ph.ForwardPass) -> Table:
        """The pass as set, next to the textbook's."""
        header = (
            "Pass",
            "Kernels",
            "Compute",
            "Dispatch",
            "Dispatch per kernel",
            "Memory",
            "Total",
            "Utilization",
        )
        rows = [
            (
                name,
                _show(one.kernels),
                _show(one.compute, "s"),
                _show(one.dispatch, "s"),
                _show(one.dispatch / one.kernels, "s"),
                _show(one.memory, "s"),
                _show(one.total, "s"),
                _show(one.utilization, "%"),
            )
            for name, one in (("This run", result), ("Textbook: eager, serial", self.textbook))
        ]
        return header, rows

    def alert(self, result: ph.ForwardPass) -> tuple[str, str] | None:
        """Say what helps when launches take more time than anything else."""
        if result.dispatch <= max(result.compute, result.memory):
            return None
        faster = ph.run(
            self.model,
            self.device,
            self.mode,
            self.launch,
            kernels=self.kernels,
            speedup=2 * self.speedup,
        )
        words = (
            f"Launches take {_show(result.dispatch / result.total, '%')} of the pass. A GPU twice "
            f"as fast would only wait more, at {_show(faster.utilization, '%')} utilization."
        )
        better: list[tuple[str, Mode, Launch]] = [
            ("compiling", "compiled", self.launch),
            ("launches that run ahead", self.mode, "async"),
            ("a graph", self.mode, "graph"),
        ]
        helps = []
        for what, mode, launch in better:
            if (mode, launch) == (self.mode, self.launch):
                continue
            other = ph.run(
                self.model, self.device, mode, launch, kernels=self.kernels, speedup=self.speedup
            )
            if other.utilization > result.utilization:
                helps.append(f"{what} (to {_show(other.utilization, '%')})")
        return (f"{words} What would raise it: {', '.join(helps)}." if helps else words), "dispatch"

    def html(self, result: ph.ForwardPass) -> str:
        """The three models side by side, on this device and launched in this way."""
        header = (
            "Model",
            "Kernels, eager → compiled",
            "Compute per kernel",
            "Cost of a launch",
            "Eager utilization",
            "Compiled utilization",
            "Speedup from compiling",
        )
        rows = []
        for key, runs in _models(self.device, self.launch, self.speedup).items():
            eager, compiled = runs["eager"], runs["compiled"]
            rows.append(
                (
                    _MODELS[key].name,
                    f"{_show(eager.kernels)} → {_show(compiled.kernels)}",
                    _show(eager.compute_per_kernel, "s"),
                    _show(eager.launch_overhead, "s"),
                    _show(eager.utilization, "%"),
                    _show(compiled.utilization, "%"),
                    _show(eager.total / compiled.total, "×"),
                )
            )
        return table_html((header, rows), "Three models compared", _MODELS[self.model].name)

    # What it draws.

    def scenes(self, result: ph.ForwardPass) -> tuple[Scene, ...]:
        """The bar of one pass, the meter, and the timeline of the first kernels."""
        return self._bars(result), self._meter(result), self._timeline(result)

    def _bars(self, result: ph.ForwardPass) -> Scene:
        textbook = self.textbook
        across = from_zero("Time of one pass", float(max(result.total, textbook.total)), "s")
        blocks = (*_stacked(result, 1.6, 2.2), *_stacked(textbook, 0.5, 0.9))
        marks: list[AnyMark] = [Blocks("passes", blocks)]
        for left, _, right, high, tone in _stacked(result, 1.6, 2.2):
            # A label needs a fifth of the width where the plot is narrowest.
            fits = right - left >= 0.2 * across.high
            x, y = (((left + right) / 2,), (high,)) if fits else ((), ())
            text = (f"{tone} {_show(right - left, 's')}",) if fits else ()
            marks.append(Words(f"{tone} label", x, y, text, "text", "middle"))
        up = Axis("", 0.2, 2.8, ticks=(0.7, 1.9), words=("Textbook", "This run"), grid=False)
        legend = (
            ("Compute", "compute", "block"),
            ("Dispatch: waiting for launches", "dispatch", "block"),
            ("Memory: moving data", "memory", "block"),
        )
        return Scene(across, up, tuple(marks), 190, legend)

    def _meter(self, result: ph.ForwardPass) -> Scene:
        use, guess = float(result.utilization), self._prediction
        marks: list[AnyMark] = [
            Blocks("meter", ((0.0, 0.0, 1.0, 0.5, "gray"),), 0.18),
            Blocks("utilization", ((0.0, 0.0, use, 0.5, _tone(result)),)),
            Line("well used", (WELL_USED,) * 2, (0.0, 0.8), "green", width=3.0),
            Words(
                "utilization label",
                (0.0,),
                (0.5,),
                (f"computing {_show(use, '%', pad=True)} of the time",),
                "text",
            ),
        ]
        at: Sequence[float] = () if guess is None else (guess,)
        marks += [
            Points("prediction", at, (0.25,) * len(at), "prediction", "diamond", 110),
            Line("prediction line", (*at, *at), (0.0, 0.5)[: 2 * len(at)], "prediction", "dotted"),
        ]
        legend = [
            (f"{_show(WELL_USED, '%')}: a well-used GPU", "green", "solid"),
        ]
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

    def _timeline(self, result: ph.ForwardPass) -> Scene:
        shown = timeline(result)
        count = len(shown.kernels)
        label = f"Time since the first launch, {count} of {_show(result.kernels)} kernels"
        across = from_zero(label, shown.end, "s")
        gap = 0.002 * across.high
        computing = float(result.compute / (result.compute + result.memory))
        work = [
            (start, 1.9, _short(start, end, gap), 2.5, "dispatch") for start, end in shown.launches
        ]
        for start, end in shown.kernels:
            turn = start + computing * (end - start)
            work.append((start, 0.5, turn, 1.1, "compute"))
            work.append((turn, 0.5, _short(turn, end, gap), 1.1, "memory"))
        idle = [(start, 0.5, end, 1.1, "gray") for start, end in shown.idle]
        fits = across.high * 0.03
        numbered = [
            ((start + end) / 2, high, str(k))
            for row, high in ((shown.launches, 2.5), (shown.kernels, 1.1))
            for k, (start, end) in enumerate(row, 1)
            if end - start >= fits and len(row) > 1
        ]
        marks = (
            Blocks("idle", tuple(idle), 0.3),
            Blocks("launches and kernels", tuple(work)),
            Words(
                "numbers",
                tuple(x for x, _, _ in numbered),
                tuple(y for _, y, _ in numbered),
                tuple(word for _, _, word in numbered),
                "text",
                "middle",
            ),
        )
        up = Axis("", 0.2, 3.1, ticks=(0.8, 2.2), words=("GPU", "CPU"), grid=False)
        return Scene(across, up, marks, 190, (("GPU idle", "gray", "block"),))


def _tone(result: ph.ForwardPass) -> str:
    return "green" if result.utilization >= WELL_USED else "compute"


def _short(start: float, end: float, gap: float) -> float:
    """The end of a block, a hair earlier where there is room, so that neighbors stay apart."""
    return end - min(gap, 0.3 * (end - start))


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
