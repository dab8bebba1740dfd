"""What flags are called where no student may be named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_LABELS: Final = (
    ("ledger: The ledger is of ", "the ledger is somebody else's"),
    ("ledger: ", "the ledger does not fit together"),
    ("did not run to its end", "the notebook did not run to its end"),
    (" is missing", "a graded cell is missing"),
    ("by the notebook's own test", "the notebook's own test gave other points"),
)
_OTHER: Final = "something else"


def flag_labels(flags: Sequence[str]) -> list[str]:
    """What flags are about, without the names that they may hold."""
    found = [next((label for part, label in _LABELS if part in flag), _OTHER) for flag in flags]
    return list(dict.fromkeys(found))
