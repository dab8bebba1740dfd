"""Names that no gradebook can hold are that student's problem alone."""

from __future__ import annotations

import os
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.grading.gradebook import gradebook_schema as t
from mlsys_widgets.grading.judging.flags import FlagKind
from mlsys_widgets.grading.reading.submissions import LONGEST_NAME, name_problem
from tests.grading.classroom import classroom, grade, hand_in, rows

pytestmark = pytest.mark.timeout(600)
ODD = ["x" * 255, "\x1b[2J\x1b[31mred", "a\tb", "a\nb", "ev\u202ell", " "]
PLAIN = ["ann", "=HYPERLINK(1)", "+1", "-bob", "@sum", "[bold]m", "ü" * 100, "Zoë 李", "y" * 128]


@pytest.mark.parametrize("name", PLAIN)
def test_what_people_are_called_is_fine(name):
    assert name_problem(name) is None


@pytest.mark.parametrize("name", [*ODD, "", "bad\udcff", "a\x00b"])
def test_what_nobody_is_called_gets_a_sentence(name):
    words = name_problem(name)
    assert words is not None
    assert words.isprintable()
    assert "1 to 128 printable characters. Rename the folder" in words
    assert len(words) < 200


@given(st.text(max_size=200))
def test_a_name_that_passes_fits_into_every_gradebook(name):
    assert t.student.c.id.type.length == LONGEST_NAME
    if name_problem(name) is None:
        assert "\x00" not in name
        assert len(name.encode()) <= 4 * LONGEST_NAME
        assert len(name) <= LONGEST_NAME


def test_a_class_is_graded_whatever_some_are_called(tmp_path):
    course = classroom(tmp_path / "course")
    for name in (*ODD, "ann", "=1+1"):
        hand_in(course, name if name != " " else "blank", answers=course.asked(name).right())
    submitted = course.root / "submitted"
    (submitted / "blank").rename(submitted / " ")
    shutil.copytree(submitted / "ann", submitted / os.fsdecode(b"bad\xff"))
    graded = grade(course)
    for name in (*ODD, "bad\udcff"):
        (flag,) = graded[name].flags
        assert flag.kind is FlagKind.NOT_GRADED
        assert "cannot be the name of a student" in flag.sentence
        assert flag.sentence.isprintable()
    for name in ("ann", "=1+1"):
        assert graded[name].earned == 60
        assert graded[name].flags == ()
    assert {row[0] for row in rows(course.root)["student"]} == {"ann", "=1+1"}
