"""What reads course.toml and the page of its settings agree: names and limits."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from mlsys_widgets.classes.lms_settings import lms_settings
from mlsys_widgets.course.calendar import Extension
from mlsys_widgets.course.course import Course
from mlsys_widgets.course.course_settings import TABLES
from mlsys_widgets.course.settings_tables import settings_of


@pytest.fixture(scope="module")
def setting_pages(tool):
    return tool("setting_pages")


def course_of(folder: Path, text: str) -> Course:
    (folder / "assignments" / "lab_01_magnitude").mkdir(parents=True, exist_ok=True)
    (folder / "assignments" / "course.toml").write_text(text, "utf-8")
    return Course.at(folder)


def test_the_page_is_current(setting_pages):
    stale = "the page is stale: run .venv/bin/python tools/setting_pages.py"
    assert setting_pages.PAGE.read_text("utf-8") == setting_pages.page(), stale


def test_the_example_is_a_course_with_every_setting(setting_pages, tmp_path):
    text = setting_pages.example()
    assert f"```toml\n{text}```" in setting_pages.page()
    course = course_of(tmp_path, text)
    assert lms_settings(course).client_id == "10000000000001"
    said = tomllib.loads(text)
    assert set(said) == set(settings_of(TABLES[0].declared))
    for table in TABLES[1:]:
        head, _, chosen = table.path.partition(".")
        part = said[head]
        parts = part if isinstance(part, list) else part.values() if chosen else [part]
        assert {name for one in parts for name in one} == set(settings_of(table.declared)), (
            table.path
        )


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.path or "top")
def test_what_the_table_does_not_know_is_refused(setting_pages, tmp_path, table):
    text = setting_pages.example()
    line = f"{table.example}\n" if table.example else ""
    wrong = text.replace(line, f"{line}mood = 3\n", 1) if line else f"mood = 3\n{text}"
    allowed = ", ".join(settings_of(table.declared))
    with pytest.raises(ValueError, match=f"sets mood; it can set: {allowed}"):
        lms_settings(course_of(tmp_path, wrong))


@pytest.mark.parametrize(
    ("table", "name"),
    [(table, name) for table in TABLES for name, each in settings_of(table.declared).items()
     if each.kind.low is not None],
    ids=lambda value: value if isinstance(value, str) else value.path,
)  # fmt: skip
def test_limits_are_those_of_the_table(setting_pages, tmp_path, table, name):
    settings = settings_of(table.declared)
    setting = settings[name]
    block = setting_pages._block(table, [each for each in settings.values() if each.example])
    block = block.replace(f"due = {setting.example}\n", "")
    if table.declared is Extension:
        block = re.sub(r"due = .*\n", "", block)
    for value in (setting.kind.low - 1, setting.kind.high + 1):
        if value != float("inf"):
            wrong = re.sub(rf"^{name} = .*$", f"{name} = {value}", block, flags=re.M)
            with pytest.raises(ValueError, match=rf"{name} is {value}; it must be a number"):
                course_of(tmp_path, wrong)
