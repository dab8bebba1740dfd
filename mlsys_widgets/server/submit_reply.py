"""The reply of the process that submits a lab, which the server reads as a line of JSON."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SubmitReply:
    """Time, course and files of a submission; or the problem, if there is none."""

    time: str = ""
    course: str = ""
    files: tuple[str, ...] = ()
    problem: str = ""
