"""Checks the built pages: links, anchors, pictures, and what the search finds.

Run by ``make docs`` after Sphinx, on the HTML that readers get. Prints a sentence for each problem,
and exits with 1 if there is one. The README and other pages that live outside docs/ have their
relative links checked, too.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

ROOT: Final = Path(__file__).resolve().parents[1]
HTML: Final = ROOT / "build" / "html"
#: Pages of the repository that Sphinx does not build.
OUTSIDE: Final = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "deploy/**/README.md")

_INDEX: Final = re.compile(r"^Search\.setIndex\((.*)\)\s*;?\s*$", re.S)
_MARKDOWN_LINK: Final = re.compile(r"!?\[[^\]]*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
_HTML_LINK: Final = re.compile(r"<(?:a|img|source)\b[^>]*?\b(?:href|src|srcset)=\"([^\"]+)\"")
_FENCE: Final = re.compile(r"^(`{3,}|~{3,}).*?^\1\s*$", re.S | re.M)


class _Page(HTMLParser):
    """What a page links to, and what can be linked to in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []  # what kind of thing, and where it leads
        self.ids: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        self.ids |= {said[name] for name in ("id", "name") if said.get(name)}
        if tag == "a" and "href" in said:
            self.links.append(("a link", said["href"]))
        elif tag in ("img", "source", "script", "iframe") and said.get("src"):
            self.links.append(("a picture" if tag == "img" else "a file", said["src"]))
        elif tag == "link" and said.get("href"):
            self.links.append(("a file", said["href"]))


@cache
def _page(path: Path) -> _Page:
    return _Page(path)


def broken_links(site: Path) -> Iterator[str]:
    """Every link of a built site that leads nowhere, as a sentence."""
    for path in sorted(site.rglob("*.html")):
        if "_static" in path.relative_to(site).parts:
            continue
        for what, link in dict.fromkeys(_page(path).links):
            if problem := _problem(site, path, link):
                yield f"{path.relative_to(site)}: {what} leads to {link}, and {problem}."


def _problem(site: Path, path: Path, link: str) -> str:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc or link in ("", "#"):
        return ""
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_relative_to(site.resolve()) and parts.path:
        return "that is outside the pages"
    if not target.is_file():
        return "there is no such file"
    if parts.fragment and target.suffix == ".html":
        page = _page(path if target == path.resolve() else target)
        if unquote(parts.fragment) not in page.ids:
            return "that page has no such anchor"
    return ""


def broken_outside(root: Path, patterns: Iterable[str] = OUTSIDE) -> Iterator[str]:
    """Relative links of pages outside docs/ that lead nowhere, as sentences."""
    for path in sorted({each for pattern in patterns for each in root.glob(pattern)}):
        text = _FENCE.sub("", path.read_text("utf-8"))
        for link in dict.fromkeys(_MARKDOWN_LINK.findall(text) + _HTML_LINK.findall(text)):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = path.parent / unquote(parts.path) if parts.path else path
            where = path.relative_to(root)
            if not target.exists():
                yield f"{where}: a link leads to {link}, and there is no such file."
            elif parts.fragment and target.suffix == ".md":
                anchors = _anchors(target.read_text("utf-8"))
                if parts.fragment not in anchors:
                    yield f"{where}: a link leads to {link}, and that page has no such heading."


def _anchors(text: str) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    found = re.findall(r"^#+\s+(.+?)\s*$", _FENCE.sub("", text), re.M)
    plain = (re.sub(r"[^\w\- ]", "", title.lower()) for title in found)
    return {title.replace(" ", "-") for title in plain}


# What the search finds.


def read_index(site: Path) -> Mapping[str, Any]:
    """The index that the search of the pages reads."""
    found = _INDEX.match((site / "searchindex.js").read_text("utf-8"))
    if not found:
        raise ValueError(f"{site / 'searchindex.js'} is not an index that this script understands")
    loaded: dict[str, Any] = json.loads(found[1])
    return loaded


def found_objects(index: Mapping[str, Any]) -> set[str]:
    """The full names of all objects in the index."""
    return {
        unescape(f"{prefix}.{entry[4]}".lstrip("."))
        for prefix, entries in index["objects"].items()
        for entry in entries
    }


def not_found(
    index: Mapping[str, Any],
    names: Iterable[str],
    commands: Iterable[str],
    settings: Iterable[str],
) -> Iterator[str]:
    """What the search of the pages does not find, as sentences."""
    objects = found_objects(index)
    titles = {title.replace("`", "").lower() for title in index["alltitles"]}
    for name in names:
        if name not in objects:
            yield f"The search does not find the public name {name}."
    for command in commands:
        if command.lower() not in titles:
            yield f"The search does not find the command {command}."
    for setting in settings:
        if setting not in objects:
            yield f"The search does not find the setting {setting} of course.toml."


def _everything() -> tuple[list[str], list[str], list[str]]:
    """Every public name, every command, every setting."""
    # Here, because only the real pages need the package and its libraries.
    import api_pages
    import command_pages
    import setting_pages

    rooms = ("", *api_pages.rooms())
    names = {
        api_pages.described_at(each) for room in rooms for each in api_pages.public_names(room)
    }
    return sorted(names), command_pages.all_commands(), setting_pages.settings()


def main() -> int:
    """Check everything; 1 if something is wrong."""
    site = Path(sys.argv[1]) if len(sys.argv) > 1 else HTML
    names, commands, settings = _everything()
    problems = [
        *broken_links(site),
        *broken_outside(ROOT),
        *not_found(read_index(site), names, commands, settings),
    ]
    for each in problems:
        print(each)
    print(
        f"Checked {sum(1 for _ in site.rglob('*.html'))} pages, {len(names)} names,"
        f" {len(commands)} commands and {len(settings)} settings: {len(problems)} wrong."
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
