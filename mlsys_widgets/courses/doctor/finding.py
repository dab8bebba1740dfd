"""What the doctor says about one thing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "problem"]


@dataclass(frozen=True)
class Finding:
    """One thing that the doctor checked."""

    about: str  #: What it is, in a word or two.
    level: Level  #: ``ok``; ``warning`` if a class can work with it; ``problem`` if it cannot.
    said: str
    fix: str = ""  #: What to do about it; empty if all is well.


def ok(about: str, said: str) -> Finding:
    """All is well."""
    return Finding(about, "ok", said)


def warning(about: str, said: str, fix: str) -> Finding:
    """Something that a class can work with."""
    return Finding(about, "warning", said, fix)


def problem(about: str, said: str, fix: str) -> Finding:
    """Something that must be fixed."""
    return Finding(about, "problem", said, fix)
