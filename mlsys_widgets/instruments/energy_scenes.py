"""Scenes of the energy explorer: power and time of a token as an area, and its energy by batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.curves import Curve, Dots, curve_scene
from mlsys_widgets.drawing.scene import Axis, Blocks, Line, Scene, from_zero, notes
from mlsys_widgets.instruments.serving_curve import rounded
from mlsys_widgets.measured import cases
from mlsys_widgets.physics.model_kernels import Phase

_show = ph.format_quantity
MODEL, DEVICE = "llama31-8b", "h200-sxm"
MOST = 256
#: The batches that are drawn side by side, beside the one that is set.
BESIDE = (1.0, 4.0, 16.0, 64.0, 256.0)
#: The room between two of them, as a part of them all, and that around them.
_GAP, _EDGE = 0.05, 0.02
_BATCHES = np.unique(np.geomspace(1, MOST, 25).round())
_TICKS = (1.0, 4.0, 16.0, 64.0, 256.0)
#: How far from the left edge words are centered, as a part of all blocks.
_LETTERS = 0.065
#: Batches that differ by less than this factor are too slim to be named beside each other.
_APART = 1.7
#: How close to the limit of the card a batch is named above it, in watts.
_NEAR = 90.0
#: What the axis of power shows beyond the card's limit, in watts, and that of energy, in joules.
_TOP, _LEAST, _MOST_ENERGY = 800.0, 0.01, 30.0


def about(value: ph.Numeric, unit: str) -> str:
    """A number with the digits that the calibrated form deserves."""
    return _show(rounded(value), unit)


@lru_cache(256)
def step_of(work: Phase, batch: float, sequence: float) -> ph.StepEnergy:
    """A step of the model on the card, replayed from a graph."""
    return ph.step_energy(MODEL, DEVICE, work, batch, sequence)


@lru_cache(32)
def _steps(work: Phase, sequence: float) -> ph.StepEnergy:
    return ph.step_energy(MODEL, DEVICE, work, _BATCHES, sequence)


@lru_cache(32)
def measured(work: str, sequence: float) -> tuple[tuple[float, float, float], ...]:
    """Batch, watts and joules of a token, where a card was measured with such a context."""
    found = cases(DEVICE, kind="energy", variant="graph", work=work, sequence=int(sequence))
    each = 1 if work == "decode" else int(sequence)
    return tuple(
        (float(batch), case.energy["watts"], case.energy["joules"] / (batch * each))
        for case in found
        if case.energy
        for batch in (int(case.shape["batch"]),)
    )


_Block = tuple[float, float, float, float, str]


@dataclass(frozen=True)
class EnergyUse:
    """Tokens of a card, what they cost in joules, and what their electricity costs a place."""

    work: Phase
    batch: float
    sequence: float
    #: The part of the time in which the card works.
    busy: float
    grid: str
    center: str
    tokens: float
    #: Of electricity, in USD/J.
    price: float

    @property
    def step(self) -> ph.StepEnergy:
        """One step, in which every conversation writes a token, or reads its prompt."""
        return step_of(self.work, self.batch, self.sequence)

    @cached_property
    def service(self) -> ph.ServiceEnergy:
        """The card with its rests."""
        return self._service(self.step)

    def _service(self, step: ph.StepEnergy) -> ph.ServiceEnergy:
        return ph.service_energy(step.power, step.tokens / step.time, self.busy, step.idle)

    @cached_property
    def bill(self) -> ph.EnergyBill:
        """Electricity and carbon of all tokens."""
        return ph.energy_bill(
            self.tokens, self.energy_per_token, self.grid, self.center, self.price
        )

    @property
    def energy_per_token(self) -> float:
        """Energy of a token, rests included."""
        return float(self.service.energy_per_token)

    @property
    def power(self) -> float:
        """Mean power of the card."""
        return float(self.service.mean_power)

    @property
    def rate(self) -> float:
        """Tokens per second, on average."""
        return float(self.service.mean_rate)

    @property
    def token_time(self) -> float:
        """How long somebody waits for a token, or for a prompt to be read."""
        return float(self.step.time)

    @property
    def carbon(self) -> float:
        """What all tokens emit."""
        return float(self.bill.carbon)

    @property
    def cost(self) -> float:
        """What their electricity costs."""
        return float(self.bill.cost)

    @property
    def saving(self) -> float:
        """How many times the energy a token of one alone takes, beside the largest batch."""
        return self.at(1).energy_per_token / self.at(MOST).energy_per_token

    @property
    def waiting(self) -> float:
        """How many times the energy a token of the largest batch takes because of the rests."""
        return self.at(MOST).energy_per_token / self.at(MOST, 1.0).energy_per_token

    @property
    def by_batch(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Batches, and the energy of a token with each."""
        found = self._service(_steps(self.work, self.sequence)).energy_per_token
        return tuple(_BATCHES.tolist()), tuple(np.asarray(found).tolist())

    def at(self, batch: float, busy: float | None = None) -> EnergyUse:
        """The same with another batch."""
        return replace(self, batch=batch, busy=self.busy if busy is None else busy)

    @property
    def shown(self) -> list[EnergyUse]:
        """What is drawn side by side: other batches, or the same without rests.

        With rests, a token of one alone is a hundred times as wide as that of many: next to it,
        nobody would see the other.
        """
        if self.busy < 1:
            return [self.at(self.batch, 1.0), self]
        here = self.batch
        apart = [b for b in BESIDE if max(b / here, here / b) > _APART]
        return [self.at(batch) for batch in sorted((*apart, here))]


