"""What the doctor says of one thing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "problem"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Parameters
    ----------
    about
        What it is, in a word or two.
    level
        ``ok``; ``warning``, if a class can go on with it; ``problem``, if it cannot.
    said
        What was found.
    mend
        What to do about it; empty if all is well.
    """

    about: str
    level: Level
    said: str
    mend: str = ""


def ok(about: str, said: str) -> Finding:
    """All is well."""
    return Finding(about, "ok", said)


def warning(about: str, said: str, mend: str) -> Finding:
    """Something that a class can go on with."""
    return Finding(about, "warning", said, mend)


def problem(about: str, said: str, mend: str) -> Finding:
    """Something that has to be mended."""
    return Finding(about, "problem", said, mend)
