"""Whether a lab may open where its notebook runs: a place may have a reason against it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

#: Says why the lab in a folder must not open, in a sentence; `None` if it may.
Objection = Callable[[Path], str | None]
_objections: list[Objection] = []


def object_with(objection: Objection) -> None:
    """Ask an objection before any lab opens in this process."""
    _objections.append(objection)


def must_open(folder: Path) -> None:
    """Raise `ValueError` with a sentence if the lab in a folder must not open here.

    Examples
    --------
    >>> object_with(lambda folder: "It is closed." if folder.name == "closed" else None)
    >>> must_open(Path("open"))
    >>> must_open(Path("closed"))
    Traceback (most recent call last):
    ...
    ValueError: It is closed.
    >>> _ = _objections.pop()
    """
    for objection in _objections:
        if words := objection(folder.resolve()):
            raise ValueError(words)
