"""What the gradebook knows of a lab's notebook, as plain data that can travel to a worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SourceCell:
    """A cell as the instructor released it, hidden tests included.

    Parameters
    ----------
    kind
        ``code`` or ``markdown``.
    source
        What stands in it.
    checksum
        As nbgrader computes it.
    locked
        Whether it is put back as it was before a submission runs.
    points
        What it is worth; none if it is not graded.
    solution, task
        Whether something is written in it, or below it.
    """

    kind: str
    source: str
    checksum: str
    locked: bool
    points: float | None
    solution: bool = False
    task: bool = False


@dataclass(frozen=True)
class Blueprint:
    """The notebook of a lab: its cells by their grade id, in order."""

    lab: str
    kernelspec: Mapping[str, Any] | None
    cells: Mapping[str, SourceCell]

    @property
    def graded(self) -> dict[str, float]:
        """Points of every graded cell."""
        return {name: c.points for name, c in self.cells.items() if c.points is not None}
