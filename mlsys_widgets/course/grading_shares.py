"""Who grades whose work by hand, as ``mlsys course split`` has decided it."""

from __future__ import annotations

import json
from pathlib import Path

from mlsys_widgets.files import OWN_FOLDER


def shares_path(home: Path, lab: str) -> Path:
    """Return where the shares of a lab are kept, below the folder of the course."""
    return home / OWN_FOLDER / f"split-{lab}.json"


def read_shares(home: Path, lab: str) -> dict[str, str]:
    """Return the TA of each student; empty if the grading was never split."""
    try:
        shares = json.loads(shares_path(home, lab).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(k): str(v) for k, v in shares.items()} if isinstance(shares, dict) else {}
