"""When compiling pays off, as an instrument: a cost paid once against time saved per inference.

One plot zooms in on the moment at which the compile time is recovered; a strip below it shows
where that moment lies in the whole time in service.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any, ClassVar, Final

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.film import Film
from mlsys_widgets.drawing.scene import Handle, Scene
from mlsys_widgets.instruments.break_even_film import film_of
from mlsys_widgets.instruments.break_even_scenes import (
    compile_time_at,
    crossing_of,
    strip_of,
    volume_for,
)
from mlsys_widgets.instruments.controls import Count, Select, Slider
from mlsys_widgets.instruments.instrument import Instrument, NumberCard, Table
from mlsys_widgets.instruments.target import LimitedQuantity
from mlsys_widgets.wording.units import in_one_unit

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
_KWS_COMPILED: Final = {"compile_time": _SERVICE.compile_time, "gain": _SERVICE.gain}


def _spotter_on(device: str) -> dict[str, float]:
    """The keyword spotter as one device runs it, launches one by one."""
    return {**_KWS_COMPILED, "eager_rate": 1 / float(ph.run("kws", device).total)}


_HOUR, _MINUTE = 1 / 24, 1 / 24 / 60
CUSTOM: Final = "custom"
#: What each scenario sets; volumes and durations are those of the course's contexts.
_PRESETS: Final[dict[str, dict[str, float]]] = {
    "resnet50-cloud": {**_RESNET_COMPILED, "per_day": 1e7, "days": 30.0},
    "kws-cloud": {**_spotter_on("a100-sxm"), "per_day": 1e7, "days": 30.0},
    "kws-edge": {**_spotter_on("orin-nx"), "per_day": _SERVICE.per_day, "days": 12 * _HOUR},
    "kws-service": {**_spotter_on("a100-sxm"), "per_day": _SERVICE.per_day, "days": 12 * _HOUR},
    "ci-run": {**_RESNET_COMPILED, "per_day": 1000.0, "days": 1.0},
}
_FIRST: Final = _PRESETS["resnet50-cloud"]


class BreakEvenTimeline(Instrument):
    """Whether compiling pays off within a deployment, and when.

    Compiling costs time once and saves a little with every inference. Whether that is a bargain
    depends on the traffic as much as on the speedup: the same model pays its compile time back in
    minutes behind a busy service and never in a test run.

    A prediction is about the number of inferences until it does; it is drawn at the time when that
    many have been served.

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
    showcase = ("per_day",)
    evidence = ("break-even",)
    plot_names = ("Break-even", "Whole service")
    leading = ("Break-even", "Net time saved")
    predictable: ClassVar = {"break_even": "inferences"}
    depends: ClassVar = {"break_even": ("compile_time", "eager_rate", "gain")}
    headline = "break_even"
    quantities: ClassVar = {
        # The crossing has a line at the end of service, which keeps off its words.
        "days_to_break_even": LimitedQuantity(
            "days", "pays off", "does not pay off", "too late", ((1, "x"),)
        )
    }

    preset = Select(
        "Scenario",
        default="resnet50-cloud",
        options={
            "resnet50-cloud": "Cloud: ResNet-50",
            "kws-cloud": "Cloud: keyword spotting on an A100",
            "kws-edge": "Edge: keyword spotting on an Orin NX",
            "kws-service": "Challenge: a quiet box with an A100",
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
        return ph.deployment(
            self.compile_time, self.eager_rate, gain=self.gain, per_day=self.per_day, days=self.days
        )

    # What it says.

    def cards(self, result: ph.Deployment) -> Sequence[NumberCard]:
        tone = _tone(result)
        verdict = "pays off" if result.roi_positive else "not justified"
        return [
            ("Compiling", verdict, tone),
            ("Break-even", ph.counted(result.break_even, "inference"), "blue"),
            ("Recovered after", _show(result.days_to_break_even, "days", pad=True), "blue"),
            ("Left to earn", _show(left_to_earn(result), "days", pad=True), tone),
            ("Served in total", ph.counted(result.inferences, "inference"), "gray"),
            ("Saved per inference", _show(result.saved_per_inference, "s", pad=True), "green"),
            ("Net time saved", _show(result.net_saved, "s", pad=True), tone),
        ]

    def sentence(self, result: ph.Deployment) -> str:
        cost = _show(result.compile_time, "s")
        if result.saved_per_inference <= 0:
            return (
                f"Compiling costs {cost} and saves no time per inference, so it never pays off, "
                f"however long the model is in service.{self._predicted_words(result)}"
            )
        each = _show(result.saved_per_inference, "s")
        recovered, days, left = _days(result)
        words = (
            f"Compiling costs {cost} once and saves {each} per inference, so the cost is recovered "
            f"after {ph.counted(result.break_even, 'inference')}, which takes "
            f"{recovered} at {_show(result.per_day, '/day')}. "
        )
        served = f"Over {days} in service"
        balance = (
            f"saves {_show(result.net_saved, 's')}"
            if result.roi_positive
            else f"loses {_show(-result.net_saved, 's')}"
        )
        earning = f", with {left} left to earn" if left_to_earn(result) > 0 else ""
        return f"{words}{served}, compiling {balance} net{earning}.{self._predicted_words(result)}"

    def remark(self, result: ph.Deployment) -> str:
        each = result.saved_per_inference
        if each <= 0:
            words = "Compiling saves no time per inference, so it never pays off."
        else:
            recovered, days, left = _days(result)
            ending = (
                f", with {left} left to earn"
                if left_to_earn(result) > 0
                else f", but the service ends after {days}"
            )
            words = (
                f"Saving {_show(each, 's')} per inference at {_show(result.per_day, '/day')} "
                f"recovers the {_show(result.compile_time, 's')} of compiling after "
                f"{recovered}{ending}."
            )
        return f"{words}{self._predicted_words(result)}"

    def _predicted_words(self, result: ph.Deployment) -> str:
        guess = self.predicted("break_even")
        if guess is None:
            return ""
        served = guess / result.per_day
        verb = "is" if served <= result.days else "would be"
        return (
            f" Your prediction of {ph.counted(guess, 'inference')} {verb} served after "
            f"{_show(served, 'days')}."
        )

    def table(self, result: ph.Deployment) -> Table:
        header = ("Moment", "Inferences", "Time in service", "Time saved", "Net of compile time")
        never = math.isinf(result.break_even)
        rows = [
            (
                "Start",
                _show(0.0),
                _show(0.0, "days"),
                _show(0.0, "s"),
                _show(-result.compile_time, "s"),
            ),
            (
                "Break-even",
                _show(result.break_even),
                _show(result.days_to_break_even, "days"),
                "–" if never else _show(result.compile_time, "s"),
                "–" if never else _show(0.0, "s"),
            ),
            (
                "End of service",
                _show(result.inferences),
                _show(result.days, "days"),
                _show(result.saved, "s"),
                _show(result.net_saved, "s"),
            ),
        ]
        return header, rows

    def alert(self, result: ph.Deployment) -> tuple[str, str] | None:
        """Compiling is not justified, and by how much."""
        if result.roi_positive:
            return None
        cost, saved, lost = in_one_unit("s", result.compile_time, result.saved, -result.net_saved)
        words = (
            f"Compiling is not justified: it costs {cost}, but over {_show(result.days, 'days')} "
            f"({ph.counted(result.inferences, 'inference')}) it saves only {saved}; {lost} are not "
            "recovered."
        )
        return words, "red"

    def hint(self, result: ph.Deployment) -> str:
        if result.roi_positive:
            return ""
        return f"Compiling would pay off with {', or '.join(remedies(result))}."

    def dominant(self, result: ph.Deployment) -> str:
        """Of what is served and what must be served, the larger number."""
        return "inferences" if result.roi_positive else "break_even"

    def film(self, result: ph.Deployment) -> Film:
        """Traffic that pays the compile time back, or does not."""
        return film_of(result)

    # What it draws.

    def scenes(self, result: ph.Deployment) -> tuple[Scene, ...]:
        guess = self.predicted("break_even")
        anchor = self.anchor("compile time", "break-even point")
        return crossing_of(result, guess, anchor), strip_of(result, guess)

    def dragged(self, handle: Handle, x: float, y: float) -> dict[str, Any]:
        """More inferences per day break even earlier; the other two are what their axes say."""
        if handle.control == "per_day":
            return {"per_day": volume_for(self.anchor(handle.name), x)}
        if handle.control == "compile_time":
            return {"compile_time": compile_time_at(self.anchor(handle.name), y)}
        return {"days": x}


def _tone(result: ph.Deployment) -> str:
    return "green" if result.roi_positive else "orange"


def _days(result: ph.Deployment) -> tuple[str, ...]:
    """Until the break-even, in service, and left to earn, as one sentence says them."""
    return in_one_unit("days", result.days_to_break_even, result.days, left_to_earn(result))


def left_to_earn(result: ph.Deployment) -> float:
    """Days in service that remain after the break-even; zero if it is never reached."""
    return max(float(result.days - result.days_to_break_even), 0.0)


def gain_needed(result: ph.Deployment) -> float:
    """The throughput gain that would just pay off; infinite when no gain is enough.

    Each inference must save its part of the compile time, and can save at most its own time.
    """
    share = float(result.compile_time / result.inferences * result.eager_rate)
    return share / (1 - share) if share < 1 else math.inf


def remedies(result: ph.Deployment) -> list[str]:
    """Return the changes of which each alone would make a deployment pay off, in words."""
    found = []
    if math.isfinite(result.days_to_break_even):
        found.append(f"{_show(result.days_to_break_even, 'days')} in service")
        # A factor: the volume itself is what a lab may ask for.
        found.append(f"{_show(result.break_even / result.inferences, '×')} the volume")
    gain = gain_needed(result)
    if math.isfinite(gain):
        found.append(f"a throughput gain of {_show(gain, '%')}")
    if result.saved > 0:
        found.append(f"a compile time of {_show(result.saved, 's')}")
    return found or ["more inferences and a faster compiled model"]
