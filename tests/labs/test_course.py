"""A course: its settings, and what nbgrader's configuration says."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsys_widgets.labs.course import Course


@pytest.fixture
def root(tmp_path) -> Path:
    (tmp_path / "assignments").mkdir()
    return tmp_path


def configure(root: Path, *lines: str) -> Course:
    text = "\n".join(["c = get_config()", *lines, ""])
    (root / "nbgrader_config.py").write_text(text, "utf-8")
    return Course.at(root)


def test_settings_are_read(root):
    assert Course.at(root) == Course(root)
    path = root / "assignments" / "course.toml"
    path.write_text('variants = false\nedition = "2027"\n', "utf-8")
    course = Course.at(root)
    assert (course.variants, course.edition) == (False, "2027")
    assert course.arguments == ", variants=False, edition='2027'"
    assert Course(root).arguments == ""


def test_where_labs_are(root):
    assert Course(root).folder("release", "lab_02") == root / "release" / "lab_02"


def test_without_a_configuration_nbgraders_defaults_hold(root):
    course = Course.at(root)
    assert course.course_id == ""
    assert course.db_url == f"sqlite:///{root / 'gradebook.db'}"
    assert course.work("submitted", "ada", "lab_02") == root / "submitted" / "ada" / "lab_02"
    assert (course.cell_seconds, course.permissions) == (30.0, 0o444)


def test_what_the_configuration_says(root):
    course = configure(
        root,
        "c.CourseDirectory.course_id = 'fall-27'",
        "c.CourseDirectory.db_url = 'postgresql://books'",
        "c.CourseDirectory.groupshared = True",
        "c.CourseDirectory.submitted_directory = 'in'",
        "c.CourseDirectory.directory_structure = '{nbgrader_step}/{assignment_id}/{student_id}'",
        "c.ExecutePreprocessor.timeout = 90",
    )
    assert (course.course_id, course.db_url) == ("fall-27", "postgresql://books")
    assert course.work("submitted", "ada", "lab_02") == root / "in" / "lab_02" / "ada"
    assert (course.cell_seconds, course.permissions) == (90.0, 0o664)


@pytest.mark.parametrize("seconds", ["None", "0", "-1"])
def test_a_timeout_that_is_none(root, seconds):
    assert configure(root, f"c.Execute.timeout = {seconds}").cell_seconds == 30.0


def test_a_configuration_that_fails_is_told(root):
    course = configure(root, "1 / 0")
    with pytest.raises(ValueError, match=r"nbgrader_config\.py cannot be read: ZeroDivisionError"):
        _ = course.nbgrader


def test_a_configuration_that_somebody_has_read_already(root):
    given = {"CourseDirectory": {"course_id": "given"}}
    assert Course(root, given=given).course_id == "given"
    assert Course(root, given=given) == Course(root)
