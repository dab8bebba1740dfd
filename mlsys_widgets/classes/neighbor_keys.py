"""Wrong answers that are right for a classmate, and how often that happens by chance.

Everybody has other numbers, so whoever copies a classmate's result is wrong with it in a way of
its own: it is exactly what is right for that classmate. One such answer can be an accident. How
likely, the class says itself: as likely as a classmate who is drawn at random has numbers that
make it right. What is left is evidence that somebody should look at, and never a verdict: friends
who compare how they calculate may swap a number, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from mlsys_widgets.judging.keys import NumberKey

#: One answer in common is what chance does all the time.
_FEWEST: Final = 2
#: Pairs are shown that chance makes less often than this, for each student.
_RARE: Final = 0.5


@dataclass(frozen=True)
class NeighborKeys:
    """A student with wrong answers that are right for one classmate."""

    #: Both; empty where nobody is named.
    student: str
    neighbor: str
    #: Whose answers those are.
    questions: tuple[str, ...]
    #: How many wrong answers of the student no known mistake explains.
    wrong: int
    #: How many classmates would match as well by chance.
    by_chance: float


def neighbor_keys(
    wrong: Mapping[str, Mapping[str, float]], keys: Mapping[str, Mapping[str, NumberKey]]
) -> list[NeighborKeys]:
    """Return who has several answers that are right for one classmate, the least likely first.

    `wrong` has, by student and question, wrong numbers that no known mistake leads to; `keys` has,
    by question and student, what is right for whom.
    """
    found = [each for who, answers in wrong.items() if (each := _closest(who, answers, keys))]
    return sorted(found, key=lambda each: (each.by_chance, each.student))


def _closest(
    student: str, answers: Mapping[str, float], keys: Mapping[str, Mapping[str, NumberKey]]
) -> NeighborKeys | None:
    """Return the classmate for whom most of a student's wrong answers are right."""
    shared: dict[str, list[str]] = {}
    rates = []
    for name, answer in answers.items():
        others = {who: key for who, key in keys.get(name, {}).items() if who != student}
        right = [who for who, key in others.items() if key.reaches(key.value, answer)]
        rates.append(len(right) / len(others) if others else 0.0)
        for who in right:
            shared.setdefault(who, []).append(name)
    if not shared:
        return None
    neighbor, questions = max(shared.items(), key=lambda pair: len(pair[1]))
    classmates = len({who for of in keys.values() for who in of} - {student})
    by_chance = classmates * _at_least(len(questions), rates)
    if len(questions) < _FEWEST or by_chance >= _RARE:
        return None
    return NeighborKeys(student, neighbor, tuple(questions), len(answers), by_chance)


def _at_least(count: int, rates: Iterable[float]) -> float:
    """Return how likely so many of several independent things happen, each at a rate of its own."""
    chances = [1.0]  # of none, of one, ...
    for rate in rates:
        more = [*chances, 0.0]
        for number, chance in enumerate(chances):
            more[number] -= chance * rate
            more[number + 1] += chance * rate
        chances = more
    return sum(chances[count:])
