"""New cells and notebooks, made without nbformat's validation.

It would compile its schema first, in each process that reads submissions: that takes as long as
reading ten of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import nbformat


def code_cell(source: str, cell_id: str, metadata: Mapping[str, Any]) -> nbformat.NotebookNode:
    """Make a cell of code that has not run."""
    more: dict[str, Any] = {"outputs": [], "execution_count": None}
    return _cell("code", source, cell_id, metadata, more)


def markdown_cell(
    source: str, cell_id: str, metadata: Mapping[str, Any] | None = None
) -> nbformat.NotebookNode:
    """Make a cell of text."""
    return _cell("markdown", source, cell_id, metadata or {}, {})


def notebook_of(cells: Sequence[nbformat.NotebookNode]) -> nbformat.NotebookNode:
    """Make a notebook of cells."""
    return nbformat.NotebookNode(
        cells=list(cells), metadata=nbformat.NotebookNode(), nbformat=4, nbformat_minor=5
    )


def _cell(
    kind: str, source: str, cell_id: str, metadata: Mapping[str, Any], more: Mapping[str, Any]
) -> nbformat.NotebookNode:
    cell: nbformat.NotebookNode = nbformat.from_dict(
        {"cell_type": kind, "id": cell_id, "metadata": dict(metadata), "source": source, **more}
    )
    return cell
