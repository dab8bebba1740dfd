"""The one way from an answer to its verdict: for a class, at the hand-in, and in practice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mlsys_widgets.judging.code_keys import judge_code
from mlsys_widgets.judging.keys import Check, CodeKey, Given
from mlsys_widgets.judging.verdicts import Verdict, judge

#: What a student's function replied to the cases of a key; `None` if it was not called with them.
Replies = Callable[[CodeKey], Sequence[Any] | None]

_OTHER_CASES = "The function was called with other cases."


def judge_answer(
    check: Check, given: Given, answer: Any, replies: Replies = lambda key: None
) -> Verdict:
    """Judge an answer with the check of its item.

    Parameters
    ----------
    given
        What the student was given in this attempt.
    answer
        What was answered; ``...`` or `None` if nothing.
    replies
        Calls a function that was answered, or finds what it replied before. It runs elsewhere:
        whatever runs in this process could read the key.
    """
    try:
        key = check(given)
    except ValueError as reason:  # of an answer about a file that is missing or broken
        return Verdict(0.0, str(reason))
    if not isinstance(key, CodeKey) or not isinstance(answer, str):
        return judge(key, answer)
    found = replies(key)
    return Verdict(0.0, _OTHER_CASES) if found is None else judge_code(key, found)