def areas(result: EnergyUse) -> Scene:
    """Draw tokens: as high as the power, as wide as the time, rests behind the work."""
    uses = result.shown
    widths = [1 / use.rate for use in uses]
    gap = _GAP * sum(widths)
    limit = float(result.step.limit)
    left = _EDGE * sum(widths)
    works: list[_Block] = []
    waits: list[_Block] = []
    now: list[_Block] = []
    labels = []
    for use, width in zip(uses, widths, strict=True):
        chosen = (use.batch, use.busy) == (result.batch, result.busy)
        at_work = left + use.busy * width
        block = (left, 0.0, at_work, float(use.step.power), "blue")
        (now if chosen else works).append(block)
        if use.busy < 1:
            waits.append((at_work, 0.0, left + width, float(use.step.idle), "orange"))
        level = float(use.step.power)
        named = limit if level > limit - _NEAR else level
        rested = "always busy" if use.busy == 1 else f"busy {_show(use.busy, '%')}"
        words = _show(use.batch) if result.busy == 1 else rested
        # Words above a slim block begin where it does.
        labels.append((max(left + width / 2, _LETTERS * sum(widths)), named, words))
        left += width + gap
    across = from_zero("Time of a token, side by side", left, "s")
    across = replace(across, high=left + _EDGE * sum(widths), ticks=across.ticks[:-1],
                     words=across.words[:-1])  # fmt: skip
    levels = tuple(100.0 * k for k in range(0, 9, 2))
    up = Axis("Power", 0.0, _TOP, ticks=levels, words=tuple(_show(w, "W") for w in levels))
    marks = (
        Line("limit", (across.low, across.high), (limit, limit), "red", "dashed", 1.5),
        Blocks("others", tuple(works), 0.35),
        Blocks("this batch", tuple(now), 0.9),
        Blocks("rests", tuple(waits), 0.6),
        notes("batches", labels, "middle"),
    )
    legend = [
        (f"{_show(result.batch)} at once: {about(result.energy_per_token, 'J/token')}",
         "blue", "block"),
        ("Limit of the card", "red", "dashed"),
    ]  # fmt: skip
    if waits:
        legend.insert(1, ("Waiting", "orange", "block"))
    return Scene(across, up, marks, 260, tuple(legend))


def energy_chart(result: EnergyUse, guess: tuple[float, float] | None) -> Scene:
    """Draw the energy of a token against the batch; a guess is a factor and the joules it means."""
    batches, joules = result.by_batch
    busy = replace(result, busy=1.0).by_batch[1] if result.busy < 1 else ()
    dots = measured(result.work, result.sequence)
    words = "" if guess is None else f"Your prediction for {_show(MOST)}, {_show(guess[0], '×')}"
    parts = (
        Curve(batches[: len(busy)], busy, "Never waiting", "textbook", "dashed", 2, name="busy"),
        Curve(batches, joules, "Energy of a token", "model", name="energy"),
        Dots([b for b, *_ in dots], [e for *_, e in dots], "Measured, never waiting", "measured",
             "square", 60, name="measured"),
        Dots(
            None if guess is None else float(MOST),
            None if guess is None else min(max(guess[1], _LEAST), _MOST_ENERGY),
            words, "prediction", "diamond", 130, name="prediction",
        ),
        Dots(result.batch, result.energy_per_token, "Now", "ink", "circle", 120, name="now",
             moves="batch"),
    )  # fmt: skip
    across = Axis(
        "Conversations at once", 1 / 1.15, MOST * 1.15, True, _TICKS, tuple(map(_show, _TICKS))
    )
    return curve_scene(across, _up(), parts, height=260)


def _up() -> Axis:
    ticks: Sequence[float] = (0.01, 0.1, 1.0, 10.0)
    return Axis(
        "Energy of a token", _LEAST, _MOST_ENERGY, True, tuple(ticks),
        tuple(_show(tick, "J") for tick in ticks),
    )  # fmt: skip
