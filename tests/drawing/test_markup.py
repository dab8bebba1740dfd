"""Markdown in the words of cards: what is quick must be the same as what is thorough."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.drawing import markup


def thorough(words: str) -> tuple[str, str]:
    """HTML and plain text as the reader of Markdown gives them, whatever is in the words."""
    (line,) = markup._LINE.parseInline(words)
    pieces = ["\n" if p.type == "softbreak" else p.content for p in line.children or ()]
    return markup._LINE.renderInline(words), "".join(pieces)


@given(st.text(st.sampled_from("ab 12<>&\"'*_`\\#$[]()!?~|.-\n\r\t\0\u2028é×")))
def test_any_words_are_read_as_markdown_reads_them(words):
    assert (markup.inline(words), markup.plain(words)) == thorough(words)


@given(st.text())
def test_so_are_words_of_any_letters(words):
    assert (markup.inline(words), markup.plain(words)) == thorough(words)


@pytest.mark.parametrize(
    ("words", "html", "text"),
    [
        ("1 < 2 & \"3\" > '4'", "1 &lt; 2 &amp; &quot;3&quot; &gt; '4'", "1 < 2 & \"3\" > '4'"),
        ("a **bold** word", "a <strong>bold</strong> word", "a bold word"),
        ("<img src=x>", "&lt;img src=x&gt;", "<img src=x>"),
        ("", "", ""),
    ],
)
def test_words_with_and_without_markup(words, html, text):
    assert (markup.inline(words), markup.plain(words)) == (html, text)
