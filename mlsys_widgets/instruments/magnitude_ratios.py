"""How many times more of something one device has than another."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mlsys_widgets import physics as ph
from mlsys_widgets.physics import notation

_show = ph.format_quantity
#: What is compared, by name.
QUANTITIES = {"compute": "Compute", "bandwidth": "Bandwidth", "memory": "Memory", "power": "Power"}
_SYMBOLS = {"compute": "R", "bandwidth": "BW", "memory": "C", "power": "P"}


@dataclass(frozen=True)
class Ratio:
    """One quantity of two named devices."""

    quantity: str
    device: str
    other: str
    value: float
    other_value: float
    #: Both values as people read them; a peak names its precision.
    words: str
    other_words: str

    @property
    def ratio(self) -> float:
        """The device's value as a multiple of the other's."""
        return self.value / self.other_value

    @property
    def orders(self) -> float:
        """The ratio in orders of magnitude; negative if the device has less."""
        return math.log10(self.ratio)

    @property
    def comparison(self) -> str:
        """The ratio in words: a factor above one, and its direction."""
        if self.ratio == 1:
            return "equal"
        more = self.ratio > 1
        return f"{_show(max(self.ratio, 1 / self.ratio), '×')} {'more' if more else 'less'}"

    def _step(self) -> ph.Step:
        symbol = _SYMBOLS[self.quantity]
        names = [f"{symbol}_{name}" for name in (self.device, self.other)]
        formula: dict[notation.Notation, str] = {}
        numbers: dict[notation.Notation, str] = {}
        for how in notation.NOTATIONS:
            formula[how] = how.quotient(*(how.symbol(name) for name in names))
            values = (how.quantity(words) for words in (self.words, self.other_words))
            numbers[how] = how.quotient(*values)
        return ph.Step(self._named, formula, numbers, self.ratio)

    @property
    def _named(self) -> ph.Quantity:
        about = f"{self.quantity} of {self.device} over {self.other}"
        return ph.Quantity(self.quantity, f"r_{self.quantity}", "×", about)


@dataclass(frozen=True)
class Landscape:
    """The four ratios between two devices."""

    compute: Ratio
    bandwidth: Ratio
    memory: Ratio
    power: Ratio

    @property
    def ratios(self) -> dict[str, Ratio]:
        """All four, by quantity."""
        return {name: getattr(self, name) for name in QUANTITIES}

    def outputs(self) -> dict[str, ph.Quantity]:
        """Return the quantities that can be derived, by name."""
        return {name: ratio._named for name, ratio in self.ratios.items()}

    def derivation(self, *names: str) -> ph.Derivation:
        """Each ratio, or those named, with its numbers."""
        return ph.Derivation(tuple(self.ratios[name]._step() for name in names or QUANTITIES))
