"""Whose lab it is: on a laptop, on a hub, and while nbgrader grades."""

from __future__ import annotations

import getpass
import os

import pytest

from mlsys_widgets.labs import execution, student
from mlsys_widgets.labs.identity import is_instructors, remember, settings_file


@pytest.fixture(autouse=True)
def nobody(monkeypatch, tmp_path):
    """A computer that knows nobody yet."""
    for name in ("MLSYS_STUDENT", "JUPYTERHUB_USER", "NBGRADER_EXECUTION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(getpass, "getuser", lambda: "laptop")


def test_the_login_of_a_laptop():
    found = student()
    assert (found.name, found.known_from) == ("laptop", "your login on this computer")


def test_a_user_without_a_name(monkeypatch):
    def nameless():
        raise KeyError("uid not found")

    monkeypatch.setattr(getpass, "getuser", nameless)
    assert student().name == f"user-{os.getuid()}"


def test_what_was_said_wins_over_the_login(tmp_path):
    kept = remember("  ada ")
    assert kept == settings_file() == tmp_path / "config" / "mlsys_widgets" / "student.txt"
    assert (student().name, student().known_from) == ("ada", "what you set with mlsys whoami")
    remember("grace")
    assert student().name == "grace"
    kept.write_text("\n", "utf-8")
    assert student().name == "laptop"


def test_the_hub_wins_over_what_was_said(monkeypatch):
    remember("ada")
    monkeypatch.setenv("JUPYTERHUB_USER", "hub-7")
    assert (student().name, student().known_from) == ("hub-7", "your login at the hub")
    monkeypatch.setenv("JUPYTERHUB_USER", " ")
    assert student().name == "ada"


def test_the_variable_wins_over_the_hub(monkeypatch):
    monkeypatch.setenv("JUPYTERHUB_USER", "hub-7")
    monkeypatch.setenv("MLSYS_STUDENT", "looked-at")
    assert student().name == "looked-at"
    assert "MLSYS_STUDENT" in student().known_from


@pytest.mark.parametrize(
    "name", ["student-7", "Müller", "o.brien@uni.edu", "a b", "名前", ".."[:1]]
)
def test_while_grading_only_the_folder_counts(monkeypatch, tmp_path, name):
    remember("ada")
    monkeypatch.setenv("JUPYTERHUB_USER", "ta")
    monkeypatch.setenv("MLSYS_STUDENT", "ta")
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    folder = tmp_path / "autograded" / name / "lab_01"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    assert student().name == student(folder).name == folder.parent.name
    assert student().known_from == "the folder of the submission"


def test_an_instructors_notebook_is_nobodys_who_runs_it(monkeypatch, tmp_path):
    """Its outputs are compared, so they must not depend on a login."""
    folder = tmp_path / "source" / "lab_01"
    folder.mkdir(parents=True)
    assert not is_instructors(folder)
    assert student(folder).name == "laptop"
    (tmp_path / "nbgrader_config.py").touch()
    assert is_instructors(folder)
    assert not is_instructors(folder.parent)
    remember("ada")
    monkeypatch.setenv("JUPYTERHUB_USER", "ta")
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    assert (student(folder).name, student(folder).uncertain) == ("instructor", False)
    assert student(folder).known_from == "its place in source/"
    # A TA may ask to see somebody's numbers with the solution.
    monkeypatch.setenv("MLSYS_STUDENT", "bob")
    assert student(folder).name == "bob"
    # Whatever a student is called, a submission is never the instructor's.
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert not is_instructors(folder)
    assert student(folder).name == "source"


def test_a_release_or_a_copy_is_not_the_instructors(tmp_path):
    (tmp_path / "nbgrader_config.py").touch()
    for place in ("release/lab_01", "submitted/source/lab_01", "my_labs/lab_01"):
        (tmp_path / place).mkdir(parents=True)
        assert student(tmp_path / place).name == "laptop"


def test_validation_is_of_the_student(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    remember("ada")
    assert execution() == "validate"
    assert student().name == "ada"


@pytest.mark.parametrize(
    ("said", "is_"),
    [("autograde", "autograde"), ("validate", "validate"), ("", "student"), ("other", "student")],
)
def test_who_runs_the_notebook(monkeypatch, said, is_):
    monkeypatch.setenv("NBGRADER_EXECUTION", said)
    assert execution() == is_


@pytest.mark.parametrize("name", ["", "  ", "a/b", "a\\b", "a\nb", "a\x00b", "x" * 201, "\u200b"])
def test_names_that_are_none_are_refused(name):
    with pytest.raises(ValueError, match=r"must be 1 to 200 printable characters without slashes"):
        remember(name)
    assert not settings_file().exists()


def test_a_name_that_is_none_is_refused_where_it_comes_from(monkeypatch):
    monkeypatch.setenv("MLSYS_STUDENT", "../other")
    with pytest.raises(ValueError, match="the environment variable MLSYS_STUDENT gives"):
        student()
