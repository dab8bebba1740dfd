"""Where data lives on a GPU and what every trip costs: the reason to keep it close."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import AnyMark, Axis, Blocks, Line, Points, Scene, Words, decades
from mlsys_widgets.instruments.controls import Select, Slider, Switch
from mlsys_widgets.instruments.instrument import Instrument, NumberCard, Table

_show = ph.format_quantity
_LEVELS = tuple(ph.memory_hierarchy.values())
_SHORT = {
    "registers": "Registers",
    "sram": "SRAM, L1",
    "l2": "L2 cache",
    "hbm": "HBM",
    "host": "Host",
}
#: Names inside a sentence.
_IN_WORDS = {
    "registers": "registers",
    "sram": "shared memory and L1",
    "l2": "the L2 cache",
    "hbm": "HBM",
    "host": "host memory",
}
#: The row of each level in the plots, the one nearest to the arithmetic on top.
_ROWS = {level.key: float(len(_LEVELS) - k) for k, level in enumerate(_LEVELS)}
_FITTING = "nearest"
_SMALLEST, _LARGEST = 1.0, max(level.capacity for level in _LEVELS)
_CAPACITY_END, _COST_START, _COST_END = 1e13, 0.5, 1e6
_HALF = 0.36


@dataclass(frozen=True)
class LevelCost:
    """What a level costs: one trip of the tensor, and all trips of a chain of operations."""

    level: ph.MemoryLevel
    holds: bool
    trip: ph.Transfer
    chain: ph.Fusion
    #: Time as a multiple of the trip of the same data through registers.
    slowdown: float


@dataclass(frozen=True)
class Placement:
    """A tensor, the level it lives in, and what it would cost at each."""

    size: float
    home: LevelCost
    #: The fastest level that holds the tensor.
    nearest: LevelCost
    levels: tuple[LevelCost, ...]

    @property
    def fits(self) -> bool:
        """Whether the tensor fits into its level."""
        return self.home.holds


class MemoryHierarchy(Instrument):
    """Where a tensor can live, and what each trip there costs.

    Examples
    --------
    >>> w = MemoryHierarchy(size=100e6, operations=3)
    >>> w.result.home.level.name, w.result.home.trip.time, w.result.home.slowdown
    ('HBM', 5e-05, 10.0)
    >>> w.result.home.chain.unfused_tensors, w.result.home.chain.fused_tensors
    (6.0, 2.0)
    """

    title = "Memory hierarchy"

    size = Slider(
        "Tensor size",
        default=100e6,
        low=_SMALLEST,
        high=_LARGEST,
        unit="B",
        log=True,
        help="One tensor, from a single byte to all of the host's memory.",
    )
    home = Select(
        "It lives in",
        default=_FITTING,
        options={
            _FITTING: "Fastest level that holds it",
            **{level.key: level.name for level in _LEVELS},
        },
        help="Where the tensors between the operations are written and read back.",
    )
    operations = Slider(
        "Operations in a chain",
        default=3,
        low=1,
        high=32,
        whole=True,
        help="Each reads what the one before it wrote. Fused, only the first input and the last "
        "output move.",
    )
    operand = Switch(
        "Each reads a second tensor",
        default=False,
        help="For example to add another tensor. Fused or not, that one has to be read.",
    )

    def compute(self) -> Placement:
        """Every level's cost of the tensor and of the chain."""
        chain = ph.chain(*["add" if self.operand else "relu"] * int(self.operations))
        fastest = ph.transfer(self.size, _LEVELS[0]).time
        costs = []
        for level in _LEVELS:
            trip = ph.transfer(self.size, level)
            # The trips alone: launches and arithmetic are left out.
            fusion = ph.fuse(
                chain,
                self.size,
                bytes_per_element=1,
                bandwidth=level.bandwidth,
                launch_overhead=0,
                compute_time=0,
            )
            holds = self.size <= level.capacity
            costs.append(LevelCost(level, holds, trip, fusion, float(trip.time / fastest)))
        found = ph.nearest_level(self.size)
        nearest = next(cost for cost in costs if cost.level is found)
        home = next((cost for cost in costs if cost.level.key == self.home), nearest)
        return Placement(self.size, home, nearest, tuple(costs))

    # What it says.

    def cards(self, result: Placement) -> Sequence[NumberCard]:
        """Level, trip, and the chain with and without fusion."""
        home = result.home
        chain = home.chain
        tone = "blue" if result.fits else "red"
        return [
            ("Fastest level that holds it", result.nearest.level.name, "green"),
            (f"One trip, {home.level.name}", _show(home.trip.time, "s", pad=True), tone),
            ("Relative to registers", _show(home.slowdown, "×", pad=True), tone),
            (
                f"Unfused, {_trips(chain.unfused_tensors)}",
                _show(chain.unfused_time, "s", pad=True),
                "memory",
            ),
            (
                f"Fused, {_trips(chain.fused_tensors)}",
                _show(chain.fused_time, "s", pad=True),
                "green",
            ),
            ("Fusion saves", _show(chain.unfused_time - chain.fused_time, "s", pad=True), "green"),
        ]

    def sentence(self, result: Placement) -> str:
        """Where it lives, what a trip costs, and what fusion saves."""
        home = result.home
        chain = home.chain
        count = ph.counted(self.operations, "operation")
        which = ", the fastest level that holds it" if home is result.nearest else ""
        return (
            f"{_show(result.size, 'B')} in {_IN_WORDS[home.level.key]}{which}: one trip takes "
            f"{_show(home.trip.time, 's')}, {_show(home.slowdown, '×')} the time of registers. "
            f"With one kernel each, {count} cost {_trips(chain.unfused_tensors)} or "
            f"{_show(chain.unfused_time, 's')}; fused into one kernel, "
            f"{_trips(chain.fused_tensors)} or {_show(chain.fused_time, 's')}."
        )

    def alert(self, result: Placement) -> tuple[str, str] | None:
        """By how much it is too large, and where it goes instead."""
        if result.fits:
            return None
        home, nearest = result.home.level, result.nearest
        price = nearest.trip.time / result.home.trip.time
        return (
            f"{_show(result.size, 'B')} is {_show(result.size / home.capacity, '×')} the capacity "
            f"of {_IN_WORDS[home.key]} ({_show(home.capacity, 'B')}). The tensor has to live in "
            f"{_IN_WORDS[nearest.level.key]}, where a trip takes {_show(price, '×')} the time"
            + (", or be processed tile by tile." if home.key != "hbm" else "."),
            "red",
        )

    def table(self, result: Placement) -> Table:
        """One row per level."""
        header = (
            "Level", "Scope", "Bandwidth", "Capacity", "Holds it", "One trip",
            "Relative to registers", "Chain, unfused", "Chain, fused",
        )  # fmt: skip
        rows = [
            (
                cost.level.name,
                cost.level.scope,
                _show(cost.level.bandwidth, "B/s"),
                _show(cost.level.capacity, "B"),
                _show(cost.holds),
                _show(cost.trip.time, "s"),
                _show(cost.slowdown, "×"),
                _show(cost.chain.unfused_time, "s"),
                _show(cost.chain.fused_time, "s"),
            )
            for cost in result.levels
        ]
        return header, rows

    # What it draws.

    def scenes(self, result: Placement) -> tuple[Scene, ...]:
        """How much each level holds, and what the trips to it cost."""
        return self._capacities(result), self._costs(result)

    def _capacities(self, result: Placement) -> Scene:
        blocks = tuple(
            (_SMALLEST, row - _HALF, cost.level.capacity, row + _HALF, _tone(cost, result))
            for cost, row in _with_rows(result)
        )
        size, home = result.size, _ROWS[result.home.level.key]
        marks: tuple[AnyMark, ...] = (
            Blocks("capacities", blocks, 0.35),
            Line("tensor", (size, size), (0.5, 5.5), "ink", "dashed"),
            Points("home", (size,), (home,), "blue" if result.fits else "red", "diamond", 130),
            _LEVEL_WORDS,
        )
        ticks = decades(_SMALLEST, _CAPACITY_END)
        words = tuple(_show(tick, "B") for tick in ticks)
        across = Axis("Capacity", _SMALLEST, _CAPACITY_END, True, ticks, words)
        legend = (
            (f"Your tensor, {_show(size, 'B')}", "ink", "dashed"),
            ("Lives here", "blue", "diamond") if result.fits else ("Too large", "red", "diamond"),
            ("Holds it", "green", "block"),
            ("Too small", "gray", "block"),
        )
        return Scene(across, _LEVEL_AXIS, marks, 250, legend)

    def _costs(self, result: Placement) -> Scene:
        one = result.levels[0].trip.time
        unfused, fused, ends = [], [], []
        for cost, row in _with_rows(result):
            tone = _tone(cost, result)
            end = float(cost.chain.unfused_time / one)
            unfused.append((_COST_START, row - _HALF, end, row + _HALF, tone))
            reach = float(cost.chain.fused_time / one)
            fused.append((_COST_START, row - _HALF / 2, reach, row + _HALF / 2, tone))
            ends.append((end * 1.25, row - _MIDDLE, _show(end, "×")))
        marks: tuple[AnyMark, ...] = (
            Blocks("unfused", tuple(unfused), 0.35),
            Blocks("fused", tuple(fused), 0.9),
            Words(
                "unfused costs",
                tuple(x for x, *_ in ends),
                tuple(y for _, y, _ in ends),
                tuple(text for *_, text in ends),
                "text",
            ),
        )
        ticks = decades(1.0, 1e4)
        words = tuple(_show(tick, "×") for tick in ticks)
        across = Axis(
            "Time of all trips, in trips through registers",
            _COST_START,
            _COST_END,
            True,
            ticks,
            words,
        )
        legend = (
            ("Pale, wide: one kernel per operation", "ink", "block"),
            ("Solid, narrow: fused", "ink", "block"),
        )
        return Scene(across, _LEVEL_AXIS, marks, 250, legend)


#: How far below the middle of a row a word has to be placed to appear in the middle.
_MIDDLE = 0.23
_LEVEL_AXIS = Axis(
    "",
    0.5,
    5.5,
    ticks=tuple(sorted(_ROWS.values())),
    words=tuple(reversed(_SHORT.values())),
    grid=False,
)
_LEVEL_WORDS = Words(
    "levels",
    (2.0,) * len(_LEVELS),
    tuple(row - _MIDDLE for row in _ROWS.values()),
    tuple(f"{_show(level.capacity, 'B')} at {_show(level.bandwidth, 'B/s')}" for level in _LEVELS),
    "text",
)


def _with_rows(result: Placement) -> list[tuple[LevelCost, float]]:
    return [(cost, _ROWS[cost.level.key]) for cost in result.levels]


def _tone(cost: LevelCost, result: Placement) -> str:
    if cost is result.home:
        return "blue" if cost.holds else "red"
    return "green" if cost.holds else "gray"


def _trips(count: ph.Numeric) -> str:
    return ph.counted(count, "trip")
