"""Keys that are right for others too: what a class could copy from each other, before it does.

Everybody has numbers of their own, so a key should be right for its owner alone. Where a parameter
has few values, or a tolerance is wide, it is right for many, and the author should know.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.judging.keys import Checks, Given, Key, NumberKey
from mlsys_widgets.labs import Choice, Lab, Number, Parameters, load

#: Names of a class.
CLASS: Final = tuple(f"student-{k}" for k in range(200))
#: A number should have as many different keys in a class, and a key of somebody else should be
#: accepted this often at most; a decision has few options, so neighbors often agree.
_FEWEST: Final = 20
_OFTEN, _OFTEN_DECIDED = 0.1, 0.6


@dataclass(frozen=True)
class SharedKey:
    """An item, and for how many others its key is right."""

    item: str
    #: How many different keys a class has.
    distinct: int
    #: How often the key of somebody else is accepted in place of one's own.
    accepted: float
    #: A different key that is accepted, and the one it is accepted for; `None` without any.
    example: tuple[float, float] | None
    #: Whether that is too few, or too often.
    too_alike: bool


def drawn_keys(lab: Lab, checks: Checks, p: Parameters) -> dict[str, Key]:
    """Return the keys that depend on drawn parameters alone, by item.

    A check that reads a file beside the notebook finds none here and raises: what a student
    measures is nobody else's.
    """
    keys = {}
    for name, item in lab.items(p).items():
        if isinstance(item, Number | Choice) and name in checks:
            try:
                keys[name] = checks[name](Given(p, Path("nowhere")))
            except Exception:  # any that an author's code can raise; `advise` tells of others
                continue
    return keys


def shared_keys(folder: Path, *, edition: str = "") -> list[SharedKey]:
    """Compare the keys of a class in the lab of a folder, item by item."""
    lab, checks = load(folder), load_checks(folder)
    found: dict[str, list[Key]] = {}
    for student in CLASS:
        for name, key in drawn_keys(lab, checks, lab.draw(student, edition=edition)).items():
            found.setdefault(name, []).append(key)
    return [_compare(name, keys) for name, keys in found.items()]


def _compare(item: str, keys: list[Key]) -> SharedKey:
    counts = Counter(key.value for key in keys)
    pairs = [(value, key) for key in keys for value in counts if _accepts(key, value)]
    # Everybody's own key is accepted, and nobody is their own neighbor.
    others = sum(counts[value] for value, _ in pairs) - len(keys)
    accepted = others / (len(keys) * max(len(keys) - 1, 1))
    # Only numbers accept what differs from them.
    near = ((float(value), float(key.value)) for value, key in pairs if value != key.value)
    few = len(counts) < _FEWEST and isinstance(keys[0], NumberKey)
    often = accepted > (_OFTEN if isinstance(keys[0], NumberKey) else _OFTEN_DECIDED)
    return SharedKey(item, len(counts), accepted, next(near, None), few or often)


def _accepts(key: Key, value: float | str) -> bool:
    if isinstance(key, NumberKey):
        return key.reaches(key.value, float(value))
    return key.value == value
