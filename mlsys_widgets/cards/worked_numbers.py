"""The numbers behind a comparison, as cards: label, value with its unit, and how it comes about.

An author gives them by name, as ``{"Intensity": (31.5, "FLOP/B")}``, or hands over a result of
physics, whose every step becomes a card with its formula and the numbers in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mlsys_widgets.physics import notation
from mlsys_widgets.physics.derivation import Step
from mlsys_widgets.physics.result import Explained, Result
from mlsys_widgets.wording.units import format_quantity

#: Words, a number, or a number with its unit and, if you like, a note.
WorkedNumber = str | float | tuple[float, str] | tuple[float, str, str]
#: Several of them by label, or the steps of a result. Each may be a function that is called when
#: it is shown.
Worked = (
    Result
    | Mapping[str, WorkedNumber | Callable[[], WorkedNumber]]
    | Iterable[tuple[str, WorkedNumber | Callable[[], WorkedNumber]]]
)
#: Label, value, tone and note, as ``parts.Numbers`` takes them.
NumberCard = tuple[str, str, str, str]


def number_cards(worked: Worked | Callable[[], Worked] | None, tone: str) -> tuple[NumberCard, ...]:
    """Lay out worked numbers as cards.

    Examples
    --------
    >>> from mlsys_widgets import physics as ph
    >>> number_cards({"Ridge": (152.9, "FLOP/B")}, "blue")
    (('Ridge', '152.9 FLOP/B', 'blue', ''),)
    >>> product = ph.gemm(512, 512, 512, 2)
    >>> number_cards({"Intensity": product.intensity}, "blue")
    (('Intensity', '170.7 FLOP/B', 'blue', 'I = W / Q = 268.4 MFLOP / 1.57 MB'),)
    """
    given: Any = worked() if callable(worked) else worked
    if given is None:
        return ()
    if isinstance(given, Result):
        steps = given.derivation().steps
        return tuple((step.title, step.shown, tone, _equation(step)) for step in steps)
    pairs = given.items() if isinstance(given, Mapping) else given
    return tuple(_card(label, number, tone) for label, number in pairs)


def shown_number(number: Any) -> tuple[str, str]:
    """A worked number as people read it, and the note that belongs to it.

    Examples
    --------
    >>> shown_number((0.0015, "s")), shown_number("memory-bound"), shown_number((2, "×", "of 4"))
    (('1.5 ms', ''), ('memory-bound', ''), ('2×', 'of 4'))
    """
    number = number() if callable(number) else number
    if isinstance(number, str):
        return number, ""
    value, unit, note = (*number, "", "")[:3] if isinstance(number, tuple) else (number, "", "")
    if isinstance(value, Explained):
        step = value.derivation().steps[-1]
        return format_quantity(value, unit or step.quantity.unit), note or _equation(step)
    if value is None:
        return "none", note
    return format_quantity(value, unit), note


def _card(label: str, number: Any, tone: str) -> NumberCard:
    try:
        value, note = shown_number(number)
    except (TypeError, ValueError) as problem:
        raise ValueError(
            f"{label} cannot be shown ({problem}); give words, a number, or (number, unit)"
        ) from None
    return label, value, tone, note


def _equation(step: Step) -> str:
    """The formula with its numbers; the value itself is on the card."""
    left, *chain = step.equation(notation.TEXT)
    return " = ".join([left, *chain[:-1]]) if len(chain) > 1 else ""
