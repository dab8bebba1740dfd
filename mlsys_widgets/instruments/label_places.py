"""Places for labels, so that none lies on another."""

from __future__ import annotations

from collections.abc import Sequence

Place = tuple[float, float]


def apart(wanted: Sequence[Place], wide: float, high: float) -> list[Place]:
    """Places near those wanted, in the same order; a label that would lie on another moves down.

    Parameters
    ----------
    wanted
        Where each label would best be; of two at one place, the first stays.
    wide, high
        The room that a label needs.
    """
    placed: dict[int, Place] = {}
    for k in sorted(range(len(wanted)), key=lambda k: -wanted[k][1]):
        x, y = wanted[k]
        # From the top down: each place that is taken pushes the label below it.
        for other, level in sorted(placed.values(), key=lambda place: -place[1]):
            if abs(other - x) < wide and abs(level - y) < high:
                y = level - high
        placed[k] = (x, y)
    return [placed[k] for k in range(len(wanted))]


def columns(levels: Sequence[float], high: float) -> list[int]:
    """The column of each label that stays at its level: the first in which it lies on no other.

    Examples
    --------
    >>> columns([5.0, 1.0, 4.8], high=0.5)
    [0, 0, 1]
    """
    placed: list[int] = []
    for k, level in enumerate(levels):
        near = {placed[j] for j in range(k) if abs(levels[j] - level) < high}
        placed.append(min(set(range(len(levels))) - near))
    return placed
