"""A KV cache as an instrument: rooms for the longest request, or pages, and who waits for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, ClassVar

import numpy as np

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.film import Film
from mlsys_widgets.drawing.scene import Handle, Scene
from mlsys_widgets.instruments.cache_film import film_of
from mlsys_widgets.instruments.cache_scenes import cache_over_time, line_over_time, moments
from mlsys_widgets.instruments.controls import Select, Slider
from mlsys_widgets.instruments.instrument import Instrument, NumberCard, Table
from mlsys_widgets.instruments.target import LimitedQuantity
from mlsys_widgets.measured.cache_runs import TOKEN, USUAL, CacheRun, longest, play, rooms
from mlsys_widgets.physics.serving_simulation import Policy
from mlsys_widgets.wording.units import in_one_unit

_show = ph.format_quantity
_POLICIES: dict[Policy, str] = {
    "static": "Static batches",
    "continuous": "Continuous",
    "paged": "Pages",
}
#: How many moments the table has.
_ROWS = 8


class PagedCache(Instrument):
    """What a serving engine keeps in its KV cache, and who waits for a place in it.

    The requests are those that were replayed on an H200. Where every slot is a room for the
    longest request, most of the memory holds nothing; pages are handed out as tokens come, so more
    users share the same memory. Too many of them, and pages run out.

    Parameters
    ----------
    prediction
        The part of the cache that holds tokens, drawn as a line.

    Examples
    --------
    >>> w = PagedCache(policy="static")
    >>> round(w.result.filled, 2), w.result.handed_out > 0.99
    (0.09, True)
    >>> w.set(policy="continuous", memory="1.61 GB")
    >>> reserved = w.run.served.users
    >>> w.set(policy="paged")
    >>> w.run.served.users / reserved > 1.8
    True
    """

    title = "A cache and its users"
    showcase = ("policy", "memory")
    evidence = ("replays",)
    plot_names = ("The cache", "The line")
    leading = ("Holds tokens", "Users at once")
    predictable: ClassVar[Mapping[str, str]] = {"filled": "%"}
    headline = "filled"
    quantities: ClassVar = {
        "wait": LimitedQuantity("s", "in time", "too late", "too late"),
        "pace": LimitedQuantity("s", "in time", "too slow", "too slow"),
        "memory": LimitedQuantity("B", "affordable", "too much", "too much"),
        "load": LimitedQuantity("/s", "offered", "too few", "too few"),
    }

    policy: Select[Policy] = Select(
        "Memory is handed out",
        default="continuous",
        options=_POLICIES,
        buttons=True,
        help="Static: rooms for a batch that starts and ends together. Continuous: a room as soon "
        "as one is free. Pages: no more than the tokens need.",
    )
    memory = Slider(
        "Memory of the cache",
        default=6.44e9,
        low=0.81e9,
        high=13e9,
        unit="B",
        log=True,
        help="For keys and values, beside weights and everything else.",
    )
    block = Slider(
        "Tokens per page",
        default=16,
        low=1,
        high=256,
        log=True,
        whole=True,
        help="A page is handed out whole.",
    )
    load = Slider(
        "Requests per second",
        default=USUAL,
        low=2,
        high=40,
        help="The requests stay the same; they come faster or slower.",
    )
    most = Slider(
        "At once, at most",
        default=256,
        low=1,
        high=256,
        log=True,
        whole=True,
        help="Users whose answers are written at the same time, if the memory has room.",
    )

    def hidden(self) -> AbstractSet[str]:
        """The size of pages where there are none."""
        return set() if self.policy == "paged" else {"block"}

    @property
    def run(self) -> CacheRun:
        """The run that is shown."""
        return play(self.policy, self.memory, int(self.block), self.load, int(self.most))

    def compute(self) -> ph.CacheUse:
        served = self.run.served
        return ph.cache_use(self.memory, TOKEN, served.kept, served.held)

    @property
    def wait(self) -> float:
        """Seconds to the first token that one request in ten exceeds."""
        return self.run.wait

    @property
    def pace(self) -> float:
        """Seconds for each token after the first, on average."""
        return self.run.pace

    # What it says.

    def cards(self, result: ph.CacheUse) -> Sequence[NumberCard]:
        served = self.run.served
        shown = [
            ("Holds tokens", _show(result.filled, "%"), "blue"),
            ("Users at once", _show(served.users), "green"),
            ("Handed out", _show(result.handed_out, "%"), "orange"),
            ("Used of that", _show(result.used, "%"), "blue"),
            ("First token, 9 of 10 within", _show(self.wait, "s"), "red"),
            ("Each further token", _show(self.pace, "s"), "gray"),
            ("Last answer after", _show(served.seconds, "s"), "gray"),
        ]
        if self.policy == "paged":
            shown.append(("Lost their pages", _show(served.again), "red"))
        else:
            shown.append(("Rooms", _show(self._rooms), "gray"))
        return shown

    @property
    def _rooms(self) -> int:
        return min(int(self.most), rooms(self.memory))

    def sentence(self, result: ph.CacheUse) -> str:
        out, holds = _show(result.handed_out, "%"), _show(result.filled, "%")
        return (
            f"{_show(self.load)} requests per second, {self._handed()}: {out} of"
            f" {_show(result.memory, 'B')} is handed out and {holds} holds tokens, on average."
            f" {_show(self.run.served.users)} users are served at once, and nine in ten have their"
            f" first token within {_show(self.wait, 's')}.{self._predicted_words()}"
        )

    def remark(self, result: ph.CacheUse) -> str:
        wait, pace = in_one_unit("s", self.wait, self.pace)
        return (
            f"Of the memory, {_show(result.handed_out, '%')} is handed out, {self._handed()}. Nine"
            f" in ten requests have their first token within {wait}; each further one takes {pace}."
            f"{self._predicted_words()}"
        )

    def _handed(self) -> str:
        if self.policy == "paged":
            return f"in pages of {ph.counted(self.block, 'token')}"
        each = f"{ph.counted(self._rooms, 'room')} of {ph.counted(longest(), 'token')}"
        return f"{each} for batches" if self.policy == "static" else each

    def _predicted_words(self) -> str:
        guess = self.predicted("filled")
        return "" if guess is None else f" You predicted {_show(guess, '%')}."

    def alert(self, result: ph.CacheUse) -> tuple[str, str] | None:
        again = self.run.served.again
        if not again:
            return None
        return (
            f"Pages ran out: {'once' if again == 1 else ph.counted(again, 'time')} an answer lost"
            " its pages, waited for others, and was read again from its start.",
            "red",
        )

    def table(self, result: ph.CacheUse) -> Table:
        times = moments(self.run, _ROWS)
        header = ("Time", "Handed out", "Holds tokens", "In line")
        rows = [
            (
                _show(time, "s"),
                _show(held / result.capacity, "%"),
                _show(kept / result.capacity, "%"),
                _show(waiting),
            )
            for time, held, kept, waiting in zip(times, *self.run.at(times), strict=True)
        ]
        return header, rows

    def film(self, result: ph.CacheUse) -> Film:
        """The first requests, their places in the cache, and what is in them."""
        return film_of(self.run, self.policy, int(self.block), rooms(self.memory))

    # What it draws.

    def scenes(self, result: ph.CacheUse) -> tuple[Scene, ...]:
        top = float(np.asarray(self.anchor("memory").memory))
        return (
            cache_over_time(self.run, result, top, self.predicted("filled")),
            line_over_time(self.run),
        )

    def dragged(self, handle: Handle, x: float, y: float) -> dict[str, Any]:
        """The memory is the height of its line."""
        return {"memory": y}
