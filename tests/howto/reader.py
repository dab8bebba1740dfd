"""Reading a how-to from a page: where it starts, and what to do, step by step.

A how-to is a ``##`` section. Comments, which no reader sees, say what a test has to know:

``<!-- start: a course -->``
    Where it starts; the kinds are in ``starts.py``.
``<!-- followed by: tests/browser/test_x.py::test_y -->``
    The test that does what only a browser, or a machine of its own, can do.
``<!-- not followed: it needs an account at a cloud -->``
    Right above a block: why no test does this.

Commands are the lines of a ``console`` block that begin with ``$``; the lines below a command are
its output, in which ``...`` stands for anything. A code block with a caption is a file:
`` `path` `` is the whole of it, ``Add to `path` `` goes to its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_FENCE = re.compile(r"(?P<fence>`{3,}|:{3,})(?P<language>.*)")
_COMMENT = re.compile(r"<!--\s*(?P<key>start|followed by|not followed):\s*(?P<value>.+?)\s*-->")
_EXIT = re.compile(r"#.*\bexits with (\d+)")
_CAPTION = re.compile(r"(?P<add>Add to )?`(?P<path>[^`]+)`")


class PageError(Exception):
    """A page that does not keep to the form."""


@dataclass(frozen=True)
class Command:
    """A line to type, and what it answers."""

    line: int
    words: str
    output: str = ""
    code: int = 0


@dataclass(frozen=True)
class File:
    """A file to write, or lines to put at its end."""

    line: int
    path: str
    text: str
    add: bool = False


@dataclass(frozen=True)
class SkippedBlock:
    """A block that nobody follows, and why."""

    line: int
    why: str


@dataclass
class HowTo:
    """A section of a page."""

    page: Path
    line: int
    title: str
    start: str = ""
    steps: list[Command | File] = field(default_factory=list)
    tests: list[tuple[int, str]] = field(default_factory=list)
    left_out: list[SkippedBlock] = field(default_factory=list)


def read_page(page: Path) -> list[HowTo]:
    """All how-tos of a page.

    In a page of how-tos, every section is one. In other pages, such as a tour, those are that say
    where they start.
    """
    found = list(_sections(page))
    if not page.stem.startswith("howto"):
        return [each for each in found if each.start]
    for each in found:
        if each.steps and not each.start:
            raise PageError(f"{page}:{each.line}: “{each.title}” does not say where it starts")
        if not (each.steps or each.tests or each.left_out):
            raise PageError(f"{page}:{each.line}: “{each.title}” has nothing to follow")
    return found


def _sections(page: Path) -> Iterator[HowTo]:
    lines = page.read_text("utf-8").splitlines()
    section = HowTo(page, 1, "")
    why, number = "", 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if line.startswith("## "):
            if section.title:
                yield section
            section = HowTo(page, number, line.removeprefix("## ").strip())
        elif said := _COMMENT.fullmatch(line.strip()):
            key, value = said["key"], said["value"].strip()
            if key == "start":
                section.start = value
            elif key == "followed by":
                section.tests.append((number, value))
            else:
                why = value
                section.left_out.append(SkippedBlock(number, value))
        elif (opened := _FENCE.fullmatch(line.strip())) and opened["language"].strip():
            # A fence of colons holds other blocks, so its inside is read like the page itself.
            if opened["fence"].startswith(":"):
                continue
            end = _end(page, lines, number, opened["fence"])
            inside, first = lines[number:end], number + 1
            if not why:
                section.steps += _block(page, opened["language"].strip(), inside, first)
            why, number = "", end + 1
        elif line.strip() and why:
            raise PageError(f"{page}:{number}: “not followed” stands right above a block")
    if section.title:
        yield section


def _end(page: Path, lines: list[str], first: int, fence: str) -> int:
    for number in range(first, len(lines)):
        if lines[number].strip() == fence:
            return number
    raise PageError(f"{page}:{first}: a block without an end")


def _block(page: Path, language: str, inside: list[str], first: int) -> list[Command | File]:
    if language == "console":
        return list(_commands(page, inside, first))
    if language.startswith("{code-block}") and (file := _file(inside, first)):
        return [file]
    return []


def _commands(page: Path, inside: list[str], first: int) -> Iterator[Command]:
    starts = [k for k, line in enumerate(inside) if line.startswith("$ ")]
    if not starts or starts[0] != 0:
        raise PageError(f"{page}:{first}: a console block begins with a command")
    for k, begin in enumerate(starts):
        end = starts[k + 1] if k + 1 < len(starts) else len(inside)
        last = begin
        while inside[last].endswith("\\") and last + 1 < end:
            last += 1
        typed = "\n".join(inside[begin : last + 1]).removeprefix("$ ")
        code = int(said[1]) if (said := _EXIT.search(typed)) else 0
        yield Command(first + begin, typed, "\n".join(inside[last + 1 : end]).strip(), code)


def _file(inside: list[str], first: int) -> File | None:
    """What a block with a caption writes."""
    options = 0
    caption = None
    while options < len(inside) and inside[options].startswith(":"):
        name, _, value = inside[options].removeprefix(":").partition(":")
        if name == "caption":
            caption = _CAPTION.fullmatch(value.strip())
        options += 1
    if caption is None:
        return None
    text = "\n".join(inside[options:]).strip("\n") + "\n"
    return File(first, caption["path"], text, add=bool(caption["add"]))
