"""Judging a policy: its decisions are replayed beside those of the best policy that is known.

What comes out of a student's process is a list of decisions and nothing else. A replay finds what
they were worth, so a function cannot claim what it did not do. It could still look at what the game
keeps for later: its process has all of it. Therefore games of a key begin alike and go on
differently, and decisions may differ only where something different was seen before.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final

from mlsys_widgets.judging.keys import Belief
from mlsys_widgets.judging.verdicts import Verdict
from mlsys_widgets.labs.function_calls import Failure
from mlsys_widgets.labs.game import Game, Played

_CLAIRVOYANT: Final = (
    "In two hidden runs it was shown the same so far, and decided differently. A policy may depend"
    " on what it was shown in this run, and not on chance, on a clock or on what comes later."
)


def judge_policy(
    game: Game,
    found: Sequence[Played | Failure],
    best: Sequence[Played],
    beliefs: Sequence[tuple[Belief, Sequence[Played]]],
    says: str,
) -> Verdict:
    """Judge what came of a policy's decisions, run by run.

    Parameters
    ----------
    found, best, beliefs
        What came of the student's decisions, of those of the best known policy, and of those of
        policies that are wrong for a reason.
    says
        What to tell somebody whose policy is as good.
    """
    valid = [each for each in found if isinstance(each, Played)]
    if any(_knew_more(one, other) for one, other in combinations(valid, 2)):
        return Verdict(0.0, _CLAIRVOYANT)
    shares = [_share(mine, other) for mine, other in zip(found, best, strict=True)]
    share = sum(shares) / len(shares)
    if share >= game.enough:
        return Verdict(1.0, says or "As good as the best policy that we know.")
    worst = min(range(len(shares)), key=shares.__getitem__)
    told = f"In hidden run {worst + 1} of {len(shares)}"
    mine = found[worst]
    if isinstance(mine, Failure):
        told += f" it fails: {mine.why}."
    else:
        told += f": {mine.says} With the best policy that we know: {best[worst].says}"
    for belief, plays in beliefs:
        same = sum(
            isinstance(mine, Played) and mine.decisions == other.decisions
            for mine, other in zip(found, plays, strict=True)
        )
        if same > len(found) / 2:
            return Verdict(belief.credit, f"{told} {belief.says}", belief.name)
    earned = (share - game.least) / (game.enough - game.least)
    return Verdict(min(max(round(earned, 2), 0.0), 0.99), told)


def _share(mine: Played | Failure, best: Played) -> float:
    """What fraction of the best score it has; one lucky run makes up for no other."""
    return 0.0 if isinstance(mine, Failure) else min(mine.score / best.score, 1.0)


def _knew_more(one: Played, other: Played) -> bool:
    """Whether decisions differ before anything that was seen does."""
    for k in range(min(len(one.decisions), len(other.decisions))):
        if one.seen[k] != other.seen[k]:
            return False
        if one.decisions[k] != other.decisions[k]:
            return True
    return False
