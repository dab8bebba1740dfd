"""Calling a function that a student wrote: its source and plain arguments in, plain data out.

The same lines run wherever such a function is called: in the student's own kernel for the examples
on a card, in the sandbox for hidden cases, and below stock nbgrader in a process of its own, for
which this file is a program. That is why it imports nothing but the standard library.

Every call executes the source again, so no call finds what another one left behind. Whoever reads a
reply must not trust it: the function could do in its process whatever it liked.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import functools
import io
import json
import math
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any, Final

#: What tracebacks call the file of the student's code, and that of what plays it.
_FILE, _DRIVER_FILE = "<your code>", "<driver>"
#: Instructions of the student's code that one call may run, a fraction of a second. A count is the
#: same on every machine, and a busy one does not make a function wrong.
MOST_STEPS: Final = 500_000
#: Characters of a reply, values in a result, how deep they nest, and bits of a whole number.
_LONGEST_REPLY, _MOST_VALUES, _DEEPEST, _MOST_BITS = 9_000, 1_000, 10, 1024
#: Characters of an error's own words.
_LONGEST_ERROR: Final = 200
#: Seconds and bytes for all calls of one function in a process of its own.
_SECONDS, _MEMORY = 60, 2_000_000_000


class NeverEnds(BaseException):
    """A call that was stopped; no ``except Exception`` of the student's catches it."""


@dataclass(frozen=True)
class Failure:
    """A call that gave nothing that can be used, and why, as a sentence.

    Examples
    --------
    >>> read_reply(call("def half(x): return x / 0", "half", [4]))
    Failure(why='line 1: ZeroDivisionError: division by zero')
    """

    why: str


def call(source: str, function: str, arguments: Sequence[Any], driver: str = "") -> str:
    """Call a function of some source, and write what it returns as JSON.

    Parameters
    ----------
    driver
        Source of the course with a function ``play``, which calls the student's as often as it
        likes: ``play(function, *arguments)``. Nothing of it counts as a step of the student's.

    Returns
    -------
    str
        An object with the ``value``, or with the ``error`` as a sentence; no exception leaves here.
    """
    before = sys.gettrace()
    try:
        # What it prints belongs to nobody here.
        with (
            contextlib.redirect_stdout(_Nowhere()),
            contextlib.redirect_stderr(_Nowhere()),
            warnings.catch_warnings(action="ignore"),
        ):
            code = _compiled(source, _FILE)
            names, ours = _names(_FILE), _names(_DRIVER_FILE)
            if driver:
                exec(_compiled(driver, _DRIVER_FILE), ours)
            sys.settrace(_Steps())
            exec(code, names)
            made, given = names[function], copy.deepcopy(list(arguments))
            value = ours["play"](made, *given) if driver else made(*given)
            sys.settrace(before)
            reply = json.dumps({"value": _plain(value, [_MOST_VALUES])}, allow_nan=False)
            if len(reply) > _LONGEST_REPLY:
                raise _NotPlain("it returns more than can be read")
            return reply
    except BaseException as problem:
        return json.dumps({"error": _sentence(problem)})
    finally:
        sys.settrace(before)


@functools.lru_cache(maxsize=16)
def _compiled(source: str, file: str) -> Any:
    """Compile a source once for all its cases; every call executes it from the start."""
    return compile(source, file, "exec", dont_inherit=True)


def _names(file: str) -> dict[str, Any]:
    return {"__name__": file, "__builtins__": builtins}


def read_reply(reply: Any) -> Any:
    """Return the value in a reply, or a `Failure`; whatever else it may be is refused."""
    unreadable = Failure("it gave nothing that can be read")
    if not isinstance(reply, str) or len(reply) > _LONGEST_REPLY:
        return unreadable
    try:
        match json.loads(reply):
            case {"value": value, **rest} if not rest:
                return _plain(value, [_MOST_VALUES])
            case {"error": str() as why, **rest} if not rest:
                return Failure(why.encode("utf-8", "replace").decode()[: 2 * _LONGEST_ERROR])
    except (ValueError, RecursionError, _NotPlain):
        pass
    return unreadable


def agree(expected: Any, found: Any) -> bool:
    """Whether two results are the same; numbers may differ by rounding."""
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    if isinstance(expected, int | float) and isinstance(found, int | float):
        try:
            return math.isclose(expected, found, rel_tol=1e-9, abs_tol=1e-12)
        except OverflowError:
            return False
    if isinstance(expected, list | tuple) and isinstance(found, list):
        return len(expected) == len(found) and all(map(agree, expected, found))
    if isinstance(expected, dict) and isinstance(found, dict):
        return expected.keys() == found.keys() and all(agree(expected[k], found[k]) for k in found)
    return type(expected) is type(found) and bool(expected == found)


