"""Writes docs/reference/commands.md: every command with its options and exit codes.

All of it is read from the parsers of ``mlsys``. This script only knows which readers look for which
command, and refuses to write a page that leaves one out.
"""

from __future__ import annotations

import argparse
import functools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from mlsys_widgets.cli import EXIT_CODES, CommandParser, command_parser

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "reference" / "commands.md"

#: Who looks for which commands, in the order of the page.
READERS: Final[Mapping[str, Sequence[str]]] = {
    "Students": ("whoami", "hand-in", "ledger", "measure", "devices", "workloads"),
    "Teaching": (
        "course", "grade", "regrade", "history", "second-looks", "essays", "variant", "report",
        "export", "push", "simulate",
    ),
    "Authors": ("new-lab", "build", "validate", "calibrate"),
    "Administrators": ("hub",),
}  # fmt: skip

_DEFAULT: Final = re.compile(r"\(default: (.+?)\)|^default: (.+)$")
_INTRODUCTION: Final = """\
# Commands

Everything that `mlsys` can do, as its own `--help` says it. Options can stand before or after
names, and `python -m mlsys_widgets` is the same as `mlsys`.

"""
_CODES: Final = """\
## Exit codes

A script can tell from the exit code what happened. These are the usual ones; where a command has
others, or means something else by one of them, its own table says so.

"""


