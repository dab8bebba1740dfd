"""What reads course.toml and the table of its settings agree: names, limits, and where they go."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from mlsys_widgets.classes.lms_settings import LmsSettings, lms_settings
from mlsys_widgets.course.calendar import Extension, LabDates, LatePolicy
from mlsys_widgets.course.course import Course
from mlsys_widgets.course.course_settings import EXTENSION, LAB, LATE, LMS, TABLES


@pytest.fixture(scope="module")
def setting_pages(tool):
    return tool("setting_pages")


def course_of(folder: Path, text: str) -> Course:
    (folder / "assignments" / "lab_01_magnitude").mkdir(parents=True, exist_ok=True)
    (folder / "assignments" / "course.toml").write_text(text, "utf-8")
    return Course.at(folder)


def test_the_example_is_a_course_with_every_setting(setting_pages, tmp_path):
    text = setting_pages.example()
    assert f"```toml\n{text}```" in setting_pages.page()
    course = course_of(tmp_path, text)
    assert lms_settings(course).client_id == "10000000000001"
    said = tomllib.loads(text)
    assert set(said) == set(TABLES[0].names)
    for table in TABLES[1:]:
        head, _, chosen = table.path.partition(".")
        part = said[head]
        parts = part if isinstance(part, list) else part.values() if chosen else [part]
        assert {name for one in parts for name in one} == set(table.names), table.path


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.path or "top")
def test_what_the_table_does_not_know_is_refused(setting_pages, tmp_path, table):
    text = setting_pages.example()
    line = f"{table.example}\n" if table.example else ""
    wrong = text.replace(line, f"{line}mood = 3\n", 1) if line else f"mood = 3\n{text}"
    with pytest.raises(ValueError, match=f"sets mood; it can set: {', '.join(table.names)}"):
        lms_settings(course_of(tmp_path, wrong))


@pytest.mark.parametrize(
    ("table", "name"),
    [(table, each.name) for table in TABLES for each in table.settings
     if each.kind.startswith("a number")],
    ids=lambda value: value if isinstance(value, str) else value.path,
)  # fmt: skip
def test_limits_are_those_of_the_table(setting_pages, tmp_path, table, name):
    (setting,) = (each for each in table.settings if each.name == name)
    block = setting_pages._block(table, [e for e in table.settings if e.example])
    block = block.replace(f"due = {setting.example}\n", "")
    if table is EXTENSION:
        block = re.sub(r"due = .*\n", "", block)
    for value in (setting.low - 1, setting.high + 1):
        if value != float("inf"):
            wrong = re.sub(rf"^{name} = .*$", f"{name} = {value}", block, flags=re.M)
            with pytest.raises(ValueError, match=rf"{name} is {value}; it must be a number"):
                course_of(tmp_path, wrong)


def test_what_is_read_has_a_place_to_be_kept():
    for table, kind in ((LATE, LatePolicy), (LAB, LabDates), (EXTENSION, Extension),
                        (LMS, LmsSettings)):  # fmt: skip
        assert sorted(table.names) == sorted(each.name for each in fields(kind))
