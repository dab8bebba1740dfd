"""How ledgers of earlier schema versions are read: upgraded in memory, never in the file.

The first event says in which version a ledger was started. A later version of this package adds an
``upgraded`` event and writes its own version from there on; what was written before keeps its bytes
and its hashes. To change what an event looks like, raise `VERSION`, and register under the old
version a function that turns one old event into a new one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mlsys_widgets.ledger.errors import NewerSchema
from mlsys_widgets.ledger.events import Event

#: The version that this package writes.
VERSION = 1

#: The kinds of events that say in which version those after them are written.
ANNOUNCING: Final = frozenset({"opened", "upgraded"})

#: Version -> what turns an event of that version into one of the next.
MIGRATIONS: Final[dict[int, Callable[[Event], Event]]] = {}


def announced(event: Event, version: int) -> int:
    """The version in which events are written from this one on."""
    if event.kind in ANNOUNCING and isinstance(event.value, dict):
        schema = event.value.get("schema")
        if type(schema) is int and schema >= 1:
            return schema
    return version


def upgraded(event: Event, version: int) -> Event:
    """Bring an event of an earlier version to the present one.

    Examples
    --------
    >>> from mlsys_widgets.ledger.events import GENESIS, chained
    >>> event = chained(GENESIS, 0, "2026-02-03T09:30:00.000Z", "lab_01", "design", "lab_01", {})
    >>> upgraded(event, VERSION) is event
    True
    """
    if version > VERSION:
        raise NewerSchema(
            f"This ledger was written by a newer mlsys_widgets (schema {version}; this one reads up"
            f" to {VERSION}). Upgrade mlsys_widgets and open it again."
        )
    for step in range(version, VERSION):
        event = MIGRATIONS[step](event)
    return event
