"""Values that a ledger can keep: plain JSON, so that every reader in every language sees the same.

Numbers must be finite and text must be valid Unicode. Values are copied into exact types on the way
in, so what is read back after a restart equals what the kernel held before.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn

from mlsys_widgets.ledger.errors import ValueRefused

#: Larger whole numbers would overflow in readers that keep every number as a float.
LARGEST_INTEGER: Final = 10**300
#: No answer is nested more deeply, and a reader's stack has an end.
DEEPEST: Final = 32

LOWEST_CONFIDENCE: Final = 1
HIGHEST_CONFIDENCE: Final = 5
LONGEST_NAME: Final = 200
_CONTROL: Final = re.compile("[\x00-\x1f\x7f]")


def json_data(name: str, value: object) -> Any:
    """Return ``value`` as plain JSON data in exact types, or refuse it.

    Examples
    --------
    >>> json_data("answer", {"pair": (1, 2.5)})
    {'pair': [1, 2.5]}
    >>> json_data("answer", [1.0, float("nan")])
    Traceback (most recent call last):
    ...
    mlsys_widgets.ledger.errors.ValueRefused: answer[1] is nan; it must be a finite number
    """
    return _json_data(name, value, DEEPEST)


def _json_data(name: str, value: object, depth: int) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(name, value)
    if isinstance(value, int):
        if abs(value) > LARGEST_INTEGER:
            raise ValueRefused(f"{name} has over 300 digits; a whole number may have up to 300")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            _refuse(name, value, "a finite number")
        return float(value)
    if isinstance(value, (list, tuple, Mapping)) and depth == 0:
        raise ValueRefused(f"{name} is nested too deeply; {DEEPEST} levels are allowed")
    if isinstance(value, (list, tuple)):
        return [_json_data(f"{name}[{i}]", item, depth - 1) for i, item in enumerate(value)]
    if isinstance(value, Mapping):
        entries = {}
        for key, item in value.items():
            if not isinstance(key, str):
                _refuse(f"a key of {name}", key, "text")
            entries[_text(f"a key of {name}", key)] = _json_data(f"{name}.{key}", item, depth - 1)
        return entries
    _refuse(name, value, "text, a number, true, false, null, or lists and objects of these")


def _text(name: str, value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        _refuse(name, value, "text without half characters (lone surrogates)")
    return str(value)


def called(name: str, value: object) -> str:
    """Return an id or a student's name, or refuse it.

    Examples
    --------
    >>> called("question", "act1_utilization")
    'act1_utilization'
    >>> called("question", "")
    Traceback (most recent call last):
    ...
    mlsys_widgets.ledger.errors.ValueRefused: question is ''; it must be 1 to 200 printable
    characters
    """
    if not isinstance(value, str) or not is_name(value):
        _refuse(name, value, f"1 to {LONGEST_NAME} printable characters")
    return _text(name, value)


def is_name(value: str) -> bool:
    """Whether a text can be an id or a name: not empty, not long, no control characters."""
    return 0 < len(value) <= LONGEST_NAME and not _CONTROL.search(value)


def confident(value: object) -> int | None:
    """Return a confidence from 1 to 5, or `None`, or refuse it."""
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not is_confidence(value):
        _refuse(
            "confidence",
            value,
            f"a whole number from {LOWEST_CONFIDENCE} (a guess) to {HIGHEST_CONFIDENCE} (certain)",
        )
    return int(value)


def is_confidence(value: int) -> bool:
    """Whether a whole number is on the confidence scale."""
    return LOWEST_CONFIDENCE <= value <= HIGHEST_CONFIDENCE


def frozen(value: Any) -> Any:
    """Return plain data that cannot be changed: read-only mappings, tuples for lists."""
    if isinstance(value, dict):
        return MappingProxyType({key: frozen(item) for key, item in value.items()})
    if isinstance(value, list):
        return tuple(frozen(item) for item in value)
    return value


def unfrozen(value: Any) -> Any:
    """Turn what `frozen` returned into lists and dicts again, as JSON is written from."""
    if isinstance(value, Mapping):
        return {key: unfrozen(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [unfrozen(each) for each in value]
    return value


def _refuse(name: str, value: object, words: str) -> NoReturn:
    shown = repr(value)
    if len(shown) > 80:
        shown = f"{shown[:77]}..."
    raise ValueRefused(f"{name} is {shown}; it must be {words}")
