"""One submission on its way to a worker, and its result on the way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from mlsys_widgets.sandbox.limits import Limits
from mlsys_widgets.sandbox.remarks import Remark

#: How a submission ended when all of its cells were run.
FINISHED: Final = "finished"
#: How it ended when it could not be run at all, through no fault of its own that we know of.
LOST: Final = "lost"


@dataclass(frozen=True)
class Job:
    """One submission, as it travels to a worker.

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
class RunResult:
    """What a worker hands back.

    Parameters
    ----------
    student
        Whose submission it was.
    notebook
        The notebook with outputs, as JSON; empty if it could not be read.
    answers
        What was typed, as data, by the name of the answer.
    ended
        ``finished``, or why it did not get there.
    remarks
        What a TA should know.
    missing
        Graded cells that are not in the notebook.
    seconds, cpu
        What it took.
    own
        Seconds inside its cells, as it says itself: for a benchmark, and nothing else.
    """

    student: str
    notebook: str = ""
    answers: Mapping[str, Any] = field(default_factory=dict)
    ended: str = FINISHED
    remarks: tuple[Remark, ...] = ()
    missing: tuple[str, ...] = ()
    seconds: float = 0.0
    cpu: float = 0.0
    own: float = 0.0
