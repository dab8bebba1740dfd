"""Waiting as an instrument: a busy server, the line before it, and the slow end of answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any, ClassVar, Literal

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.film import Film
from mlsys_widgets.drawing.scene import Handle, Scene
from mlsys_widgets.instruments.controls import Select, Slider
from mlsys_widgets.instruments.instrument import Instrument, NumberCard, Opens, Table
from mlsys_widgets.instruments.queue_film import film_of
from mlsys_widgets.instruments.queue_scenes import HIGHEST, LOWEST, latency_of, one_run
from mlsys_widgets.instruments.target import LimitedQuantity
from mlsys_widgets.wording.units import in_one_unit

_show = ph.format_quantity

Loop = Literal["open", "closed"]
#: The part of the requests that may take longer, by what the tail is then called.
LATER: Mapping[str, float] = {"p50": 0.5, "p90": 0.1, "p99": 0.01, "p99.9": 0.001}
#: How busy servers are in the table.
_ROWS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95)


class QueueExplorer(Instrument):
    """How long answers take while requests arrive at random: on average, and in the slow end.

    The time does not grow with the load, but with what is left of it: half of the spare time is
    twice the wait. One draw of requests is played beside the formula, because a mean hides that
    they wait together.

    Parameters
    ----------
    loops
        When the loop may be chosen: when this gate is open. Without one, from the start.
    fixed
        Controls that keep their values and are not shown.
    prediction
        The slow end in service times, drawn as a line.

    Examples
    --------
    >>> w = QueueExplorer(load="80%", service="10 ms")
    >>> round(w.result.slowdown, 1), round(w.result.tail_slowdown, 1)
    (5.0, 23.0)
    >>> w.set(loop="closed")
    >>> round(w.result.slowdown, 1)
    1.0
    """

    title = "A server and its line"
    showcase = ("load", "servers")
    plot_names = ("Response time", "One run")
    predictable: ClassVar[Mapping[str, str]] = {"tail_slowdown": "×", "slowdown": "×"}
    #: A service time is a unit here: no multiple of it depends on how long it is.
    depends: ClassVar[Mapping[str, Sequence[str]]] = {
        "tail_slowdown": ("load", "servers", "part", "loop"),
        "slowdown": ("load", "servers", "loop"),
    }
    headline = "response"
    quantities: ClassVar = {
        "tail": LimitedQuantity("s", "in time", "too late", "too late", ((0, "y"),)),
        "arrivals": LimitedQuantity("/s", "offered", "too few", "too few"),
        "capacity": LimitedQuantity("/s", "affordable", "too much", "too much"),
    }

    load = Slider(
        "Busy",
        default=0.5,
        low=LOWEST,
        high=HIGHEST,
        unit="%",
        help="Fraction of the time in which a server works.",
    )
    service = Slider(
        "Service time",
        default=10e-3,
        low=1e-4,
        high=100,
        unit="s",
        log=True,
        help="What a request takes when it is alone, on average.",
    )
    servers = Slider(
        "Servers",
        default=1,
        low=1,
        high=16,
        whole=True,
        help="They share one line; each is as fast as the service time says.",
    )
    part = Select(
        "Slow end",
        default="p99",
        options={key: key for key in LATER},
        buttons=True,
        help="p99 is the time that one request in a hundred exceeds.",
    )
    loop: Select[Loop] = Select(
        "Who sends",
        default="open",
        options={"open": "Users", "closed": "One client that waits"},
        buttons=True,
        help="Users send whenever they like. The client sends nothing before it has its answer.",
    )

    def __init__(
        self, *, loops: Opens | None = None, fixed: Collection[str] = (), **options: Any
    ) -> None:
        self._loops, self._fixed = loops, frozenset(fixed)
        super().__init__(**options)
        if loops is not None and not loops.is_open:
            loops.on_open(self._show)

    def hidden(self) -> AbstractSet[str]:
        """What is fixed, the loop until it may be chosen, servers that one client leaves idle."""
        if self._loops is not None and not self._loops.is_open:
            return self._fixed | {"loop"}
        return self._fixed | ({"servers"} if self.loop == "closed" else set())

    def compute(self) -> ph.Queue:
        later = LATER[self.part]
        if self.loop == "closed":
            return ph.one_client(self.load / self.service, self.service, later=later)
        arrivals = self.load * self.servers / self.service
        return ph.queue(arrivals, self.service, self.servers, later)

    @property
    def capacity(self) -> float:
        """Requests per second that all servers together complete while they are busy."""
        return float(self.result.servers / self.result.service)

    # What it says.

    def cards(self, result: ph.Queue) -> Sequence[NumberCard]:
        return [
            ("Mean", _show(result.response, "s"), "blue"),
            (self.part, _show(result.tail, "s"), "red"),
            ("Mean over service", _show(result.slowdown, "×"), "blue"),
            (f"{self.part} over service", _show(result.tail_slowdown, "×"), "red"),
            ("Arrivals", _show(result.arrivals, "/s"), "gray"),
            ("In line or served", _show(result.in_system), "gray"),
            ("Waiting, on average", _show(max(0.0, float(result.wait)), "s"), "orange"),
        ]

    def sentence(self, result: ph.Queue) -> str:
        many = f"{ph.counted(result.servers, 'server')} that"
        many += " is" if result.servers == 1 else " are"
        service, mean, tail = in_one_unit("s", result.service, result.response, result.tail)
        return (
            f"{self._sent(result)}. With {many} busy {_show(result.utilization, '%')} of the"
            f" time and {service} of service, an answer takes {mean} on average, and {self.part} is"
            f" {tail}.{self._predicted_words(result)}"
        )

    def remark(self, result: ph.Queue) -> str:
        return (
            f"{self._sent(result)}. On average {_show(result.in_system)} are in line or served, and"
            f" an answer takes {_show(result.slowdown, '×')} its service; {self.part} takes"
            f" {_show(result.tail_slowdown, '×')}.{self._predicted_words(result)}"
        )

    def _sent(self, result: ph.Queue) -> str:
        rate = _show(result.arrivals, "/s")
        if self.loop == "closed":
            return f"One client sends {rate}, each after the answer to the one before"
        return f"Users send {rate} at random"

    def _predicted_words(self, result: ph.Queue) -> str:
        found = self.prediction
        if found is None or found.value is None:
            return ""
        which = "mean" if found.quantity == "slowdown" else self.part
        return f" Your prediction of the {which} was {_show(found.value, '×')}."

    def table(self, result: ph.Queue) -> Table:
        header = ("Busy", "Arrivals", "Mean", self.part, "In line or served")
        rows = []
        for load in sorted({*_ROWS, self.load}):
            there = replace(result, arrivals=load * result.servers / result.service)
            numbers = (there.arrivals, "/s"), (there.response, "s"), (there.tail, "s")
            cells = [_show(value, unit) for value, unit in numbers]
            rows.append((_show(load, "%"), *cells, _show(there.in_system)))
        return header, rows

    def film(self, result: ph.Queue) -> Film:
        """Requests that arrive, wait in line and are served."""
        return film_of(result, self.loop == "closed")

    # What it draws.

    def scenes(self, result: ph.Queue) -> tuple[Scene, ...]:
        guess = self.prediction
        return (
            latency_of(result, self.load, self.part, guess.value if guess else None),
            one_run(result, self.loop == "closed"),
        )

    def dragged(self, handle: Handle, x: float, y: float) -> dict[str, Any]:
        """The load is the axis across."""
        return {"load": x}
