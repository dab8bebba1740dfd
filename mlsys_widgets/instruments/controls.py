"""The inputs of an instrument: traits that know how they are shown, read and limited.

A control is a traitlet with a label, a unit, limits and a sentence of help. Declared on an
instrument it is at once its trait, its validation and its place on the control panel::

    n = Slider("Matrix size N", default=512, low=16, high=16384, log=True, whole=True, help="…")

A control is generic over the value it holds, so ``self.n`` is a float to the type checker too.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from traitlets import HasTraits, TraitType

from mlsys_widgets.wording.units import format_quantity, parse_quantity

T = TypeVar("T")
#: A key that can be chosen: a string, or a ``Literal`` of a few of them.
K = TypeVar("K", bound=str)


class Control(TraitType[T, Any]):
    """Base of the controls. Their order of declaration is their order on the panel."""

    _order = itertools.count()
    #: Whether the options depend on other inputs.
    varies = False

    def __init__(self, label: str, *, default: T, help: str, rare: bool = False) -> None:
        super().__init__(default_value=default, help=help)
        self.label = label
        #: Whether it is rarely used, and stands behind "More".
        self.rare = rare
        self.order = next(self._order)

    def validate(self, obj: Any, value: Any) -> T:
        """Return the value as it is stored, or refuse it with a sentence."""
        raise NotImplementedError

    def plausible(self, instrument: HasTraits, value: Any) -> T:
        """Check what can be checked before inputs that depend on each other are adjusted."""
        return self.validate(instrument, value)

    def shown(self, value: T) -> str:
        """Return the value as people read it."""
        return str(value)

    def read(self, instrument: HasTraits, text: str) -> T:
        """Read what was typed, or refuse it with a sentence."""
        return self.validate(instrument, text)

    def spec(self, instrument: HasTraits) -> dict[str, Any]:
        """Return what the panel needs to draw this control."""
        return {"name": self.name, "label": self.label, "help": self.help, "rare": self.rare}


class Slider(Control[float]):
    """A number: a slider, and next to it a box that accepts ``30 s`` or ``134k``."""

    def __init__(
        self,
        label: str,
        *,
        default: float,
        low: float,
        high: float,
        help: str,
        unit: str = "",
        log: bool = False,
        whole: bool = False,
        zero: bool = False,
        rare: bool = False,
    ) -> None:
        super().__init__(label, default=float(default), help=help, rare=rare)
        self.low, self.high, self.unit = float(low), float(high), unit
        self.log, self.whole = log, whole
        if not self.low < self.high or not math.isfinite(self.high - self.low):
            raise ValueError(f"{label} runs from {low} to {high}; it must run from less to more")
        if log and self.low <= 0:
            raise ValueError(
                f"{label} starts at {low}; a logarithmic slider starts above zero, with zero=True "
                "for a stop at zero before that"
            )
        #: Whether a logarithmic slider begins with a stop at exactly zero.
        self.zero = zero
        self.validate(None, self.default_value)

    def validate(self, obj: Any, value: Any) -> float:
        """A finite number between the limits, and whole if it must be."""
        if isinstance(value, str):
            value = parse_quantity(value, self.unit)
        if isinstance(value, bool) or not hasattr(value, "__float__"):
            raise ValueError(f"{self.label} is {value!r}; it must be {self._allowed}")
        try:
            number = float(value)
        except OverflowError:  # an int beyond every float
            raise ValueError(f"{self.label} is far too large; it must be {self._allowed}") from None
        # Rounding in the browser may miss a limit by its last digit.
        if math.isclose(number, self.low, rel_tol=1e-9):
            number = self.low
        if math.isclose(number, self.high, rel_tol=1e-9):
            number = self.high
        if not self.low <= number <= self.high and not (self.zero and number == 0):
            shown = format_quantity(number, self.unit) if math.isfinite(number) else repr(value)
            raise ValueError(f"{self.label} is {shown}; it must be {self._allowed}")
        if self.whole and not number.is_integer():
            raise ValueError(f"{self.label} is {number:g}; it must be {self._allowed}")
        return number

    def snap(self, value: float) -> float:
        """The value nearest to one that a hand pointed at: in range, and short to write.

        Examples
        --------
        >>> size = Slider("N", default=512, low=16, high=16384, log=True, whole=True, help="…")
        >>> size.snap(3.2), size.snap(1234.5), size.snap(float("nan"))
        (16.0, 1230.0, 16.0)
        """
        if self.zero and value < self.low / 2:
            return 0.0
        # What is not a number is no place either; the lowest value is one.
        limited = self.low if math.isnan(value) else min(max(value, self.low), self.high)
        if limited in (self.low, self.high):
            return limited
        rounded = min(max(float(f"{limited:.3g}"), self.low), self.high)
        return float(round(rounded)) if self.whole else rounded

    @property
    def _allowed(self) -> str:
        low, high = (format_quantity(limit, self.unit) for limit in (self.low, self.high))
        kind = "a whole number " if self.whole else ""
        return f"{'0 or ' if self.zero else ''}{kind}between {low} and {high}"

    def shown(self, value: float) -> str:
        return format_quantity(value, self.unit)

    def spec(self, instrument: HasTraits) -> dict[str, Any]:
        return {
            **super().spec(instrument),
            "kind": "slider",
            "low": self.low,
            "high": self.high,
            "log": self.log,
            "whole": self.whole,
            "zero": self.zero,
            "allowed": self._allowed,
        }


class Count(Slider):
    """A number of things that may be large, written so that it fits into its box."""

    def shown(self, value: float) -> str:
        """Millions from a million up, and no unit: the label names what is counted."""
        if value >= 999_950:
            return f"{format_quantity(value / 1e6)} million"
        return format_quantity(value)


class Select(Control[K]):
    """One of several: a menu, or buttons when there are few."""

    def __init__(
        self,
        label: str,
        *,
        default: K,
        options: Mapping[K, str] | Callable[[Any], Mapping[K, str]],
        help: str,
        buttons: bool = False,
        rare: bool = False,
    ) -> None:
        super().__init__(label, default=default, help=help, rare=rare)
        self._options = options
        self.varies = callable(options)
        self.buttons = buttons

    def options(self, instrument: HasTraits) -> Mapping[K, str]:
        """Return what can be chosen now, each key with its words."""
        return self._options(instrument) if callable(self._options) else self._options

    def validate(self, obj: Any, value: Any) -> K:
        """A key of the options."""
        options = self.options(obj)
        if not isinstance(value, str) or value not in options:
            listed = ", ".join(options)
            raise ValueError(f"{self.label} is {value!r}; it must be one of: {listed}")
        return cast(K, value)

    def plausible(self, instrument: HasTraits, value: Any) -> K:
        """Any string will do for now if the options may still change with the other inputs."""
        if self.varies and isinstance(value, str):
            return cast(K, value)
        return self.validate(instrument, value)

    def spec(self, instrument: HasTraits) -> dict[str, Any]:
        options = [[key, words] for key, words in self.options(instrument).items()]
        kind = "buttons" if self.buttons else "menu"
        return {**super().spec(instrument), "kind": kind, "options": options}


class Several(Control[tuple[str, ...]]):
    """Any of several, each on or off."""

    def __init__(
        self,
        label: str,
        *,
        default: tuple[str, ...],
        options: Mapping[str, str],
        help: str,
        rare: bool = False,
    ) -> None:
        super().__init__(label, default=tuple(default), help=help, rare=rare)
        self.options = options

    def validate(self, obj: Any, value: Any) -> tuple[str, ...]:
        """Keys of the options, in the order of the options."""
        chosen = tuple(value) if isinstance(value, (list, tuple, set)) else (value,)
        for key in chosen:
            if not isinstance(key, str) or key not in self.options:
                listed = ", ".join(self.options)
                raise ValueError(f"{self.label} is {key!r}; each must be one of: {listed}")
        return tuple(key for key in self.options if key in chosen)

    def shown(self, value: tuple[str, ...]) -> str:
        return ", ".join(self.options[key] for key in value) or "none"

    def spec(self, instrument: HasTraits) -> dict[str, Any]:
        options = [[key, words] for key, words in self.options.items()]
        return {**super().spec(instrument), "kind": "several", "options": options}


class Switch(Control[bool]):
    """On or off."""

    def validate(self, obj: Any, value: Any) -> bool:
        """True or False, and nothing that merely counts as such."""
        if not isinstance(value, bool):
            raise ValueError(f"{self.label} is {value!r}; it must be True or False")
        return value

    def shown(self, value: bool) -> str:
        return "on" if value else "off"

    def spec(self, instrument: HasTraits) -> dict[str, Any]:
        return {**super().spec(instrument), "kind": "switch"}


def controls_of(kind: type[HasTraits]) -> dict[str, Control[Any]]:
    """The controls of an instrument, in the order of their declaration."""
    found = kind.class_traits().items()
    chosen = {name: trait for name, trait in found if isinstance(trait, Control)}
    return dict(sorted(chosen.items(), key=lambda pair: pair[1].order))
