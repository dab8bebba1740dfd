"""When compiling pays off, as an instrument: a cost paid once against time saved per inference.

One plot zooms in on the moment at which the compile time is recovered; a strip below it shows
where that moment lies in the whole time in service.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import (
    AnyMark,
    Axis,
    Blocks,
    Line,
    Points,
    Scene,
    Words,
    from_zero,
    note,
)
from mlsys_widgets.instruments.controls import Count, Select, Slider
from mlsys_widgets.instruments.instrument import Instrument, NumberCard, Table

_show = ph.format_quantity

_RESNET = ph.workloads["resnet50"]
_SERVICE = ph.workloads["kws-service"]
assert isinstance(_RESNET, ph.ModelPass)
assert isinstance(_SERVICE, ph.Service)
assert _RESNET.compile_time
assert _RESNET.eager_rate
assert _RESNET.compiled_rate

_RESNET_COMPILED: Final = {
    "compile_time": _RESNET.compile_time,
    "eager_rate": _RESNET.eager_rate,
    "gain": _RESNET.compiled_rate / _RESNET.eager_rate - 1,
}
_KWS_COMPILED: Final = {
    "compile_time": _SERVICE.compile_time,
    "eager_rate": 1 / float(ph.run("kws", "a100-sxm").total),
    "gain": _SERVICE.gain,
}
_HOUR, _MINUTE = 1 / 24, 1 / 24 / 60
CUSTOM: Final = "custom"
#: What each scenario sets; volumes and durations are those of the course's contexts.
_PRESETS: Final[dict[str, dict[str, float]]] = {
    "resnet50-cloud": {**_RESNET_COMPILED, "per_day": 1e7, "days": 30.0},
    "resnet50-edge": {**_RESNET_COMPILED, "per_day": _SERVICE.per_day, "days": 1.0},
    "kws-cloud": {**_KWS_COMPILED, "per_day": 1e7, "days": 30.0},
    "kws-service": {**_KWS_COMPILED, "per_day": _SERVICE.per_day, "days": 12 * _HOUR},
    "ci-run": {**_RESNET_COMPILED, "per_day": 1000.0, "days": 1.0},
}
_FIRST: Final = _PRESETS["resnet50-cloud"]

#: Times that the strip names, in days.
_MOMENTS: Final = {
    "1 s": _MINUTE / 60,
    "1 min": _MINUTE,
    "1 hour": _HOUR,
    "1 day": 1.0,
    "1 month": 30.0,
    "1 year": 365.0,
    "100 years": 36500.0,
}
_EARLIEST, _LATEST = _MINUTE / 60, 1e5
#: A break-even this many times later than the end of service is only mentioned, not drawn.
_FAR: Final = 20.0


class BreakEvenTimeline(Instrument):
    """Whether compiling pays off within a deployment, when, and what would make it pay off.

    Examples
    --------
    >>> w = BreakEvenTimeline(compile_time=30, eager_rate=1450, gain=0.48, per_day=1e7, days=30)
    >>> round(w.result.break_even), w.result.roi_positive
    (134125, True)
    >>> w.set(preset="kws-service")
    >>> (
    ...     round(w.result.break_even),
    ...     round(24 * w.result.days_to_break_even, 1),
    ...     w.result.roi_positive,
    ... )
    (2258, 22.6, False)
    """

    title = "Break-even timeline"

    preset = Select(
        "Scenario",
        default="resnet50-cloud",
        options={
            "resnet50-cloud": "Cloud: ResNet-50",
            "resnet50-edge": "Edge: ResNet-50",
            "kws-cloud": "Cloud: keyword spotting",
            "kws-service": "Challenge: keyword spotting",
            "ci-run": "CI pipeline: ResNet-50",
            CUSTOM: "Your own",
        },
        help="A starting point; any change below makes the scenario your own.",
    )
    compile_time = Slider(
        "Compile time",
        default=_FIRST["compile_time"],
        low=0.1,
        high=600,
        unit="s",
        log=True,
        help="Paid once, before the first inference.",
    )
    eager_rate = Slider(
        "Eager throughput",
        default=_FIRST["eager_rate"],
        low=0.1,
        high=1e6,
        unit="/s",
        log=True,
        help="Inferences per second without compiling.",
    )
    gain = Slider(
        "Throughput gain",
        default=_FIRST["gain"],
        low=0,
        high=3,
        unit="%",
        help="How much higher the throughput of the compiled model is.",
    )
    per_day = Count(
        "Inferences per day",
        default=_FIRST["per_day"],
        low=1,
        high=1e9,
        unit="/day",
        log=True,
        help="Volume of the service; you can also type 100 per hour.",
    )
    days = Slider(
        "Time in service",
        default=_FIRST["days"],
        low=_MINUTE,
        high=365,
        unit="days",
        log=True,
        help="How long the model serves before it is replaced: from one minute to a year.",
    )

    def adjust(self, inputs: dict[str, Any], changed: AbstractSet[str]) -> dict[str, Any]:
        """A preset sets every input not asked for; inputs that no longer match it are your own."""
        wanted = _PRESETS.get(inputs["preset"])
        if wanted is None:
            return inputs
        if "preset" in changed:
            inputs |= {name: value for name, value in wanted.items() if name not in changed}
        # Values copied as code are rounded.
        if all(math.isclose(inputs[name], wanted[name], rel_tol=1e-5) for name in wanted):
            inputs |= wanted
        else:
            inputs["preset"] = CUSTOM
        return inputs

    def compute(self) -> ph.Deployment:
        """The deployment with the current inputs."""
        return ph.deployment(
            self.compile_time,
            self.eager_rate,
            gain=self.gain,
            per_day=self.per_day,
            days=self.days,
        )

    # What it says.

    def cards(self, result: ph.Deployment) -> Sequence[NumberCard]:
        """The verdict, the break-even point, and the balance."""
        tone = _tone(result)
        verdict = "pays off" if result.roi_positive else "not justified"
        return [
            ("Compiling", verdict, tone),
            ("Break-even", ph.counted(result.break_even, "inference"), "blue"),
            ("Recovered after", _show(result.days_to_break_even, "days", pad=True), "blue"),
            ("Served in total", ph.counted(result.inferences, "inference"), "gray"),
            ("Saved per inference", _show(result.saved_per_inference, "s", pad=True), "green"),
            ("Net time saved", _show(result.net_saved, "s", pad=True), tone),
        ]

    def sentence(self, result: ph.Deployment) -> str:
        """Cost, gain and balance."""
        cost = _show(result.compile_time, "s")
        if result.saved_per_inference <= 0:
            return (
                f"Compiling costs {cost} and saves no time per inference, so it never pays off, "
                "however long the model is in service."
            )
        each = _show(result.saved_per_inference, "s")
        words = (
            f"Compiling costs {cost} once and saves {each} per inference, so the cost is recovered "
            f"after {ph.counted(result.break_even, 'inference')}, which takes "
            f"{_show(result.days_to_break_even, 'days')} at {_show(result.per_day, '/day')}. "
        )
        served = f"Over {_show(result.days, 'days')} in service"
        if result.roi_positive:
            return f"{words}{served}, compiling saves {_show(result.net_saved, 's')} net."
        return f"{words}{served}, compiling loses {_show(-result.net_saved, 's')} net."

    def table(self, result: ph.Deployment) -> Table:
        """The three moments of the plot."""
        header = ("Moment", "Time in service", "Inferences", "Time saved", "Net of compile time")
        never = math.isinf(result.break_even)
        rows = [
            (
                "Start",
                _show(0.0, "days"),
                _show(0.0),
                _show(0.0, "s"),
                _show(-result.compile_time, "s"),
            ),
            (
                "Break-even",
                _show(result.days_to_break_even, "days"),
                _show(result.break_even),
                "–" if never else _show(result.compile_time, "s"),
                "–" if never else _show(0.0, "s"),
            ),
            (
                "End of service",
                _show(result.days, "days"),
                _show(result.inferences),
                _show(result.saved, "s"),
                _show(result.net_saved, "s"),
            ),
        ]
        return header, rows

    def alert(self, result: ph.Deployment) -> tuple[str, str] | None:
        """Compiling is not justified, and each change that alone would justify it."""
        if result.roi_positive:
            return None
        words = (
            f"Compiling is not justified: it costs {_show(result.compile_time, 's')}, but over "
            f"{_show(result.days, 'days')} ({ph.counted(result.inferences, 'inference')}) it saves "
            f"only {_show(result.saved, 's')}."
        )
        return f"{words} It would pay off with {', or '.join(remedies(result))}.", "red"

    # What it draws.

    def scenes(self, result: ph.Deployment) -> tuple[Scene, ...]:
        """The crossing, and the strip of the whole time in service."""
        return self._crossing(result), self._strip(result)

    def _crossing(self, result: ph.Deployment) -> Scene:
        cost, end = float(result.compile_time), float(result.days)
        crossing = float(result.days_to_break_even)
        near = crossing <= _FAR * end
        # Around the crossing and not far beyond it, so that neither line lies on an axis.
        until = min(2 * crossing, max(end, 1.1 * crossing)) if near else end
        per_day = float(result.per_day * result.saved_per_inference)
        across = from_zero("Time in service", until, "days")
        until = across.high
        up = from_zero("Time saved", max(per_day * min(until, end), 1.35 * cost), "s")
        stop = min(until, end)
        at: Sequence[float] = (crossing,) if near else ()
        ending: Sequence[float] = (end,) if end < until else ()
        never = math.isinf(crossing)
        said = (
            ("", "never recovered")
            if never
            else (ph.counted(result.break_even, "inference"), _when(result))
        )
        edge = crossing - 0.012 * until if near else 0.6 * until
        line = up.high / 14
        marks: list[AnyMark] = [
            Blocks("loss", ((0.0, 0.0, min(stop, crossing), cost, "red"),), 0.08),
            Blocks(
                "profit",
                ((crossing, 0.0, stop, up.high, "green"),) if crossing < stop else (),
                0.1,
            ),
            Line("compile cost", (0.0, until), (cost, cost), "red", "dashed"),
            Line("time saved", (0.0, stop), (0.0, per_day * stop), "green", width=3.0),
            Line(
                "time saved beyond",
                (end, until) if ending else (),
                (per_day * end, per_day * until) if ending else (),
                "green",
                "dotted",
            ),
            Line(
                "end of service",
                (*ending, *ending),
                # It must not run through the words above the cost.
                (0.0, cost if end < crossing else up.high)[: 2 * len(ending)],
                "ink",
                "dotted",
            ),
            Line("drop", (*at, *at), (0.0, cost)[: 2 * len(at)], "blue", "dashed", 1.5),
            Points("break-even", at, (cost,) * len(at), "blue", "circle", 120),
            Words(
                "break-even label",
                (edge, edge),
                (cost + 1.2 * line, cost + 0.2 * line),
                said,
                "text",
                "end",
            ),
        ]
        legend = [
            (f"Compile time, {_show(cost, 's')}", "red", "dashed"),
            ("Time saved so far", "green", "solid"),
        ]
        if near:
            legend.append(("Break-even", "blue", "circle"))
        return Scene(across, up, tuple(marks), 300, tuple(legend))

    def _strip(self, result: ph.Deployment) -> Scene:
        end = max(float(result.days), _EARLIEST)
        crossing = min(max(float(result.days_to_break_even), _EARLIEST), _LATEST)
        paid = min(crossing, end)
        known = crossing < _LATEST
        marks: tuple[AnyMark, ...] = (
            Blocks(
                "owing", ((_EARLIEST, 0.15, paid, 0.55, "red"),) if paid > _EARLIEST else (), 0.55
            ),
            Blocks("earning", ((paid, 0.15, end, 0.55, "green"),) if end > paid else (), 0.75),
            Line("end of the strip", (end, end), (0.0, 0.7), "ink", "dotted"),
            Points("break-even moment", (crossing,) if known else (), (0.35,) * known, "blue"),
            note(
                "break-even moment label",
                # Centered where all of it fits.
                (min(crossing, _LATEST / 8), 0.6, _when(result)) if known else None,
                align="middle",
            ),
        )
        across = Axis(
            "Time in service (seconds to years)",
            _EARLIEST,
            _LATEST,
            True,
            tuple(_MOMENTS.values()),
            tuple(_MOMENTS),
        )
        up = Axis("", 0.0, 1.0, ticks=(0.35,), words=("Service",), grid=False)
        legend = (
            ("Not yet recovered", "red", "block"),
            ("Earning", "green", "block"),
            (f"End of service, {_show(result.days, 'days')}", "ink", "dotted"),
        )
        return Scene(across, up, marks, 120, legend)


def _tone(result: ph.Deployment) -> str:
    return "green" if result.roi_positive else "orange"


def _when(result: ph.Deployment) -> str:
    return f"after {_show(result.days_to_break_even, 'days')}"


def gain_needed(result: ph.Deployment) -> float:
    """The throughput gain that would just pay off; infinite when no gain is enough.

    Each inference must save its part of the compile time, and can save at most its own time.

    Examples
    --------
    >>> once = ph.deployment(30, 1450, gain=0.48, per_day=100_000, days=1)
    >>> needed = gain_needed(once)
    >>> (
    ...     round(needed, 3),
    ...     ph.deployment(30, 1450, gain=needed, per_day=100_000, days=1).net_saved < 1e-9,
    ... )
    (0.77, True)
    """
    share = float(result.compile_time / result.inferences * result.eager_rate)
    return share / (1 - share) if share < 1 else math.inf


def remedies(result: ph.Deployment) -> list[str]:
    """What would make a deployment pay off, each change alone and in words."""
    found = []
    if math.isfinite(result.days_to_break_even):
        found.append(f"{_show(result.days_to_break_even, 'days')} in service")
        found.append(f"a volume of {_show(result.break_even / result.days, '/day')}")
    gain = gain_needed(result)
    if math.isfinite(gain):
        found.append(f"a throughput gain of {_show(gain, '%')}")
    if result.saved > 0:
        found.append(f"a compile time of {_show(result.saved, 's')}")
    return found or ["more inferences and a faster compiled model"]
