"""How far a prediction is from the truth."""

from __future__ import annotations

import math
from typing import Any, Final

from mlsys_widgets.judging.keys import ChoiceKey, Key, NumberKey

#: Limits of a predicted number as a multiple of the true one, and what each range is called.
_RANGES: Final = (
    (0.1, "less than a tenth"),
    (1 / 3, "a tenth to a third"),
    (1.0, "too low, by less than 3 times"),
    (3.0, "too high, by less than 3 times"),
    (10.0, "3 to 10 times too high"),
    (math.inf, "more than 10 times too high"),
)
_CLOSE: Final = "close to the truth"
_OTHER: Final = "something else"
#: All ranges from low to high, with the right ones in the middle.
DISTANCES: Final = (*(name for _, name in _RANGES[:3]), _CLOSE, *(name for _, name in _RANGES[3:]))
#: Those on each side of the truth, by the name that the feedback of a prediction has for it.
SIDES: Final = {"low": DISTANCES[:3], "high": DISTANCES[4:]}


def is_right(key: Key | None, value: Any) -> bool:
    """Whether a prediction meets the key."""
    if isinstance(key, ChoiceKey):
        return bool(value == key.value)
    number = _number(value)
    return isinstance(key, NumberKey) and number is not None and key.reaches(key.value, number)


def distance(key: Key | None, value: Any) -> str:
    """Name the range in which a predicted number lies.

    Examples
    --------
    >>> key = NumberKey(100.0, tolerance=0.05)
    >>> distance(key, 101), distance(key, 250), distance(key, 5), distance(key, -5)
    ('close to the truth', 'too high, by less than 3 times', 'less than a tenth', 'something else')
    """
    if is_right(key, value):
        return _CLOSE
    if key is None:
        return "predicted"
    number = _number(value)
    if not isinstance(key, NumberKey) or number is None:
        return _OTHER
    if not key.value or number / key.value < 0:
        return _OTHER
    return next(name for limit, name in _RANGES if number / key.value <= limit)


def _number(value: Any) -> float | None:
    """A value of a ledger as a number; ``None`` if it is none, or has hundreds of digits."""
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
