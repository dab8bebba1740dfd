"""A lab's notebook as the instructor released it, as plain data that can travel to a worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mlsys_widgets.notebooks.cell_metadata import HIDDEN


@dataclass(frozen=True)
class SourceCell:
    """A cell as the instructor released it, hidden tests included."""

    #: ``code`` or ``markdown``.
    kind: str
    #: Its text.
    source: str
    #: As nbgrader computes it.
    checksum: str
    #: Whether it is restored before a submission runs.
    locked: bool
    #: Whether something depends on it in the gradebook.
    graded: bool = False
    #: Whether students write in it, or below it.
    solution: bool = False
    task: bool = False
    #: What else nbgrader keeps in the cell. It is restored too, and nothing here reads it.
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def visible(self) -> str:
        """Its text without hidden tests."""
        return HIDDEN.sub("", self.source).strip()


@dataclass(frozen=True)
class Blueprint:
    """The notebook of a lab: its cells by their grade id, in order."""

    lab: str
    kernelspec: Mapping[str, Any] | None
    cells: Mapping[str, SourceCell]

    @cached_property
    def graded(self) -> tuple[str, ...]:
        """The names of the graded cells."""
        return tuple(name for name, cell in self.cells.items() if cell.graded)
