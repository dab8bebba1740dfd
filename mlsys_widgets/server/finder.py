"""Finds labs and ledgers below the server's root, cheaply enough to be asked at any time.

One walk finds both. It goes level by level, so that in a huge tree it finds what is near the root
before it gives up, and its result is kept for a few seconds.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from mlsys_widgets.files import LEDGER
from mlsys_widgets.server.paths import Root
from mlsys_widgets.server.reports import Signature, signature

#: Seconds for which the result of a walk is kept.
FRESH: Final = 5.0
#: A walk ends after this many seconds or entries, or levels below the root.
LONGEST_WALK: Final = 3.0
MOST_ENTRIES: Final = 50_000
DEEPEST: Final = 8
#: Larger notebooks, in bytes, are not opened to see whether they are labs.
LARGEST_NOTEBOOK: Final = 16 << 20

_SKIPPED: Final = frozenset({".mlsys_versions", "__pycache__", "node_modules", "site-packages"})


class FoundLab(NamedTuple):
    """A notebook that says it is a lab."""

    path: str
    lab: str
    title: str


@dataclass(frozen=True)
class WalkResult:
    """The files that a walk found; ``complete`` is false if it gave up before the end."""

    ledgers: tuple[Path, ...]
    notebooks: tuple[Path, ...]
    complete: bool


class Finder:
    """Looks for labs and ledgers below a root. May be asked from several threads."""

    def __init__(self, root: Root, clock: Callable[[], float] = time.monotonic) -> None:
        self.root = root
        self._clock = clock
        self._lock = threading.Lock()
        self._found: WalkResult | None = None
        self._at = 0.0
        self._read: dict[Path, tuple[Signature | None, FoundLab | None]] = {}

    def labs(self) -> tuple[list[FoundLab], bool]:
        """Return the labs, those near the root first, and whether these are all."""
        with self._lock:
            found = self._look()
            labs = [lab for notebook in found.notebooks if (lab := self._lab(notebook))]
            self._read = {path: self._read[path] for path in found.notebooks}
        return labs, found.complete

    def ledgers(self, *known: Path) -> tuple[list[Path], bool]:
        """Return the ledgers, and whether these are all; ``known`` ones even if the walk is old.

        A ledger that is newer than the last walk is what the panel asks about most.
        """
        with self._lock:
            found = self._look()
        ledgers = dict.fromkeys((*(each for each in known if each.exists()), *found.ledgers))
        return [ledger for ledger in ledgers if self.root.serves(ledger)], found.complete

    def _look(self) -> WalkResult:
        now = self._clock()
        if self._found is None or now - self._at > FRESH:
            self._found, self._at = walk(self.root, self._clock), now
        return self._found

    def _lab(self, notebook: Path) -> FoundLab | None:
        seen = signature(notebook)
        before, kept = self._read.get(notebook, (None, None))
        if seen is None or seen != before:
            kept = lab_of(notebook, self.root)
            self._read[notebook] = (seen, kept)
        return kept


def walk(root: Root, clock: Callable[[], float] = time.monotonic) -> WalkResult:
    """Walk the folders below a root, but no hidden ones and no links to folders."""
    ledgers: list[Path] = []
    notebooks: list[Path] = []
    waiting = deque([(root.folder, 0)])
    entries, deadline = 0, clock() + LONGEST_WALK
    complete = True
    while waiting:
        folder, depth = waiting.popleft()
        for entry in _entries(folder):
            entries += 1
            if entry.name.startswith(".") and not root.hidden:
                continue
            if entry.is_dir(follow_symlinks=False):
                if entry.name in _SKIPPED:
                    continue
                if depth < DEEPEST:
                    waiting.append((folder / entry.name, depth + 1))
                else:
                    complete = False
            elif entry.name == LEDGER:
                ledgers.append(folder / entry.name)
            elif entry.name.endswith(".ipynb"):
                notebooks.append(folder / entry.name)
        if entries > MOST_ENTRIES or clock() > deadline:
            return WalkResult(tuple(ledgers), tuple(notebooks), complete=False)
    return WalkResult(tuple(ledgers), tuple(notebooks), complete)


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Yield the entries of a folder, sorted by name; nothing if it cannot be read."""
    try:
        with os.scandir(folder) as scan:
            listed = sorted(scan, key=lambda entry: entry.name)
    except OSError:
        return
    # An environment has no labs, and more files than a whole course.
    if not any(entry.name == "pyvenv.cfg" for entry in listed):
        yield from listed


def lab_of(notebook: Path, root: Root) -> FoundLab | None:
    """Read what a notebook says about itself; `None` if it is not a lab."""
    try:
        if not root.serves(notebook) or notebook.stat().st_size > LARGEST_NOTEBOOK:
            return None
        content = notebook.read_bytes()
        # Most notebooks are not labs, and this is a hundred times faster than parsing them.
        if b'"mlsys"' not in content:
            return None
        about: Any = json.loads(content)["metadata"]["mlsys"]
        lab, title = about["lab"], about.get("title")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if not isinstance(lab, str):
        return None
    return FoundLab(root.path_of(notebook), lab, title if isinstance(title, str) else lab)
