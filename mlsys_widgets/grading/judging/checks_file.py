"""The checks of a lab, from the instructor's course."""

from __future__ import annotations

from pathlib import Path

from mlsys_widgets.files import CHECKS
from mlsys_widgets.grading.judging.keys import Checks
from mlsys_widgets.labs.lab import module_at


def load_checks(folder: Path) -> Checks:
    """Return every check of the ``checks.py`` in a folder, by the name of its answer.

    Raises
    ------
    ValueError
        When there is no such file.
    """
    path = folder.resolve() / CHECKS
    if not path.is_file():
        raise ValueError(f"there is no {CHECKS} in {folder}; it belongs to an instructor's course")
    module = module_at(path)
    return {
        name: value
        for name, value in vars(module).items()
        if callable(value)
        and not name.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
    }
