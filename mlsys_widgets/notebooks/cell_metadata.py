"""What nbgrader keeps in the cells of a notebook, and how it marks hidden tests.

Written out here because a worker would spend seconds on importing nbgrader; tests hold each
function against nbgrader's own.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any, Final

#: The part of a test that students do not get.
HIDDEN: Final = re.compile(
    r"^[^\n]*BEGIN HIDDEN TESTS[^\n]*$.*?(^[^\n]*END HIDDEN TESTS[^\n]*$|\Z)", re.M | re.S
)


def cell_metadata(cell: Any) -> dict[str, Any]:
    """Return what nbgrader keeps in a cell; empty if that is no mapping."""
    # By its name in the mapping: as an attribute nbformat looks for it three times as long, and
    # every notebook of a class is asked a thousand times.
    found = cell["metadata"].get("nbgrader")
    return found if isinstance(found, dict) else {}


def text_of(value: Any) -> str:
    """Return a text as JSON has it in notebooks: whole, or as its lines."""
    return value if isinstance(value, str) else "".join(map(str, value))


def grade_id(cell: Any) -> str | None:
    """Return the name of a cell that nbgrader knows; `None` if it has no such name."""
    name = cell_metadata(cell).get("grade_id")
    return name if isinstance(name, str) and name else None


def is_locked(cell: Any) -> bool:
    """Whether a cell is restored as it was released."""
    metadata = cell_metadata(cell)
    if metadata.get("solution", False):
        return False
    return bool(metadata.get("grade", False) or metadata.get("locked", False))


def checksum(cell: Any) -> str:
    """Compute the checksum of a cell as nbgrader does."""
    metadata, digest = cell_metadata(cell), hashlib.md5(usedforsecurity=False)
    graded = bool(metadata.get("grade", False))
    parts = [cell.source, cell.cell_type, graded, bool(metadata.get("solution", False))]
    parts += [is_locked(cell), metadata["grade_id"]]
    parts += [float(metadata["points"])] if graded else []
    for part in parts:
        digest.update(str(part).encode())
    return digest.hexdigest()
