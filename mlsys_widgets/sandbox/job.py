"""One submission on its way to a child, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mlsys_widgets.sandbox.limits import Limits

#: How a submission ended when all of its cells were run.
FINISHED: Final = "finished"
#: How it ended when somebody outside killed it, such as a system that is short of memory.
KILLED: Final = "ended by SIGKILL"
#: How it ended when it was stopped so that others can run first.
YIELDED: Final = "yielded"


@dataclass(frozen=True)
class Job:
    """One submission that is about to be run.

    Parameters
    ----------
    student, lab
        Whose, of what.
    files
        The submission's files, paths below its folder; those of the release put over them.
    isolate
        Whether the notebook is isolated from this machine.
    limits
        What it may use.
    """

    student: str
    lab: str
    files: Mapping[str, bytes]
    isolate: bool = True
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Parcel:
    """One submission on its way to a child: whoever carries it need not look inside.

    Parameters
    ----------
    student
        Whose.
    content
        What the child is sent, or the file that holds it.
    hidden
        Cells with hidden tests that only a notebook can run, complete; for after its answers.
    isolate, limits
        How it runs, and what it may use.
    allowance
        Seconds after which it leaves its place to others and starts again later; `None` if it
        may stay.
    """

    student: str
    content: bytes | Path
    hidden: Mapping[int, str] = field(default_factory=dict)
    isolate: bool = True
    limits: Limits = field(default_factory=Limits)
    allowance: float | None = None


@dataclass(frozen=True)
class Ending:
    """How a child ended.

    Parameters
    ----------
    ended
        ``finished``, or why it did not get there.
    seconds, cpu
        What it took.
    late_from
        Where in its report the part about hidden tests begins; `None` if it never had them.
    """

    ended: str
    seconds: float = 0.0
    cpu: float = 0.0
    late_from: int | None = None


@dataclass(frozen=True)
class ChildReport:
    """The lines that a child reported before and after it had its hidden tests, and its end."""

    lines: Sequence[str]
    late: Sequence[str]
    ending: Ending
