"""Code as students get it: the same program, without comments and docstrings.

Authors explain in comments why a range or a verdict is what it is, and such a remark can give a key
away. So whatever travels with a notebook is built without them.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from typing import Final

_MADE: Final = "Made by `mlsys build`; the original is in assignments/.\n\n"
#: A line that is for IPython and not Python: a magic, or a command of the shell.
_MAGIC: Final = re.compile(r"^\s*[%!].*$", re.M)
_STAND_IN: Final = "_mlsys_magic_{}"
_HTML_COMMENT: Final = re.compile(r"[ \t]*<!--.*?-->", re.S)

#: Where something begins and ends: line from 1 and character from 0 of each.
_Span = tuple[tuple[int, int], tuple[int, int]]


def student_asks(code: str, lab: str) -> str:
    """The questions of a lab as students get them, under a line that says what the file is."""
    return f"# What {lab} asks. {_MADE}{student_source(code)}"


def student_checks(code: str, lab: str) -> str:
    """The checks of a lab as they lie beside a copy for practice, for whoever wants to read."""
    return f"# How practice of {lab} judges answers. {_MADE}{student_source(code)}"


def student_module(code: str, lab: str) -> str:
    """A module beside a lab as students get it, under a line that says what the file is.

    Examples
    --------
    >>> print(student_module("LINKS = 8", "lab_03_ring"), end="")
    # Part of lab_03_ring. Made by `mlsys build`; the original is in assignments/.
    <BLANKLINE>
    LINKS = 8
    """
    return f"# Part of {lab}. {_MADE}{student_source(code)}"


def student_source(code: str, *, cell: bool = False) -> str:
    """Return the same program without comments, docstrings and other strings that do nothing.

    Lines that held nothing else are left out; all others stay as their author broke them. The last
    expression of a notebook's ``cell`` is shown and therefore stays.
    """
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return _with_magics(code) if cell else code
    lines = code.splitlines(keepends=True)
    spans = [(span, "") for span in _comments(code)]
    spans += [(_span(lines, node), words) for node, words in _idle_strings(tree, cell=cell)]
    made = _without(lines, spans)
    if ast.dump(_bare(tree, cell=cell)) != ast.dump(_bare(ast.parse(made), cell=cell)):
        raise ValueError("comments and docstrings cannot be taken out of this code")
    return made


def student_prose(text: str) -> str:
    """Return Markdown without the comments of HTML, which a reader of the file would see."""
    return _HTML_COMMENT.sub("", text)


def _with_magics(code: str) -> str:
    """The same for a cell with magics, which Python's own parser does not know."""
    magics: list[str] = []

    def stand_in(found: re.Match[str]) -> str:
        magics.append(found[0].lstrip())
        indent = found[0][: len(found[0]) - len(magics[-1])]
        return indent + _STAND_IN.format(len(magics) - 1)

    python = _MAGIC.sub(stand_in, code)
    try:
        ast.parse(python)
    except SyntaxError:
        return code  # running the solution tells the author what is wrong
    made = student_source(python, cell=True)
    for number, magic in reversed(list(enumerate(magics))):
        made = made.replace(_STAND_IN.format(number), magic)
    return made


def _comments(code: str) -> Iterator[_Span]:
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT:
            yield token.start, token.end


def _idle_strings(tree: ast.Module, *, cell: bool) -> Iterator[tuple[ast.Expr, str]]:
    """Strings that stand alone, each with what must take its place."""
    shown = tree.body[-1] if cell and tree.body else None
    for body in _bodies(tree):
        idle = [each for each in body if _is_idle(each) and each is not shown]
        for each in idle:
            # Something must stand where a block would be empty, or where a line has more on it.
            shared = any(
                other is not each
                and (each.lineno <= (other.end_lineno or 0))
                and (other.lineno <= (each.end_lineno or 0))
                for other in body
            )
            alone = each is idle[-1] and len(idle) == len(body) and body is not tree.body
            assert isinstance(each, ast.Expr)
            yield each, "pass" if alone or shared else ""


def _is_idle(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Constant(value=str() | bytes())):
            return True
    return False


def _bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            found = getattr(node, name, None)
            if isinstance(found, list) and found:
                yield found


def _span(lines: list[str], node: ast.Expr) -> _Span:
    """Where a node is, counted in characters; `ast` counts bytes."""

    def place(line: int, column: int) -> tuple[int, int]:
        return line, len(lines[line - 1].encode()[:column].decode())

    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset)


def _without(lines: list[str], spans: list[tuple[_Span, str]]) -> str:
    """The lines with spans replaced, and without those of which nothing is left."""
    kept: list[str | None] = list(lines)
    for ((first, begin), (last, end)), words in sorted(spans, reverse=True):
        before, after = (kept[first - 1] or "")[:begin], (kept[last - 1] or "")[end:]
        rest = f"{before}{words}{after}"
        if rest.strip():
            kept[first - 1] = rest.rstrip() + ("\n" if after.endswith("\n") else "")
        else:
            kept[first - 1] = None
        for line in range(first, last):
            kept[line] = None
    return _closed_up(kept)


def _closed_up(lines: list[str | None]) -> str:
    """Join lines; empty ones after a gap go where they would only widen it."""
    made: list[str] = []
    gap = False
    for line in lines:
        if line is None:
            gap = True
        elif not line.strip() and gap and (not made or _ends_open(made[-1])):
            continue
        else:
            made.append(line)
            gap = False
    return "".join(made)


def _ends_open(line: str) -> bool:
    return not line.strip() or line.rstrip().endswith((":", "(", "[", "{"))


def _bare(tree: ast.Module, *, cell: bool) -> ast.Module:
    """A program without strings that do nothing and without statements that do nothing."""
    shown = tree.body[-1] if cell and tree.body else None
    for body in list(_bodies(tree)):
        body[:] = [
            each
            for each in body
            if each is shown or not (_is_idle(each) or isinstance(each, ast.Pass))
        ]
    return tree
