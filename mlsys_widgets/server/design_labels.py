"""Labels for the fields of a lab's design entry, from the lab's notebook.

The builder writes these words into the notebook, so that the panel shows them for any lab without
running any of its code.
"""

from __future__ import annotations

from pathlib import Path

from mlsys_widgets.labs.about_lab import about_lab


def design_labels(folder: Path, lab: str) -> dict[str, str]:
    """Return what each field of the design says, in order; empty if no notebook here tells it.

    Examples
    --------
    >>> import json
    >>> about = {"lab": "lab_02_cache", "design": [["tile", "side of the tile"]]}
    >>> book = {"metadata": {"mlsys": about}}
    >>> _ = (folder / "lab_02_cache.ipynb").write_text(json.dumps(book), "utf-8")
    >>> design_labels(folder, "lab_02_cache"), design_labels(folder, "other")
    ({'tile': 'side of the tile'}, {})
    """
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