def call_apart(
    source: str, function: str, cases: Sequence[Sequence[Any]], driver: str = ""
) -> list[str]:
    """Call a function once for each case in a process of its own; replies as `call` writes them.

    The process learns the source and the arguments and nothing else of this one. There are fewer
    replies than cases if it ended before its last call.
    """
    what = {"source": source, "function": function, "driver": driver}
    request = json.dumps({"what": what, "cases": list(cases)})
    try:
        told = subprocess.run(
            [sys.executable, "-I", __file__],
            input=request.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            # Where there are many processors, numpy takes memory for each unless it is told not to.
            env={"OPENBLAS_NUM_THREADS": "1"},
            cwd=tempfile.gettempdir(),
            check=False,
        ).stdout
    except subprocess.TimeoutExpired as late:
        told = late.stdout or b""
    return told.decode("utf-8", "replace").split("\n")[: len(cases)]


class _NotPlain(Exception):
    """A result that cannot leave its process."""


class _Nowhere(io.TextIOBase):
    def write(self, text: str) -> int:
        return len(text)


class _Steps:
    """Counts the instructions that run of the student's code, and of no library."""

    def __init__(self) -> None:
        self._left = MOST_STEPS

    def __call__(self, frame: FrameType, event: str, _value: Any) -> _Steps | None:
        if event == "call":
            if frame.f_code.co_filename != _FILE:
                return None
            # Not lines: ``while True: pass`` never leaves its first.
            frame.f_trace_lines, frame.f_trace_opcodes = False, True
        self._left -= 1
        if self._left < 0:
            raise NeverEnds(
                f"it was stopped after {MOST_STEPS:,} steps, probably in a loop without end"
            )
        return self


def _plain(value: Any, room: list[int], depth: int = 0) -> Any:
    """Return a result as JSON has it; numbers of numpy and tuples become plain."""
    kind = type(value)
    room[0] -= 1
    if depth > _DEEPEST or room[0] < 0:
        raise _NotPlain("it returns more than can be read")
    if kind.__module__ == "numpy" and hasattr(value, "tolist"):
        return _plain(value.tolist(), room, depth)
    if value is None or kind in (bool, str):
        return value
    if kind is int and value.bit_length() <= _MOST_BITS:
        return value
    if kind is float and math.isfinite(value):
        return value
    if kind in (int, float):
        raise _NotPlain("it returns a number that is not finite, or far too large")
    if kind in (list, tuple):
        return [_plain(each, room, depth + 1) for each in value]
    if kind is dict and all(type(key) is str for key in value):
        return {key: _plain(each, room, depth + 1) for key, each in value.items()}
    raise _NotPlain(
        f"it returns a {kind.__name__[:60]}; return a number, a text, True, False, None, or a list"
        " or a dictionary of them"
    )


def _sentence(problem: BaseException) -> str:
    """Say what went wrong, and in which line of the student's code."""
    if isinstance(problem, NeverEnds | _NotPlain):
        return str(problem)
    if isinstance(problem, KeyboardInterrupt):
        return "it was interrupted"
    line, trace = None, problem.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == _FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    if isinstance(problem, SyntaxError):
        line, words = problem.lineno, str(problem.msg)
    elif isinstance(problem, SystemExit):
        words = "it ends the program; return a value instead"
    elif isinstance(problem, RecursionError):
        words = "it calls itself without end"
    elif isinstance(problem, MemoryError):
        words = "it needs more memory than there is"
    else:
        words = type(problem).__name__
        with contextlib.suppress(BaseException):  # its text is the student's code, too
            words = f"{words}: {problem}" if str(problem) else words
    words = words.encode("utf-8", "replace").decode()[:_LONGEST_ERROR]
    return f"line {line}: {words}" if line else words


def _main() -> None:
    """Read a request, and write a line for each of its cases."""
    import resource

    # Neither what it prints nor what it reads can meet a reply or the request.
    replies, request = os.dup(1), json.loads(sys.stdin.buffer.read())
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for arguments in request["cases"]:
        os.write(replies, call(arguments=arguments, **request["what"]).encode() + b"\n")


if __name__ == "__main__":
    _main()
