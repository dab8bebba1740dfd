"""Which pages are followed: how-tos and the tours that the sections begin with."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.howto.reader import HowTo, PageError, read_page

ROOT = Path(__file__).resolve().parents[2]


def how_tos(docs: Path = ROOT / "docs") -> list[HowTo]:
    """Every how-to and every tour, page by page."""
    pages = [*sorted(docs.glob("*/howto*.md")), *sorted(docs.glob("*/index.md"))]
    return [each for page in pages for each in read_page(page)]


def check_tests(how_to: HowTo, root: Path = ROOT) -> None:
    """Fail if a test that a page names does not exist."""
    for line, named in how_to.tests:
        file, _, name = named.partition("::")
        path = root / file
        if not (path.is_file() and name in _functions(path)):
            raise PageError(f"{how_to.page}:{line}: there is no test {named}")


def _functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {each.name for each in ast.walk(tree) if isinstance(each, kinds)}
