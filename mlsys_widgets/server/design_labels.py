"""Labels for the fields of a lab's design entry, from the lab's notebook.

The builder writes these words into the notebook, so that the panel shows them for any lab without
running any of its code.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from mlsys_widgets.labs.about_lab import about_lab


class DesignLabel(NamedTuple):
    """What a field of a design says, and what its options are called where they are codes."""

    about: str
    called: Mapping[str, str]


def design_labels(folder: Path, lab: str) -> dict[str, DesignLabel]:
    """Return what each field of the design says, in order; empty if no notebook here tells it."""
    try:
        notebooks = sorted(path for path in folder.iterdir() if path.suffix == ".ipynb")
    except OSError:
        return {}
    # The student may have renamed the notebook, but usually has not.
    notebooks.sort(key=lambda path: path.stem != lab)
    for notebook in notebooks:
        about = about_lab(notebook)
        if about.get("lab") == lab and isinstance(design := about.get("design"), list):
            fields = [each for each in design if isinstance(each, list) and len(each) in (2, 3)]
            return {str(each[0]): DesignLabel(str(each[1]), _called(each[2:])) for each in fields}
    return {}


def _called(more: list[object]) -> dict[str, str]:
    called = more[0] if more else None
    named = called.items() if isinstance(called, dict) else ()
    return {str(option): str(words) for option, words in named}
