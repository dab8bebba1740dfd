"""Energy: what a step costs in joules, from what it moves and computes, and what a service costs.

A card draws power even while it waits. Beyond that, every byte that it moves and every operation
that it computes costs a little energy, so power follows from how fast both go, up to the limit that
the card keeps by slowing its clocks. The parameters come from a measurement with the card's own
counter.

Examples
--------
Where should a service run that uses 1 MWh? In kilograms of carbon dioxide, at the plug:

>>> from mlsys_widgets import physics as ph
>>> ph.data_centers
<2 data center entries: hyperscale, average>
>>> used = 3.6e9 * ph.data_centers["average"].pue
>>> {key: round(used * ph.grids[key].carbon) for key in ("norway", "world", "india")}
{'norway': 47, 'world': 750, 'india': 1112}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mlsys_widgets.physics.device_calibration import DeviceCalibration, calibration_of
from mlsys_widgets.physics.devices import Device
from mlsys_widgets.physics.domain import (
    AT_LEAST_ONE,
    NON_NEGATIVE,
    POSITIVE,
    SHARE,
    Domain,
    Numeric,
    lesser,
)
from mlsys_widgets.physics.model_kernels import Phase
from mlsys_widgets.physics.provenance import CatalogEntry, Source, catalog_entry, number
from mlsys_widgets.physics.result import Result, derived, given
from mlsys_widgets.physics.serving_time import ServingLaunch, serving_time
from mlsys_widgets.physics.workloads import LanguageModel
from mlsys_widgets.wording.choices import Catalog
from mlsys_widgets.wording.units import JOULES_PER_KWH

#: Power usage effectiveness: nobody uses less than the computers do.
_PUE: Final = Domain(1.0, 10.0, "a number between 1 and 10")


@dataclass(frozen=True, repr=False)
class StepEnergy(Result):
    """Power and energy of a step that moves and computes. ``step_energy`` builds one.

    Examples
    --------
    A copy at 4 TB/s on a card that draws 100 W at rest and spends 60 pJ on each byte:

    >>> from mlsys_widgets import physics as ph
    >>> copy = ph.StepEnergy(
    ...     time=1e-3, bytes=4e9, flops=0, idle=100, byte_energy=60e-12, flop_energy=0.5e-12,
    ...     limit=700,
    ... )
    >>> print(copy.derivation("energy"))
    P = min(P_max, P_idle + (ε_B × Q + ε_W × W) / T) = min(700 W, 100 W + (60 pJ/B × 4 GB + \
500 fJ/FLOP × 0 FLOP) / 1 ms) = 340 W   (power)
    E = P × T = 340 W × 1 ms = 340 mJ   (energy of the step)
    """

    time: Numeric = given("T", "s", "time of the step", POSITIVE)
    bytes: Numeric = given("Q", "B", "data moved", NON_NEGATIVE)
    flops: Numeric = given("W", "FLOP", "operations", NON_NEGATIVE)
    idle: Numeric = given("P_idle", "W", "power of a card that waits", NON_NEGATIVE)
    byte_energy: Numeric = given("ε_B", "J/B", "energy of moving a byte", NON_NEGATIVE)
    flop_energy: Numeric = given("ε_W", "J/FLOP", "energy of an operation", NON_NEGATIVE)
    limit: Numeric = given("P_max", "W", "power that the card allows", POSITIVE)
    tokens: Numeric = given("n", "", "tokens read or written", AT_LEAST_ONE, 1.0)

    @derived("P", "W")
    def power(self) -> Numeric:
        """Power."""
        return lesser(
            self.limit,
            self.idle + (self.byte_energy * self.bytes + self.flop_energy * self.flops) / self.time,
        )

    @derived("E", "J")
    def energy(self) -> Numeric:
        """Energy of the step."""
        return self.power * self.time

    @derived("e", "J/token")
    def energy_per_token(self) -> Numeric:
        """Energy of a token."""
        return self.energy / self.tokens

    @property
    def shares(self) -> dict[str, Numeric]:
        """Watts by what they are for, as if the card allowed all of them."""
        return {
            "waiting": self.idle + 0.0 * self.time,
            "moving data": self.byte_energy * self.bytes / self.time,
            "computing": self.flop_energy * self.flops / self.time,
        }


def step_energy(
    model: LanguageModel | str,
    device: Device | str,
    phase: Phase,
    batch: Numeric,
    sequence: Numeric,
    precision: str = "fp16",
    *,
    launch: ServingLaunch = "graph",
    calibration: DeviceCalibration | None = None,
) -> StepEnergy:
    """Power and energy of one pass of a served model, on a device whose energy was measured.

    Its time is that of ``serving_time``, and so is what it moves and computes: that of its kernels.
    The arguments are those of ``serving_time``.

    Examples
    --------
    How much does a token cost one user alone, and how much if 256 are answered at once?

    >>> from mlsys_widgets import physics as ph
    >>> one, many = (
    ...     ph.step_energy("llama31-8b", "h200-sxm", "decode", batch, sequence=2048)
    ...     for batch in (1, 256)
    ... )
    >>> one.energy_per_token > 20 * many.energy_per_token
    True
    >>> one.power < many.power <= many.limit
    True
    """
    calibration = calibration_of(device) if calibration is None else calibration
    timed = serving_time(
        model, device, phase, batch, sequence, precision, launch=launch, calibration=calibration
    )
    law = calibration.power_law()
    return StepEnergy(
        time=timed.time,
        bytes=sum(use.use.times * use.use.kernel.bytes for use in timed.uses),
        flops=sum(use.use.times * use.use.kernel.flops for use in timed.uses),
        idle=law.idle,
        byte_energy=law.byte_energy,
        flop_energy=law.flop_energy,
        limit=law.limit,
        tokens=timed.tokens,
    )


@dataclass(frozen=True, repr=False)
class ServiceEnergy(Result):
    """A card that is busy for a part of the time and idle for the rest.

    ``service_energy`` builds one.

    Examples
    --------
    What does a token cost if the card is busy for a tenth of the time?

    >>> from mlsys_widgets import physics as ph
    >>> quiet, full = (ph.service_energy(600, 1000, busy, idle=80) for busy in (0.1, 1.0))
    >>> round(quiet.energy_per_token / full.energy_per_token, 2)
    2.2
    """

    power: Numeric = given("P", "W", "power while it is busy", POSITIVE)
    rate: Numeric = given("r", "/s", "tokens while it is busy", POSITIVE)
    busy: Numeric = given("u", "%", "part of the time in which it is busy", SHARE)
    idle: Numeric = given("P_idle", "W", "power of a card that waits", NON_NEGATIVE)

    @derived("P_mean", "W")
    def mean_power(self) -> Numeric:
        """Mean power."""
        return self.busy * self.power + (1 - self.busy) * self.idle

    @derived("r_mean", "/s")
    def mean_rate(self) -> Numeric:
        """Tokens per second, on average."""
        return self.busy * self.rate

    @derived("e", "J/token")
    def energy_per_token(self) -> Numeric:
        """Energy of a token, idle time included."""
        return self.mean_power / self.mean_rate


def service_energy(power: Numeric, rate: Numeric, busy: Numeric, idle: Numeric) -> ServiceEnergy:
    """Energy of a token of a service whose card is idle for a part of the time.

    Parameters
    ----------
    power : float or array, W
        Of the card while it is busy.
    rate : float or array, /s
        Tokens while it is busy.
    busy : float or array
        Part of the time in which it is busy: more than 0 and at most 1.
    idle : float or array, W
        Power of the card while it is idle.

    Examples
    --------
    A card that waits for nine tenths of the time costs more than twice as much a token:

    >>> from mlsys_widgets import physics as ph
    >>> for busy in (0.1, 1.0):
    ...     print(ph.service_energy(power=600, rate=1000, busy=busy, idle=80).energy_per_token)
    1.32
    0.6
    """
    return ServiceEnergy(power=power, rate=rate, busy=busy, idle=idle)


@dataclass(frozen=True, kw_only=True)
class Grid(CatalogEntry):
    """The electricity of a place: what a unit of it emits, over a year.

    ``grids`` holds those of the course.

    Examples
    --------
    How much cleaner is a kilowatt-hour in France than one in Poland?

    >>> from mlsys_widgets import physics as ph
    >>> france, poland = ph.grids["france"], ph.grids["poland"]
    >>> ph.format_quantity(france.carbon, "kg/J"), round(poland.carbon / france.carbon)
    ('56 g/kWh', 12)
    """

    carbon: float = number("kg/J")  #: Carbon dioxide equivalents emitted for a joule (kg/J).


@dataclass(frozen=True, kw_only=True)
class DataCenter(CatalogEntry):
    """A kind of data center: how much it uses beyond what its computers do.

    ``data_centers`` holds those of the course.

    Examples
    --------
    >>> from mlsys_widgets import physics as ph
    >>> sorted(center.pue for center in ph.data_centers.values())[0] > 1
    True
    """

    pue: float = number()  #: Power usage effectiveness: all energy over that of the computers.


_EMBER: Final = Source("Ember, yearly electricity data, by Our World in Data", "2023", "datasheet")
_LIFECYCLE: Final = "over the life cycle, a year's average"


def _grid(key: str, name: str, grams_per_kwh: float) -> Grid:
    carbon = _EMBER.fact(grams_per_kwh * 1e-3 / JOULES_PER_KWH, _LIFECYCLE)
    return catalog_entry(Grid, key, name, carbon=carbon)


#: Electricity of some places, by key.
grids: Final[Catalog[Grid]] = Catalog(
    "grid",
    _grid("norway", "Norway", 30),
    _grid("sweden", "Sweden", 41),
    _grid("france", "France", 56),
    _grid("canada", "Canada", 170),
    _grid("germany", "Germany", 381),
    _grid("world", "World", 481),
    _grid("australia", "Australia", 549),
    _grid("china", "China", 582),
    _grid("poland", "Poland", 662),
    _grid("india", "India", 713),
)

_GOOGLE: Final = Source("Google, by CNBC", "2022", "datasheet")
_UPTIME: Final = Source("Uptime Institute, Global Data Center Survey", "2024", "estimate")

#: Kinds of data centers, by key.
data_centers: Final[Catalog[DataCenter]] = Catalog(
    "data center",
    catalog_entry(
        DataCenter, "hyperscale", "Hyperscale",
        pue=_GOOGLE.fact(1.10, "all of its data centers, second quarter of 2021"),
    ),
    catalog_entry(
        DataCenter, "average", "Average of a survey",
        pue=_UPTIME.fact(1.56, "the largest data center of each operator who answered"),
    ),
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class EnergyBill(Result):
    """What tokens cost a data center, and what they emit. ``energy_bill`` builds one."""

    tokens: Numeric = given("n", "", "tokens", POSITIVE)
    energy_per_token: Numeric = given("e", "J/token", "energy of a token", POSITIVE)
    pue: Numeric = given("PUE", "", "energy of the building over that of its computers", _PUE)
    carbon_intensity: Numeric = given("c", "kg/J", "what electricity emits here", NON_NEGATIVE)
    price: Numeric = given("p", "USD/J", "price of electricity", NON_NEGATIVE, 0.0)

    @derived("E", "Wh")
    def energy(self) -> Numeric:
        """Electricity that the data center buys."""
        return self.tokens * self.energy_per_token * self.pue

    @derived("C", "kg")
    def carbon(self) -> Numeric:
        """What it emits, as carbon dioxide."""
        return self.energy * self.carbon_intensity

    @derived("K", "USD")
    def cost(self) -> Numeric:
        """What it costs."""
        return self.energy * self.price


def energy_bill(
    tokens: Numeric,
    energy_per_token: Numeric,
    grid: Grid | str,
    data_center: DataCenter | str,
    price: Numeric = 0.0,
) -> EnergyBill:
    """What tokens cost in electricity, and what they emit.

    Only the accelerator is counted among the computers: processors, memory and network of its
    server come on top.

    Parameters
    ----------
    tokens : float or array
        How many are written or read.
    energy_per_token : float or array, J
        What one costs the card.
    grid : Grid or str
        Where: one of ``grids``, or its key.
    data_center : DataCenter or str
        In what: one of ``data_centers``, or its key.
    price : float or array, USD/J
        Of electricity: divide one per kWh by 3.6 million.

    Examples
    --------
    A billion tokens at 0.05 J in an average data center: what does moving them to Sweden save?

    >>> from mlsys_widgets import physics as ph
    >>> for grid in ("poland", "sweden"):
    ...     bill = ph.energy_bill(1e9, 0.05, grid, "average")
    ...     print(grid, ph.format_quantity(bill.carbon, "kg"))
    poland 14.3 kg
    sweden 888.3 g
    """
    place = grids[grid] if isinstance(grid, str) else grid
    building = data_centers[data_center] if isinstance(data_center, str) else data_center
    return EnergyBill(
        tokens=tokens,
        energy_per_token=energy_per_token,
        pue=building.pue,
        carbon_intensity=place.carbon,
        price=price,
    )
