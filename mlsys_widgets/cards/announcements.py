"""Announcements that something was saved in a ledger, and whether the last save succeeded.

Cards that share a ledger file find each other here: the one that saves announces it, the others
look at the ledger again. Listening keeps nobody alive.
"""

from __future__ import annotations

import warnings
import weakref
from pathlib import Path
from typing import Final, Protocol

from mlsys_widgets.ledger import Ledger


class Listener(Protocol):
    """Whoever wants to hear of a save."""

    def refresh(self) -> None:
        """Look at the ledger again."""


_listeners: Final[dict[Path, weakref.WeakSet[Listener]]] = {}
_problems: Final[dict[Path, str]] = {}


def listen(ledger: Ledger, listener: Listener) -> None:
    """Have ``listener.refresh`` called whenever something is announced about this ledger's file."""
    _listeners.setdefault(ledger.path, weakref.WeakSet()).add(listener)


def announce(ledger: Ledger, problem: str | None = None) -> None:
    """Tell all listeners that a save was tried: it succeeded, or ``problem`` says why not."""
    if problem is None:
        _problems.pop(ledger.path, None)
    else:
        _problems[ledger.path] = problem
    look_again(ledger)


def look_again(ledger: Ledger) -> None:
    """Have all listeners look again, when something changed that is not saved by itself."""
    _look_at(ledger.path)


def _look_at(path: Path) -> None:
    for listener in list(_listeners.get(path, ())):
        try:
            listener.refresh()
        except Exception as reason:  # what is saved stays saved, whatever a listener does
            warnings.warn(f"{type(listener).__name__} could not follow: {reason}", stacklevel=2)


def look_everywhere() -> None:
    """Have all listeners of all ledgers look again. The panel asks for it after handing in."""
    for path in list(_listeners):
        _look_at(path)


def last_problem(ledger: Ledger) -> str | None:
    """Why the last save to this ledger failed; `None` if it succeeded."""
    return _problems.get(ledger.path)
