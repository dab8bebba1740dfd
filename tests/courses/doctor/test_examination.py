"""The doctor as a whole: everything is checked, and what is broken hides nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mlsys_widgets.cli import main
from mlsys_widgets.courses import examine

pytestmark = pytest.mark.timeout(300)


def test_a_course_that_is_well(course: Path, capsys):
    assert main(["course", "doctor", str(course)]) == 0
    told = capsys.readouterr().out
    for about in (
        "Python", "packages", "lab extensions", "server extensions", "kernel", "sandbox", "disk",
        "settings", "labs", "students", "gradebook", "exchange", "privacy",
    ):  # fmt: skip
        assert re.search(rf"✓\s+{about}\s", told), (about, told)
    assert "✗" not in told
    assert "2 in the gradebook" in told


def test_what_is_wrong_is_told_with_what_to_do(course: Path, capsys):
    course.chmod(0o755)
    assert main(["course", "doctor", str(course)]) == 1
    told = capsys.readouterr().out
    assert re.search(r"✗\s+privacy\s+others on this machine can read assignments, source", told)
    assert f"✗ privacy: chmod o-rwx {course}" in told
    assert main(["course", "doctor", str(course), "--json"]) == 1
    found = {each["about"]: each for each in json.loads(capsys.readouterr().out)}
    assert found["privacy"]["level"] == "problem"
    assert found["privacy"]["fix"] == f"chmod o-rwx {course}"
    assert found["labs"]["level"] == "ok"


def test_a_folder_without_a_course(tmp_path: Path, capsys):
    assert main(["course", "doctor", str(tmp_path)]) == 1
    assert "there is no course in" in capsys.readouterr().err


def test_settings_that_are_no_python_are_one_finding(course: Path):
    (course / "nbgrader_config.py").write_text("c = get_config(\n", "utf-8")
    wrong = [each for each in examine(course) if each.level == "problem"]
    assert [each.about for each in wrong] == ["settings"]
    assert "nbgrader_config.py cannot be read: SyntaxError" in wrong[0].said


def test_wrong_settings_of_labs_are_told_once_and_hide_nothing(course: Path):
    (course / "assignments" / "course.toml").write_text("variants = 3\n", "utf-8")
    course.chmod(0o755)
    wrong = {each.about: each for each in examine(course) if each.level == "problem"}
    assert sorted(wrong) == ["labs", "privacy"]
    assert "course.toml: variants is 3; it must be true or false" in wrong["labs"].said
