"""An instrument of one plot, declared as an author would: the ring of the tutorial."""

from __future__ import annotations

from dataclasses import dataclass

from mlsys_widgets.drawing.curves import Curve, Dots, Threshold
from mlsys_widgets.instruments.controls import Slider
from mlsys_widgets.instruments.curve_instrument import CurveInstrument
from mlsys_widgets.physics import Numeric, Result
from mlsys_widgets.physics.domain import POSITIVE
from mlsys_widgets.physics.result import derived, given


@dataclass(frozen=True, repr=False)
class RingTime(Result):
    """Each of n GPUs passes a chunk of 1/n of its data to its neighbor, 2 (n - 1) times."""

    data: Numeric = given("D", "B", "gradient on each GPU", POSITIVE)
    gpus: Numeric = given("n", "", "GPUs in the ring", POSITIVE)
    latency: Numeric = given("L", "s", "latency of a step", POSITIVE)

    @derived("t_links", "s", "time that the links are busy")
    def links(self) -> Numeric:
        return 2 * (self.gpus - 1) / self.gpus * self.data / 50e9

    @derived("T", "s", "time of the all-reduce")
    def total(self) -> Numeric:
        return self.links + 2 * (self.gpus - 1) * self.latency


class Ring(CurveInstrument):
    """How long a ring of GPUs takes to add up what each of them holds."""

    title = "Ring all-reduce"
    plot = (
        Curve(x="gpus", y="total", words="Time"),
        Curve(x="gpus", y="links", words="Links", tone="blue", dash="dashed"),
        Threshold("Budget", y="budget"),
        Dots(x=(8.0,), y=(36e-3,), words="Measured", tone="measured", symbol="triangle-up"),
    )

    gpus = Slider("GPUs", default=8, low=2, high=1024, log=True, whole=True, help="In the ring.")
    data = Slider("Gradient", default=1e9, low=1e4, high=1e11, log=True, unit="B", help="On each.")
    latency = Slider("Latency", default=1e-5, low=1e-7, high=1e-3, log=True, unit="s", help="Each.")
    budget = Slider("Budget", default=0.05, low=1e-4, high=10, log=True, unit="s", help="A step's.")

    def compute(self) -> RingTime:
        """The time of this ring."""
        return RingTime(data=self.data, gpus=self.gpus, latency=self.latency)