def commands(parser: CommandParser) -> Iterator[tuple[str, CommandParser, str]]:
    """Yield every command with its full name, its parser and its line of help, in order."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            about = {each.dest: each.help or "" for each in action._choices_actions}
            for name, below in action.choices.items():
                yield f"{parser.prog} {name}", below, about.get(name, "")


@functools.cache
def all_commands() -> list[str]:
    """Return the full name of everything that can be run, such as ``mlsys course init``."""
    found = []
    waiting = [command_parser()]
    while waiting:
        parser = waiting.pop()
        for name, below, _ in commands(parser):
            found.append(name)
            waiting.append(below)
    return sorted(found)


def page() -> str:
    """Return the whole page."""
    parser = command_parser()
    known = {name.split()[-1]: (name, below, about) for name, below, about in commands(parser)}
    listed = [name for names in READERS.values() for name in names]
    if sorted(listed) != sorted(known):
        odd = ", ".join(sorted(set(listed) ^ set(known))) or "a command that is listed twice"
        raise ValueError(f"READERS in tools/command_pages.py and the parser differ about: {odd}")
    parts = [_INTRODUCTION, *_overview(known), _CODES]
    parts += ["| code | means |\n|---|---|\n"]
    parts += [f"| `{code}` | {words} |\n" for code, words in EXIT_CODES.items()]
    for reader, names in READERS.items():
        parts += [f"\n## {reader}\n\n", *("".join(_command(*known[name])) for name in names)]
    return "".join(parts)


def _overview(known: Mapping[str, tuple[str, CommandParser, str]]) -> Iterator[str]:
    yield "| for | commands |\n|---|---|\n"
    for reader, names in READERS.items():
        links = ", ".join(f"[`{known[name][0]}`](#{_anchor(known[name][0])})" for name in names)
        yield f"| {reader} | {links} |\n"
    yield "\n"


def _anchor(name: str) -> str:
    return name.replace(" ", "-")


def _command(name: str, parser: CommandParser, about: str) -> Iterator[str]:
    """Yield the section of a command, and those of what is below it."""
    yield f"### {name}\n\n"
    if about:
        yield f"{_sentence(about)}\n\n"
    usage = parser.format_usage().removeprefix("usage: ").rstrip().replace(f"\n{' ' * 7}", "\n")
    yield f"```text\n{usage}\n```\n\n"
    if rows := list(_options(parser)):
        yield "| argument | what it does | default |\n|---|---|---|\n"
        yield from (f"| {' | '.join(row)} |\n" for row in rows)
        yield "\n"
    below = list(commands(parser))
    if below:
        yield f"| {_below(parser)} | what it does |\n|---|---|\n"
        for full, _, words in below:
            yield f"| [`{full}`](#{_anchor(full)}) | {_cell(words)} |\n"
        yield "\n"
    if parser.runs:
        yield from _exit_codes(parser)
    for each in below:
        yield from _command(*each)


def _exit_codes(parser: CommandParser) -> Iterator[str]:
    codes = parser.exit_codes
    own = {code: words for code, words in codes.items() if EXIT_CODES.get(code) != words}
    usual = [f"`{code}`" for code in codes if code not in own]
    if own:
        yield "| exit code | means |\n|---|---|\n"
        yield from (f"| `{code}` | {_cell(words)} |\n" for code, words in own.items())
        yield "\n"
    yield f"Exit codes as [usual](#exit-codes): {', '.join(usual)}.\n\n"


def _below(parser: CommandParser) -> str:
    """Return the word for what is below a parser: action or task."""
    found = (each for each in parser._actions if isinstance(each, argparse._SubParsersAction))
    return str(next(found).metavar).lower()


def _options(parser: CommandParser) -> Iterator[tuple[str, str, str]]:
    shown = [
        each
        for each in parser._actions
        if each.help != argparse.SUPPRESS
        and not isinstance(each, argparse._HelpAction | argparse._SubParsersAction)
    ]
    for each in sorted(shown, key=lambda action: bool(action.option_strings)):
        words, default = _help(each)
        yield _written(each), _cell(words), default


def _written(action: argparse.Action) -> str:
    """Return an argument as one types it."""
    value = action.metavar if isinstance(action.metavar, str) else ""
    if not value and action.choices:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    if not action.option_strings:
        many = {"?": f"[{value}]", "*": f"[{value} …]", "+": f"{value} …"}
        shown = many.get(str(action.nargs), value or action.dest)
    else:
        if action.nargs == 0:
            value = ""
        elif not value:
            value = action.dest.upper()
        value += " …" if action.nargs in ("+", "*") else ""
        value = f" [{value}]" if action.nargs == "?" else f" {value}" if value else ""
        shown = ", ".join(f"{each}{value}" for each in action.option_strings)
    return f"`{shown}`".replace("|", "\\|")


def _help(action: argparse.Action) -> tuple[str, str]:
    """Return the help without the default, and the default."""
    words = (action.help or "").replace("%(default)s", str(action.default)).replace("%%", "%")
    if found := _DEFAULT.search(words):
        rest = f"{words[: found.start()].rstrip()} {words[found.end() :].lstrip()}"
        return re.sub(r"\s+(?=[;,])", "", rest).strip(), _cell(found[1] or found[2])
    if action.required and action.option_strings:
        return words, "must be given"
    if action.nargs == 0:  # a switch
        return words, ""
    usual: tuple[object, ...] = (None, argparse.SUPPRESS, [], "", Path())
    return words, "" if action.default in usual else f"`{action.default}`"


def _sentence(words: str) -> str:
    return _cell(words[0].upper() + words[1:]) + "."


def _cell(words: str) -> str:
    """Words for a table, with options, commands and what stands for a value set as code."""
    escaped = words.replace("|", "\\|").replace("*", "\\*").replace("$", "\\$")
    names = "|".join(sorted(map(re.escape, all_commands()), key=len, reverse=True))
    value = r"(?:\bbuild/|\b)[A-Z]{3,}(?:-[A-Z]+)*(?:\.[\w.]+\w)?"
    return re.sub(rf"(?:{names})(?: --[a-z-]+)?(?![\w-])|--[a-z-]+|{value}", _code, escaped)


def _code(found: re.Match[str]) -> str:
    return found[0] if found[0] in ("CSV", "JSON", "GPU", "PAM", "CPU") else f"`{found[0]}`"


def main() -> None:
    """Write the page."""
    os.environ["COLUMNS"] = "78"  # the width of usage lines, wherever this runs
    PAGE.write_text(page(), "utf-8")
    print(f"Wrote {PAGE.relative_to(ROOT)}.")


if __name__ == "__main__":
    main()
