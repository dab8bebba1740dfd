"""Markdown that would keep a page maker busy is shown as text; all other Markdown stays itself."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbconvert.filters.markdown_mistune import markdown2html_mistune
from nbconvert.filters.strings import strip_files_prefix

from mlsys_widgets.grading.feedback.inert import inert_bundle, make_inert
from mlsys_widgets.grading.feedback.plain_markdown import (
    LONGEST,
    LONGEST_SHOWN,
    MOST_IN_CELL,
    MOST_IN_NOTEBOOK,
    fenced,
    limited,
    shortened,
)
from tests.effort import effort

ROOT = Path(__file__).parents[2]
#: Each keeps a page maker busy for seconds or for hours, 30,000 times in a row.
BOMBS = {
    "environments": r"\begin{a}", "brackets": "[", "pictures": "![", "links": "[a](b",
    "references": "[a][", "definitions": "[a]: <", "formulas": r"\[", "dollars": "$a $$",
    "bold": "**a", "emphasis": "***a_", "ticks": "`a``", "struck": "~~a", "fences": "~~~\n",
    "tables": "|a", "rules": "|-", "quotes": "> ", "tags": "<a ", "spaces": " ", "lines": "\n",
}  # fmt: skip


def rendered(text: str) -> str:
    """As nbgrader's pages show it."""
    return strip_files_prefix(markdown2html_mistune(text))


def nested(levels: int) -> str:
    return "\n".join("  " * level + "- a" for level in range(levels))


@pytest.mark.parametrize("name", [*BOMBS, "lists"])
def test_thirty_thousand_of_anything_are_shown(name):
    """Without a limit, most take a hundred times as much."""
    text = nested(3_000) if name == "lists" else BOMBS[name] * 30_000
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)])
    make_inert(book)
    assert effort(lambda: rendered(book.cells[0].source)) < 50


@pytest.mark.parametrize("name", BOMBS)
def test_just_below_the_limit_is_quick_too(name):
    text = BOMBS[name] * (MOST_IN_CELL // len(BOMBS[name]))
    text += "a" * (LONGEST - len(text))
    assert effort(lambda: rendered(text)) < 50


def test_many_cells_share_one_limit():
    cells = [nbformat.v4.new_markdown_cell("[" * MOST_IN_CELL) for _ in range(40)]
    book = nbformat.v4.new_notebook(cells=cells)
    make_inert(book)
    kept = [cell for cell in book.cells if not cell.source.startswith("~~~")]
    assert len(kept) == MOST_IN_NOTEBOOK // MOST_IN_CELL


def test_an_output_is_limited_too():
    shown = inert_bundle({"text/markdown": r"\begin{a}" * 30_000})["text/markdown"]
    assert shown.startswith("~~~\n")
    assert len(shown) < LONGEST_SHOWN * 1.1


@given(st.text(alphabet="~`ab\n \r\x0b\u2028<&;#126", max_size=300))
def test_plain_text_never_ends_early(text):
    """Whatever it holds, nothing of it is read as Markdown."""
    shown = rendered(fenced(text) + "\n\nafter")
    assert shown.count("<pre>") == 1
    assert shown.rstrip().endswith("<p>after</p>")
    assert "<a" not in shown.replace("<p>after", "")


def test_what_is_too_long_is_cut_with_a_note():
    assert shortened("x" * LONGEST_SHOWN) == "x" * LONGEST_SHOWN
    cut = shortened("x" * (LONGEST_SHOWN + 1_234))
    assert cut.endswith("(1,234 more characters are not shown here.)")
    shown, left = limited(cut, 7)
    assert left == 7
    assert len(rendered(shown)) < 2 * LONGEST_SHOWN


def test_the_labs_own_text_and_a_long_essay_stay_as_they_are():
    books = [nbformat.read(path, as_version=4) for path in ROOT.glob("source/*/*.ipynb")]
    assert len(books) >= 4
    for book in books:
        left = MOST_IN_NOTEBOOK
        for cell in book.cells:
            if cell.cell_type == "markdown":
                shown, left = limited(cell.source, left)
                assert shown == cell.source
    essay = (
        "The *roofline* of [this](https://a.example) has $x^2$, `a[0]`, and | tables |.\n\n" * 50
    )
    assert limited(essay)[0] == essay
