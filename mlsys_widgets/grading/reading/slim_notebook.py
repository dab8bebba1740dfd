"""A notebook without what nobody needs: outputs by the megabyte, and cells by the thousand.

Everything that happens to a notebook later takes time for each cell, and most of it several times.
So there is a limit on cells, which is far above what a lab and a student write, and it is kept
before anything else looks at them.
"""

from __future__ import annotations

import json
from typing import Any, Final

#: A notebook larger than this has most of it in outputs, which are not needed.
_LARGE: Final = 5_000_000
#: Cells of a student's own, and again as many that say they are the lab's.
MOST_CELLS: Final = 500
_CELL: Final = b'"cell_type"'


def slimmed(content: bytes) -> tuple[bytes, int]:
    """Return a notebook with what is needed of it, and how many cells it had if some are left out.

    Cells of the lab stay, and the first ones of the student's own. What is small, or is no
    notebook, stays as it is.
    """
    is_large = len(content) > _LARGE
    if not is_large and content.count(_CELL) <= MOST_CELLS:
        return content, 0
    try:
        book = json.loads(content)
        cells = book["cells"]
        if not isinstance(cells, list):
            return content, 0
        kept = _kept(cells)
        if is_large:
            for cell in kept:
                if "outputs" in cell:
                    cell["outputs"] = []
        elif len(kept) == len(cells):
            return content, 0
        slim = json.dumps({**book, "cells": kept}).encode()
    except (ValueError, KeyError, TypeError, RecursionError):
        return content, 0
    return slim, len(cells) if len(kept) < len(cells) else 0


def _kept(cells: list[Any]) -> list[Any]:
    if len(cells) <= MOST_CELLS:
        return cells
    own = [number for number, cell in enumerate(cells) if not _is_marked(cell)]
    # Of cells with the same name the last one counts.
    marked = [number for number, cell in enumerate(cells) if _is_marked(cell)]
    return [cells[number] for number in sorted({*own[:MOST_CELLS], *marked[-MOST_CELLS:]})]


def _is_marked(cell: Any) -> bool:
    """Whether a cell has nbgrader's metadata, as those of the lab have."""
    match cell:
        case {"metadata": {"nbgrader": _}}:
            return True
    return False
