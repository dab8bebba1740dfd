"""The magnitude landscape as an instrument: how far apart the devices are that run models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import AnyMark, Axis, Blocks, Line, Scene, Words
from mlsys_widgets.instruments.controls import Select
from mlsys_widgets.instruments.instrument import Instrument, NumberCard, Table
from mlsys_widgets.physics import notation

_show = ph.format_quantity
_REGIMES = {
    "h100-sxm": ("Cloud", "blue"),
    "orin-nx": ("Edge", "orange"),
    "mobile-npu": ("Mobile", "green"),
    "cortex-m7": ("Tiny", "purple"),
}
_DEVICES = {key: f"{word}: {ph.devices[key].name}" for key, (word, _) in _REGIMES.items()}
_QUANTITIES = {
    "compute": "Compute",
    "bandwidth": "Bandwidth",
    "memory": "Memory",
    "power": "Power",
}
_UNITS = {"compute": "FLOP/s", "bandwidth": "B/s", "memory": "B", "power": "W"}
_AXES = {
    "compute": "Peak compute (FLOPS; for int8, OPS)",
    "bandwidth": "Memory bandwidth (B/s)",
    "memory": "Memory (B)",
    "power": "Power (W)",
}
_SYMBOLS = {"compute": "R", "bandwidth": "BW", "memory": "C", "power": "P"}
_ROW, _MARGINS = 32, 64
_MOST_ORDERS = 20.0


@dataclass(frozen=True)
class Ratio:
    """One quantity of two named devices."""

    quantity: str
    device: str
    other: str
    value: float
    other_value: float
    #: Both values as people read them; a peak names its precision.
    words: str
    other_words: str

    @property
    def ratio(self) -> float:
        """The device's value as a multiple of the other's."""
        return self.value / self.other_value

    @property
    def orders(self) -> float:
        """The ratio in orders of magnitude; negative if the device has less."""
        return math.log10(self.ratio)

    @property
    def comparison(self) -> str:
        """The ratio in words: a factor above one, and its direction."""
        if self.ratio == 1:
            return "equal"
        more = self.ratio > 1
        return f"{_show(max(self.ratio, 1 / self.ratio), '×')} {'more' if more else 'less'}"

    def _step(self) -> ph.Step:
        symbol = _SYMBOLS[self.quantity]
        names = [f"{symbol}_{name}" for name in (self.device, self.other)]
        formula: dict[notation.Notation, str] = {}
        numbers: dict[notation.Notation, str] = {}
        for how in (notation.TEXT, notation.HTML, notation.LATEX):
            formula[how] = how.quotient(*(how.symbol(name) for name in names))
            values = (how.quantity(words) for words in (self.words, self.other_words))
            numbers[how] = how.quotient(*values)
        return ph.Step(self._named, formula, numbers, self.ratio)

    @property
    def _named(self) -> ph.Quantity:
        about = f"{self.quantity} of {self.device} over {self.other}"
        return ph.Quantity(self.quantity, f"r_{self.quantity}", "×", about)


@dataclass(frozen=True)
class Landscape:
    """The four ratios between two devices."""

    compute: Ratio
    bandwidth: Ratio
    memory: Ratio
    power: Ratio

    @property
    def ratios(self) -> dict[str, Ratio]:
        """All four, by quantity."""
        return {name: getattr(self, name) for name in _QUANTITIES}

    def outputs(self) -> dict[str, ph.Quantity]:
        """What can be derived, by name."""
        return {name: ratio._named for name, ratio in self.ratios.items()}

    def derivation(self, *names: str) -> ph.Derivation:
        """Each ratio, or those named, with its numbers."""
        return ph.Derivation(tuple(self.ratios[name]._step() for name in names or _QUANTITIES))


class MagnitudeLandscape(Instrument):
    """Cloud, edge, mobile and tiny devices on logarithmic scales, and the ratio of any two.

    Parameters
    ----------
    prediction
        How many orders of magnitude the student expects between the two devices; drawn in the
        panel of the chosen quantity.

    Examples
    --------
    >>> w = MagnitudeLandscape(device="h100-sxm", other="cortex-m7")
    >>> round(w.result.compute.ratio), w.result.bandwidth.comparison
    (989000, '67,000× more')
    """

    title = "Magnitude landscape"

    device = Select("Compare", default="h100-sxm", options=_DEVICES, help="The first device.")
    other = Select("with", default="cortex-m7", options=_DEVICES, help="The second device.")
    quantity = Select(
        "Rank by",
        default="compute",
        options=_QUANTITIES,
        help="Sorts the devices by this quantity and mentions it first.",
    )
    peak = Select(
        "Peak",
        default="native",
        options={"native": "Dense, native precision", "advertised": "Highest advertised"},
        buttons=True,
        help="Which peak counts. Advertised peaks often need sparsity or fewer bits.",
    )

    def __init__(self, *, prediction: float | None = None, lock: Any = None, **inputs: Any) -> None:
        if prediction is not None and not 0 <= prediction <= _MOST_ORDERS:
            raise ValueError(
                f"prediction is {prediction!r}; it must be a number of orders of magnitude "
                f"between 0 and {_MOST_ORDERS:g}"
            )
        self._prediction = prediction
        super().__init__(lock=lock, **inputs)
        self.add_class("mlsys-panels")

    def compute(self) -> Landscape:
        """The ratios of the two devices."""
        return Landscape(**{quantity: self._ratio(quantity) for quantity in _QUANTITIES})

    def _ratio(self, quantity: str) -> Ratio:
        device, other = self.device, self.other
        return Ratio(
            quantity,
            ph.devices[device].name,
            ph.devices[other].name,
            self._value(device, quantity),
            self._value(other, quantity),
            self._words(device, quantity),
            self._words(other, quantity),
        )

    def _peak(self, key: str) -> tuple[str, bool]:
        """The precision whose peak counts, and whether it is the sparse one."""
        device = ph.devices[key]
        if self.peak == "native":
            return device.native, False
        # Where fp8 and int8 tie, int8 is what the smaller devices advertise too.
        best = max(device.peaks, key=lambda name: (device.peaks[name], name.startswith("int")))
        return best.removesuffix(" sparse"), best.endswith(" sparse")

    def _value(self, key: str, quantity: str) -> float:
        device = ph.devices[key]
        if quantity == "compute":
            return device.peak(*self._peak(key))
        return float(getattr(device, quantity))

    def _words(self, key: str, quantity: str) -> str:
        if quantity == "compute":
            return ph.devices[key].peak_label(*self._peak(key))
        return _show(self._value(key, quantity), _UNITS[quantity])

    @property
    def _ranked(self) -> list[str]:
        return sorted(_REGIMES, key=lambda key: self._value(key, self.quantity), reverse=True)

    # What it says.

    @property
    def _in_order(self) -> list[str]:
        """The quantities, the chosen one first."""
        return sorted(_QUANTITIES, key=lambda quantity: quantity != self.quantity)

    def _off(self, result: Landscape) -> str:
        """How far off the prediction is."""
        assert self._prediction is not None
        off = self._prediction - abs(result.ratios[self.quantity].orders)
        if abs(off) < 0.05:
            return "correct"
        return f"{ph.counted(abs(off), 'order')} too {'many' if off > 0 else 'few'}"

    def cards(self, result: Landscape) -> Sequence[NumberCard]:
        """The four ratios, the chosen one first, and the prediction."""
        tone = _REGIMES[self.device][1]
        cards = [
            (_QUANTITIES[name], result.ratios[name].comparison, tone if k == 0 else "gray")
            for k, name in enumerate(self._in_order)
        ]
        orders = ph.counted(abs(result.ratios[self.quantity].orders), "order")
        cards.insert(1, ("Orders of magnitude", orders, tone))
        if self._prediction is not None:
            said = f"{ph.counted(self._prediction, 'order')}: {self._off(result)}"
            cards.append(("Your prediction", said, "prediction"))
        return cards

    def sentence(self, result: Landscape) -> str:
        """The chosen ratio with both values, then the others."""
        chosen = result.ratios[self.quantity]
        others = ", ".join(
            f"{_QUANTITIES[name].lower()} {result.ratios[name].comparison}"
            for name in self._in_order[1:]
        )
        return (
            f"{chosen.device} compared with {chosen.other}: {self.quantity} of {chosen.words} "
            f"against {chosen.other_words}, {chosen.comparison} ({_orders(chosen)}); {others}."
        )

    def table(self, result: Landscape) -> Table:
        """Every device, then the comparison of the two."""
        header = (
            "Quantity",
            *(ph.devices[key].name for key in self._ranked),
            f"{result.compute.device} compared with {result.compute.other}",
            "Orders of magnitude",
        )
        rows = [
            (
                words,
                *(self._words(key, name) for key in self._ranked),
                result.ratios[name].comparison,
                _show(abs(result.ratios[name].orders)),
            )
            for name, words in _QUANTITIES.items()
        ]
        return header, rows

    # What it draws.

    def scenes(self, result: Landscape) -> tuple[Scene, ...]:
        """A panel of bars for each quantity."""
        ranked = self._ranked
        return tuple(self._panel(name, ranked, result) for name in _QUANTITIES)

    def _panel(self, name: str, ranked: list[str], result: Landscape) -> Scene:
        values = {key: self._value(key, name) for key in ranked}
        guess = self._guess(name, result)
        most = max(*values.values(), guess or 0.0)
        low = 10.0 ** math.floor(math.log10(min(values.values()) / 2))
        high = 10.0 ** math.ceil(math.log10(most))
        chosen, others, places = [], [], []
        for row, key in enumerate(ranked):
            base = len(ranked) - 1 - row
            bar = (low, base + 0.08, values[key], base + 0.46, _REGIMES[key][1])
            # An unused bar has no length, so that the number of bars stays the same.
            none = (*bar[:2], low, *bar[3:])
            compared = key in (self.device, self.other)
            chosen.append(bar if compared else none)
            others.append(none if compared else bar)
            places.append((base + 0.5, self._words(key, name)))
        start = low * (high / low) ** 0.008
        marks: tuple[AnyMark, ...] = (
            Blocks(f"{name} compared", tuple(chosen)),
            Blocks(f"{name} of others", tuple(others), opacity=0.35),
            Words(
                f"{name} values",
                (start,) * len(places),
                tuple(y for y, _ in places),
                tuple(text for _, text in places),
                "text",
            ),
            Line(
                f"{name} predicted",
                (guess, guess) if guess else (),
                (0.0, float(len(ranked))) if guess else (),
                "prediction",
                "dash_dotted",
                2.5,
            ),
        )
        first, last = (round(math.log10(limit)) for limit in (low, high))
        every = max(1, -(-(last - first) // 4))
        ticks = tuple(10.0**power for power in range(first, last + 1, every))
        words = tuple(_show(tick, _UNITS[name]) for tick in ticks)
        across = Axis(_AXES[name], low, high, True, ticks, words)
        names = tuple(
            f"▸ {_REGIMES[key][0]}" if key in (self.device, self.other) else _REGIMES[key][0]
            for key in ranked
        )
        rows = tuple(len(ranked) - 0.73 - row for row in range(len(ranked)))
        up = Axis("", 0.0, float(len(ranked)), False, rows, names, grid=False)
        legend = (("Your prediction", "prediction", "dash_dotted"),) if guess else ()
        return Scene(across, up, marks, len(ranked) * _ROW + _MARGINS, legend)

    def _guess(self, name: str, result: Landscape) -> float | None:
        """Where the larger of the two would be if the prediction were right."""
        if self._prediction is None or name != self.quantity:
            return None
        ratio = result.ratios[name]
        return float(min(ratio.value, ratio.other_value) * 10.0**self._prediction)


def _orders(ratio: Ratio) -> str:
    return ph.counted(abs(ratio.orders), "order of magnitude", "orders of magnitude")
