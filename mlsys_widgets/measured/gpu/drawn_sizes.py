"""Sizes to measure that nobody picked by hand: drawn with a seed, log-uniform, odd ones included.

Sizes that people write down are powers of two and their sums. A model that is right only for those
is right for the wrong reason, so every section measures drawn sizes beside the listed ones.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

SEED = 15


def draw(chance: random.Random, low: float, high: float, multiple: int = 1) -> int:
    """Return one size, log-uniform from `low` to `high`, a multiple of `multiple`."""
    if not 0 < low <= high:
        raise ValueError(f"low and high must be positive and in order, got {low!r} and {high!r}")
    size = math.exp(chance.uniform(math.log(low), math.log(high)))
    return max(multiple, round(size / multiple) * multiple)


def odd(chance: random.Random, low: float, high: float) -> int:
    """Return one odd size, log-uniform from `low` to `high`."""
    return draw(chance, low, high) | 1


def prompts(
    chance: random.Random, count: int, *, shortest: int, longest: int, batches: int, tokens: int
) -> list[tuple[int, int]]:
    """Batches and lengths, both log-uniform, with at most `tokens` tokens in all."""
    found = []
    for _ in range(count):
        length = draw(chance, shortest, min(longest, tokens))
        batch = draw(chance, 1, min(batches, max(1, tokens // length)))
        found.append((min(batch, max(1, tokens // length)), length))
    return found


def some(chance: random.Random, sizes: Sequence[int], count: int) -> list[int]:
    """`count` of the sizes, drawn without repetition, in their order.

    Examples
    --------
    >>> some(random.Random(15), [1, 2, 3, 4], 2)
    [1, 2]
    """
    return sorted(chance.sample(sizes, min(count, len(sizes))))
