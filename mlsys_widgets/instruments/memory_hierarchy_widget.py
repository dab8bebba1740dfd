"""Where data lives on a GPU and what every trip costs: the reason to keep it close."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import (
    AnyMark,
    Axis,
    Blocks,
    Handle,
    Line,
    Points,
    Scene,
    Words,
    decades,
    notes,
)
from mlsys_widgets.instruments.controls import Select, Slider, Switch
from mlsys_widgets.instruments.instrument import Instrument, NumberCard, Table
from mlsys_widgets.instruments.target import LimitedQuantity
from mlsys_widgets.wording.units import in_one_unit

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
_BOTTOM, _TOP = 0.5, len(_LEVELS) + 0.5
#: Levels whose size can be changed: all that a GPU has.
_RESIZED = ("registers", "sram", "l2", "hbm")
#: Whose capacity it is, inside a sentence.
_OWNERS = {
    "one thread": "one thread",
    "one thread block": "one thread block",
    "whole GPU": "the whole GPU",
    "whole machine": "the whole machine",
}
#: The same beside a bar, where room is short.
_BESIDE = {**_OWNERS, "one thread": "a thread", "one thread block": "a block"}
_FITTING = "nearest"
_SMALLEST, _LARGEST = 1.0, max(level.capacity for level in _LEVELS)
_CAPACITY_END, _COST_START, _COST_END = 1e13, 0.5, 1e6
_HALF = 0.36
#: The size from which a bar has room for its words where the plot is narrowest.
_ROOMY = 2e7
#: Up to this size, the line of the tensor is left of words that end at the right edge.
_CLEAR = 1e8


def _size_of(key: str, label: str, low: float, high: float) -> Slider:
    """The size of one level, to ask what another one would change."""
    level = ph.memory_hierarchy[key]
    return Slider(
        label,
        default=level.capacity,
        low=low,
        high=high,
        unit="B",
        log=True,
        rare=True,
        help=f"What {_OWNERS[level.scope]} has; {_show(level.capacity, 'B')} on an A100.",
    )


@dataclass(frozen=True)
class LevelCost:
    """The cost of a level: one trip of the tensor, and all trips of a chain of operations."""

    level: ph.MemoryLevel
    #: What one owner can hold; another number than the level's own if it was resized.
    capacity: float
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

    @property
    def trip(self) -> ph.Numeric:
        """Time of one trip of the tensor."""
        return self.home.trip.time


class MemoryHierarchy(Instrument):
    """Where a tensor can live, and what each trip there costs.

    Each level is larger and slower than the one before. A tensor that has grown out of a level pays
    for it with every operation that reads and writes it, unless the operations are fused into one
    kernel, which makes the trip there and back once.

    A level's size is what one owner has: the registers of one thread, the shared memory of one
    thread block, the L2 cache and the HBM of the whole GPU. That is what decides whether a tensor
    stays in a level as a whole, and in these terms each level is larger than the one before. The
    sizes of the whole chip, where registers outweigh shared memory, are in the table.

    Examples
    --------
    >>> w = MemoryHierarchy(size=100e6, operations=3)
    >>> w.result.home.level.name, w.result.home.trip.time, w.result.home.slowdown
    ('HBM', 5e-05, 58.5)
    >>> w.result.home.chain.unfused_tensors, w.result.home.chain.fused_tensors
    (6.0, 2.0)
    """

    title = "Memory hierarchy"
    showcase = ("size",)
    plot_names = ("Capacity", "Time")
    leading = ("One trip", "Fusion saves")
    quantities: ClassVar[Mapping[str, LimitedQuantity]] = {
        "size": LimitedQuantity("B", "fits", "does not fit", "too much"),
        "trip": LimitedQuantity("s", "in time", "too late", "too late"),
    }

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
    registers = _size_of("registers", "Registers of a thread", 16, 100e3)
    sram = _size_of("sram", "Shared memory of a block", 1e3, 20e6)
    l2 = _size_of("l2", "L2 cache", 400e3, 4e9)
    hbm = _size_of("hbm", "HBM", 1e9, 1e12)

    def compute(self) -> Placement:
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
            size = self._capacity(level)
            slowdown = float(trip.time / fastest)
            costs.append(LevelCost(level, size, self.size <= size, trip, fusion, slowdown))
        # The host is not resized and holds the largest tensor, so there is always one.
        nearest = next(cost for cost in costs if cost.holds)
        home = next((cost for cost in costs if cost.level.key == self.home), nearest)
        return Placement(self.size, home, nearest, tuple(costs))

    def _capacity(self, level: ph.MemoryLevel) -> float:
        return float(getattr(self, level.key)) if level.key in _RESIZED else level.capacity

    @property
    def explanations(self) -> dict[str, Any]:
        home = self.result.home
        return {f"One trip, {home.level.name}": home.trip, "The chain": home.chain}

    def dominant(self, result: Any) -> str:
        """In a chain, the traffic of separate kernels; of a trip, its time."""
        return "unfused_traffic" if isinstance(result, ph.Fusion) else "time"

    def dragged(self, handle: Handle, x: float, y: float) -> dict[str, Any]:
        """The tensor goes to another size and, with its own handle, to another level."""
        if handle.name != "tensor":
            return {handle.control: x}
        level = min(_LEVELS, key=lambda each: abs(_ROWS[each.key] - y))
        if self.home == _FITTING:
            # It stays in the fastest level that holds it as long as that is where the hand is.
            size = min(x, _LARGEST)
            fastest = next(each for each in _LEVELS if size <= self._capacity(each))
            if fastest is level:
                return {"size": x}
        return {"size": x, "home": level.key}

    # What it says.

    def cards(self, result: Placement) -> Sequence[NumberCard]:
        home = result.home
        chain = home.chain
        tone = "blue" if result.fits else "red"
        saved = _show(chain.unfused_time - chain.fused_time, "s", pad=True)
        return [
            ("Fastest level that holds it", result.nearest.level.name, "green"),
            (f"One trip, {home.level.name}", _show(home.trip.time, "s", pad=True), tone),
            ("Relative to registers", _show(home.slowdown, "×", pad=True), tone),
            (
                f"Unfused, {_trips(chain.unfused_tensors)}",
                _show(chain.unfused_time, "s", pad=True),
                tone,
            ),
            (f"Fused, {_trips(chain.fused_tensors)}", _show(chain.fused_time, "s", pad=True), tone),
            # What does not fit makes no trips there.
            ("Fusion saves", saved if result.fits else "does not fit", tone),
        ]

    def sentence(self, result: Placement) -> str:
        home = result.home
        which = ", the fastest level that holds it" if home is result.nearest else ""
        takes = "takes" if result.fits else "would take"
        return (
            f"{_show(result.size, 'B')} in {_IN_WORDS[home.level.key]}{which}: one trip {takes} "
            f"{_show(home.trip.time, 's')}{_compared(home)}. {self._said_trips(result)}"
        )

    def remark(self, result: Placement) -> str:
        home = result.home
        takes = "takes" if result.fits else "would take"
        took = f"A trip {takes} {_show(home.trip.time, 's')}{_compared(home)}."
        return f"{took} {self._said_trips(result)}"

    def _said_trips(self, result: Placement) -> str:
        chain = result.home.chain
        cost = "cost" if result.fits else "would cost"
        unfused, fused = in_one_unit("s", chain.unfused_time, chain.fused_time)
        return (
            f"With one kernel each, {ph.counted(self.operations, 'operation')} {cost} "
            f"{_trips(chain.unfused_tensors)} or {unfused}; fused into one "
            f"kernel, {_trips(chain.fused_tensors)} or {fused}."
        )

    def alert(self, result: Placement) -> tuple[str, str] | None:
        """By how much it is too large."""
        if result.fits:
            return None
        home = result.home
        size, over = in_one_unit("B", result.size, result.size - home.capacity)
        return (
            f"{size} does not fit into {_IN_WORDS[home.level.key]} of "
            f"{_OWNERS[home.level.scope]}, {_show(home.capacity, 'B')}: it is "
            f"{_show(result.size / home.capacity, '×')} as large, {over} too much.",
            "red",
        )

    def hint(self, result: Placement) -> str:
        home, nearest = result.home, result.nearest
        if home is nearest:
            return ""
        where = _IN_WORDS[nearest.level.key]
        price = f"{_show(nearest.trip.time / home.trip.time)} times as long"
        if result.fits:
            return f"It would fit into {where}, where a trip takes {price}."
        whole = f"The tensor fits into {where} as a whole, where a trip takes {price}."
        if home.level.key == "hbm":
            return whole
        tiles = ph.counted(math.ceil(result.size / home.capacity), "tile")
        return f"{whole} Or process it in {tiles} that fit into {_IN_WORDS[home.level.key]}."

    def table(self, result: Placement) -> Table:
        header = (
            "Level", "Capacity of", "Bandwidth", "Capacity", "All of them", "Holds it", "One trip",
            "Relative to registers", "Chain, unfused", "Chain, fused",
        )  # fmt: skip
        rows = [
            (
                cost.level.name,
                cost.level.scope,
                _show(cost.level.bandwidth, "B/s"),
                _show(cost.capacity, "B"),
                _show(cost.level.chip_capacity * cost.capacity / cost.level.capacity, "B"),
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
        return self._capacities(result), self._costs(result)

    def _capacities(self, result: Placement) -> Scene:
        blocks = tuple(
            (_SMALLEST, row - _HALF, cost.capacity, row + _HALF, _tone(cost, result))
            for cost, row in _with_rows(result)
        )
        size, home = result.size, _ROWS[result.home.level.key]
        marks: tuple[AnyMark, ...] = (
            Blocks("capacities", blocks, 0.35),
            Line("tensor", (size, size), (_BOTTOM, _TOP), "ink", "dashed"),
            Points("home", (size,), (home,), "blue" if result.fits else "red", "diamond", 130),
            _level_words(result, at_the_edge=False),
            _level_words(result, at_the_edge=True),
        )
        handles = (
            *(
                Handle(cost.level.key, cost.level.key, cost.capacity, row)
                for cost, row in _with_rows(result)
                if cost.level.key in _RESIZED
            ),
            Handle("size", "size", size, _TOP),
            Handle("tensor", "size", size, home, "xy"),
        )
        ticks = decades(_SMALLEST, _CAPACITY_END)
        words = tuple(_show(tick, "B") for tick in ticks)
        across = Axis("Capacity on an A100", _SMALLEST, _CAPACITY_END, True, ticks, words)
        legend = (
            (f"Your tensor, {_show(size, 'B')}", "ink", "dashed"),
            _home_entry(result, "diamond"),
            *_LEVEL_LEGEND,
        )
        return Scene(across, _LEVEL_AXIS, marks, 250, legend, handles)

    def _costs(self, result: Placement) -> Scene:
        one = result.levels[0].trip.time
        unfused, fused, ends = [], [], []
        for cost, row in _with_rows(result):
            tone = _tone(cost, result)
            end = float(cost.chain.unfused_time / one)
            unfused.append((_COST_START, row - _HALF, end, row + _HALF, tone))
            reach = float(cost.chain.fused_time / one)
            fused.append((_COST_START, row - _HALF / 2, reach, row + _HALF / 2, tone))
            ends.append((end * 1.25, row, _show(end, "×")))
        marks: tuple[AnyMark, ...] = (
            Blocks("unfused", tuple(unfused), 0.35),
            Blocks("fused", tuple(fused), 0.9),
            notes("unfused costs", ends, above=False),
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
            _home_entry(result, "block"),
            *_LEVEL_LEGEND,
        )
        return Scene(across, _LEVEL_AXIS, marks, 250, legend)


_LEVEL_AXIS = Axis(
    "",
    _BOTTOM,
    _TOP,
    ticks=tuple(sorted(_ROWS.values())),
    words=tuple(reversed(_SHORT.values())),
    grid=False,
)
_LEVEL_LEGEND = (("Holds it", "green", "block"), ("Too small", "gray", "block"))


def _home_entry(result: Placement, sign: str) -> tuple[str, str, str]:
    return ("Lives here", "blue", sign) if result.fits else ("Does not fit here", "red", sign)


def _compared(cost: LevelCost) -> str:
    if cost.level is _LEVELS[0]:
        return ", and no level is faster"
    return f", {_show(cost.slowdown)} times as long as a trip to registers"


def _level_words(result: Placement, *, at_the_edge: bool) -> Words:
    """The words of the levels: those at the right edge of the plot, or the others."""
    shown = [
        (cost, row)
        for cost, row in _with_rows(result)
        if _at_the_edge(cost.capacity, result.size) is at_the_edge
    ]
    places = []
    for cost, row in shown:
        x = _CAPACITY_END if at_the_edge else _word_start(cost.capacity)
        size, bandwidth = _show(cost.capacity, "B"), _show(cost.level.bandwidth, "B/s")
        places.append((x, row, f"{size} ({_BESIDE[cost.level.scope]}), {bandwidth}"))
    if at_the_edge:
        return notes("levels at the edge", places, "end", above=False)
    return notes("levels", places, above=False)


def _at_the_edge(capacity: float, size: float) -> bool:
    """Whether the line of the tensor would run through words beside the bar."""
    start = _word_start(capacity)
    return capacity < start < size <= _CLEAR


def _word_start(capacity: float) -> float:
    """Where the words of a level begin: in its bar, or right of the handle if that is too short."""
    return 2.0 if capacity >= _ROOMY else 4 * capacity


def _with_rows(result: Placement) -> list[tuple[LevelCost, float]]:
    return [(cost, _ROWS[cost.level.key]) for cost in result.levels]


def _tone(cost: LevelCost, result: Placement) -> str:
    if cost is result.home:
        return "blue" if cost.holds else "red"
    return "green" if cost.holds else "gray"


def _trips(count: ph.Numeric) -> str:
    return ph.counted(count, "trip")
