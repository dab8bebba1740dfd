"""Every command that a page shows exists, with the options that it shows.

How-tos are followed word by word (tests/howto); this reads what the other pages mention.
"""

from __future__ import annotations

import argparse
import functools
import re
import shlex
from collections.abc import Iterator

import pytest

from mlsys_widgets.cli import CommandParser, command_parser

#: Blocks in which people see commands; a plain fence is one, too.
BLOCK = re.compile(r"^```(?:console|text|bash)?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINE = re.compile(r"^\s*(?:\$ )?(?:sudo )?(?:/\S+/)?mlsys (.+)$", re.MULTILINE)
INLINE = re.compile(r"`(?:sudo )?mlsys ([^`]+)`")


def shown(page: str) -> Iterator[str]:
    """Yield what a page shows behind ``mlsys``, without comments and what follows a pipe."""
    blocks = [block.replace("\\\n", " ") for block in BLOCK.findall(page)]
    found = [line for block in blocks for line in LINE.findall(block)]
    for words in [*found, *INLINE.findall(BLOCK.sub("", page))]:
        yield re.split(r"\s#|\s[|>&;]", words)[0]


@functools.cache
def whole_command() -> CommandParser:
    return command_parser()


def below(parser: CommandParser) -> dict[str, CommandParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def problems(command: str) -> list[str]:
    """Say what of a command does not exist."""
    try:
        words = shlex.split(command)
    except ValueError:  # prose with an apostrophe
        return []
    parser = whole_command()
    while (known := below(parser)) and words and not words[0].startswith("-"):
        name = words.pop(0)
        if name in known:
            parser = known[name]
        elif re.fullmatch(r"[a-z][a-z-]+", name):
            return [f"{parser.prog} {name}"]
        else:  # COMMAND, a file, an ellipsis
            break
    options = {option for action in parser._actions for option in action.option_strings}
    used = {word.partition("=")[0] for word in words if re.match(r"--[a-z]|-[a-z]$", word)}
    return [f"{parser.prog} {option}" for option in sorted(used - options)]


def test_every_command_that_a_page_shows_exists(root, tracked):
    found: dict[str, list[str]] = {}
    count = 0
    for name in tracked:
        if name.suffix != ".md" or name.parts[0] not in ("README.md", "SECURITY.md", "docs"):
            continue
        for command in shown((root / name).read_text("utf-8")):
            count += 1
            if wrong := problems(command):
                found.setdefault(str(name), []).extend(wrong)
    assert count > 300
    assert found == {}


@pytest.mark.parametrize(
    ("command", "wrong"),
    [
        ("grade lab_01_magnitude --resume", []),
        ("course people", []),
        ("course peoples", ["mlsys course peoples"]),
        ("grades lab_01_magnitude", ["mlsys grades"]),
        ("grade LAB --quickly --students='a*'", ["mlsys grade --quickly"]),
        ("COMMAND --help", []),
    ],
)
def test_what_does_not_exist_is_found(command, wrong):
    assert problems(command) == wrong


def test_commands_are_read_from_blocks_and_sentences():
    page = "Run `sudo mlsys hub --single`.\n\n```console\n$ mlsys grade LAB \\\n  -v  # all\n```\n"
    found = [words.split() for words in shown(page)]
    assert found == [["grade", "LAB", "-v"], ["hub", "--single"]]
