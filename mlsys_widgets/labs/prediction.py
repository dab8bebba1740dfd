"""A prediction that is committed before instruments open: what is asked, and how it is read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from mlsys_widgets.labs.items import Item, Saved
from mlsys_widgets.wording.distance import Distance
from mlsys_widgets.wording.plurals import in_unit
from mlsys_widgets.wording.units import format_quantity, parse_quantity, plain_examples

USUAL_TITLE: Final = "Before you look: what do you expect?"

#: Into how many parts a scale is divided, and from which ratio of its ends it goes by decades.
_MARKS: Final = 100
_DECADES: Final = 1000

#: How numbers with a unit are typed.
_EXAMPLES: Final = {"%": "33%", "s": "5 µs or 2 hours", "B": "16 GB", "×": "2.4×"}


@dataclass(frozen=True)
class Prediction(Item):
    """A prediction that must be committed before instruments open.

    Parameters
    ----------
    question
        What is asked.
    options
        What can be chosen, key and words. Without them a number is asked for. People read the
        words; the key is what the ledger keeps.
    values
        The number each option stands for, if it does: a reveal measures distances with it.
    unit
        The unit of the number (of ``values``, or of what is typed), as physics names it.
    low, high
        Limits of a number that is typed.
    title
        The heading.
    distance
        ``"points"``, ``"times"``, ``"orders"`` or ``"difference"``: the terms in which a reveal
        measures how far off the prediction is.
    feedback
        A sentence for each option; for a number, a sentence for ``"low"``, ``"close"`` and
        ``"high"``.
    where
        Where the measurement of the reveal was taken.
    answer
        The option that is right, where options do not stand for numbers.
    example
        How a number may be typed, where the usual examples would mislead: ``"12"``.
    quantity
        What the number is about, by the name under which instruments draw it: ``"utilization"``,
        ``"speedup"``, ``"break_even"``. Empty if none of them should.
    settings
        The inputs of those instruments that the question names, with their values:
        ``{"device": "a100-sxm", "mode": "eager"}``. With other values the prediction is not drawn.

    Examples
    --------
    >>> images = Prediction("After how many images does compiling pay off?", unit="images")
    >>> images.read("134k"), images.in_words(134e3)
    (134000.0, '134,000 images')
    """

    kind = "Prediction"

    question: str
    options: Mapping[str, str] | None = None
    values: Mapping[str, float] | None = None
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    title: str = USUAL_TITLE
    distance: Distance | None = None
    feedback: Mapping[str, str] = field(default_factory=dict)
    where: str = ""
    answer: str | None = None
    quantity: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    example: str = ""

    def __post_init__(self) -> None:
        if self.options is not None and len(self.options) < 2:
            raise ValueError(f"the options are {dict(self.options)!r}; there must be at least two")
        if strangers := set(self.values or ()) - set(self.options or ()):
            raise ValueError(f"values name no option: {', '.join(sorted(strangers))}")

    def is_done(self, name: str, saved: Saved) -> bool:
        """Whether it was committed."""
        return name in saved.predictions

    def number(self, value: Any) -> float | None:
        """The number that was predicted, even if an option stands for it."""
        return value if isinstance(value, int | float) else (self.values or {}).get(value)

    def in_words(self, value: Any) -> str:
        """A prediction as people read it; an option's words keep their markup."""
        if self.options is None:
            is_number = isinstance(value, int | float)
            return format_quantity(value, self.unit) if is_number else str(value)
        return self.options.get(value, f"“{value}”, an option that is no longer offered")

    def read(self, value: Any) -> str | float:
        """Return what was entered as the ledger keeps it: an option's key, or a number in SI units.

        Raises
        ------
        ValueError
            With a sentence that says what is missing or what is allowed.
        """
        if self.options is not None:
            if value in (None, ""):
                raise ValueError("Choose one of the options first.")
            if not isinstance(value, str) or value not in self.options:
                listed = ", ".join(self.options)
                raise ValueError(f"The answer is {value!r}; it must be one of: {listed}.")
            return value
        if isinstance(value, str):
            if not value.strip():
                raise ValueError(f"Enter a number first: {self.hint}.")
            value = parse_quantity(value, self.unit, example=self._examples)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"The prediction is {value!r}; {self.hint}.")
        if not math.isfinite(value):
            raise ValueError(f"The prediction must be a finite number; {self.hint}.")
        if not self.low <= value <= self.high:
            raise ValueError(f"{format_quantity(value, self.unit)} is out of range; {self.hint}.")
        return float(value)

    @property
    def hint(self) -> str:
        """How to type the number, as the end of a sentence."""
        limits = [
            f"{word} {self._limit(limit)}"
            for word, limit in (("at least", self.low), ("at most", self.high))
            if math.isfinite(limit)
        ]
        such = f" such as {self._examples}" if self._examples else ""
        return ", ".join([f"type a number{such}", *limits])

    @property
    def scale(self) -> tuple[str, ...]:
        """What can be marked between the limits, evenly or by decades; empty without limits.

        The limits are in the hint too, so a scale tells nothing that the question does not.

        Examples
        --------
        >>> busy = Prediction("How busy is it?", unit="%", low=0, high=1).scale
        >>> busy[0], busy[33], busy[-1]
        ('0%', '33%', '100%')
        >>> Prediction("How long?", unit="s", low=1e-6, high=1).scale[8:12]
        ('9 µs', '10 µs', '20 µs', '30 µs')
        """
        low, high = self.low, self.high
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            return ()
        if low > 0 and high / low >= _DECADES:
            first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
            values = [float(f"{k}e{n}") for n in range(first, last + 1) for k in range(1, 10)]
        else:
            values = [float(f"{low + (high - low) * k / _MARKS:.3g}") for k in range(_MARKS + 1)]
        return tuple(self._limit(value) for value in values if low <= value <= high)

    @property
    def _examples(self) -> str:
        return self.example or _EXAMPLES.get(self.unit) or plain_examples(self.low, self.high)

    def _limit(self, limit: float) -> str:
        return in_unit(limit, self.unit)
