"""What a check knows about a function that a student writes: hidden cases, and who judges them.

The function runs in another process, which gets its source and the arguments. What it returned is
judged here, from plain data.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mlsys_widgets.grading.judging.verdicts import Verdict
from mlsys_widgets.labs.function_calls import read_reply

#: Cases of one function; each is an answer that comes back.
_MOST_CASES: Final = 100


@dataclass(frozen=True)
class CodeKey:
    """The key of a function.

    Parameters
    ----------
    cases
        The arguments of each hidden call: plain data, made from the student's parameters or with a
        seed, so that whoever asks again gets the same.
    judge
        Gets these cases and what each call returned, or a `Failure` that says why it returned
        nothing, and gives a verdict.

    Examples
    --------
    >>> from mlsys_widgets.grading import agree
    >>> def halves(cases, outputs):
    ...     right = sum(agree(x / 2, found) for (x,), found in zip(cases, outputs))
    ...     return Verdict(right / len(cases), f"{right} of {len(cases)} calls are right.")
    >>> key = CodeKey([[4], [3], [0]], halves)
    >>> judge_code(key, ['{"value": 2}', '{"value": 1}', '{"value": 0}']).says
    '2 of 3 calls are right.'
    """

    cases: Sequence[Sequence[Any]]
    judge: Callable[[Sequence[Sequence[Any]], Sequence[Any]], Verdict]

    def __post_init__(self) -> None:
        if not 0 < len(self.cases) <= _MOST_CASES:
            raise ValueError(f"there are {len(self.cases)} cases; 1 to {_MOST_CASES} are possible")
        try:
            json.dumps(list(self.cases), allow_nan=False)
        except (TypeError, ValueError) as problem:
            raise ValueError(f"the cases must be plain data: {problem}") from None


def replies_as_text(cases: Sequence[Sequence[Any]], replies: Sequence[Any]) -> str:
    """Write what a function replied to which cases, to judge it again later."""
    return json.dumps([list(cases), list(replies)])


def judge_kept(key: CodeKey, data: Sequence[str]) -> Verdict | None:
    """Judge a function from its kept data; `None` if it was called with other cases.

    Parameters
    ----------
    data
        Its source as `sandbox.answer_data` has it, and what `replies_as_text` wrote.
    """
    if len(data) < 3:
        return Verdict(0.0, "Not answered.")
    cases, replies = json.loads(data[2])
    return judge_code(key, replies) if cases == json.loads(json.dumps(list(key.cases))) else None


def judge_code(key: CodeKey, replies: Sequence[Any]) -> Verdict:
    """Judge what a function replied to each case; replies that are missing failed."""
    given = [*replies, *[None] * len(key.cases)][: len(key.cases)]
    verdict = key.judge(key.cases, [read_reply(reply) for reply in given])
    if not 0 <= verdict.credit <= 1:
        raise ValueError(f"its judge gives {verdict.credit} of the points; 0 to 1 are possible")
    return verdict
