"""A typed answer as exact data: how it leaves a student's process, and how a grader reads it."""

from __future__ import annotations

from typing import Any, Final

from mlsys_widgets.labs import UnusableAnswer, plain

#: Characters of a text that is typed as an answer.
_LONGEST_TEXT: Final = 10_000


def to_data(value: Any) -> list[str]:
    """Write an answer as its exact type and text, so that nothing of it is lost or called."""
    if value is ...:
        return ["nothing"]
    try:
        data = plain(value)
    except UnusableAnswer:
        return ["refused", type(value).__name__]
    match data:
        case None:
            return ["nothing"]
        case bool():
            return ["bool", str(data)]
        case int():
            return ["int", hex(data)]
        case float():
            return ["float", data.hex()]
    return ["str", data]


def from_data(data: Any) -> Any:
    """Read in the grader's process what `to_data` wrote; whatever else it may be is refused."""
    match data:
        case ["nothing"]:
            return ...
        case ["bool", "True" | "False" as word]:
            return word == "True"
        case ["int", str() as digits] if len(digits) < 400:
            return int(digits, 16)
        case ["float", str() as digits] if len(digits) < 60:
            return float.fromhex(digits)
        case ["str", str() as words] if len(words) < _LONGEST_TEXT:
            return words
        case ["refused", str() as kind]:
            raise UnusableAnswer(f"it is a {kind[:60]}, not a number or a text")
    raise UnusableAnswer("it did not come back as plain data")
