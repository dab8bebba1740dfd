"""The gradebook holds the cells of all versions, and loses no points when one more is released."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3

import pytest

from mlsys_widgets.course.kept_versions import versions_folder
from mlsys_widgets.grading.gradebook.version_cells import (
    add_earlier_cells,
    enter_version,
    has_submissions,
)
from mlsys_widgets.grading.judging.lab_copies import blueprint_of
from tests.courses.fixed_lab import LAB, FixedLab, fixed_lab
from tests.grading.classroom import grade, rows
from tests.grading.test_lab_copies import full_score, hand_in, in_gradebook
from tests.labs.rehearsal import Workshop


@pytest.fixture
def fixed(tmp_path) -> FixedLab:
    return fixed_lab(tmp_path)


def test_a_version_that_is_released_when_some_are_graded(fixed):
    """nbgrader would refuse its cells; no points are lost, whoever gave them."""
    root, course = fixed.root, fixed.course
    shutil.copy(root / "first_gradebook.db", root / "gradebook.db")
    assert not has_submissions(course.db_url, LAB)
    hand_in(fixed, "ann", 0)
    assert grade(Workshop(root, LAB))["ann"].earned == 80
    assert has_submissions(course.db_url, LAB)
    with contextlib.closing(sqlite3.connect(root / "gradebook.db")) as db:
        db.execute(
            "update grade set manual_score = 17 where cell_id in"
            " (select id from base_cell where name = 'limit')"
        )
        db.commit()
    kept = versions_folder(root, LAB) / fixed.versions[1]
    blueprint = blueprint_of(kept / "source" / f"{LAB}.ipynb", LAB)
    for _ in range(2):  # again changes nothing
        enter_version(course.db_url, LAB, blueprint)
        assert full_score(root) == 120
    hand_in(fixed, "ben", 1)
    # By running them this time: the notebook of each is restored as its own version has it.
    graded = grade(Workshop(root, LAB), force=True, run=True)
    assert {name: each.earned for name, each in graded.items()} == {"ann": 96, "ben": 100}
    assert {each.way for each in graded.values()} == {"run"}
    with contextlib.closing(sqlite3.connect(root / "gradebook.db")) as db:
        (kept_points,) = db.execute("select manual_score from grade where manual_score > 0")
    assert kept_points == (17,)
    assert in_gradebook(root, "ben")["waits"] == (30, False)


def test_a_gradebook_that_knows_no_lab(tmp_path):
    url = f"sqlite:///{tmp_path / 'gradebook.db'}"
    assert not has_submissions(url, LAB)


def test_earlier_cells_are_added_once_and_are_worth_nothing(fixed):
    course = fixed.course
    kept = versions_folder(fixed.root, LAB) / fixed.versions[0]
    earlier = [blueprint_of(kept / "source" / f"{LAB}.ipynb", LAB)]
    seen = []
    for _ in range(2):
        add_earlier_cells(course.db_url, LAB, earlier)
        with contextlib.closing(sqlite3.connect(fixed.root / "gradebook.db")) as db:
            query = "select name, type from base_cell order by name, type"
            seen.append(db.execute(query).fetchall())
    assert seen[0] == seen[1]
    assert ("limit", "GradeCell") in seen[0]
    assert full_score(fixed.root) == 120
    assert rows(fixed.root)["grade"] == []
