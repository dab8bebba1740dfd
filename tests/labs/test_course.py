"""A course: its settings, where its files are, and nbgrader's configuration."""

from __future__ import annotations

import pytest

from mlsys_widgets.labs import course as courses
from mlsys_widgets.labs.course import Course, read_config


@pytest.fixture
def course(tmp_path) -> Course:
    (tmp_path / "assignments").mkdir()
    return Course.at(tmp_path)


def configure(course, *lines):
    text = "\n".join(["c = get_config()", *lines])
    (course.root / "nbgrader_config.py").write_text(text, "utf-8")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("variants = 1", "sets variants to 1; it must be true or false"),
        ('variants = "no"', "sets variants to 'no'; it must be true or false"),
        ("edition = 2027", "sets edition to 2027; it must be a text in quotes"),
        ("editon = '1'", "sets editon; it can set: variants, edition"),
        ("variants = ", "course.toml cannot be read: "),
    ],
)
def test_settings_that_are_wrong_are_told(course, text, sentence):
    (course.root / "assignments" / "course.toml").write_text(text, "utf-8")
    with pytest.raises(ValueError, match=sentence):
        Course.at(course.root)


def test_a_folder_without_assignments_is_no_course(tmp_path):
    with pytest.raises(ValueError, match=r"there is no folder assignments in .*--course"):
        Course.at(tmp_path)


def test_the_configuration_is_read_once(course, monkeypatch):
    configure(course, 'c.CourseDirectory.course_id = "demo"')
    calls = []
    monkeypatch.setattr(
        courses, "read_config", lambda path: calls.append(path) or read_config(path)
    )
    assert (course.course_id, course.cell_seconds, course.permissions) == ("demo", 30.0, 0o444)
    assert calls == [course.root / "nbgrader_config.py"]


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
def test_the_gradebook_is_found_from_any_folder(course, url, found, inside, monkeypatch):
    configure(course, f"c.CourseDirectory.db_url = {url!r}" if url else "")
    monkeypatch.chdir("/")
    assert course.db_url == found.format(root=course.home)
    assert course.gradebook == (inside and course.home / inside)


def test_work_lies_where_the_settings_say(course):
    configure(
        course,
        'c.CourseDirectory.submitted_directory = "handed_in"',
        'c.CourseDirectory.directory_structure = "{nbgrader_step}/{assignment_id}/{student_id}"',
    )
    assert course.work("submitted", "ann", "lab") == course.home / "handed_in" / "lab" / "ann"
    assert course.work("feedback", "ann", "lab") == course.home / "feedback" / "lab" / "ann"


@pytest.mark.parametrize("name", ["nbgrader_config.py", "nbgrader_config.json"])
def test_a_configuration_that_cannot_be_read_is_one_sentence(tmp_path, name):
    assert read_config(tmp_path / name) == {}
    (tmp_path / name).write_text("c = get_config(", "utf-8")
    with pytest.raises(ValueError, match=f"{name} cannot be read: .*; fix that line"):
        read_config(tmp_path / name)
