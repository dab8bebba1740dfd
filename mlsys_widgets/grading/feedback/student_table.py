"""The students that a teaching assistant should know about, as a table that fits on a screen.

Those with flags come first, then who was late, then those with remarks alone. A class of hundreds
fills no terminal: the table ends after some students and says where the others are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mlsys_widgets.notebooks.remarks import printable
from mlsys_widgets.wording.plurals import counted

#: Students in the table, and lines about each.
MOST_STUDENTS: Final = 20
MOST_LINES: Final = 4
_LONGEST_NAME: Final = 24


@dataclass(frozen=True)
class StudentRow:
    """A row of the table: one submission."""

    student: str
    #: Its points; `None` if it is not graded.
    earned: float | None
    #: What to look at, and what else there is to know.
    flags: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    #: How late it was, in words; empty if it was in time.
    late: str = ""

    @property
    def rank(self) -> tuple[int, str]:
        """Where it comes in the table."""
        return (0 if self.flags else 1 if self.late else 2), self.student

    @property
    def lines(self) -> tuple[str, ...]:
        """All there is to say, the most important first."""
        return (*self.flags, *([self.late] if self.late else []), *self.remarks)


def short_name(student: str, longest: int = _LONGEST_NAME) -> str:
    """Return a name as a terminal can show it: it moves no cursor and fills no line."""
    plain = printable(student)
    if len(plain) <= longest:
        return plain
    half = (longest - 1) // 2
    return f"{plain[:half]}…{plain[-half:]}"


def print_students(console: Console, rows: Sequence[StudentRow], more: str) -> None:
    """Print the table of those about whom there is something to say.

    ``more`` says what shows the others, if there are too many.
    """
    known = sorted((row for row in rows if row.lines), key=lambda row: row.rank)
    if not known:
        return
    table = Table("student", "points", "what to know", box=None, header_style="bold")
    table.columns[1].justify = "right"
    for row in known[:MOST_STUDENTS]:
        earned = "–" if row.earned is None else f"{row.earned:g}"
        notes = Text("\n").join(_lines(row))
        table.add_row(Text(short_name(row.student)), earned, notes)
    console.print()
    console.print(table)
    if left := max(0, len(known) - MOST_STUDENTS):
        console.print(f"and {counted(left, 'more student')}; {more}", highlight=False, markup=False)


def _lines(row: StudentRow) -> list[Text]:
    lines = [Text(f"! {words}", style="bold") for words in row.flags]
    lines += [Text(words) for words in row.lines[len(row.flags) :]]
    if len(lines) > MOST_LINES:
        lines[MOST_LINES - 1 :] = [Text(f"and {len(lines) - MOST_LINES + 1} more")]
    return lines
