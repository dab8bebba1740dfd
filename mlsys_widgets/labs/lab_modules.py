"""Modules of an author's own beside a lab: what its files import from their folder.

``asks.py`` and the text of a lab need them wherever the lab runs, so these travel with it. What
only ``checks.py`` imports must not: it would take keys along.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

#: Read line by line, not parsed: a lab's text may hold lines that are for IPython.
_IMPORT: Final = re.compile(r"^\s*(?:from\s+(\w+)\b|import\s+([\w., ]+))", re.M)


def modules_beside(folder: Path, *files: str) -> dict[str, Path]:
    """Return the modules in a folder that ``files`` of it import, also through each other."""
    found: dict[str, Path] = {}
    waiting = [folder / name for name in files]
    while waiting:
        for name in _imported(waiting.pop().read_text("utf-8")):
            path = folder / f"{name}.py"
            if name not in found and path.name not in files and path.is_file():
                found[name] = path
                waiting.append(path)
    return dict(sorted(found.items()))


def _imported(code: str) -> Iterator[str]:
    for module, several in _IMPORT.findall(code):
        yield from [module] if module else [each.split()[0] for each in several.split(",") if each]


@contextmanager
def importable(folder: Path) -> Iterator[None]:
    """Let a file import the modules beside it.

    The folder comes last, so that nothing in it shadows anything. Afterward the names are free
    again: another lab may have modules of the same names.
    """
    before = set(sys.modules)
    folder = folder.resolve()  # as Python writes down where a module came from
    sys.path.append(str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in sys.modules.keys() - before:
            file = getattr(sys.modules[name], "__file__", None)
            if file and Path(file).parent == folder:
                del sys.modules[name]
