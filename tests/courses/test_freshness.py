"""A stale lab is recognized without running it, and a fresh one is never called stale."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mlsys_widgets.course.course import Course
from mlsys_widgets.courses import stale_labs
from mlsys_widgets.courses.freshness import start_page_is_stale
from tests.courses.conftest import LAB


def reason(root: Path) -> str:
    return stale_labs(Course.at(root)).get(LAB, "")


def test_what_was_just_built_is_fresh(built: Path):
    assert stale_labs(Course.at(built)) == {}
    assert not start_page_is_stale(Course.at(built))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def test_a_changed_text(written: Path):
    path = written / "assignments" / LAB / "lab.py"
    path.write_text(path.read_text("utf-8") + "\n# %% [markdown]\n# More.\n", "utf-8")
    assert reason(written) == f"source/{LAB} is not what its text produces"


def test_a_changed_question(written: Path):
    edit(written / "assignments" / LAB / "asks.py", "points=40", "points=41")
    assert reason(written) == f"source/{LAB}/asks.py is not made from the one in assignments/"


def test_a_changed_check(written: Path):
    path = written / "assignments" / LAB / "checks.py"
    edit(path, "NumberKey(", "NumberKey(1.0 *")
    assert reason(written) == f"source/{LAB} is not what its text produces"


def test_a_changed_edition(written: Path):
    edit(written / "assignments" / "course.toml", 'edition = ""', 'edition = "2027"')
    assert reason(written) == f"source/{LAB} is not what its text produces"


def test_a_changed_stub_of_nbgrader(written: Path):
    edit(written / "nbgrader_config.py", "What you record in the card", "What you write there")
    assert reason(written) == f"release/{LAB} is not what nbgrader makes from source/{LAB}"


def test_a_release_that_somebody_edited(written: Path):
    path = written / "release" / LAB / f"{LAB}.ipynb"
    book = json.loads(path.read_text("utf-8"))
    book["cells"][0]["source"] = "Something else"
    path.write_text(json.dumps(book), "utf-8")
    assert reason(written) == f"release/{LAB} is not what nbgrader makes from source/{LAB}"


@pytest.mark.parametrize("step", ["source", "release"])
def test_a_notebook_that_is_gone_or_torn(written: Path, step: str):
    path = written / step / LAB / f"{LAB}.ipynb"
    path.write_bytes(path.read_bytes()[:1000])
    assert reason(written).startswith(f"{step}/{LAB} is not what")
    path.unlink()
    assert reason(written) == f"{step}/{LAB} is not built"


def test_a_text_that_cannot_be_built(written: Path):
    path = written / "assignments" / LAB / "checks.py"
    path.write_text("def", "utf-8")
    assert reason(written).startswith("its text cannot be built: ")


def test_the_page_to_start_at(written: Path):
    edit(written / "release" / "START_HERE.md", "# Start here", "# Begin here")
    assert start_page_is_stale(Course.at(written))
