"""A class whose truth is known: abilities, difficulties, beliefs, second chances, and one bad pool.

Answers are drawn as item response theory has it, so that what the report estimates can be compared
with what was put in.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field, replace

from mlsys_widgets.classes.question_statistics import (
    Judged,
    QuestionStatistics,
    Response,
    SecondTry,
)

BELIEF = "launches cost nothing"
SHARE = 0.9


@dataclass(frozen=True)
class KnownQuestion:
    """What is true about a question."""

    difficulty: float
    #: How steeply its answers follow ability.
    steep: float = 1.4
    #: How much harder it is with a number in the upper third.
    harder: float = 0.0
    #: How likely somebody who is wrong at first holds the belief, and is right before handing in.
    believes: float = 0.6
    gives_up: float = 0.3
    #: How likely somebody who is still wrong takes a second chance, and is right then.
    takes: float = 0.8
    learns: float = 0.7
    #: The mean of the logarithm of the minutes; its deviation is 0.5.
    minutes: float = 1.0

    def right_at_first(self, ability: float, number: float) -> float:
        """How likely somebody is right at once."""
        hard = self.difficulty + self.harder * (number > 2 / 3)
        return 1 / (1 + math.exp(self.steep * (hard - ability)))


@dataclass
class KnownClass:
    """Students drawn with a seed, who answer ten questions, of which one is looked at."""

    question: KnownQuestion
    students: int
    seed: int
    blank: float = 0.1
    others: tuple[KnownQuestion, ...] = field(
        default_factory=lambda: tuple(KnownQuestion(d / 4) for d in range(-4, 5))
    )

    def responses(self) -> list[Response]:
        """The answers to the question, without those who left it blank."""
        chance, found = random.Random(self.seed), []
        for _ in range(self.students):
            ability, number = chance.gauss(0, 1), chance.random()
            rest = [chance.random() < each.right_at_first(ability, 0) for each in self.others]
            one = self._answer(chance, ability, number)
            if chance.random() >= self.blank:
                found.append(replace(one, rest=sum(rest) / len(rest)))
        return found

    def _answer(self, chance: random.Random, ability: float, number: float) -> Response:
        question, minutes = self.question, chance.lognormvariate(self.question.minutes, 0.5)
        drawn = {"side": float(int(30 * number))}
        if chance.random() < question.right_at_first(ability, number):
            return Response(Judged(1.0), Judged(1.0), None, None, minutes, drawn)
        first = Judged(0.0, BELIEF if chance.random() < question.believes else None)
        if chance.random() < question.gives_up:
            return Response(Judged(1.0), first, None, None, minutes, drawn)
        second = None
        if chance.random() < question.takes:
            learned = chance.random() < question.learns
            second = SecondTry(Judged(1.0) if learned else first, SHARE)
        return Response(first, first, second, None, minutes, drawn)

    def statistics(self) -> QuestionStatistics:
        """What the report says about the question."""
        return QuestionStatistics.of(self.responses())


def truth(question: KnownQuestion, draws: int = 60_000) -> QuestionStatistics:
    """What a class without end would say, which no interval may miss more often than it says."""
    return KnownClass(question, draws, seed=-1, blank=0.0).statistics()
