"""What the operating system refuses, in a sentence that names the file and what to do."""

from __future__ import annotations

import os
from pathlib import Path


def error_sentence(problem: Exception) -> str:
    """Return what went wrong, without the numbers that the system has for it."""
    if not isinstance(problem, OSError) or not problem.strerror:
        return str(problem)
    reason = problem.strerror[:1].lower() + problem.strerror[1:]
    name = problem.filename2 or problem.filename
    if not isinstance(name, str | bytes | os.PathLike):  # nothing, or the number of an open file
        return reason
    path = Path(os.fsdecode(name))
    if isinstance(problem, PermissionError):
        return f"you have no right to {path}{_whose(path)}"
    if isinstance(problem, FileNotFoundError):
        return f"there is no {path}"
    return f"{path}: {reason}"


def _whose(path: Path) -> str:
    """Return whom to ask: the owner of the file, or of the folder that hides it or lacks it."""
    for each in (path, *path.absolute().parents):
        try:
            owner = each.owner()
        except (OSError, KeyError, NotImplementedError):
            continue
        what = "it" if each == path else str(each)
        return f"; {what} belongs to {owner}, who can give you the right or do this"
    return ""


def database_reason(problem: Exception) -> str:
    """Return in a line why a database refused, by what SQLAlchemy raised."""
    cause = getattr(problem, "orig", None) or problem
    return (str(cause).strip().splitlines() or [type(cause).__name__])[0]
