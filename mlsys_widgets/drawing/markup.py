"""One reader of Markdown: a line of a card, a page of prose with LaTeX, or its plain text.

HTML inside the text is shown as it stands and never interpreted, because some of these texts
come from students.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from typing import Final

from markdown_it import MarkdownIt

_PAGE: Final = MarkdownIt("commonmark", {"html": False}).enable("table")
#: In a line only ``**strong**``, ``*emphasis*`` and ```code``` mean something.
_LINE: Final = MarkdownIt("zero", {"html": False}).enable(["backticks", "emphasis"])
#: What a line without markup has none of; the last two are what the reader replaces.
_MARKUP: Final = re.compile(r"[*_`\\\r\0]")
#: Text between these is LaTeX, which Markdown must not touch.
_LATEX: Final = re.compile(
    r"\$\$.+?\$\$|\\\[.+?\\\]|\\\(.+?\\\)|\$[^\s$](?:[^$\n]*[^\s$])?\$", re.S
)
# Replaces a piece of LaTeX while Markdown is read; nobody types these characters.
_HOLDER: Final = "\ue000{}\ue001"


def inline(words: str) -> str:
    """Render one line as safe HTML."""
    return _read(words)[0]


def plain(words: str) -> str:
    """Take the markup out of a line."""
    return _read(words)[1]


@lru_cache(maxsize=4096)
def _read(words: str) -> tuple[str, str]:
    """A line as HTML and as plain text: a card shows the same few lines over and over, in both."""
    if not _MARKUP.search(words):
        return escape(words, quote=False).replace('"', "&quot;"), words
    (line,) = _LINE.parseInline(words)
    html: str = _LINE.renderer.render([line], _LINE.options, {})
    return html, "".join(
        "\n" if piece.type == "softbreak" else piece.content for piece in line.children or ()
    )


def page(text: str) -> str:
    """Render Markdown as safe HTML; LaTeX stays as it is, for MathJax."""
    kept: list[str] = []

    def hold(found: re.Match[str]) -> str:
        kept.append(escape(found[0], quote=False))
        return _HOLDER.format(len(kept) - 1)

    html: str = _PAGE.render(_LATEX.sub(hold, text))
    for k, latex in enumerate(kept):
        html = html.replace(_HOLDER.format(k), latex)
    return html


def question_in(words: str) -> str:
    """Find the sentence that asks, in a question that also says what is given.

    Examples
    --------
    >>> question_in("A kernel takes 1.5 ms. How long do ten take? Think of launches.")
    'How long do ten take?'
    """
    sentences = re.split(r"(?<=[.?!])\s+(?=[A-Z])", words)
    return next((each for each in sentences if each.endswith("?")), sentences[0])
