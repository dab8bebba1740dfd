"""What a lab asks beyond its core, as a course counts it.

The core of a lab fits into one class. Everything else is *deeper*: optional, unless ``course.toml``
requires it. What is optional is judged and explained like everything else, but it gives no points,
and nothing that a student must do waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mlsys_widgets.course.deeper_parts import DeeperParts
from mlsys_widgets.labs.asked import AUTOGRADED
from mlsys_widgets.labs.items import Essay, Item

__all__ = ["DeeperParts", "as_counted"]


def as_counted(items: Mapping[str, Item], deeper: DeeperParts) -> dict[str, Item]:
    """Return what a lab asks as a course counts it.

    Where the deeper parts are required, nothing lies beyond the core any more. Where they are
    optional, they give no points.

    Examples
    --------
    >>> from mlsys_widgets.labs import Number
    >>> ridge = {"ridge": Number("Where?", "FLOP per byte", points=5, deeper=True)}
    >>> as_counted(ridge, "optional")["ridge"].points
    0.0
    >>> required = as_counted(ridge, "required")["ridge"]
    >>> required.points, required.deeper
    (5, False)
    """
    return {name: _counted(item, deeper) if item.deeper else item for name, item in items.items()}


def _counted(item: Item, deeper: DeeperParts) -> Item:
    if deeper == "required":
        return replace(item, deeper=False)
    if isinstance(item, Essay):
        return replace(item, rubric=[(0, words) for _, words in item.rubric])
    return replace(item, points=0.0) if isinstance(item, AUTOGRADED) else item
