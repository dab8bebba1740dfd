"""A game that a student's function plays: what plays it, and what its decisions were worth.

The function may run where nobody can be trusted, so all that comes from there are its decisions.
They are replayed where no code of a student's runs, and only what the replay finds counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mlsys_widgets.labs.function_calls import Failure, call, read_reply


class Impossible(ValueError):
    """Decisions that nobody could have made in this game; its text says which, and why."""


@dataclass(frozen=True)
class Played:
    """What came of some decisions.

    Parameters
    ----------
    score
        How good they were; more is better.
    says
        What happened, in a sentence.
    seen
        What the function was shown before each decision.
    decisions
        What it decided.
    """

    score: float
    says: str
    seen: Sequence[Any]
    decisions: Sequence[Any]


@dataclass(frozen=True)
class Game:
    """How a function plays, and how its decisions are replayed.

    Parameters
    ----------
    driver
        Source with a function ``play(function, *arguments)``, which calls the student's function
        and returns the list of its decisions. It runs beside the student's code, so nothing in it
        may be secret.
    replay
        ``replay(decisions, *arguments)`` finds out what came of them, or raises `Impossible`. It
        must believe nothing: anything may be in the list.
    enough, least
        The fraction of the best known score that earns everything, and that up to which nothing is
        earned; between them, it is a straight line.
    unit
        What scores are counted in.

    Examples
    --------
    Three coins, and whoever takes the larger one of each pair plays best:

    >>> driver = "def play(choose, pairs): return [choose(*pair) for pair in pairs]"
    >>> def replay(decisions, pairs):
    ...     if not all(coin in pair for coin, pair in zip(decisions, pairs)):
    ...         raise Impossible("it takes a coin that is not there")
    ...     return Played(sum(decisions), f"It has {sum(decisions)} cents.", pairs, decisions)
    >>> coins = Game(driver, replay)
    >>> pairs = [[1, 5], [10, 2]]
    >>> coins.played("def choose(one, other): return max(one, other)", "choose", [pairs]).says
    'It has 15 cents.'
    >>> coins.played("def choose(one, other): return 50", "choose", [pairs])
    Failure(why='it takes a coin that is not there')
    """

    driver: str
    replay: Callable[..., Played]
    enough: float = 0.9
    least: float = 0.5
    unit: str = ""

    def played(self, source: str, function: str, arguments: Sequence[Any]) -> Played | Failure:
        """Let a function play in this process."""
        return self.replayed(read_reply(call(source, function, arguments, self.driver)), arguments)

    def replayed(self, decisions: Any, arguments: Sequence[Any]) -> Played | Failure:
        """Return what came of decisions; why not, if nothing could."""
        if isinstance(decisions, Failure):
            return decisions
        if not isinstance(decisions, list):
            return Failure("it gave nothing that can be read")
        try:
            return self.replay(decisions, *arguments)
        except Impossible as why:
            return Failure(str(why))
