"""Calling functions that a student wrote, in the child of a fork server.

It needs little of the package, so that a fork server whose children do nothing else is small: a
small process forks in a fraction of the time that one with IPython and all instruments takes.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Mapping
from types import FrameType
from typing import Any

from mlsys_widgets.labs.function_calls import NeverEnds, call
from mlsys_widgets.sandbox.answer_data import to_data
from mlsys_widgets.sandbox.job import FunctionCall


def report(to: int, what: Mapping[str, Any]) -> None:
    """Report a line on a descriptor; all of it, however large it is."""
    line = json.dumps(what, default=str).encode() + b"\n"
    while line:
        line = line[os.write(to, line) :]


def call_functions(
    calls: Mapping[str, FunctionCall], found: Mapping[str, Any], *, seconds: float, to: int
) -> None:
    """Call functions, and report each reply as an answer.

    What a notebook that ran has ``found`` comes before recorded sources. One call may take so many
    ``seconds``; it is reported on the descriptor ``to``.
    """
    for name, each in calls.items():
        reply = _reply(each, found.get(each.answer), seconds)
        report(to, {"answer": name, "value": to_data(reply)})


def report_end(to: int, own_seconds: float = 0.0) -> None:
    """Report that all is done, and how long that took inside of the student's own code."""
    report(to, {"done": True, "own": own_seconds})


def _reply(each: FunctionCall, found: Any, seconds: float) -> str:
    """Call a function of the student's; nothing if there is no source of it."""
    source = found if type(found) is str else each.source
    if source is None:
        return ""
    before = signal.signal(signal.SIGALRM, _never_ends)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return call(source, each.function, each.arguments, each.driver)
    except NeverEnds as problem:  # it came between two lines of our own
        return json.dumps({"error": str(problem)})
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _never_ends(_signal: int, _frame: FrameType | None) -> None:
    raise NeverEnds("it was stopped because it took too long")
