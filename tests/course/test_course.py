"""A course: its settings, and what nbgrader's configuration says."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsys_widgets.course import course as courses
from mlsys_widgets.course.course import Course, read_config


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
    assert course.work("feedback", "ada", "lab_02") == root / "feedback" / "lab_02" / "ada"
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


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("variants = 1", "variants is 1; it must be true or false"),
        ('variants = "no"', "variants is 'no'; it must be true or false"),
        ("edition = 2027", "edition is 2027; it must be a text in quotes"),
        ("editon = '1'", "sets editon; it can set: variants, edition"),
        ("variants = ", "course.toml cannot be read: "),
    ],
)
def test_settings_that_are_wrong_are_told(root, text, sentence):
    (root / "assignments" / "course.toml").write_text(text, "utf-8")
    with pytest.raises(ValueError, match=sentence):
        Course.at(root)


def test_a_folder_without_assignments_is_no_course(tmp_path):
    with pytest.raises(ValueError, match=r"there is no folder assignments in .*--course"):
        Course.at(tmp_path)


def test_the_configuration_is_read_once(root, monkeypatch):
    course = configure(root, 'c.CourseDirectory.course_id = "demo"')
    calls = []
    monkeypatch.setattr(
        courses, "read_config", lambda path: calls.append(path) or read_config(path)
    )
    assert (course.course_id, course.cell_seconds, course.permissions) == ("demo", 30.0, 0o444)
    assert calls == [root / "nbgrader_config.py"]


@pytest.mark.parametrize(
    ("url", "found", "inside"),
    [
        (None, "sqlite:///{root}/gradebook.db", "gradebook.db"),
        ("sqlite:///gradebook.db", "sqlite:///{root}/gradebook.db", "gradebook.db"),
        ("sqlite:///books/a.db", "sqlite:///{root}/books/a.db", "books/a.db"),
        ("sqlite:////srv/a.db", "sqlite:////srv/a.db", None),
        ("sqlite:///../a.db", "sqlite:///{root}/../a.db", None),
        ("postgresql+psycopg:///grades", "postgresql+psycopg:///grades", None),
    ],
)
def test_the_gradebook_is_found_from_any_folder(root, url, found, inside, monkeypatch):
    course = configure(root, f"c.CourseDirectory.db_url = {url!r}" if url else "")
    monkeypatch.chdir("/")
    assert course.db_url == found.format(root=course.home)
    assert course.gradebook == (inside and course.home / inside)


@pytest.mark.parametrize("name", ["nbgrader_config.py", "nbgrader_config.json"])
def test_a_configuration_that_cannot_be_read_is_one_sentence(tmp_path, name):
    assert read_config(tmp_path / name) == {}
    (tmp_path / name).write_text("c = get_config(", "utf-8")
    with pytest.raises(ValueError, match=f"{name} cannot be read: .*; fix that line"):
        read_config(tmp_path / name)
