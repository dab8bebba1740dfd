"""Whether this machine can isolate submissions, for whoever wants to know before grading."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from mlsys_widgets.sandbox.isolation import why_not


def why_not_isolated() -> str | None:
    """Say why submissions cannot be isolated here; `None` if they can. Tries it."""
    with TemporaryDirectory() as empty:
        return why_not(Path(empty))
