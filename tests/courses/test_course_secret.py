"""A course draws with a secret of its own: it moves with the course, and no other class has it."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from mlsys_widgets.authoring import Course
from mlsys_widgets.course.lab_versions import stamp_in, version_in
from mlsys_widgets.courses.bundle import pack
from mlsys_widgets.courses.course_secret import without_secret
from mlsys_widgets.courses.freshness import stale_labs
from mlsys_widgets.courses.new_course import init_course
from mlsys_widgets.labs import load
from tests.courses.conftest import LAB


def secret(root: Path) -> str:
    (line,) = (
        line
        for line in (root / "assignments" / "course.toml").read_text("utf-8").splitlines()
        if line.startswith("secret = ")
    )
    return line.removeprefix("secret = ").strip('"')


def test_a_new_course_has_a_secret_that_its_notebooks_draw_with(made: Path) -> None:
    found, course = secret(made), Course.at(made)
    assert len(found) == 32
    assert found in course.edition
    release = (made / "release" / LAB / f"{LAB}.ipynb").read_bytes()
    setup, *_ = (c for c in nbformat.reads(release, 4).cells if "open_lab(" in c.source)
    assert f'open_lab("{LAB}"{course.arguments})' in setup.source
    assert found in course.arguments
    source = nbformat.read(made / "source" / LAB / f"{LAB}.ipynb", 4)
    tests = [c.source for c in source.cells if "return award(" in c.source]
    assert tests
    assert all(f"{course.arguments})" in each for each in tests)
    # As if the lab had been built here: nothing is out of date, and copies know their version.
    assert stale_labs(course) == {}
    assert stamp_in(release) == version_in(made / "release" / LAB, LAB)


def test_two_courses_from_one_bundle_have_other_numbers(
    made: Path, bundle: Path, tmp_path: Path
) -> None:
    other = init_course(tmp_path / "other", bundle)
    assert secret(other) != secret(made)
    lab = load(made / "assignments" / LAB)
    drawn = [
        [lab.draw(f"student-{k}", edition=Course.at(root).edition).side for k in range(20)]
        for root in (made, other)
    ]
    assert drawn[0] != drawn[1]


@pytest.mark.parametrize("people", [True, False])
def test_a_course_that_moves_keeps_its_secret_and_another_class_gets_its_own(
    made: Path, tmp_path: Path, people: bool
) -> None:
    packed = pack(Course.at(made), tmp_path / "b.tar.gz", people=people)
    moved = init_course(tmp_path / "moved", packed)
    assert (secret(moved) == secret(made)) is people
    assert stale_labs(Course.at(moved)) == {}


def test_settings_without_a_secret_are_as_they_were() -> None:
    text = "variants = true\n\n[labs.lab_02]\nweight = 2\n"
    assert without_secret(text) == text
