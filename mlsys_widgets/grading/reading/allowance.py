"""How much processor time reading one submission may take while others wait for theirs."""

from __future__ import annotations

from collections import deque
from typing import Final

#: While others wait, a submission gets as many times what the last ones usually took; at least so
#: many seconds, because the kernel's timers count in steps of some milliseconds.
_TIMES_USUAL: Final = 2
_LEAST: Final = 0.02
#: Of each turn, in terms of the one before: whoever was put off gets more, after all the others.
_TIMES_BEFORE: Final = 4
#: How many of the last ones tell what is usual, and for how many of them a first guess stands.
_LAST: Final = 24
_GUESSED: Final = 4


class Allowance:
    """What a submission may take, learned from those before it.

    A class is read in turns. Whatever takes longer than it may is put off until all others had
    their turn, and may then take more. So nobody waits long for what somebody else has handed in,
    those who take a little longer do not wait for those who take forever, and everybody is read.
    The first turn never exceeds ``most`` seconds, and gets as many as long as nothing is known.
    ``usual`` is a first guess.
    """

    def __init__(self, most: float, usual: float = 0.0) -> None:
        self._most = most
        self._taken = deque([usual] * _GUESSED if usual else [], maxlen=_LAST)

    def seconds(self, turn: int) -> float:
        """Return what it may take, by how often it was put off before."""
        first = self._most
        if self._taken:
            # Half of a class would have to be slow for this to be much.
            usual = sorted(self._taken)[(len(self._taken) - 1) // 2]
            first = min(first, max(_LEAST, _TIMES_USUAL * usual))
        return first * _TIMES_BEFORE**turn

    def learn(self, seconds: float) -> None:
        """Take note of what one took, or after how long it was put off.

        The second makes it follow a class in which everybody takes longer than was guessed.
        """
        self._taken.append(seconds)
