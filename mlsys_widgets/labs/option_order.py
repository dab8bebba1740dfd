"""The order in which options are shown: drawn for each student, except where they form a scale.

The letters on a page are positions, so a neighbor's letter helps nobody. The ledger keeps the key
of an option, which is the same for everybody, and whoever grades draws the same order again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from mlsys_widgets.labs.items import Choice, Item
from mlsys_widgets.labs.prediction import Prediction
from mlsys_widgets.labs.quiz import Quiz
from mlsys_widgets.labs.reflection_prompt import ReflectionPrompt

#: A number at the beginning of an option: "about 1,000: the cost is tiny", "10 to 20×", "5".
_LEADING: Final = re.compile(
    r"(?:(?:about|around|at (?:most|least)|(?:less|more) than|nearly|under|over) )?"
    r"([\d,]*\d(?:\.\d+)?)(?: (thousand|million|billion))?"
)
_TIMES: Final = {"": 1.0, "thousand": 1e3, "million": 1e6, "billion": 1e9}
#: What is about the other options, and reads oddly before them.
_ABOUT_OTHERS: Final = re.compile(r"(?:none|all|any) of (?:these|them)\b", re.IGNORECASE)


def in_drawn_order(item: Item, name: str, seed: str) -> Item:
    """The same item with its options in the order that was drawn.

    Parameters
    ----------
    name
        The id of the item, so that every item has an order of its own.
    seed
        What a student's orders are drawn from; everything stays as it is written if empty.
    """
    if not seed:
        return item
    match item:
        case Prediction() if item.options:
            return replace(item, options=drawn_order(item.options, name, seed, item.values))
        case ReflectionPrompt() if item.options:
            return replace(item, options=drawn_order(item.options, name, seed))
        case ReflectionPrompt() if item.blanks:
            gaps = item.blanks.items()
            drawn = {gap: drawn_order(each, f"{name}.{gap}", seed) for gap, each in gaps}
            return replace(item, blanks=drawn)
        case Choice() if not item.ordered:
            return replace(item, options=drawn_order(item.options, name, seed))
        case Quiz():
            names = zip(item.ledger_names(name), item.questions, strict=True)
            questions = [
                replace(each, options=drawn_order(each.options, kept, seed)) for kept, each in names
            ]
            return replace(item, questions=questions)
    return item


def drawn_order(
    options: Mapping[str, str], name: str, seed: str, values: Mapping[str, Any] | None = None
) -> dict[str, str]:
    """Options in the order that was drawn; a scale rises, and "none of these" comes last.

    Parameters
    ----------
    values
        The numbers that the options stand for, if they do.
    """
    numbers = scale(options, values)
    if numbers:
        return {key: options[key] for key in sorted(options, key=numbers.__getitem__)}

    def place(key: str) -> tuple[bool, bytes]:
        drawn = hashlib.sha256("\x00".join((seed, name, key)).encode()).digest()
        return bool(_ABOUT_OTHERS.match(options[key])), drawn

    return {key: options[key] for key in sorted(options, key=place)}


def scale(
    options: Mapping[str, str], values: Mapping[str, Any] | None = None
) -> dict[str, float] | None:
    """The number of every option, if the options form a scale: they would be hard to read mixed."""
    if values and set(values) >= set(options):
        return {key: float(values[key]) for key in options}
    found = {key: _LEADING.match(words) for key, words in options.items()}
    numbers = {
        key: float(each[1].replace(",", "")) * _TIMES[each[2] or ""]
        for key, each in found.items()
        if each
    }
    return numbers if len(numbers) == len(options) else None
