"""What the process that submits a lab tells the server, as a line of JSON."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SubmitReply:
    """When it was submitted to which course, and the names of what was; or why it was not."""

    time: str = ""
    course: str = ""
    files: tuple[str, ...] = ()
    problem: str = ""
