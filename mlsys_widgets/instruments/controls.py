"""The inputs of an instrument: traits that know how they are shown, read and limited.

A control is a traitlet with a label, a unit, limits and a sentence of help. Declared on an
instrument it is at once its trait, its validation and its place on the desk::

    n = Slider("Matrix size N", default=512, low=16, high=16384, log=True, whole=True, help="…")
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from traitlets import TraitType

from mlsys_widgets.physics import format_quantity, parse_quantity

if TYPE_CHECKING:
    from mlsys_widgets.instruments.instrument import Instrument

Options = Mapping[str, str]


class Control(TraitType[Any, Any]):
    """Base of the controls: remembers the order of declaration, which is the order on the desk."""

    _order = itertools.count()
    #: Whether what can be chosen depends on other inputs.
    varies = False

    def __init__(self, label: str, *, default: Any, help: str) -> None:
        super().__init__(default_value=default, help=help)
        self.label = label
        self.order = next(self._order)

    def validate(self, obj: Any, value: Any) -> Any:
        """Give the value back as it is kept, or refuse it with a sentence."""
        raise NotImplementedError

    def plausible(self, instrument: Any, value: Any) -> Any:
        """Check what can be checked before inputs that depend on each other are adjusted."""
        return self.validate(instrument, value)

    def shown(self, value: Any) -> str:
        """The value as people read it."""
        return str(value)

    def read(self, instrument: Instrument, text: str) -> Any:
        """Read what was typed, or refuse it with a sentence."""
        return self.validate(instrument, text)

    def spec(self, instrument: Instrument) -> dict[str, Any]:
        """What the desk needs to draw this control."""
        return {"name": self.name, "label": self.label, "help": self.help}


class Slider(Control):
    """A number: a slider, and beside it a box that takes ``30 s`` or ``134k``."""

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
    ) -> None:
        super().__init__(label, default=float(default), help=help)
        self.low, self.high, self.unit = float(low), float(high), unit
        self.log, self.whole = log, whole
        #: Whether a logarithmic slider begins with a stop at exactly zero.
        self.zero = zero

    def validate(self, obj: Any, value: Any) -> float:
        """A finite number between the limits, whole if it must be."""
        if isinstance(value, str):
            value = parse_quantity(value, self.unit)
        if isinstance(value, bool) or not hasattr(value, "__float__"):
            raise ValueError(f"{self.label} is {value!r}; it must be {self._allowed}")
        number = float(value)
        if self.whole and math.isfinite(number):
            number = float(round(number))
        # A slider's end may miss its limit by the last digit of its arithmetic.
        if math.isclose(number, self.low, rel_tol=1e-9):
            number = self.low
        if math.isclose(number, self.high, rel_tol=1e-9):
            number = self.high
        if not self.low <= number <= self.high and not (self.zero and number == 0):
            shown = format_quantity(number, self.unit) if math.isfinite(number) else repr(value)
            raise ValueError(f"{self.label} is {shown}; it must be {self._allowed}")
        return number

    @property
    def _allowed(self) -> str:
        low, high = (format_quantity(limit, self.unit) for limit in (self.low, self.high))
        return f"{'0 or ' if self.zero else ''}between {low} and {high}"

    def shown(self, value: Any) -> str:
        """The value with its unit."""
        return format_quantity(value, self.unit)

    def spec(self, instrument: Instrument) -> dict[str, Any]:
        """A slider with its limits."""
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

    def shown(self, value: Any) -> str:
        """Millions from a million on, and no unit: the label names what is counted."""
        if value >= 999_950:
            return f"{format_quantity(value / 1e6)} million"
        return format_quantity(value)


class Choice(Control):
    """One of several; a menu, or buttons when they are few."""

    def __init__(
        self,
        label: str,
        *,
        default: str,
        options: Options | Callable[[Any], Options],
        help: str,
        buttons: bool = False,
    ) -> None:
        super().__init__(label, default=default, help=help)
        self._options = options
        self.varies = callable(options)
        self.buttons = buttons

    def options(self, instrument: Any) -> Options:
        """What can be chosen now, with the words for it."""
        return self._options(instrument) if callable(self._options) else self._options

    def validate(self, obj: Any, value: Any) -> str:
        """A key of the options."""
        options = self.options(obj)
        if not isinstance(value, str) or value not in options:
            listed = ", ".join(options)
            raise ValueError(f"{self.label} is {value!r}; it must be one of: {listed}")
        return value

    def plausible(self, instrument: Any, value: Any) -> Any:
        """What can be chosen may change with the other inputs; a word it must be in any case."""
        return value if self.varies and isinstance(value, str) else self.validate(instrument, value)

    def spec(self, instrument: Instrument) -> dict[str, Any]:
        """A menu or buttons, with what can be chosen now."""
        options = [[key, words] for key, words in self.options(instrument).items()]
        kind = "buttons" if self.buttons else "menu"
        return {**super().spec(instrument), "kind": kind, "options": options}


class Several(Control):
    """Any of several, each on or off."""

    def __init__(
        self, label: str, *, default: tuple[str, ...], options: Options, help: str
    ) -> None:
        super().__init__(label, default=tuple(default), help=help)
        self.options = options

    def validate(self, obj: Any, value: Any) -> tuple[str, ...]:
        """Keys of the options, in the order of the options."""
        chosen = tuple(value) if isinstance(value, (list, tuple, set)) else (value,)
        for key in chosen:
            if not isinstance(key, str) or key not in self.options:
                listed = ", ".join(self.options)
                raise ValueError(f"{self.label} is {key!r}; each must be one of: {listed}")
        return tuple(key for key in self.options if key in chosen)

    def shown(self, value: Any) -> str:
        """The words for what is on."""
        return ", ".join(self.options[key] for key in value) or "none"

    def spec(self, instrument: Instrument) -> dict[str, Any]:
        """Boxes to tick."""
        options = [[key, words] for key, words in self.options.items()]
        return {**super().spec(instrument), "kind": "several", "options": options}


class Switch(Control):
    """On or off."""

    def __init__(self, label: str, *, default: bool, help: str) -> None:
        super().__init__(label, default=default, help=help)

    def validate(self, obj: Any, value: Any) -> bool:
        """A truth value."""
        if not isinstance(value, bool):
            raise ValueError(f"{self.label} is {value!r}; it must be True or False")
        return value

    def shown(self, value: Any) -> str:
        """On or off."""
        return "on" if value else "off"

    def spec(self, instrument: Instrument) -> dict[str, Any]:
        """One box to tick."""
        return {**super().spec(instrument), "kind": "switch"}


def controls_of(kind: type[Any]) -> dict[str, Control]:
    """The controls of an instrument, in the order of their declaration."""
    found = kind.class_traits().items()
    chosen = {name: trait for name, trait in found if isinstance(trait, Control)}
    return dict(sorted(chosen.items(), key=lambda pair: pair[1].order))
