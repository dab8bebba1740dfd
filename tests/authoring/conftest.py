"""A course with the small lab that `mlsys new-lab` starts."""

from __future__ import annotations

import pytest

from mlsys_widgets.authoring import Course, new_lab

DEMO = "lab_02_demo"


@pytest.fixture
def course(tmp_path) -> Course:
    new_lab(tmp_path, DEMO)
    return Course.at(tmp_path)


@pytest.fixture
def home(course):
    """Where the lab's three files are."""
    return course.folder("assignments", DEMO)


@pytest.fixture
def change(home):
    """Change a file of the lab: what is there, and what is to be there."""

    def changed(name, old, new):
        path = home / name
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new), "utf-8")

    return changed
