"""Labels for the fields of a lab's design entry, from the lab's notebook.

The builder writes these words into the notebook, so that the panel shows them for any lab without
running any of its code.
"""

from __future__ import annotations

from pathlib import Path

from mlsys_widgets.labs.about_lab import about_lab


def design_labels(folder: Path, lab: str) -> dict[str, str]:
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
            pairs = [each for each in design if isinstance(each, list) and len(each) == 2]
            return {str(name): str(words) for name, words in pairs}
    return {}
