"""Whoever reads the pages in a clone, without building them, arrives where a link leads.

Sphinx checks the links of the built pages. It knows pages that `make docs` makes and roles of its
own, and a clone has neither.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

LINK = re.compile(r"\]\(<?([^)\s>]+)|<(?:a|img|source)\b[^>]*?\b(?:href|src|srcset)=\"([^\"]+)\"")
FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1\s*$", re.DOTALL | re.MULTILINE)
#: Links that only Sphinx can follow. Those of a glossary stand inside of a fence.
ROLE = re.compile(r"\{(?:doc|ref|term|numref|download|any|py:\w+)\}`[^`]*`")
OUTSIDE = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")


def prose(page: Path) -> str:
    """The Markdown of a page or of a notebook, without what stands as code."""
    text = page.read_text("utf-8")
    if page.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return FENCE.sub("", text)


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+\s+(.+?)\s*$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


def links(page: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield the file, the anchor and the text of every link that stays in the clone."""
    for markdown, html in LINK.findall(prose(page)):
        link = markdown or html
        if "://" not in link and not link.startswith("mailto:"):
            path, _, anchor = link.partition("#")
            yield Path(os.path.normpath(page.parent / path)) if path else page, anchor, link


def broken_links(page: Path, files: Collection[Path]) -> list[str]:
    """Return the links of a page that lead to no file of these, or to no heading in it."""
    places = {*files, *(folder for file in files for folder in file.parents)}
    broken = ROLE.findall(prose(page))
    for target, anchor, link in links(page):
        if target not in places or (anchor and anchor not in anchors(prose(target))):
            broken.append(link)
    return broken


@pytest.fixture(scope="module")
def files(root, tracked) -> set[Path]:
    return {root / name for name in tracked}


@pytest.fixture(scope="module")
def pages(root, files) -> list[Path]:
    docs = root / "docs"
    return [
        *(root / name for name in OUTSIDE),
        *sorted(f for f in files if f.is_relative_to(docs) and f.suffix in (".md", ".ipynb")),
    ]


def test_links_lead_to_files_of_the_clone(pages, files):
    assert len(pages) > 60
    found = {page.name: broken for page in pages if (broken := broken_links(page, files))}
    assert found == {}


def test_every_page_is_found_by_following_links_from_the_first(root, pages):
    """A table of contents is a list of Sphinx, and in a clone nobody can click on it."""
    seen, waiting = set(), [root / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in seen and page.suffix in (".md", ".ipynb") and page.exists():
            seen.add(page)
            waiting += [target for target, _, _ in links(page)]
    # The front of the built pages, which README.md is for a clone, and a page that is CHANGELOG.md.
    built = {root / "docs/index.md", root / "docs/contributors/changelog.md"}
    assert {page for page in pages if page.is_relative_to(root / "docs")} - seen - built == set()


def test_a_broken_link_is_found(tmp_path):
    other = tmp_path / "a.md"
    other.write_text("# A page\n\n## Its: part\n", "utf-8")
    (tmp_path / "made.md").write_text("# Made by make, and in no clone\n", "utf-8")
    page = tmp_path / "README.md"
    page.write_text(
        "[a](a.md) [b](a.md#its-part) [c](a.md#gone) ![d](gone.png) [e](https://x.org/gone)\n"
        '<img src="lost.svg"> [g](made.md) {doc}`a`\n```\n[f](code.md)\n```\n',
        "utf-8",
    )
    assert broken_links(page, [page, other]) == [
        "{doc}`a`", "a.md#gone", "gone.png", "lost.svg", "made.md",
    ]  # fmt: skip
