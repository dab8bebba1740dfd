"""One submission on its way to a child, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.sandbox.limits import Limits

#: How a submission ended when all of its cells were run.
FINISHED: Final = "finished"
#: How it ended when somebody outside killed it, such as a system that is short of memory.
KILLED: Final = "ended by SIGKILL"
#: How it ended when it was stopped so that others can run first.
YIELDED: Final = "yielded"


@dataclass(frozen=True)
class Job:
    """One submission that is about to be run."""

    #: Whose, of what.
    student: str
    lab: str
    #: The submission's files, paths below its folder; those of the release put over them.
    files: Mapping[str, bytes]
    #: Whether the notebook is isolated from this machine.
    isolate: bool = True
    #: What it may use.
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class FunctionCall:
    """A call of a function that a student wrote; its reply comes back as an answer.

    A ``driver`` is what of the course plays it, see `function_calls.call`.
    """

    #: The answer that holds the source where a notebook runs, and the source if none has it.
    answer: str
    source: str | None
    function: str
    arguments: Sequence[Any]
    driver: str = ""


@dataclass(frozen=True)
class Parcel:
    """One submission on its way to a child: whoever carries it need not look inside."""

    student: str
    #: What the child is sent, or the file that holds it.
    content: bytes | Path
    #: Cells with hidden tests that only a notebook can run, complete; for after its answers.
    hidden: Mapping[int, str] = field(default_factory=dict)
    #: How it runs, and what it may use.
    isolate: bool = True
    limits: Limits = field(default_factory=Limits)
    #: Seconds after which it leaves its place to others and starts again later; `None` if it may
    #: stay.
    allowance: float | None = None


@dataclass(frozen=True)
class Ending:
    """How a child ended."""

    #: ``finished``, or why it did not get there.
    ended: str
    #: What it took.
    seconds: float = 0.0
    cpu: float = 0.0
    #: Where in its report the part about hidden tests begins; `None` if it never had them.
    late_from: int | None = None


@dataclass(frozen=True)
class ChildReport:
    """The lines that a child reported before and after it had its hidden tests, and its end."""

    lines: Sequence[str]
    late: Sequence[str]
    ending: Ending
