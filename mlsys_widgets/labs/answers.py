"""What was typed into an answer cell: as plain data, and whether it can be used at all."""

from __future__ import annotations

import math
from textwrap import fill
from typing import Any, Final

import numpy as np

from mlsys_widgets.labs.items import Choice, Number
from mlsys_widgets.physics import format_quantity

Plain = int | float | str | bool | None

#: Printed sentences are broken at this width: pages of feedback break none, and show little more
#: between the side bars of JupyterLab.
_WIDTH: Final = 72

_NUMPY_NUMBERS = (np.floating, np.integer)


class Unusable(ValueError):
    """An answer that cannot be graded as it is. A notebook shows the sentence and no traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def say(sentence: str) -> None:
    """Print a sentence below a cell."""
    print(fill(sentence, _WIDTH, break_long_words=False, break_on_hyphens=False))


def plain(value: Any) -> Plain:
    """A typed value as exactly int, float, str, bool or None, whatever it pretends to be.

    Nothing of the value's own is called: a subclass cannot say that it is another number than it
    is. What is no plain value at all is refused.

    Examples
    --------
    >>> import numpy as np
    >>> plain(np.float32(0.5)), plain(True), plain(" eager ")
    (0.5, True, ' eager ')
    """
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value  # type: ignore[no-any-return]
    # Physics returns floats that know where they come from; numpy's float64 is one as well.
    if issubclass(kind, float):
        return float.__add__(value, 0.0)
    if issubclass(kind, int):
        return int.__add__(value, 0)
    if issubclass(kind, _NUMPY_NUMBERS) and kind.__module__ == "numpy":
        # item() of an extended float would be one again.
        return float(value) if issubclass(kind, np.floating) else kind.item(value)
    raise Unusable(f"it is a {kind.__name__}, not a number or a text")


def in_unit(item: Number) -> str:
    """What is to be typed, in words."""
    return "a number, how many times" if item.unit == "times" else f"a number, in {item.unit}"


def usable(name: str, item: Number | Choice, value: Any) -> tuple[Plain, str]:
    """The answer and a sentence that repeats it, or a refusal that says what to type.

    Nothing here knows the key.

    Examples
    --------
    >>> item = Number("How busy?", "percent", points=5, low=0, high=100)
    >>> print(usable("busy_pct", item, 33.3)[1])
    busy_pct = 33.3 percent. It can be graded.
    >>> usable("busy_pct", item, ...)
    Traceback (most recent call last):
    ...
    mlsys_widgets.labs.answers.Unusable: busy_pct is not answered yet: replace the three dots by a
    number, in percent.
    """
    wanted = (
        in_unit(item)
        if isinstance(item, Number)
        else "one of: " + ", ".join(f'"{key}"' for key in item.options)
    )
    if value is ... or value is None:
        raise Unusable(f"{name} is not answered yet: replace the three dots by {wanted}.")
    try:
        answer = plain(value)
    except Unusable as reason:
        raise Unusable(f"{name} cannot be used: {reason}. Type {wanted}.") from None
    if isinstance(item, Choice):
        return _usable_choice(name, item, answer, wanted)
    return _usable_number(name, item, answer, wanted)


def _usable_choice(name: str, item: Choice, answer: Plain, wanted: str) -> tuple[Plain, str]:
    chosen = choice(answer)
    if chosen is None or chosen not in item.options:
        raise Unusable(f"{name} is {answer!r}; it must be {wanted}, in quotes.")
    return chosen, f'{name} = "{chosen}": {item.options[chosen]}. It can be graded.'


def choice(answer: Plain) -> str | None:
    """A chosen word without the spaces and capitals that people add to it."""
    return answer.strip().casefold() if isinstance(answer, str) else None


def _usable_number(name: str, item: Number, answer: Plain, wanted: str) -> tuple[Plain, str]:
    if isinstance(answer, str):
        raise Unusable(f"{name} is the text {answer!r}; type {wanted}, without quotes or unit.")
    if isinstance(answer, bool) or answer is None:
        raise Unusable(f"{name} is {answer!r}; it must be {wanted}.")
    try:
        finite = math.isfinite(answer)
    except OverflowError:
        finite = False
    if not finite:
        raise Unusable(f"{name} is no finite number; it must be {wanted}.")
    if not item.low <= answer <= item.high:
        hint = f" {item.hint}" if item.hint else ""
        raise Unusable(
            f"{name} = {_short(answer)} cannot be right: nothing of the kind lies outside of"
            f" {_short(item.low)} to {_short(item.high)} {item.unit}.{hint}"
        )
    return answer, f"{name} = {_short(answer)} {item.unit}. It can be graded."


def _short(value: float) -> str:
    return f"{value:.3g}" if 0 < abs(value) < 1e-3 else format_quantity(value)
