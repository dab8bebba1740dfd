"""Which version of a lab a copy is: a digest of what students get, stamped into their notebook.

The digest covers what makes a copy another one: the cells as they were released, and every file
beside them. A key is no part of it, because students do not get it: when a key is fixed, all copies
stay what they are, and all of them are judged with the fixed key.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.course.own_dates import LAB_DATES
from mlsys_widgets.files import LEDGER

#: Where a notebook says which version it is: ``metadata.mlsys.lab_version``.
STAMP: Final = "lab_version"
#: Beside it, in what lies in the exchange: each released version, and what changed with it.
CHANGES: Final = "changes"
#: What a version looks like.
VERSION: Final = re.compile(r"[0-9a-f]{12}")

# In a JSON file quotes within texts are escaped, so no cell's text can look like this.
_KEY: Final = b'"lab_version"'
_STAMPED: Final = re.compile(rb'"lab_version"\s*:\s*"([0-9a-f]{12})"')
#: What of a cell makes another version: nothing that an editor adds when somebody looks at it.
_OF_A_CELL: Final = ("nbgrader", "mlsys", "tags")
#: What nbgrader computes from the rest.
_COMPUTED: Final = frozenset({"checksum", "schema_version"})
#: Neither are dates, which change without the lab.
_NO_PART: Final = frozenset({LEDGER, LAB_DATES, "__pycache__", ".ipynb_checkpoints"})


def lab_version(book: Mapping[str, Any], files: Mapping[str, bytes]) -> str:
    """Return the version of a lab as it is released; the stamp itself does not count."""
    about = dict(_mapping(_mapping(book.get("metadata")).get("mlsys")))
    for name in (STAMP, CHANGES):
        about.pop(name, None)
    seen = {
        "about": about,
        "cells": [_cell(cell) for cell in book["cells"]],
        "files": {name: hashlib.sha256(files[name]).hexdigest() for name in sorted(files)},
    }
    text = json.dumps(seen, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _cell(cell: Mapping[str, Any]) -> dict[str, Any]:
    source, metadata = cell["source"], _mapping(cell.get("metadata"))
    kept = {name: metadata[name] for name in _OF_A_CELL if name in metadata}
    if isinstance(kept.get("nbgrader"), Mapping):
        kept["nbgrader"] = {n: v for n, v in kept["nbgrader"].items() if n not in _COMPUTED}
    return {
        "type": cell["cell_type"],
        "source": source if isinstance(source, str) else "".join(source),
        "metadata": kept,
    }


def files_beside(folder: Path, lab: str) -> dict[str, bytes]:
    """Everything that is released beside a lab's notebook, by its path below the folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.name != f"{lab}.ipynb"
        and path.suffix != ".pyc"
        and not any(
            part in _NO_PART or part.startswith(".") for part in path.relative_to(folder).parts
        )
    }


def version_in(folder: Path, lab: str) -> str | None:
    """Return the version of the lab that is released in a folder, from its content.

    `None` if there is no notebook, or none that can be read.
    """
    try:
        book = json.loads((folder / f"{lab}.ipynb").read_bytes())
        return lab_version(book, files_beside(folder, lab))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def stamp_in(notebook: bytes) -> str | None:
    r"""Return the version that a notebook's file says it is; nothing of it is parsed."""
    # From the end, where the metadata is: a notebook's outputs are long.
    place = len(notebook)
    while (place := notebook.rfind(_KEY, 0, place)) >= 0:
        if found := _STAMPED.match(notebook, place):
            return found[1].decode()
    return None


def changes_in(book: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the versions that were released, in order, each with what changed."""
    changes = _mapping(_mapping(book.get("metadata")).get("mlsys")).get(CHANGES)
    pairs = changes if isinstance(changes, list) else []
    return [
        (each[0], each[1])
        for each in pairs
        if isinstance(each, list) and len(each) == 2 and all(isinstance(x, str) for x in each)
    ]
