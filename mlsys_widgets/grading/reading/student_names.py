"""Names of students: what a gradebook, a ledger and a terminal can hold, whoever chose them."""

from __future__ import annotations

from typing import Final

from mlsys_widgets.notebooks.remarks import quoted

#: Characters, as nbgrader's gradebook limits them; PostgreSQL insists on it.
LONGEST_NAME: Final = 128


def name_problem(student: str) -> str | None:
    """Why a name cannot be a student's, and what to do; `None` if it can.

    Examples
    --------
    >>> name_problem("ann"), name_problem("Zoë 李")
    (None, None)
    >>> name_problem("ann" + chr(27))[:43]
    '“ann�” cannot be the name of a student: a n'
    """
    if student.isprintable() and student.strip() and len(student) <= LONGEST_NAME:
        return None
    return (
        f"{quoted(student, 30)} cannot be the name of a student: a name has 1 to {LONGEST_NAME}"
        " printable characters. Rename the folder in submitted/ and grade again"
    )
