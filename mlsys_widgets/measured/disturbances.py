"""What was odd about a measurement of a CPU: signs that something else was using the machine.

Three things are looked at. A product that comes out far slower than its neighbors was disturbed
while it was timed: the rate of a product rises with its size and then stays, so no size is much
slower than both the next smaller and the next larger one, and the largest ones are not much slower
than the best. A little server that takes longer than its requests ask for was held up. And a
machine that had much to do when the measurement began had something to do besides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from mlsys_widgets.measured.queries import points
from mlsys_widgets.measured.recorder import Document
from mlsys_widgets.measured.waiting import waiting_runs
from mlsys_widgets.wording.units import format_quantity

#: A product below this fraction of both its neighbors was disturbed. Sizes that fit a cache badly
#: lose a tenth to a fifth on quiet machines; a second program on two cores takes half.
DIP: Final = 0.7
#: The larger products of a quiet machine reach at least this fraction of its best one.
CALM: Final = 0.75
#: Processes that want to run, for each core of the machine, from which a measurement is disturbed.
#: Jupyter itself, which has just sent the order, stays well below it.
LOAD: Final = 0.75

#: As `cpu.machine.load_note` writes it.
_LOAD_NOTE: Final = re.compile(r"Load before: (\d{1,6}\.\d\d) on (\d{1,6}) cores\.")


def product_rates(document: Document) -> dict[int, float]:
    """Return the FLOP/s of each square product in fp32, by its side, the smallest first."""
    # A GPU's document has several variants of a product; the best of them is what it can do.
    rates: dict[int, float] = {}
    for point in points(document, "fp32", "gemm"):
        if point.is_square:
            n = int(point.shape["n"])
            rates[n] = max(point.attained, rates.get(n, 0.0))
    return dict(sorted(rates.items()))


def disturbances(document: Document) -> list[str]:
    """Return everything that was odd about a measurement, a sentence each."""
    rates = product_rates(document)
    return [*_dips(rates), *_slow_at_the_end(rates), *_held_up(document), *_busy(document)]


def _dips(rates: Mapping[int, float]) -> list[str]:
    sides = list(rates)
    return [
        f"The product of N = {n:,} came out at {format_quantity(rates[n], 'FLOP/s')}, far below its"
        f" neighbors N = {before:,} and N = {after:,}."
        for before, n, after in zip(sides, sides[1:], sides[2:], strict=False)
        if rates[n] < DIP * min(rates[before], rates[after])
    ]


def _slow_at_the_end(rates: Mapping[int, float]) -> list[str]:
    if not rates or max(list(rates.values())[-2:]) >= CALM * max(rates.values()):
        last = list(rates.items())[-2:]
        if len(last) < 2 or last[1][1] >= DIP * last[0][1]:
            return []
        (before, _), (n, rate) = last
        shown = format_quantity(rate, "FLOP/s")
        return [f"The product of N = {n:,} came out at {shown}, far below that of N = {before:,}."]
    return ["The largest products came out slower than a small one."]


def _held_up(document: Document) -> list[str]:
    held = [run for run in waiting_runs(document) if run.was_held_up]
    if not held:
        return []
    worst = max(held, key=lambda run: run.service / run.drawn_service)
    took, asked = (format_quantity(each, "s") for each in (worst.service, worst.drawn_service))
    return [f"The server took {took} for requests of {asked}, so it had to wait for the processor."]


def _busy(document: Document) -> list[str]:
    for note in document["method"].get("notes", ()):
        if found := _LOAD_NOTE.fullmatch(note):
            load, cores = float(found[1]), int(found[2])
            if load > LOAD * max(cores, 1):
                return [
                    f"When it began, the machine had a load of {load:g} on {cores} cores, so other"
                    " programs were running."
                ]
    return []
