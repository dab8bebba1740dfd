"""Simulated answers: what a student knows about a lab, and what they type.

Right answers come from the lab's checks with that student's own numbers. Wrong ones mostly come
from the misconceptions that the checks know.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mlsys_widgets.judging.code_keys import judge_code
from mlsys_widgets.judging.keys import Checks, ChoiceKey, CodeKey, Given, Key, NumberKey
from mlsys_widgets.judging.verdicts import judge
from mlsys_widgets.labs import Choice, Code, Number, UnusableAnswer
from mlsys_widgets.labs.asked import Checked
from mlsys_widgets.labs.function_calls import call

#: What students type who did not understand the question.
NONSENSE: Final = (
    "33%", "no idea", "33 percent", "utilization", "[1, 2, 3]", "1 / 0", "True", "None",
    "nan", "1e400", "C", "3,94", "print('?')",
)  # fmt: skip


@dataclass(frozen=True)
class SimulatedStudent:
    """A made-up student."""

    #: The name under which nbgrader files the submission.
    name: str
    #: The source of everything random about them.
    seed: str
    #: From about -2 to 3; at 0, half of the answers of medium difficulty are right.
    skill: float = 0.0
    #: The fraction of wrong answers that come from a known misconception.
    believes: float = 0.65
    #: The fraction of the lab that they do, from the top.
    does: float = 1.0
    #: Whether they restarted the lab halfway through.
    again: bool = False
    nonsense: bool = False


@dataclass(frozen=True)
class TypedAnswer:
    """An answer as a student typed it, and what it is worth."""

    #: What was typed into the card of the question, or the key of an option.
    text: str
    #: The fraction of the points that it earns.
    credit: float
    belief: str | None = None


_BLANK: Final = TypedAnswer("", 0.0)


class Knowledge:
    """Knowledge of one student in one lab."""

    def __init__(
        self, student: SimulatedStudent, checks: Checks, given: Given, chance: random.Random
    ) -> None:
        self._student, self._checks, self._given, self._chance = student, checks, given, chance

    def likelihood(self, name: str) -> float:
        """Return how likely the student is to get something right."""
        hard = random.Random(f"{self._student.seed}/{name}").gauss(0, 0.8)
        return 1 / (1 + math.exp(1.4 * (hard - self._student.skill)))

    def confidence(self, *, right: bool) -> int:
        """From 1 to 5. Students who are right are a little more certain; most are overconfident."""
        return min(max(round(self._chance.gauss(3.7 if right else 3.1, 1.0)), 1), 5)

    def key(self, name: str) -> Key | None:
        """Return the right answer for this student; ``None`` if a file it depends on is missing."""
        try:
            return self._checks[name](self._given)
        except (KeyError, ValueError):
            return None

    def answer(self, name: str, item: Checked) -> TypedAnswer:
        """Type an answer, as well as the student can."""
        if self._student.nonsense:
            text, key = self._chance.choice(NONSENSE), self.key(name)
            return _judged(item, key, text) if key else TypedAnswer(text, 0.0)
        if self._chance.random() < self.likelihood(name):
            return self._right_answer(name)
        return self.wrong_answer(name, item)

    def _right_answer(self, name: str) -> TypedAnswer:
        key = self.key(name)
        if key is None:
            return _BLANK
        if not isinstance(key, NumberKey):
            return TypedAnswer(key.value, 1.0)
        rounded = _rounded(float(key.value), self._chance.choice((3, 4)))
        close = abs(float(rounded) - key.value) <= key.tolerance * abs(key.value) / 4
        return TypedAnswer(rounded if close else repr(float(key.value)), 1.0)

    def wrong_answer(self, name: str, item: Checked) -> TypedAnswer:
        """Type something wrong, most often what a misconception leads to."""
        key = self.key(name)
        if key is None or self._chance.random() < 0.06:
            return _BLANK
        if key.beliefs and (
            not isinstance(item, Number) or self._chance.random() < self._student.believes
        ):
            belief = self._tempted(name, key.beliefs)
            return _typed_belief(item, key, belief.value)
        if isinstance(key, ChoiceKey) or isinstance(item, Choice):
            options = item.options if isinstance(item, Choice) else {}
            return _judged(item, key, self.wrong_option(name, options, key))
        if isinstance(key, CodeKey) or isinstance(item, Code):
            return _BLANK
        for _ in range(20):
            guess = key.value * self._chance.lognormvariate(0, 1.2)
            typed = _judged(item, key, _rounded(float(guess), 2))
            if typed.credit == 0 and typed.belief is None and item.low <= guess <= item.high:
                return typed
        return _BLANK

    def wrong_option(self, name: str, options: Mapping[str, str], key: Key | None) -> str:
        # Sorted: what tempts has nothing to do with the order that a student sees.
        wrong = sorted(each for each in options if key is None or each != key.value)
        option: str = self._tempted(name, wrong or sorted(options))
        return option

    def _tempted(self, name: str, choices: Sequence[Any]) -> Any:
        """One of several; the whole class agrees on which of them is most tempting."""
        order = list(range(len(choices)))
        random.Random(f"{self._student.seed}/{name}/tempts").shuffle(order)
        weights = [1 / (1 + order[k]) ** 1.3 for k in range(len(choices))]
        return self._chance.choices(list(choices), weights)[0]


def _typed_belief(item: Checked, key: Key, value: float | str) -> TypedAnswer:
    """Return what a student types who holds a belief, rounded if the checks still recognize it."""
    if isinstance(value, str):
        return _judged(item, key, value)
    exact = _judged(item, key, repr(float(value)))
    rounded = _judged(item, key, _rounded(float(value), 4))
    return rounded if rounded.belief == exact.belief else exact


def _judged(item: Checked, key: Key, text: str) -> TypedAnswer:
    try:
        answer = item.read(text)
    except UnusableAnswer:  # the card says so, and nothing is recorded
        return TypedAnswer(text, 0.0)
    if isinstance(key, CodeKey) and isinstance(item, Code):
        # A source of the key's own, so it may run here.
        replies = [call(str(answer), item.function, case, key.driver) for case in key.cases]
        verdict = judge_code(key, replies)
    else:
        verdict = judge(key, answer)
    return TypedAnswer(text, verdict.credit, verdict.belief)


def _rounded(value: float, digits: int) -> str:
    """Write a number the way people type it.

    Examples
    --------
    >>> _rounded(133607.1, 4), _rounded(32.258, 3), _rounded(2.5e-7, 3)
    ('133600', '32.3', '2.5e-07')
    """
    text = f"{value:.{digits}g}"
    return f"{float(text):.0f}" if "e+" in text and abs(value) < 1e9 else text
