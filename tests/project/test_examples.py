"""The examples in the README and the pages are run, so that no figure in them can go stale."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# pytest's own reader of Markdown takes the closing fence for expected output; this one does not.
FENCE = re.compile(r"^```(?:python|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(page: Path) -> list[doctest.Example]:
    """Read the prompts of all code blocks of a page, with their line numbers in it."""
    text, found = page.read_text("utf-8"), []
    for block in FENCE.finditer(text):
        above = text.count("\n", 0, block.start(1))
        for example in doctest.DocTestParser().get_examples(block.group(1)):
            example.lineno += above
            found.append(example)
    return found


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=page.relative_to(ROOT).as_posix()) for page in PAGES if examples(page)],
)
def test_the_examples_of_a_page(page):
    name = page.relative_to(ROOT).as_posix()
    test = doctest.DocTest(examples(page), {}, name, name, 0, None)
    failures: list[str] = []
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    doctest.DocTestRunner(optionflags=flags).run(test, out=failures.append)
    assert not failures, "".join(failures)


def test_the_readme_has_examples():
    assert examples(ROOT / "README.md")
