"""A copy for practice: of no use as an assignment, whole as practice, and made by a course."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress

import pytest

from mlsys_widgets.authoring import Course, build
from mlsys_widgets.authoring.practice_copies import practice_copies
from mlsys_widgets.authoring.text import TextError
from mlsys_widgets.cards.open_lab import OpenLab
from mlsys_widgets.course.lab_versions import stamp_in, version_in
from mlsys_widgets.courses.freshness import why_stale
from mlsys_widgets.judging import Given
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.labs import load
from mlsys_widgets.labs.asked import Checked
from tests.authoring.conftest import DEMO


@pytest.fixture(scope="module")
def copies(root, tmp_path_factory):
    """The labs of this checkout, as `make lab` lays them out."""
    into = tmp_path_factory.mktemp("practice")
    return into, practice_copies(Course.at(root), into)


def test_every_lab_has_a_copy_without_anything_of_nbgraders(copies, root):
    into, labs = copies
    assert labs == sorted(each.parent.name for each in root.glob("release/*/asks.py"))
    for lab in labs:
        text = (into / lab / f"{lab}.ipynb").read_text("utf-8")
        assert '"nbgrader"' not in text
        assert "lab.answered(" not in text
        assert "lab.record(" not in text
        assert f'open_lab("{lab}", edition=\'practice\', way="practice")' in _code(text)
        assert json.loads(text)["metadata"]["mlsys"]["way"] == "practice"
        assert stamp_in(text.encode()) == version_in(into / lab, lab)
        released = (root / "release" / lab / f"{lab}.ipynb").read_text("utf-8")
        assert released.count("lab.card(") == text.count("lab.card(")


def _code(text):
    return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])


def test_the_checks_beside_a_copy_judge_every_question_of_it(copies):
    into, labs = copies
    for lab in labs:
        declared, checks = load(into / lab), load_checks(into / lab)
        p = declared.draw("ann", edition="practice")
        asked = {n for n, item in declared.items(p).items() if isinstance(item, Checked)}
        assert asked <= checks.keys()
        for name in asked:
            with suppress(ValueError):  # of a measurement that nobody took here
                assert checks[name](Given(p, into / lab))


def test_the_start_page_of_practice_promises_no_points_and_no_hand_in(copies):
    page = (copies[0] / "START_HERE.md").read_text("utf-8")
    assert "**This is practice.**" in page
    assert "points" not in page
    assert "hand in" not in page.lower()


def test_a_lab_that_is_not_built_is_named(course, tmp_path):
    with pytest.raises(TextError, match=f"release/{DEMO} is not built"):
        practice_copies(course, tmp_path / "into")


def test_a_course_hands_practice_out_without_its_secret(course, tmp_path):
    settings = course.root / "assignments" / "course.toml"
    settings.write_text(
        f'edition = "2027"\nsecret = "0123456789abcdef"\n[labs.{DEMO}]\nway = "practice"\n'
    )
    course = Course.at(course.root)
    build(course)
    assert why_stale(course, DEMO) is None
    released, source = (course.folder(step, DEMO) for step in ("release", "source"))
    everything = b"".join(path.read_bytes() for path in released.iterdir())
    assert b"0123456789abcdef" not in everything
    assert b"2027" not in everything
    assert b'"nbgrader"' not in everything
    assert "award(" in (source / f"{DEMO}.ipynb").read_text("utf-8")
    assert not (source / "checks.py").exists()
    copy = shutil.copytree(released, tmp_path / "home" / DEMO)
    opened = OpenLab(DEMO, variants=True, edition="practice", folder=copy, way="practice")
    card = opened.card("limit")
    opened.card("act1_bound").commit("B", confidence=4)
    card.record(card._practice.checks["limit"](Given(opened.p, copy)).value)
    assert "✓ Right." in card.text()
    # Back to an assignment: what was built is out of date, and says so.
    settings.write_text('edition = "2027"\nsecret = "0123456789abcdef"\n')
    assert "release/" in str(why_stale(Course.at(course.root), DEMO))
    build(Course.at(course.root))
    assert not (released / "checks.py").exists()
