r"""Markdown that no page can be made to choke on: what is too intricate is shown as plain text.

What turns Markdown into a page takes time that grows with the square of some marks: 30,000 times
``\begin{a}``, or ``[``, keep it busy for hours, and feedback for a whole class waits. No essay has
that many marks, so text that does is shown letter by letter instead.
"""

from __future__ import annotations

import re
from typing import Final

from mlsys_widgets.notebooks.essay_cells import as_typed, typed_text

#: Marks in one cell, and in all cells of a notebook together; the labs' own have far fewer.
MOST_IN_CELL: Final = 1_500
MOST_IN_NOTEBOOK: Final = 15_000
#: Characters in one cell that are read as Markdown, and that are shown at all.
LONGEST: Final = 20_000
LONGEST_SHOWN: Final = 100_000
#: Characters in a line of plain text: some patterns look from each bracket to the line's end.
WIDEST: Final = 200
#: Characters in a line of code that is shown in colors.
LONGEST_LINE: Final = 1_000
#: Spaces before a line: each two may be one more list inside a list.
DEEPEST: Final = 40

_MARK: Final = re.compile(r"[][()*_$\\`<>!~|&:@^{}]|[-+=#]+|\n(?=\n)|  +")
_INDENTED: Final = re.compile(rf"^[ \t>]{{{DEEPEST}}}", re.M)


def limited(text: str, left: int = MOST_IN_NOTEBOOK) -> tuple[str, int]:
    """Return the text as Markdown, or as plain text where it has too many marks.

    Returns how many marks are ``left`` for the other cells of the notebook, too.
    """
    essay = typed_text(text)
    if essay is not None:
        return as_typed(essay) if len(essay) <= LONGEST else fenced(essay), left
    if len(text) > LONGEST:
        return fenced(text), left
    marks = sum(1 for _ in _MARK.finditer(text))
    if marks > min(MOST_IN_CELL, left) or _INDENTED.search(text):
        return fenced(text), left
    return text, left - marks


def shortened(text: str) -> str:
    """Cut text where nobody would read on, with a note that it goes on; an essay stays one."""
    if len(text) <= LONGEST_SHOWN:
        return text
    essay = typed_text(text)
    if essay is not None and len(essay) > LONGEST_SHOWN:
        return as_typed(shortened(essay))
    more = len(text) - LONGEST_SHOWN
    return f"{text[:LONGEST_SHOWN]}\n\n({more:,} more characters are not shown here.)"


def too_long_to_color(code: str) -> bool:
    """Whether code would keep what colors it busy: it is read with patterns too.

    Examples
    --------
    >>> too_long_to_color("a = 1"), too_long_to_color("a." * 30_000)
    (False, True)
    """
    return len(code) > LONGEST or any(len(line) > LONGEST_LINE for line in code.splitlines())


def fenced(text: str) -> str:
    """Return text that Markdown shows letter by letter, with long lines broken."""
    longest = max((len(run) for run in re.findall("~+", text)), default=0)
    fence = "~" * max(3, longest + 1)
    lines = (
        line[start : start + WIDEST]
        for line in text.splitlines()
        for start in range(0, len(line) or 1, WIDEST)
    )
    return "\n".join((fence, *lines, fence))
