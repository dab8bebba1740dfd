"""No decision hangs on a hair: a tenth more or less of any number changes no verdict.

Whoever rounds on the way, or takes a bandwidth from another datasheet, is still right. So for every
student and every decision, each parameter that its key is computed from is moved by a tenth, up and
down, while the others stay, and the verdict must stay, too.
"""

from __future__ import annotations

from functools import cache
from unittest import mock

import pytest

from mlsys_widgets.authoring import Course
from mlsys_widgets.judging import ChoiceKey, Given
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.labs import Choice, Parameters, load
from mlsys_widgets.measured import queries
from tests.labs.rehearsal import ROOT
from tests.sampling import sample

pytestmark = pytest.mark.timeout(600)

STUDENTS = sample([f"student-{k}" for k in range(400)], 40)
#: How far each number is moved: up and down by this part of itself, one number at a time.
LITTLE = 0.1


class Watched(Parameters):
    """Parameters that remember which of them were read."""

    def __init__(self, values):
        super().__init__(values)
        self._read = set()

    def __getattr__(self, name):
        if not name.startswith("_"):
            self._read.add(name)
        return super().__getattr__(name)

    def __getitem__(self, name):
        self._read.add(name)
        return super().__getitem__(name)

    @property
    def numbers_read(self):
        """The numbers among what was read."""
        return {n: self._values[n] for n in sorted(self._read) if _is_number(self._values[n])}


def _is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def near_misses(check, p):
    """Each number of a decision that changes the verdict when it is moved a little."""
    watched = Watched(dict(p))
    right = check(Given(watched, ROOT)).value
    for name, value in watched.numbers_read.items():
        for factor in (1 - LITTLE, 1 + LITTLE):
            moved = Parameters({**p, name: value * factor})
            found = check(Given(moved, ROOT)).value
            if found != right:
                yield f"{name} = {value:g}, moved to {value * factor:g}: {right} becomes {found}"


def test_no_decision_hangs_on_a_hair(lab):
    home = Course.at(ROOT).folder("assignments", lab)
    declared, checks = load(home), load_checks(home)
    plain = declared.items(declared.draw("", variants=False))
    decisions = [n for n, item in plain.items() if isinstance(item, Choice)]
    wrong = {}
    with mock.patch.object(queries, "load", cache(queries.load)):
        for student in STUDENTS:
            p = declared.draw(student)
            for name in decisions:
                for miss in near_misses(checks[name], p):
                    wrong.setdefault(name, []).append(f"{student}: {miss}")
    told = [f"{name}: {len(found)} times, {found[0]}" for name, found in wrong.items()]
    assert not wrong, "\n".join(told)


def test_a_hair_is_found():
    def check(given):
        return ChoiceKey("more" if given.p.one > given.p["two"] else "less")

    assert not list(near_misses(check, Parameters({"one": 2, "two": 1, "unread": "x"})))
    first, *_ = near_misses(check, Parameters({"one": 1.04, "two": 1.0}))
    assert first == "one = 1.04, moved to 0.936: more becomes less"
