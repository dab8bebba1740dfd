"""Who wants to hear when a ledger got an event, and what the last save came to.

Widgets that share a ledger file find each other here: the one that saves announces it, the others
look at the ledger again. Nobody is kept alive by listening.
"""

from __future__ import annotations

import warnings
import weakref
from pathlib import Path
from typing import Final, Protocol

from mlsys_widgets.ledger import Ledger


class Listener(Protocol):
    """What hears of news."""

    def refresh(self) -> None:
        """Look at the ledger again."""


_listeners: Final[dict[Path, weakref.WeakSet[Listener]]] = {}
_problems: Final[dict[Path, str]] = {}


def listen(ledger: Ledger, listener: Listener) -> None:
    """Have ``listener.refresh`` called whenever something is announced about this ledger's file."""
    _listeners.setdefault(ledger.path, weakref.WeakSet()).add(listener)


def announce(ledger: Ledger, problem: str | None = None) -> None:
    """Tell all listeners that a save was tried: it went well, or ``problem`` says why not."""
    if problem is None:
        _problems.pop(ledger.path, None)
    else:
        _problems[ledger.path] = problem
    for listener in list(_listeners.get(ledger.path, ())):
        try:
            listener.refresh()
        except Exception as reason:  # what is saved is saved, whatever a listener makes of it
            warnings.warn(f"{type(listener).__name__} could not follow: {reason}", stacklevel=2)


def problem(ledger: Ledger) -> str | None:
    """Why the last save of this ledger did not go through; none when it did."""
    return _problems.get(ledger.path)
