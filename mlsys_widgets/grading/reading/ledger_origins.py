"""Whether two students handed in one ledger: whoever renames a friend's keeps its id or its times.

A ledger gets a random id when it is begun, and every decision in it has a time, to the millisecond.
With the name changed and the chain computed again, nothing inside the file is wrong. Beside the
friend's own, it is.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.grading.judging.flags import Flag, FlagKind
from mlsys_widgets.grading.reading.ledger_record import LedgerRecord
from mlsys_widgets.labs import Lab
from mlsys_widgets.ledger import LedgerError
from mlsys_widgets.ledger.events import TIME

#: Three moments in common are no accident: two students of a class hardly ever have even one.
_SHARED: Final = 3
#: As many of a ledger's moments are kept.
_MOST: Final = 60


def ledger_origin(
    folder: Path, lab: Lab, student: str, *, ledger: LedgerRecord | None = None
) -> str:
    """Return the id of the ledger in a folder and the moments of its decisions, as words.

    Empty if there is no ledger, or none of this student's.
    """
    try:
        ledger = ledger or LedgerRecord(lab, folder, student)
    except LedgerError:
        return ""
    # An id is a word of our own making; in a forged ledger it may be anything.
    words = ["".join(each.split()) for each in ledger.origin]
    if len(words) > _MOST:
        # Not the first ones: two ledgers that share moments keep the same of them, also if one of
        # the two was merged with another.
        words = words[:1] + sorted(words[1:], key=_digest)[:_MOST]
    return "" if ledger.somebody_else is not None else " ".join(words)


def _digest(word: str) -> bytes:
    return hashlib.sha256(word.encode()).digest()


class LedgerOrigins:
    """The origins of the ledgers of a class."""

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self._owners: dict[str, set[str]] = {}
        self._words: dict[str, tuple[str, ...]] = {}
        for student, origin in (known or {}).items():
            self._add(student, origin)

    @classmethod
    def of_log(cls, lines: Mapping[str, Mapping[str, Any]]) -> LedgerOrigins:
        """Take those in the last line of every student in the log of graded submissions."""
        origins = {student: line.get("origin") for student, line in lines.items()}
        return cls({student: each for student, each in origins.items() if isinstance(each, str)})

    def shared(self, student: str, origin: str) -> Flag | None:
        """Take one more ledger, and flag it if it is somebody else's as well."""
        words = self._add(student, origin)
        common = Counter(other for word in words for other in self._owners[word] - {student})
        for other, count in common.most_common():
            same = set(words) & set(self._words[other])
            if not all(TIME.fullmatch(word) for word in same):
                detail = "Both have the id that one of them was given when it was begun."
                return Flag(FlagKind.SHARED_LEDGER, other, detail)
            if count >= _SHARED:
                detail = f"{count} decisions were made in the same millisecond."
                return Flag(FlagKind.SHARED_LEDGER, other, detail)
        return None

    def _add(self, student: str, origin: str) -> tuple[str, ...]:
        words = tuple(dict.fromkeys(origin.split()))
        for word in self._words.get(student, ()):
            self._owners[word].discard(student)
        self._words[student] = words
        for word in words:
            self._owners.setdefault(word, set()).add(student)
        return words
