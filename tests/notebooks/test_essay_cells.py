"""An essay reads as it was typed wherever its notebook is shown, and comes back as it was typed."""

from __future__ import annotations

import html
import re

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbconvert.filters.markdown_mistune import markdown2html_mistune

from mlsys_widgets.grading.feedback.inert import make_inert
from mlsys_widgets.grading.feedback.plain_markdown import LONGEST_SHOWN, limited, shortened
from mlsys_widgets.notebooks.essay_cells import as_typed, typed_text
from tests.effort import effort

#: What people type, and what an attacker would.
TYPED = (
    "If a < b, *stars* and _lines_ stay, and so do `ticks` and $x$ and $$y$$.",
    "<script>window.ran = 1</script> </pre></code></script> &lt; &amp; &#60;",
    "~~~\n# no heading\n~~~~\n\n    indented\n\ttab\n- no list\n\n| no | table |\n|---|---|",
    r"\(z\) \[w\] \begin{equation}q\end{equation} [x](javascript:go()) ![y](z)",
    "~" * 40,
)


def shown(source: str) -> str:
    """The text on a page that stock nbconvert makes of a cell."""
    page = markdown2html_mistune(source)
    (block,) = re.findall(r"\A<pre><code>(.*)\n</code></pre>\s*\Z", page, re.DOTALL)
    assert "<" not in block
    return html.unescape(block)


@pytest.mark.parametrize("text", TYPED)
def test_a_page_shows_what_was_typed(text):
    assert shown(as_typed(text)) == text
    assert typed_text(as_typed(text)) == text


@pytest.mark.parametrize("text", TYPED)
def test_a_page_that_may_change_grades_shows_it_too(text):
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(as_typed(text))])
    make_inert(book)
    assert shown(book.cells[0].source) == text


@given(st.text(alphabet="~`ab<>&$*\\ \n", min_size=1, max_size=80).filter(str.strip))
def test_whatever_it_holds(text):
    text = text.strip()
    assert typed_text(as_typed(text)) == text
    assert shown(as_typed(text)) == text


@pytest.mark.parametrize(
    "source",
    [
        "~~~\nends early\n~~~\n<script>window.ran = 1</script>\n~~~",
        "~~~ info\ntext\n~~~",
        "~~~~\nlonger than it need be\n~~~~",
        "```\nticks\n```",
        "~~~\n~~~",
        "",
    ],
)
def test_what_only_looks_like_an_essay_is_none(source):
    """Its Markdown is made harmless like any other."""
    assert typed_text(source) is None


def test_an_essay_costs_a_page_little_and_is_cut_where_nobody_reads_on():
    bomb = r"\begin{a}[![`$" * 1_000
    text, left = limited(as_typed(bomb), 7)
    assert (typed_text(text), left) == (bomb, 7)
    assert effort(lambda: markdown2html_mistune(text)) < 50
    cut = typed_text(shortened(as_typed("x" * (LONGEST_SHOWN + 10))))
    assert cut is not None
    assert cut.endswith("(10 more characters are not shown here.)")
