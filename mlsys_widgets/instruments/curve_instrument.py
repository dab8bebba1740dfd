"""An instrument of one plot, declared: what is drawn against which control.

The picture, the numbers, the table, the words, the place to drag, predictions and targets follow
from that and from the result, which knows its units. Override what should say more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Final, cast

import numpy as np

from mlsys_widgets.drawing.curves import (
    Curve,
    Dots,
    Part,
    Threshold,
    Values,
    curve_scene,
    decade_axis,
    numbers,
    prediction,
)
from mlsys_widgets.drawing.scene import Array, Axis, Scene, even, from_zero
from mlsys_widgets.instruments.controls import Slider
from mlsys_widgets.instruments.instrument import Instrument, NumberCard, Table
from mlsys_widgets.instruments.target import LimitedQuantity
from mlsys_widgets.physics import Result, format_quantity

#: How many values of the control a curve has.
_POINTS: Final = 60
#: How far below its lowest curve a logarithmic axis begins, for lines that come up from there.
_BELOW: Final = 3.0
#: How many values are written at the axis across, about.
_FEWEST, _MOST = 4, 8
#: A linear axis ends this much above everything.
_ABOVE: Final = 1.05


class CurveInstrument(Instrument):
    """Base of instruments with one plot of curves.

    Its ``compute`` returns a `Result` with an input that is named like the control across, so that
    the result can be computed for all values of it. The first curve is what the instrument is
    about: it can be predicted, and a target may limit it.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from mlsys_widgets.physics.domain import POSITIVE
    >>> from mlsys_widgets.physics.result import derived, given
    >>> @dataclass(frozen=True, repr=False)
    ... class Trip(Result):
    ...     data: float = given("D", "B", "what is sent", POSITIVE)
    ...     bandwidth: float = given("B", "B/s", "what the link carries", POSITIVE)
    ...
    ...     @derived("T", "s", "time on the link")
    ...     def total(self):
    ...         return self.data / self.bandwidth
    >>> class Link(CurveInstrument):
    ...     title = "A link"
    ...     plot = (Curve(x="data", y="total", words="Time"), Threshold("Limit", y=50e-3))
    ...     data = Slider("Data", default=1e9, low=1e6, high=1e11, log=True, unit="B", help="Sent.")
    ...
    ...     def compute(self):
    ...         return Trip(data=self.data, bandwidth=50e9)
    >>> link = Link(data="2 GB")
    >>> print(link.text())
    A link. Data: 2 GB. Time: 40 ms. Limit: 50 ms.
    Time: 40 ms
    Link(data=2e+09)
    """

    #: Curves, thresholds and dots: values, or names of controls and of outputs of the result.
    plot: ClassVar[Sequence[Part]] = ()
    #: Whether the upward axis is logarithmic; as the control across is, if not said.
    log_up: ClassVar[bool | None] = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "plot" in vars(cls) and "headline" not in vars(cls):
            cls.headline = next((str(part.y) for part in cls.plot if isinstance(part, Curve)), "")

    @cached_property
    def _curves(self) -> dict[str, Curve]:
        """The curves by the output that they show, if the result has it for all places across."""
        found = {str(part.y): part for part in self.plot if isinstance(part, Curve)}
        name, kind = type(self).__name__, type(self.compute())
        if not found or not issubclass(kind, Result):
            raise TypeError(
                f"{name} needs a plot with a Curve, and a compute() that gives a Result"
            )
        sliders = {each for each, control in self.controls.items() if isinstance(control, Slider)}
        across = {str(curve.x) for curve in found.values()}
        if len(across) > 1:
            listed = ", ".join(sorted(across))
            raise TypeError(f"the curves of {name} have x={listed}; all must have the same")
        for words, used, known in (
            ("x", across, sliders & kind.inputs().keys()),
            ("y", found.keys(), kind.outputs().keys()),
        ):
            for stranger in sorted(used - known):
                listed = ", ".join(sorted(known)) or "nothing"
                raise TypeError(
                    f"a Curve of {name} has {words}={stranger!r}; it can have: {listed}"
                )
        return found

    @property
    def _subject(self) -> str:
        """The output that the instrument is about."""
        return next(iter(self._curves))

    def _control(self) -> Slider:
        """The control that the curves are drawn against."""
        return cast(Slider, self.controls[str(self._curves[self._subject].x)])

    @cached_property
    def _unit(self) -> str:
        return str(type(self.compute()).outputs()[self._subject].unit)

    @property
    def predictable(self) -> Mapping[str, str]:  # type: ignore[override]
        return {self._subject: self._unit}

    @property
    def quantities(self) -> Mapping[str, LimitedQuantity]:  # type: ignore[override]
        return {self._subject: LimitedQuantity(self._unit, "kept", "missed", "off", ((0, "y"),))}

    # What it says.

    def _written(self, value: Any) -> str:
        return format_quantity(value, self._unit)

    def cards(self, result: Any) -> Sequence[NumberCard]:
        curves = self._curves.items()
        return [(each.words, self._written(getattr(result, y)), each.tone) for y, each in curves]

    def sentence(self, result: Any) -> str:
        control = self._control()
        at = f"{control.label}: {control.shown(self.inputs[str(control.name)])}."
        return f"{at} {_listed(self.cards(result))} {self._limits(result)}".rstrip()

    def remark(self, result: Any) -> str:
        """The numbers that are not shown large."""
        cards = self.cards(result)
        small = [card for k, card in enumerate(cards) if k not in self.leads(cards)]
        return f"{_listed(small)} {self._limits(result)}".strip()

    def _limits(self, result: Any) -> str:
        found = [part for part in self.plot if isinstance(part, Threshold) and part.y is not None]
        values = [self._written(self._value(part.y, result)) for part in found]
        return _listed([(part.words, value, "") for part, value in zip(found, values, strict=True)])

    def table(self, result: Any) -> Table:
        control = self._control()
        places = sorted({*_ticks(control), self.inputs[str(control.name)]})
        columns = (
            [self._written(value) for value in values]
            for values in self._values(result, np.array(places)).values()
        )
        header = (control.label, *(curve.words for curve in self._curves.values()))
        return header, list(zip(map(control.shown, places), *columns, strict=True))

    # What it draws.

    def scenes(self, result: Any) -> tuple[Scene, ...]:
        """Everything against the control, which moves neither axis."""
        control, guess = self._control(), self.predicted(self._subject)
        places, name = _places(control), str(control.name)
        values = self._values(result, places)
        others = [
            replace(part, x=self._value(part.x, result), y=self._value(part.y, result))
            for part in self.plot
            if not isinstance(part, Curve)
        ]
        # With room for the prediction also while it is not shown, or a drag would move the axis.
        made = numbers(self._made.value if self._made else None)
        up = self._up(values, [*made, *(y for part in others for y in numbers(part.y))])
        curves = [
            replace(curve, x=places[on], y=values[y][on])
            for y, curve in self._curves.items()
            for on in (values[y] >= up.low,)
        ]
        now = Dots(self.inputs[name], getattr(result, self._subject), "Now", name="now", moves=name)
        ticks = _ticks(control)
        words = tuple(control.shown(tick) for tick in ticks)
        across = Axis(control.label, control.low, control.high, control.log, ticks, words)
        parts = (*curves, now, *others, prediction(guess, self._unit))
        return (curve_scene(across, up, parts),)

    def _up(self, values: Mapping[str, Array], levels: Sequence[float]) -> Axis:
        """The axis of the quantities: from zero, or from below the first curve."""
        label, first = self._curves[self._subject].words, values[self._subject]
        top = max(float(each.max()) for each in (*values.values(), *map(np.array, levels)))
        if self._control().log if self.log_up is None else self.log_up:
            least = min([float(first.min()), *(level for level in levels if level > 0)])
            return decade_axis(label, least / _BELOW, top, self._unit)
        return from_zero(label, top * _ABOVE, self._unit)

    def _values(self, result: Any, places: Array) -> dict[str, Array]:
        """What each curve shows at places across."""
        there = replace(result, **{str(self._control().name): places})
        return {y: np.broadcast_to(getattr(there, y), places.shape) for y in self._curves}

    def _value(self, named: Values, result: Any) -> Any:
        """What a part names; its own values as they are."""
        if not isinstance(named, str):
            return named
        return getattr(result if hasattr(result, named) else self, named)


def _listed(cards: Sequence[NumberCard]) -> str:
    return " ".join(f"{label}: {value}." for label, value, _ in cards)


def _places(control: Slider) -> Array:
    between = np.geomspace if control.log else np.linspace
    places = between(control.low, control.high, _POINTS)
    return np.unique(places.round()) if control.whole else places


def _ticks(control: Slider) -> tuple[float, ...]:
    """Round values of a control, four to eight where there are so many."""
    low, high = control.low, control.high
    if not control.log:
        return tuple(tick for tick in even(high) if low <= tick <= high)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found: list[float] = []
    for leads in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0)):
        found = [lead * 10.0**k for k in powers for lead in leads if low <= lead * 10.0**k <= high]
        if len(found) >= _FEWEST:
            break
    return tuple(found[:: -(-len(found) // _MOST) or 1])
