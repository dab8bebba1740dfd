"""The frame of a page that stands alone, in a file: what it needs is in it, and no script runs."""

from __future__ import annotations

from html import escape
from typing import Final

from mlsys_widgets.drawing.theme import design

_STYLE: Final = """
:root { color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --mlsys-paper: #15181b; --mlsys-ink: #e6e9ec;
  --mlsys-quiet: #a3acb4; --mlsys-rule: #353b41; --mlsys-tint: #1e2226; --mlsys-link: #7fb8ea; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: calc(var(--mlsys-column) + 2.5rem); padding: 2rem 1.25rem 4rem;
  background: var(--mlsys-paper); color: var(--mlsys-ink);
  font: var(--mlsys-text)/var(--mlsys-line-height) var(--mlsys-font); }
h1 { font-size: var(--mlsys-title); line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: var(--mlsys-lead); line-height: 1.35; margin: 2.5rem 0 .25rem; }
h3 { font-size: var(--mlsys-text); margin: 1.5rem 0 .1rem; }
h1, h2, h3, summary { font-weight: var(--mlsys-strong); }
p { margin: .25rem 0 .75rem; }
.quiet { color: var(--mlsys-quiet); }
code { font-size: .92em; }
details { border-top: 1px solid var(--mlsys-rule); padding: .6rem 0; }
summary { cursor: pointer; }
details[open] { padding-bottom: 1.25rem; }
@media print { body { max-width: none; } }
"""


def whole_page(title: str, body: str, style: str = "") -> str:
    """Make a page of HTML, light and dark as its reader's system has it."""
    title = escape(title)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>'
        '\n<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"\n<style>{design()}{_STYLE}{style}</style>\n</head>\n<body>\n<main>\n{body}\n</main>"
        "\n</body>\n</html>\n"
    )
