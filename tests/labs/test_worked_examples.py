"""A worked example shows the steps with other numbers, and never a student's answer."""

from __future__ import annotations

import re

import pytest

from mlsys_widgets.authoring import Course, labs_of
from mlsys_widgets.grading.judging.checks_file import load_checks
from mlsys_widgets.grading.judging.keys import Given, NumberKey
from mlsys_widgets.labs import Choice, Number, load
from tests.conftest import ROOT

#: As many as the other tests of sentences take.
STUDENTS = [f"student-{k}" for k in range(400)]
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")


@pytest.mark.parametrize("name", labs_of(Course.at(ROOT)))
def test_no_number_of_an_example_is_anybodys_key(name):
    home = ROOT / "assignments" / name
    lab, checks = load(home), load_checks(home)
    for student in STUDENTS:
        p = lab.draw(student)
        for asked, item in lab.items(p).items():
            if not isinstance(item, Number) or not item.worked_example:
                continue
            key = checks[asked](Given(p, home))
            assert isinstance(key, NumberKey)
            for shown in NUMBER.findall(item.worked_example):
                value = float(shown.replace(",", ""))
                assert not key.reaches(key.value, value), f"{asked} of {student}: {shown}"


@pytest.mark.parametrize("name", ["lab_01_magnitude", "lab_review_foundations"])
def test_every_number_of_the_core_has_an_example(name):
    lab = load(ROOT / "assignments" / name)
    items = lab.items(lab.draw("ann"))
    core = {n: i for n, i in items.items() if isinstance(i, Number) and not i.deeper}
    assert core
    assert [n for n, item in core.items() if not item.worked_example] == []


@pytest.mark.parametrize("name", labs_of(Course.at(ROOT)))
def test_an_example_is_the_same_for_everybody_and_short(name):
    lab = load(ROOT / "assignments" / name)
    ann, ben = (lab.items(lab.draw(student)) for student in ("ann", "ben"))
    for asked, item in ann.items():
        if isinstance(item, Number | Choice) and item.worked_example:
            assert item.worked_example == ben[asked].worked_example
            assert 25 <= len(item.worked_example.split()) <= 80, asked
