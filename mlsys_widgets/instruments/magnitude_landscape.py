"""The magnitude landscape as an instrument: how far apart the devices are that run models."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import AnyMark, Axis, Blocks, Handle, Scene, Strokes, Words
from mlsys_widgets.instruments.controls import Select, Slider
from mlsys_widgets.instruments.instrument import Instrument, NumberCard, Table
from mlsys_widgets.instruments.label_places import apart, columns
from mlsys_widgets.instruments.magnitude_ratios import QUANTITIES, Landscape, Ratio
from mlsys_widgets.wording.distance import distance_in_words

_show = ph.format_quantity
_REGIMES = {
    "h100-sxm": ("Cloud", "blue"),
    "orin-nx": ("Edge", "orange"),
    "mobile-npu": ("Mobile", "green"),
    "cortex-m7": ("Tiny", "red"),
}
_DEVICES = {key: f"{word}: {ph.devices[key].name}" for key, (word, _) in _REGIMES.items()}
_UNITS = {"compute": "FLOP/s", "bandwidth": "B/s", "memory": "B", "power": "W"}
_AXES = {
    "compute": "Peak compute (FLOPS; for int8, OPS)",
    "bandwidth": "Memory bandwidth (B/s)",
    "memory": "Memory (B)",
    "power": "Power (W)",
}
#: How values end as people read them.
_SHOWN_UNITS = {"compute": "FLOPS", "bandwidth": "B/s", "memory": "B", "power": "W"}
#: The device at the foot of the ladder: it has the least of everything.
_LEAST = "cortex-m7"
#: The top of the ladder, as a multiple of its foot: the next order above every peak on record.
_TOP = 1e7
#: Where the axis begins: a little below the lowest rung.
_FOOT = 0.6
_HIGHEST_TOP = 1e20
#: The zoom shows this many orders of magnitude.
_WINDOW = 3
#: Where the ladder of the chosen quantity ends, and how wide each of the others is.
_WIDE, _NARROW = 6.4, 1.2
#: Places in the wide ladder: its rungs, their words, the two brackets, and the zoom's handle.
_RUNGS, _WORDS, _PREDICTED, _GAP, _GRIP = (0.1, 0.6), 0.85, 5.1, 5.4, 6.3
#: How far apart words must be, in orders of magnitude, on the ladder and in the zoom.
_APART, _ZOOM_APART = 0.42, 0.3
#: Where words of the zoom begin: those that would lie on others stand in a column of their own.
_COLUMNS = (0.02, 0.36, 0.57, 0.78)
#: The room above the highest rung of the zoom for its words, in orders of magnitude.
_ZOOM_HEAD = 0.25


class MagnitudeLandscape(Instrument):
    """Cloud, edge, mobile and tiny devices on a ladder whose rungs are orders of magnitude.

    Six orders of magnitude lie between a GPU in the cloud and a microcontroller, and not the same
    number for each quantity. That is why a model is not moved from one to the other by optimizing
    it: another scale needs another architecture.

    Parameters
    ----------
    prediction
        How many times more the student expects of the chosen quantity in the larger device;
        drawn as a bracket beside that of the gap.

    Examples
    --------
    >>> w = MagnitudeLandscape(device="h100-sxm", other="cortex-m7")
    >>> round(w.result.compute.ratio), w.result.bandwidth.comparison
    (989000, '67,000× more')
    """

    title = "Magnitude landscape"
    showcase = ("other", "quantity")
    plot_names = ("Two devices", "All devices")
    predictable: ClassVar[Mapping[str, str]] = {"gap": "×"}
    depends: ClassVar[Mapping[str, Sequence[str]]] = {
        "gap": ("device", "other", "quantity", "peak")
    }

    device = Select("Compare", default="h100-sxm", options=_DEVICES, help="The first device.")
    other = Select("with", default="cortex-m7", options=_DEVICES, help="The second device.")
    quantity = Select(
        "Rank by",
        default="compute",
        options=QUANTITIES,
        help="Draws the ladder of this quantity, and mentions it first.",
    )
    peak = Select(
        "Peak",
        default="native",
        options={"native": "Dense, native precision", "advertised": "Highest advertised"},
        buttons=True,
        help="Which peak counts. Advertised peaks often need sparsity or fewer bits.",
    )

    zoom = Slider(
        "Zoom from",
        default=1e3,
        low=1,
        high=_TOP / 10**_WINDOW,
        unit="×",
        log=True,
        help="Where the zoom begins, as a multiple of the Cortex-M7. It shows three orders.",
    )

    def compute(self) -> Landscape:
        return Landscape(**{quantity: self._ratio(quantity) for quantity in QUANTITIES})

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

    def in_one_form(self, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        """The gap between two devices is the same either way."""
        device, other = sorted((inputs["device"], inputs["other"]))
        return {**inputs, "device": device, "other": other}

    # What it says.

    @property
    def _in_order(self) -> list[str]:
        """The quantities, the chosen one first."""
        return sorted(QUANTITIES, key=lambda quantity: quantity != self.quantity)

    def _off(self) -> str:
        """How far off the prediction is, in the words of the comparison."""
        gap = self.predicted("gap")
        assert gap is not None
        low, high = self._rungs_compared(self.quantity)
        return distance_in_words(gap, high / low, "orders").removesuffix(" of")

    def cards(self, result: Landscape) -> Sequence[NumberCard]:
        cards = [
            (QUANTITIES[name], result.ratios[name].comparison, _severity(result.ratios[name]))
            for name in self._in_order
        ]
        chosen = result.ratios[self.quantity]
        orders = ph.counted(abs(chosen.orders), "order")
        cards.insert(1, ("Orders of magnitude", orders, _severity(chosen)))
        gap = self.predicted("gap")
        if gap is not None:
            words = f"{_show(gap, '×')}: {self._off()}"
            cards.append(("Your prediction", words, "prediction"))
        return cards

    def sentence(self, result: Landscape) -> str:
        chosen = result.ratios[self.quantity]
        others = ", ".join(
            f"{QUANTITIES[name].lower()} {result.ratios[name].comparison}"
            for name in self._in_order[1:]
        )
        return (
            f"{chosen.device} compared with {chosen.other}: {self.quantity} of {chosen.words} "
            f"against {chosen.other_words}, {chosen.comparison} ({_orders(chosen)}); {others}. "
            f"{self._zoomed}"
        )

    @property
    def _zoomed(self) -> str:
        """Return what the zoom shows, in words."""
        low, high = self._window
        unit, foot = _UNITS[self.quantity], self._value(_LEAST, self.quantity)
        inside = [key for key in self._ranked if low <= self._times(key, self.quantity) <= high]
        names = ", ".join(ph.devices[key].name for key in inside) or "no device"
        ends = " to ".join(_show(limit * foot, unit) for limit in (low, high))
        return f"The zoom covers {ends}, where you find {names}."

    def remark(self, result: Landscape) -> str:
        chosen = result.ratios[self.quantity]
        return (
            f"{chosen.words} against {chosen.other_words}. The bar beside a gap's number is blue "
            "below ten thousand, orange above, and red near a million, where no code makes up for "
            "it. "
            f"{self._zoomed}"
        )

    def table(self, result: Landscape) -> Table:
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
            for name, words in QUANTITIES.items()
        ]
        return header, rows

    # What it draws.

    def _times(self, key: str, quantity: str) -> float:
        """How many times the value of the least device a device has."""
        return self._value(key, quantity) / self._value(_LEAST, quantity)

    @property
    def _window(self) -> tuple[float, float]:
        """The ends of the zoom, as multiples of the least device's value."""
        return self.zoom, self.zoom * 10.0**_WINDOW

    def _rungs_compared(self, quantity: str) -> tuple[float, float]:
        """The lower and the upper rung of the two that are compared."""
        low, high = sorted(self._times(key, quantity) for key in (self.device, self.other))
        return low, high

    def scenes(self, result: Landscape) -> tuple[Scene, ...]:
        return self._ladder(), self._enlarged()

    def dragged(self, handle: Handle, x: float, y: float) -> dict[str, Any]:
        """The zoom whose middle is at a place."""
        return {"zoom": y / 10 ** (_WINDOW / 2)}

    def _ladder(self) -> Scene:
        order = self._in_order
        starts = [0.0, *(_WIDE + _NARROW * k for k in range(len(order) - 1))]
        centers = [_WIDE / 2, *(start + _NARROW / 2 for start in starts[1:])]
        gap = self.predicted("gap")
        # The prediction does not change, so that neither does the top of the ladder.
        reach = 10.0 ** math.ceil(math.log10(gap)) if gap is not None and gap > _TOP else _TOP
        top = min(reach, _HIGHEST_TOP)
        marks: list[AnyMark] = [
            Blocks("window", ((0.0, self._window[0], _WIDE, self._window[1], "gray"),), 0.14)
        ]
        for key, (_, tone) in _REGIMES.items():
            spans = (_RUNGS, *((at - 0.35, at + 0.05) for at in centers[1:]))
            rungs = tuple(
                ((left, self._times(key, name)), (right, self._times(key, name)))
                for name, (left, right) in zip(order, spans, strict=True)
            )
            marks.append(Strokes(f"rungs of {key}", rungs, tone, width=4.0))
        wanted = [(0.0, math.log10(self._times(key, self.quantity))) for key in _REGIMES]
        levels = tuple(10.0**y for _, y in apart(wanted, 1.0, _APART))
        words = tuple(
            f"▸ {self._named(key)}" if key in (self.device, self.other) else self._named(key)
            for key in _REGIMES
        )
        leaders = tuple(
            ((_RUNGS[1], self._times(key, self.quantity)), (_WORDS - 0.06, level))
            for key, level in zip(_REGIMES, levels, strict=True)
        )
        marks.append(Strokes("leaders", leaders, "gray", width=1.0))
        marks.append(Words("values", (_WORDS,) * len(words), levels, words, above=False))
        # Each ladder has its gap; the words of the narrow ones are above it, where there is room.
        places = (_GAP, *(at + 0.2 for at in centers[1:]))
        ends = [self._rungs_compared(name) for name in order]
        paths = tuple(_bracket(x, *end) for x, end in zip(places, ends, strict=True))
        marks.append(Strokes("gaps", paths, "ink", width=2.5))
        factors = tuple(_show(high / low, "×") for low, high in ends)
        middle = math.sqrt(ends[0][0] * ends[0][1])
        beside = _GAP if self.predicted("gap") is None else _PREDICTED
        marks.append(Words("gap", (beside - 0.1,), (middle,), factors[:1], "end"))
        tops = tuple(min(high * 1.15, top) for _, high in ends[1:])
        marks.append(Words("other gaps", tuple(centers[1:]), tops, factors[1:], "middle"))
        marks.append(self._predicted_bracket(ends[0][0], top))
        powers = range(0, round(math.log10(top)) + 1, 1 if top <= 1e11 else 2)
        ticks = tuple(10.0**power for power in powers)
        rungs_named = tuple(_rung(power) for power in powers)
        up = Axis("Times a Cortex-M7", _FOOT, top, True, ticks, rungs_named)
        names = tuple(QUANTITIES[name] for name in order)
        across = Axis("", 0.0, _WIDE + 3 * _NARROW, False, tuple(centers), names, grid=False)
        handle = Handle("window", "zoom", _GRIP, self.zoom * 10 ** (_WINDOW / 2), "y")
        legend = self._legend(factors[0], ends[0][0], top)
        return Scene(across, up, tuple(marks), 400, legend, (handle,))

    def _named(self, key: str) -> str:
        """A device and its value, in words."""
        return f"{_REGIMES[key][0]}: {self._words(key, self.quantity)}"

    def _predicted_bracket(self, low: float, top: float) -> Strokes:
        """The gap as it was predicted, from the lower rung; cut off where the ladder ends."""
        gap = self.predicted("gap")
        paths: tuple[Any, ...] = ()
        if gap is not None:
            end = min(max(low * gap, _FOOT), top)
            paths = (_bracket(_PREDICTED, min(low, end), max(low, end)),)
        return Strokes("predicted gap", paths, "prediction", "dash_dotted", 2.5)

    def _legend(self, factor: str, low: float, top: float) -> tuple[tuple[str, str, str], ...]:
        gap = self.predicted("gap")
        predicted = []
        if gap is not None:
            beyond = "" if _FOOT <= low * gap <= top else " (beyond the ladder)"
            words = f"Your prediction, {_show(gap, '×')}{beyond}"
            predicted.append((words, "prediction", "dash_dotted"))
        return ((f"Gap, {factor}", "ink", "solid"), *predicted, ("Zoom", "gray", ""))

    def _enlarged(self) -> Scene:
        """The zoom: a few orders of magnitude of the chosen quantity, in its own unit."""
        quantity, foot = self.quantity, self._value(_LEAST, self.quantity)
        low, high = (limit * foot for limit in self._window)
        marks: list[AnyMark] = []
        levels = []
        for key, (_, tone) in _REGIMES.items():
            value = self._value(key, quantity)
            inside = low <= value <= high
            # On its rung, or at the end behind which it lies.
            levels.append(min(max(value, low), high))
            rung = (((0.02, value), (0.98, value)),) if inside else ()
            marks.append(Strokes(f"enlarged {key}", rung, tone, width=4.0))
        words = tuple(self._seen(key, low, high) for key in _REGIMES)
        places = columns([math.log10(level) for level in levels], _ZOOM_APART)
        starts = tuple(_COLUMNS[place] for place in places)
        marks.append(Words("enlarged values", starts, levels, words))
        first = math.floor(math.log10(low))
        steps = (10.0**power * k for power in range(first, first + _WINDOW + 2) for k in (1, 2, 5))
        ticks = tuple(step for step in steps if low * 0.999 <= step <= high * 1.001)
        unit = _UNITS[quantity]
        labels = tuple(_show(tick, unit).removesuffix(_SHOWN_UNITS[quantity]) for tick in ticks)
        up = Axis(_AXES[quantity], low, high * 10**_ZOOM_HEAD, True, ticks, labels)
        across = Axis("", 0.0, 1.0)
        return Scene(across, up, tuple(marks), 280)

    def _seen(self, key: str, low: float, high: float) -> str:
        """A device in the zoom, or where it is if it lies beyond."""
        value, words = self._value(key, self.quantity), self._named(key)
        if low <= value <= high:
            return words
        end, sign, side = (high, "▲", "above") if value > high else (low, "▼", "below")
        # Its value is on the ladder; here only the distance counts, and room is short.
        name = words.partition(":")[0]
        return f"{sign} {name}, {_show(max(value / end, end / value), '×')} {side}"


def _rung(power: int) -> str:
    """The name of a rung.

    Examples
    --------
    >>> _rung(0), _rung(1), _rung(6)
    ('1×', '10×', '10⁶×')
    """
    digits = str(power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{10**power}×" if power < 2 else f"10{digits}×"


def _bracket(x: float, low: float, high: float) -> tuple[tuple[float, float], ...]:
    return ((x - 0.15, low), (x, low), (x, high), (x - 0.15, high))


#: How many orders of magnitude a gap has at least, and its color.
_SEVERITY = ((5.5, "red"), (4.0, "orange"), (0.0, "blue"))


def _severity(ratio: Ratio) -> str:
    """The color of a gap: no code closes a red one."""
    return next(tone for orders, tone in _SEVERITY if abs(ratio.orders) >= orders)


def _orders(ratio: Ratio) -> str:
    return ph.counted(abs(ratio.orders), "order of magnitude", "orders of magnitude")
