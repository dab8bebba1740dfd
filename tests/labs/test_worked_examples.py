"""A worked example shows the steps with other numbers, and never a student's answer."""

from __future__ import annotations

import re
from functools import cache
from unittest import mock

import pytest

from mlsys_widgets.authoring import Course, labs_of
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.judging.keys import Given, NumberKey
from mlsys_widgets.labs import Choice, Code, Number, load
from mlsys_widgets.measured import queries
from tests.conftest import ROOT
from tests.labs.rehearsal import put_examples
from tests.sampling import sample

#: As many as the other tests of sentences take.
STUDENTS = sample([f"student-{k}" for k in range(400)], 40)
#: Enough for every question of a pool to be drawn.
FEW = STUDENTS[:20]
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")


@pytest.mark.parametrize("name", labs_of(Course.at(ROOT)))
def test_no_number_of_an_example_is_anybodys_key(name, tmp_path):
    home = ROOT / "assignments" / name
    put_examples(tmp_path, home=home)
    lab, checks = load(home), load_checks(home)
    with mock.patch.object(queries, "load", cache(queries.load)):
        for student in STUDENTS:
            p = lab.draw(student)
            for asked, item in lab.items(p).items():
                if not isinstance(item, Number) or not item.worked_example:
                    continue
                key = checks[asked](Given(p, tmp_path))
                assert isinstance(key, NumberKey)
                for shown in NUMBER.findall(item.worked_example):
                    value = float(shown.replace(",", ""))
                    assert not key.reaches(key.value, value), f"{asked} of {student}: {shown}"


@pytest.mark.parametrize("name", labs_of(Course.at(ROOT)))
def test_every_question_has_an_example(name):
    lab = load(ROOT / "assignments" / name)
    for student in FEW:
        items = lab.items(lab.draw(student))
        asked = {n: item for n, item in items.items() if isinstance(item, Number | Choice | Code)}
        assert asked
        assert [name for name, item in asked.items() if not item.worked_example] == []


@pytest.mark.parametrize("name", labs_of(Course.at(ROOT)))
def test_an_example_is_the_same_for_everybody_and_short(name):
    lab = load(ROOT / "assignments" / name)
    examples: dict[str, set[str]] = {}
    for student in FEW:
        p = lab.draw(student)
        for asked, item in lab.items(p).items():
            if isinstance(item, Number | Choice | Code) and item.worked_example:
                # Of a pool, each question has an example of its own.
                drawn = p.get(asked, asked)
                examples.setdefault(drawn, set()).add(item.worked_example)
    for asked, found in examples.items():
        assert len(found) == 1, asked
        assert 25 <= len(next(iter(found)).split()) <= 80, asked
