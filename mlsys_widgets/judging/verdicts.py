"""Compare a plain answer with its key."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Final

from mlsys_widgets.judging.keys import Belief, ChoiceKey, CodeKey, Key, NumberKey
from mlsys_widgets.labs import UnusableAnswer, plain
from mlsys_widgets.labs.answers import choice_key

_EARNED: Final = re.compile(r"^(?:\S+ of \S+ points\. |deeper, )")


@dataclass(frozen=True)
class Verdict:
    """What an answer earns, and what to say about it.

    Parameters
    ----------
    belief
        The name of the belief that was recognized; `None` if none was.

    Examples
    --------
    >>> verdict = Verdict(0.5, "fp16 has two bytes.", belief="elements for bytes")
    >>> verdict.right, 40 * verdict.credit
    (False, 20.0)
    """

    credit: float
    says: str
    belief: str | None = None

    @property
    def right(self) -> bool:
        """Whether it earns everything."""
        return self.credit == 1


def result_in_words(name: str, verdict: Verdict, earned: float, points: float) -> str:
    """Return the line that a student reads: what an answer earned, and why.

    Examples
    --------
    >>> result_in_words("ridge", Verdict(1.0, "Right."), 10, 10)
    'ridge: 10 of 10 points. Right.'
    >>> result_in_words("ridge", Verdict(0.2, "These are bytes per FLOP."), 0, 0)
    'ridge: deeper, partly solved. These are bytes per FLOP.'
    """
    if points:
        return f"{name}: {earned:g} of {points:g} points. {verdict.says}"
    how = "solved" if verdict.right else "partly solved" if verdict.credit else "not solved"
    return f"{name}: deeper, {how}. {verdict.says}"


def explanation_in(result: str) -> str:
    """Return what such a line says beyond the points.

    Examples
    --------
    >>> explanation_in("10 of 10 points. Right."), explanation_in("deeper, not solved. Too low.")
    ('Right.', 'Not solved. Too low.')
    """
    words = _EARNED.sub("", result, count=1)
    return words[:1].upper() + words[1:]


def judge(key: Key, value: Any) -> Verdict:
    """Judge what was typed: right, a known belief, or something else.

    The key comes first. Of the beliefs that an answer could stand for, the nearest is taken.

    Parameters
    ----------
    value
        What the student entered; ``...`` or `None` if nothing.

    Returns
    -------
    Verdict
        What it earns, and why. No answer raises an exception.

    Examples
    --------
    >>> fraction = Belief("a fraction", 0.323, credit=0.5, says="The question asks for percent.")
    >>> key = NumberKey(32.3, tolerance=0.02, beliefs=[fraction])
    >>> judge(key, 32)
    Verdict(credit=1.0, says='Right.', belief=None)
    >>> judge(key, 0.32)
    Verdict(credit=0.5, says='The question asks for percent.', belief='a fraction')
    >>> judge(key, 50).says
    'Not right: it is too high, and no mistake that we know leads there.'
    >>> judge(key, "a third").says
    "Not usable: a number is asked for, and this is 'a third'."
    """
    if value is ... or value is None:
        return Verdict(0.0, "Not answered.")
    try:
        answer = plain(value)
    except UnusableAnswer as reason:
        return Verdict(0.0, f"Not usable: {reason}.")
    if isinstance(key, ChoiceKey):
        return _judge_choice(key, choice_key(answer))
    if isinstance(key, CodeKey):  # see `judge_code`: a source does not run here
        return Verdict(0.0, "Not usable: a function is asked for.")
    if isinstance(answer, str | bool) or answer is None:
        return Verdict(0.0, f"Not usable: a number is asked for, and this is {answer!r}.")
    return _judge_number(key, answer)


def _judge_choice(key: ChoiceKey, chosen: str | None) -> Verdict:
    if chosen == choice_key(key.value):
        return Verdict(1.0, key.says or "Right.")
    for belief in key.beliefs:
        if chosen == belief.value:
            return _held(belief)
    return Verdict(0.0, "That is not one of the options.")


def _judge_number(key: NumberKey, answer: float) -> Verdict:
    try:
        usable = math.isfinite(answer)
    except OverflowError:  # an int beyond every float
        usable = False
    if not usable:
        return Verdict(0.0, "Not usable: the number is not finite.")
    if key.reaches(key.value, answer):
        return Verdict(1.0, key.says or "Right.")
    known = [(abs(answer - float(b.value)), b) for b in key.beliefs if _is(key, b, answer)]
    if known:
        return _held(min(known, key=lambda pair: pair[0])[1])
    side = "too high" if answer > key.value else "too low"
    return Verdict(0.0, f"Not right: it is {side}, and no mistake that we know leads there.")


def _is(key: NumberKey, belief: Belief, answer: float) -> bool:
    return key.reaches(float(belief.value), answer)


def _held(belief: Belief) -> Verdict:
    return Verdict(belief.credit, belief.says, belief.name)
