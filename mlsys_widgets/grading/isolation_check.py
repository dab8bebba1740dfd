"""Whether submissions can be isolated on this machine, for whoever plans to grade on it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from mlsys_widgets.sandbox.isolation import why_not


def why_not_isolated() -> str | None:
    """Isolate a child, and say why that failed; `None` if it worked."""
    with tempfile.TemporaryDirectory() as empty:
        return why_not(Path(empty))
