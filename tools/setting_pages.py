"""Writes docs/reference/course_toml.md: every setting of a course, from the table that is read.

``mlsys_widgets.course.course_settings`` says what ``course.toml`` can set; what reads the file
takes the names from there. The example at the end has every setting, and a test reads it as a
course.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mlsys_widgets.course.course_settings import TABLES, SettingsTable
from mlsys_widgets.course.settings_tables import Setting, settings_of

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "reference" / "course_toml.md"

_INTRODUCTION: Final = """\
# course.toml

`assignments/course.toml` holds the settings of a course: numbers, dates, people, and where grades
are sent. Every setting may be missing, unless its table says that it must be given; a course
without the file has the defaults. A value that is not possible is refused with a sentence that says
what is allowed, and a misspelled name is never ignored. Commands that change the file keep your
comments and the order of your lines.

The file is [TOML](https://toml.io): texts stand in quotes, times and numbers do not.
[The calendar](../instructors/course.md#the-calendar) says who follows the dates.

"""
_EXAMPLE: Final = """\
## A whole file

This file has every setting once. A test reads it as a course.

"""


def _settings(table: SettingsTable) -> list[Setting]:
    return list(settings_of(table.declared).values())


def _full(table: SettingsTable, setting: Setting) -> str:
    return f"{table.path}.{setting.name}".lstrip(".")


def example() -> str:
    """Return a file with every setting."""
    blocks = []
    for table in TABLES:
        shown = [each for each in _settings(table) if each.example]
        if table.path == "extensions":  # due and days exclude each other
            blocks.append(_block(table, [each for each in shown if each.name != "due"]))
            shown = [each for each in shown if each.name != "days"]
        blocks.append(_block(table, shown))
    return "\n".join(blocks)


def _block(table: SettingsTable, shown: list[Setting]) -> str:
    head = [table.example] if table.example else []
    return "\n".join([*head, *(f"{each.name} = {each.example}" for each in shown), ""])


def page() -> str:
    """Return the whole page."""
    return "".join([_INTRODUCTION, *_tables(), _EXAMPLE, f"```toml\n{example()}```\n"])


def _tables() -> Iterator[str]:
    for table in TABLES:
        about = (inspect.getdoc(table.declared) or "").split("\n\nExamples")[0]
        yield f"## {_title(table)}\n\n{' '.join(about.split())}\n\n"
        yield from (_entry(table, each) for each in _settings(table))


def _entry(table: SettingsTable, setting: Setting) -> str:
    """Return a setting as an object of the pages: the search finds it by its name."""
    default = "none; it must be given" if setting.required else setting.default
    lines = [f"````{{confval}} {_full(table, setting)}", f":type: {setting.kind.words}"]
    lines += [f":default: {default}"] if default else []
    lines += ["", setting.about]
    if refused := "; ".join(filter(None, (_limits(setting), setting.refused))):
        lines += ["", f"Refused: {refused}."]
    if setting.example:
        head = [table.example] if table.example else []
        lines += ["", "```toml", *head, f"{setting.name} = {setting.example}", "```"]
    return "\n".join([*lines, "````", "", ""])


def _title(table: SettingsTable) -> str:
    if not table.path:
        return "Before the first table"
    return f"`[[{table.path}]]`" if table.path == "extensions" else f"`[{table.path}]`"


def _limits(setting: Setting) -> str:
    """Say which numbers are refused."""
    low, high = setting.kind.low, setting.kind.high
    if low is None:
        return ""
    return f"numbers below {low:g}" + (f" or above {high:g}" if math.isfinite(high) else "")


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), "utf-8")
    print(f"Wrote {PAGE.relative_to(ROOT)}.")


if __name__ == "__main__":
    main()
