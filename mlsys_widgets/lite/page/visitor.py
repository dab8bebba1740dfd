"""Who works in this browser: asked once, and kept in the drive."""

from __future__ import annotations

from dataclasses import dataclass

from mlsys_widgets.course.student_codes import checked_code
from mlsys_widgets.labs.identity import remember, settings_file


@dataclass(frozen=True)
class Visitor:
    """Who works here; nobody has said so while the name is `None`."""

    name: str | None


def visitor() -> Visitor:
    """Return who said that they work here."""
    kept = settings_file()
    name = kept.read_text("utf-8").strip() if kept.is_file() else ""
    return Visitor(name or None)


def introduce(name: str, code: str = "", *, by_code: bool = False) -> Visitor:
    """Keep who works here.

    Parameters
    ----------
    code
        The code that the course gave to this student.
    by_code
        Whether numbers are drawn from it here.

    Raises
    ------
    ValueError
        With a sentence, when this cannot be a name, or the code is not that of this name.
    """
    remember(name, checked_code(code, name.strip()) if by_code else "")
    return visitor()
