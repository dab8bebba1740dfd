"""The way through a lab beyond its steps: which instrument is explored before which comparison.

A reveal with moves shows a checklist, so it stands directly below the instrument that the moves are
made on. The panel leads a student to that instrument first, and then to the comparison.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from mlsys_widgets.authoring.text import LabCell


def explored_on(cells: Sequence[LabCell]) -> dict[str, list[str]]:
    """Find the predictions whose moves are made on each instrument, by where its cell stands."""
    found: dict[str, list[str]] = {}
    instrument = ""
    for cell in cells:
        if cell.kind == "instrument":
            instrument = cell.where
        elif cell.kind != "reveal":
            instrument = ""
        elif instrument and has_moves(cell):
            found.setdefault(instrument, []).append(cell.name)
    return found


def has_moves(reveal: LabCell) -> bool:
    """Whether a reveal asks for something to be tried first."""
    try:
        tree = ast.parse(reveal.body)
    except SyntaxError:
        return False  # running it says what is wrong
    return any(isinstance(node, ast.keyword) and node.arg == "moves" for node in ast.walk(tree))
