"""Settings and labs: broken one at a time, and diagnosed."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from mlsys_widgets.courses.doctor import labs
from tests.courses.conftest import LAB
from tests.courses.doctor.findings import (
    is_broken,
    is_doubtful,
    is_well,
)

pytestmark = pytest.mark.timeout(300)


def test_settings_that_are_gone(course: Path):
    (course / "nbgrader_config.py").unlink()
    is_broken(labs.settings, course, "settings", "there is no nbgrader_config.py", "init")


@pytest.mark.parametrize(
    ("line", "said"),
    [("", "the course has no id"), ("c.CourseDirectory.course_id = 'a/b'", "'a/b'; it must")],
)
def test_a_course_without_a_name_that_works(course: Path, line: str, said: str):
    (course / "nbgrader_config.py").write_text(f"c = get_config()\n{line}\n", "utf-8")
    is_broken(labs.settings, course, "settings", said, "course_id")


def test_a_lab_that_is_stale(course: Path):
    path = course / "assignments" / LAB / "lab.py"
    path.write_text(path.read_text("utf-8") + "\n# %% [markdown]\n# More.\n", "utf-8")
    is_broken(
        labs.freshness, course, "labs", f"{LAB}: source/{LAB} is not what its text produces",
        f"mlsys build {LAB}",
    )  # fmt: skip


def test_a_page_to_start_at_that_is_stale(course: Path):
    (course / "release" / "START_HERE.md").unlink()
    is_doubtful(labs.freshness, course, "labs", "START_HERE.md does not match", "mlsys build")


def test_a_course_without_labs(course: Path):
    shutil.rmtree(course / "assignments" / LAB)
    is_broken(labs.freshness, course, "labs", "there are none", "mlsys new-lab NAME")


def test_a_bundle_of_a_newer_package(course: Path):
    path = course / ".mlsys" / "bundle.json"
    said = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**said, "package": "99.0"}), "utf-8")
    is_doubtful(
        labs.freshness,
        course,
        "bundle",
        "made with mlsys-widgets 99.0",
        "pip install --upgrade",
    )


def test_settings_without_essays(course: Path):
    path = course / "nbgrader_config.py"
    lines = path.read_text("utf-8").replace("EssaysFromLedger", "SomethingElse")
    path.write_text(lines, "utf-8")
    said = "stock nbgrader would not see essays"
    is_doubtful(labs.settings, course, "essays", said, "plugins.autograde.EssaysFromLedger")


def test_settings_that_leave_scripts_in(course: Path):
    path = course / "nbgrader_config.py"
    lines = path.read_text("utf-8").replace("WithoutActiveContent", "SomethingElse")
    path.write_text(lines, "utf-8")
    said = "formgrader would run scripts"
    is_doubtful(labs.settings, course, "active content", said, "WithoutActiveContent")


def test_limits_that_stay_silent_or_tell_too_much(course: Path):
    is_well(labs.limits, course, "hints")
    path = course / "assignments" / LAB / "asks.py"
    narrow, many = re.subn(r"high=[^,]+,", "high=1.5,", path.read_text("utf-8"), count=1)
    assert many == 1
    path.write_text(narrow, "utf-8")
    is_doubtful(labs.limits, course, "hints", f"{LAB}: .* the card", f"{LAB}/asks.py")
