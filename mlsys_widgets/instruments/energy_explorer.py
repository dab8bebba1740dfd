"""Energy as an instrument: power times time of a token, its bill, and what it emits."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, ClassVar

import traitlets

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import Scene
from mlsys_widgets.instruments.controls import Select, Slider
from mlsys_widgets.instruments.energy_scenes import (
    DEVICE,
    MOST,
    EnergyUse,
    about,
    areas,
    energy_chart,
    measured,
)
from mlsys_widgets.instruments.instrument import Instrument, NumberCard, Opens, Table
from mlsys_widgets.instruments.serving_curve import rounded
from mlsys_widgets.instruments.target import LimitedQuantity
from mlsys_widgets.physics.model_kernels import Phase
from mlsys_widgets.wording.units import JOULES_PER_KWH, SECONDS_PER_HOUR

_show = ph.format_quantity
_NAME = ph.devices[DEVICE].name
_SIZES = (1e12, "trillion"), (1e9, "billion"), (1e6, "million")
_ROWS = (1.0, 4.0, 16.0, 64.0, 256.0)


def _grids(instrument: Any) -> dict[str, str]:
    """The places by name, each with its price where each has its own."""
    if not instrument.prices:
        return {key: grid.name for key, grid in ph.grids.items()}
    return {
        key: f"{ph.grids[key].name}, {_show(price, 'USD/J')}"
        for key, price in instrument.prices.items()
    }


def _many(tokens: float) -> str:
    """A large number in words."""
    size, word = next(each for each in _SIZES if tokens >= each[0])
    return f"{_show(tokens / size)} {word}"


class EnergyExplorer(Instrument):
    """What a token costs in joules: power and time as an area, for several batches side by side.

    With rests, the token of a card that never waits stands beside it.

    One conversation alone moves all weights for a single token. With more at once, the card draws
    somewhat more power for far less time each. A card that waits draws power for no token at all,
    and what electricity costs and emits depends on where it is bought.

    Parameters
    ----------
    held
        Controls that are not offered before a gate opens, each with its gate.
    fixed
        Controls that are not offered, such as what a promise is about.
    prices
        What electricity costs in the places that are offered, in USD/J by the key of their grid;
        without, all grids are offered and the price is a control.
    prediction
        How many times the energy that one alone takes is that of 256 at once, drawn as a point.

    Examples
    --------
    >>> from mlsys_widgets import physics as ph
    >>> w = EnergyExplorer(batch=1)
    >>> alone = w.result.energy_per_token
    >>> w.set(batch=256)
    >>> round(alone / w.result.energy_per_token), round(w.result.power)
    (40, 700)
    >>> w.set(grid="poland")
    >>> ph.format_quantity(w.result.carbon, "kg")
    '20 kg'
    """

    title = "Joules per token"
    showcase = ("batch", "busy")
    evidence = ("power", "energy of a step")
    plot_names = ("Power and time", "Energy by batch")
    leading = ("Energy of a token", "Power")
    predictable: ClassVar[Mapping[str, str]] = {"saving": "×", "waiting": "×"}
    #: Both are about a batch of 256, whatever the batch is now.
    depends: ClassVar[Mapping[str, Sequence[str]]] = {
        "saving": ("work", "sequence", "busy"),
        "waiting": ("work", "sequence", "busy"),
    }
    quantities: ClassVar[Mapping[str, LimitedQuantity]] = {
        "token_time": LimitedQuantity("s", "in time", "too late", "too late"),
        "rate": LimitedQuantity("tokens/s", "enough", "too few", "too few"),
        "energy_per_token": LimitedQuantity("J/token", "low", "too high", "too much", ((1, "y"),)),
        "busy": LimitedQuantity("%", "room left", "too busy", "too much"),
        "carbon": LimitedQuantity("kg", "low", "too high", "too much"),
        "cost": LimitedQuantity("USD", "affordable", "too dear", "too much"),
    }

    batch = Slider(
        "Conversations at once",
        default=16,
        low=1,
        high=MOST,
        log=True,
        whole=True,
        help="Each gets one token per step; when reading, each has one prompt.",
    )
    busy = Slider(
        "Busy",
        default=1,
        low=0.05,
        high=1,
        unit="%",
        help="Fraction of the time in which the card works. In the rest it waits, its clocks up.",
    )
    work: Select[Phase] = Select(
        "Tokens are",
        default="decode",
        options={"decode": "Written", "prefill": "Read"},
        buttons=True,
        help="Tokens of an answer are written one after the other, those of a prompt are read "
        "together.",
    )
    sequence = Slider(
        "Context (tokens)",
        default=2048,
        low=128,
        high=2048,
        log=True,
        whole=True,
        help="Tokens that each conversation has in the cache, or that each prompt has.",
        rare=True,
    )
    grid = Select(
        "Grid",
        default="world",
        options=_grids,
        help="Where the electricity comes from: a year's average over the life cycle of its "
        "plants.",
    )
    center = Select(
        "Data center",
        default="average",
        options={key: center.name for key, center in ph.data_centers.items()},
        help="How much the building uses beyond its computers: its power usage effectiveness.",
    )
    tokens = Slider(
        "Tokens to pay for",
        default=1e9,
        low=1e6,
        high=1e13,
        log=True,
        help="Bill and carbon are for so many.",
        rare=True,
    )
    price = Slider(
        "Price of electricity",
        default=0.1 / JOULES_PER_KWH,
        low=0.01 / JOULES_PER_KWH,
        high=1 / JOULES_PER_KWH,
        unit="USD/J",
        log=True,
        help="What the data center pays for it.",
        rare=True,
    )

    def __init__(
        self,
        *,
        held: Mapping[str, Opens] | None = None,
        fixed: Collection[str] = (),
        prices: Mapping[str, float] | None = None,
        **options: Any,
    ) -> None:
        self._held_back, self._fixed = dict(held or {}), frozenset(fixed)
        self.prices: Mapping[str, float] = dict(prices or {})
        super().__init__(**options)
        for gate in self._held_back.values():
            if not gate.is_open:
                gate.on_open(self._show)

    @traitlets.default("grid")
    def _first_grid(self) -> str:
        return next(iter(self.prices), "world")

    def hidden(self) -> AbstractSet[str]:
        """What a gate holds back or is fixed, and the price where each place has its own."""
        held = {name for name, gate in self._held_back.items() if not gate.is_open}
        return held | self._fixed | ({"price"} if self.prices else set())

    def compute(self) -> EnergyUse:
        return EnergyUse(
            self.work, self.batch, self.sequence, self.busy, self.grid, self.center, self.tokens,
            self.prices.get(self.grid, self.price),
        )  # fmt: skip

    @property
    def explanations(self) -> dict[str, Any]:
        now = self.result
        if "busy" in self.hidden():
            # Both say what a waiting card draws, which is what somebody still has to predict.
            return {"The bill": now.bill}
        return {"A step": now.step, "With rests": now.service, "The bill": now.bill}

    def dominant(self, result: Any) -> str:
        """What the card draws most of its power for."""
        if isinstance(result, ph.StepEnergy):
            names = {"waiting": "idle", "moving data": "byte_energy", "computing": "flop_energy"}
            return names[max(names, key=lambda name: float(result.shares[name]))]
        if isinstance(result, ph.ServiceEnergy):
            working = result.busy * result.power
            return "power" if working >= (1 - result.busy) * result.idle else "idle"
        return "energy"

    # What it says.

    def cards(self, result: EnergyUse) -> Sequence[NumberCard]:
        alone = result.at(1).energy_per_token / result.energy_per_token
        return [
            ("Energy of a token", about(result.energy_per_token, "J/token"), "blue"),
            ("Power", about(result.power, "W"), "ink"),
            ("One alone takes", about(alone, "×"), "ink"),
            ("Tokens per second", about(result.rate, "tokens/s"), "ink"),
            ("Time of a step", about(result.token_time, "s"), "ink"),
            ("Electricity", self._electricity(result), "ink"),
            ("Carbon", about(result.carbon, "kg"), "ink"),
            ("Cost", about(result.cost, "USD"), "ink"),
        ]

    def sentence(self, result: EnergyUse) -> str:
        done = "written" if result.work == "decode" else "read"
        many = ph.counted(result.batch, "conversation")
        rests = f", busy {_show(result.busy, '%')} of the time" if result.busy < 1 else ""
        return (
            f"An {_NAME} with {many} at once{rests} draws about {about(result.power, 'W')} on"
            f" average, and a token that is {done} takes about"
            f" {about(result.energy_per_token, 'J/token')} (calibrated). {self._billed(result)}"
        )

    def remark(self, result: EnergyUse) -> str:
        return self._billed(result)

    def _billed(self, result: EnergyUse) -> str:
        bill = result.bill
        return (
            f"{_many(result.tokens)} tokens take"
            f" {self._electricity(result)} at the plug (PUE {_show(bill.pue)}), emit"
            f" {about(result.carbon, 'kg')} at {_show(bill.carbon_intensity, 'kg/J')}, and cost"
            f" {about(result.cost, 'USD')} at {_show(bill.price, 'USD/J')}."
        )

    def _electricity(self, result: EnergyUse) -> str:
        hours = rounded(float(result.bill.energy) / SECONDS_PER_HOUR)
        return _show(hours * SECONDS_PER_HOUR, "Wh")

    def table(self, result: EnergyUse) -> Table:
        header = ("At once", "Step", "Tokens per second", "Power", "Energy of a token")
        rows = []
        for batch in sorted({*_ROWS, result.batch}):
            there = result.at(batch)
            shown = (there.token_time, "s"), (there.rate, "tokens/s"), (there.power, "W")
            cells = [about(value, unit) for value, unit in shown]
            rows.append((_show(batch), *cells, about(there.energy_per_token, "J/token")))
        for batch, watts, joules in measured(result.work, result.sequence):
            cells = ["", "", _show(watts, "W"), _show(joules, "J/token")]
            rows.append((f"{_show(batch)}, measured", *cells))
        return header, rows

    # What it draws.

    def scenes(self, result: EnergyUse) -> tuple[Scene, ...]:
        return areas(result), energy_chart(result, self._guess(result))

    def _guess(self, result: EnergyUse) -> tuple[float, float] | None:
        """The factor that was predicted, and the joules of a token that it means for 256."""
        saving, waiting = self.predicted("saving"), self.predicted("waiting")
        if saving is not None:
            return saving, result.at(1).energy_per_token / saving
        if waiting is not None:
            return waiting, result.at(MOST, busy=1.0).energy_per_token * waiting
        return None
