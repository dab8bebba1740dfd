"""Whether the measurement in a submission is the student's own.

A check that looks at a file beside the notebook takes its key from there. With a measurement that
everybody has, anybody knows that key, so it earns nothing. Two students with one measurement may
have worked at one computer; that is for a person to ask.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.files import MEASUREMENT
from mlsys_widgets.judging.keys import Given
from mlsys_widgets.labs import Item, Measurement
from mlsys_widgets.measured.timings import COMMON, shipped_as, timings

#: Ours have less than a tenth of it; a larger one could cost a reader its memory.
_LARGEST: Final = 8 << 20
#: As many timings of a measurement are kept: those whose words come first, whatever their order.
_MOST: Final = 60


class SubmittedGiven(Given):
    """What a student was given; the folder only if the measurement in it may be the student's."""

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name == "folder" and (why := _refusal(found)):
            raise ValueError(
                f"{MEASUREMENT} {why}. Take your own in the lab, or with: mlsys measure --cpu"
                f" --quick --out {MEASUREMENT}; then answer with its numbers, and hand in again"
            )
        return found


def _refusal(folder: Path) -> str | None:
    """Say why a measurement cannot be the student's; `None` if it may be, or if there is none."""
    path = folder / MEASUREMENT
    if path.is_file() and path.stat().st_size > _LARGEST:
        return f"has more than {_LARGEST >> 20} MiB, which no measurement has"
    if shipped := shipped_measurement(folder):
        return f"is the measurement {shipped}, which comes with the package, and not one of yours"
    return None


def asks_for_one(items: Mapping[str, Item]) -> bool:
    """Whether a lab asks for a measurement."""
    return any(isinstance(item, Measurement) for item in items.values())


def shipped_measurement(folder: Path) -> str | None:
    """Return which shipped document lies in a folder as a measurement; `None` if none does."""
    return shipped_as(_timings_in(folder))


def kept_timings(folder: Path) -> str:
    """Return what tells the measurement in a folder from those of others, as words."""
    found = _timings_in(folder)
    return "" if shipped_as(found) else " ".join(sorted(found)[:_MOST])


def _timings_in(folder: Path) -> frozenset[str]:
    path = folder / MEASUREMENT
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return frozenset()
        return _timings(path.read_bytes())
    except OSError:
        return frozenset()


#: Each check asks again.
_timings = functools.lru_cache(maxsize=2)(timings)


class SharedMeasurements:
    """The measurements of a class.

    Examples
    --------
    >>> class_ = SharedMeasurements({"ann": "1a 2b 3c 4d"})
    >>> class_.other_owner("bob", "2b 3c 4d 5e"), class_.other_owner("cat", "4d 6f 7a")
    ('ann', None)
    """

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self._owners: dict[str, list[str]] = {}
        for student, words in (known or {}).items():
            self._add(student, words)

    @classmethod
    def of_log(cls, lines: Mapping[str, Mapping[str, Any]]) -> SharedMeasurements:
        """Take those in the last line of every student in the log of graded submissions."""
        kept = {student: line.get("measurement") for student, line in lines.items()}
        return cls({student: each for student, each in kept.items() if isinstance(each, str)})

    def other_owner(self, student: str, words: str) -> str | None:
        """Take one more measurement; return who else has it, of several the first."""
        others = (
            next((each for each in self._owners.get(word, ()) if each != student), None)
            for word in words.split()
        )
        common = Counter(other for other in others if other is not None)
        self._add(student, words)
        return next((other for other, count in common.most_common(1) if count >= COMMON), None)

    def _add(self, student: str, words: str) -> None:
        for word in words.split():
            owners = self._owners.setdefault(word, [])
            # Two are enough for each of them to have another one.
            if student not in owners and len(owners) < 2:
                owners.append(student)
