"""Due times of a notebook's lab for this student, as the panel shows them.

The words change with the time: days first, minutes at the end. A panel that waits for its ledger to
change is told about new words with the same request, so it never asks for the time itself, and it
shows the server's clock, not that of a browser that may be wrong.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TypeVar

from mlsys_widgets.course.due_words import as_data
from mlsys_widgets.course.own_dates import OwnDates, dates_file, read_dates
from mlsys_widgets.labs.about_lab import about_lab
from mlsys_widgets.server.reports import Signature, signature

#: Seconds for which words are kept: a minute is the smallest unit that they name.
FRESH: Final = 2.0
#: How many notebooks are remembered.
_KEPT: Final = 256

Clock = Callable[[], datetime]
T = TypeVar("T")


class DueReports:
    """Due times in words, kept for a moment. May be asked from several threads."""

    def __init__(self, now: Clock = lambda: datetime.now(UTC)) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._names: dict[Path, tuple[Signature | None, str | None]] = {}
        self._dates: dict[Path, tuple[Signature | None, OwnDates | None]] = {}
        self._words: dict[Path, tuple[float, dict[str, Any] | None, str]] = {}

    def of(self, notebook: Path) -> dict[str, Any] | None:
        """Say when the lab of a notebook is due; `None` if nobody knows."""
        return self._known(notebook)[1]

    def tag(self, notebook: Path) -> str:
        """Return a value that changes with the words; empty if there are none."""
        return self._known(notebook)[2]

    def _known(self, notebook: Path) -> tuple[float, dict[str, Any] | None, str]:
        with self._lock:
            kept = self._words.get(notebook)
            if kept is None or time.monotonic() - kept[0] > FRESH:
                words = self._make(notebook)
                digest = sha256(json.dumps(words).encode()).hexdigest()[:12] if words else ""
                if len(self._words) >= _KEPT:
                    self._words.clear()
                kept = self._words[notebook] = (time.monotonic(), words, digest)
            return kept

    def _make(self, notebook: Path) -> dict[str, Any] | None:
        file = dates_file(notebook.parent)
        dates = _kept(self._dates, file, read_dates)
        if dates is None:
            return None
        lab = _kept(self._names, notebook, lambda path: about_lab(path).get("lab"))
        if not isinstance(lab, str):
            return None
        return as_data(dates, lab, self._now())


def _kept(
    known: dict[Path, tuple[Signature | None, T | None]],
    path: Path,
    read: Callable[[Path], T | None],
) -> T | None:
    """Return what a file says, read again only if it changed."""
    seen = signature(path)
    before, value = known.get(path, (None, None))
    if seen is None or seen != before:
        if len(known) >= _KEPT:
            known.clear()
        value = read(path) if seen is not None else None
        known[path] = (seen, value)
    return value
