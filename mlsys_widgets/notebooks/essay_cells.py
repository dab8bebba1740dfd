"""The cell that shows an essay: its text as it was typed, never as markup or as a formula.

An essay is kept in the ledger, and shown in a Markdown cell for whoever reads the notebook alone: a
person who grades, an export to HTML. Whatever turns Markdown into a page leaves a fenced block as
it is, and MathJax stays out of it, so a ``<script>`` is six letters between two signs. The panel
writes such cells too (``labextension/src/essays.ts``), and both write the same.
"""

from __future__ import annotations

import re
from typing import Final

_RUNS: Final = re.compile("~+")
_BLOCK: Final = re.compile(r"(~{3,})\n(.*)\n\1", re.DOTALL)


def as_typed(text: str) -> str:
    """Return the source of a Markdown cell that shows a text as it was typed."""
    # A fence ends at a line of as many tildes or more, so this one is longer than any in the text.
    longest = max(map(len, _RUNS.findall(text)), default=0)
    fence = "~" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def typed_text(source: str) -> str | None:
    """Return the text that such a cell shows; `None` if the cell is not one of these."""
    found = _BLOCK.fullmatch(source)
    # A block that ends before the end of the cell has Markdown behind it.
    return found[2] if found is not None and as_typed(found[2]) == source else None
