"""A lock for tests of instruments."""

from __future__ import annotations

from typing import Any

from mlsys_widgets.instruments.predicted import Predicted


class Lock:
    """A lock that opens when told to."""

    def __init__(self) -> None:
        self.is_open, self.question, self._then = False, "How many?", []
        self.predicted: Predicted | None = None
        self.used: list[str] = []

    def on_open(self, then: Any) -> None:
        self._then.append(then)

    def record_use(self, instrument: str) -> None:
        self.used.append(instrument)

    def open(self) -> None:
        self.is_open = True
        for then in self._then:
            then()
