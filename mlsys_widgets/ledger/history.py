"""The events of a ledger in memory, and the state they add up to."""

from __future__ import annotations

import json
from typing import Any

from mlsys_widgets.ledger.events import GENESIS, Event, Malformed, digest, from_line
from mlsys_widgets.ledger.fold import Fold
from mlsys_widgets.ledger.kinds import misfit, refuse_newer
from mlsys_widgets.ledger.state import State


class History:
    """The events that were read of a ledger, and their state.

    A line that is not an event is counted and left out; `verify` names it.
    """

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.fold = Fold()
        self.unreadable = 0
        self._standing: dict[tuple[str, str], Any] = {}
        self._state: State | None = None

    @property
    def last(self) -> Event | None:
        """The event that the next one is chained to."""
        return self.events[-1] if self.events else None

    def take(self, event: Event) -> None:
        """Take one more event."""
        refuse_newer(event)
        self.events.append(event)
        self._state = None
        if misfit(event):
            self.unreadable += 1
            return
        self.fold.add(event)
        if event.kind in {"answer", "design"}:
            self._standing[event.kind, event.id] = event.value

    def take_line(self, line: bytes) -> None:
        """Take one more line, if it holds an event."""
        if not line.strip():
            return
        try:
            event = from_line(line)
        except Malformed:
            self.unreadable += 1
        else:
            self.take(event)

    def would_follow(self, line: bytes) -> bool:
        """Whether a line without its line end is the complete next event."""
        try:
            event = from_line(line)
        except Malformed:
            return False
        prev = self.last.hash if self.last else GENESIS
        return event.prev == prev and event.hash == digest(event)

    def stands(self, kind: str, name: str, value: Any) -> bool:
        """Whether this very answer or design is already the current one."""
        standing = self._standing.get((kind, name))
        # As text, because 1, 1.0 and True are equal in Python.
        return standing is not None and _text(standing) == _text(value)

    def contains(self, other: History) -> bool:
        """Whether all events of another history are here, in their places."""
        count = len(other.events)
        return len(self.events) >= count and (
            count == 0 or self.events[count - 1].hash == other.events[-1].hash
        )

    def state(self) -> State:
        """Return what all events add up to."""
        if self._state is None:
            self._state = self.fold.state()
        return self._state


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
