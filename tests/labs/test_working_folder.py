"""An instructor's notebook leaves nothing in source/, and finds there what a student would have."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

import pytest

from mlsys_widgets.labs import working_folder as module
from mlsys_widgets.labs.working_folder import notebook_here, working_folder

ASKS = """\
from mlsys_widgets.labs import Lab

lab = Lab("NAME", title="A lab", chapter=0, acts=(), examples={"mine.txt": lambda: b"measured"})
"""


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course with two labs, and a folder for what is temporary."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(module.tempfile, "tempdir", None)
    monkeypatch.setattr(module, "_aside", {})
    course = tmp_path / "course"
    for step in ("source", "release"):
        for name in ("lab_01", "lab_02"):
            (course / step / name).mkdir(parents=True)
            (course / step / name / "asks.py").write_text(ASKS.replace("NAME", name), "utf-8")
    (course / "nbgrader_config.py").touch()
    return course


def test_a_students_work_is_beside_the_notebook(course):
    assert working_folder(course / "release" / "lab_01") == course / "release" / "lab_01"
    (course / "nbgrader_config.py").unlink()
    assert working_folder(course / "source" / "lab_01") == course / "source" / "lab_01"


def test_an_instructors_is_aside_with_the_examples_and_beside_the_other_labs(course):
    first, second = (working_folder(course / "source" / f"lab_0{k}") for k in (1, 2))
    assert first.parent == second.parent
    assert course not in first.parents
    assert (first.name, second.name) == ("lab_01", "lab_02")
    assert (first / "mine.txt").read_bytes() == b"measured"
    assert [p.name for p in (course / "source" / "lab_01").iterdir()] == ["asks.py"]


def test_it_stays_the_same_for_a_process_and_keeps_what_was_changed_in_it(course):
    first = working_folder(course / "source" / "lab_01")
    (first / "mine.txt").write_bytes(b"measured again")
    assert working_folder(course / "source" / "lab_01") == first
    assert (first / "mine.txt").read_bytes() == b"measured again"
    shutil.rmtree(first.parent)
    assert (working_folder(course / "source" / "lab_01") / "mine.txt").read_bytes() == b"measured"


def test_nothing_is_left_when_the_process_ends(course, tmp_path):
    code = "from mlsys_widgets.labs.working_folder import working_folder; print(working_folder())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=course / "source" / "lab_01",
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(tmp_path / "tmp") in done.stdout
    assert list((tmp_path / "tmp").iterdir()) == []


def test_what_a_killed_kernel_left_is_removed_a_week_later(course, tmp_path):
    old, new = (tmp_path / "tmp" / f"mlsys-instructor-{name}" for name in ("old", "new"))
    for left in (old, new):
        left.mkdir()
    week = time.time() - 8 * 24 * 3600
    os.utime(old, (week, week))
    working_folder(course / "source" / "lab_01")
    assert not old.exists()
    assert new.exists()


@pytest.mark.parametrize(
    ("session", "name"),
    [
        ("", "lab_01.ipynb"),
        ("labs/mine.ipynb", "mine.ipynb"),
        ("labs/gone.ipynb", "lab_01.ipynb"),
        ("../../mine.ipynb", "mine.ipynb"),
        ("asks.py", "lab_01.ipynb"),
    ],
)
def test_which_notebook_runs_here(course, monkeypatch, session, name):
    """Jupyter says so, by a path of its own; only the name counts, and only in this folder."""
    folder = course / "release" / "lab_01"
    (folder / "mine.ipynb").touch()
    monkeypatch.setenv("JPY_SESSION_NAME", session)
    assert notebook_here(folder, "lab_01") == folder / name
