"""Judging a function by what it returned, beside what a right one returns.

The student's function runs in another process, which gets its source and the arguments. Here only
functions of the course run: the right one, and those of beliefs.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from mlsys_widgets.judging.keys import CodeKey
from mlsys_widgets.judging.policy_verdicts import judge_policy
from mlsys_widgets.judging.verdicts import Verdict
from mlsys_widgets.labs import Game
from mlsys_widgets.labs.function_calls import Failure, agree, call, read_reply

#: Characters of a result in a sentence.
_LONGEST_RESULT: Final = 40
#: What functions of the course gave, by their source and the cases, and how many are kept.
_known: Final[dict[tuple[str, str, Game | None], list[Any]]] = {}
_MOST_KNOWN: Final = 1000


def replies_as_text(cases: Sequence[Sequence[Any]], replies: Sequence[Any]) -> str:
    """Write what a function replied to which cases, to judge it again later."""
    return json.dumps([list(cases), list(replies)])


def kept_replies(key: CodeKey, text: str) -> Sequence[Any] | None:
    """Return what `replies_as_text` wrote; `None` if the function was called with other cases."""
    cases, replies = json.loads(text)
    return replies if cases == json.loads(json.dumps(list(key.cases))) else None


def judge_code(key: CodeKey, replies: Sequence[Any]) -> Verdict:
    """Judge what a function replied to each case; replies that are missing failed."""
    given = [*replies, *[None] * len(key.cases)][: len(key.cases)]
    wanted, found = _results(key, key.value), [read_reply(each) for each in given]
    if key.game:
        plays = [key.game.replayed(*each) for each in zip(found, key.cases, strict=True)]
        known = [(belief, _results(key, str(belief.value))) for belief in key.beliefs]
        return judge_policy(key.game, plays, wanted, known, key.says)
    wrong = [k for k in range(len(found)) if not agree(wanted[k], found[k])]
    if not wrong:
        return Verdict(1.0, key.says or "Right.")
    first = wrong[0]
    says = f"{_name(key.value)}({', '.join(map(repr, key.cases[first]))})"
    if isinstance(found[first], Failure):
        says += f" fails: {found[first].why}."
    else:
        result = repr(found[first])
        if len(result) > _LONGEST_RESULT:
            result = f"{result[:_LONGEST_RESULT]}…"
        says += f" returns {result}; it must be {wanted[first]!r}."
    for belief in key.beliefs:
        held = _results(key, str(belief.value))
        if sum(_alike(held[k], found[k]) for k in wrong) > len(wrong) / 2:
            return Verdict(belief.credit, f"{says} {belief.says}", belief.name)
    return Verdict(round(1 - len(wrong) / len(found), 2), says)


def _alike(one: Any, other: Any) -> bool:
    """Whether both return the same, or both fail: in which line, and how, depends on the writer."""
    return (isinstance(one, Failure) and isinstance(other, Failure)) or agree(one, other)


@cache
def _name(source: str) -> str:
    """Return the name of the function in a source: the last one, if there are helpers."""
    return [n.name for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)][-1]


def _results(key: CodeKey, source: str) -> list[Any]:
    """Return what a function of the course gives; many students have the same cases."""
    about = source, repr(key.cases), key.game
    if about not in _known:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        name, play = _name(source), key.game.played if key.game else _returned
        _known[about] = [play(source, name, case) for case in key.cases]
    return _known[about]


def _returned(source: str, name: str, case: Sequence[Any]) -> Any:
    return read_reply(call(source, name, case))
