"""What a lab's notebook says about its lab: name, title, minutes. No code of the lab is run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

#: A notebook beyond this many bytes is not opened.
_LARGEST: Final = 16 << 20


def about_lab(notebook: Path) -> dict[str, Any]:
    """Read what a notebook says about its lab; empty if it cannot be read or is no lab."""
    try:
        if notebook.is_symlink() or notebook.stat().st_size > _LARGEST:
            return {}
        about = json.loads(notebook.read_bytes())["metadata"]["mlsys"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return about if isinstance(about, dict) else {}


def title_of(folder: Path) -> str:
    """Return the title of the lab in a folder that is named as the lab; empty if it has none."""
    title = about_lab(folder / f"{folder.name}.ipynb").get("title")
    return title if isinstance(title, str) else ""
