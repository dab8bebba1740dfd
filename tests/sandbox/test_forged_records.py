"""A class of forged ledgers beside honest ones: what is made up earns nothing or is flagged.

Each submission is the release as it was given out, with a ledger that no card has written. The
forgeries are those of ``tests/grading/forged_ledgers.py``.
"""

from __future__ import annotations

import pytest

from mlsys_widgets.grading.judging.flags import FlagKind
from mlsys_widgets.labs import load
from tests.grading.classroom import LAB, classroom, grade, hand_in, rows

forged = pytest.importorskip("tests.grading.forged_ledgers")
pytestmark = pytest.mark.timeout(600)
#: Tried in tests/grading: what only a noted release could tell, and what takes more entries than
#: this small lab has, because two in one second are no proof of anything.
ELSEWHERE = {"before the release", "in one second", "at one moment"}
NAMES = [name for name in forged.FORGED if name not in ELSEWHERE]
HONEST = "aa-honest"
RECORD = "commitments"


def student(name: str) -> str:
    return name.replace(" ", "-")


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    course = classroom(tmp_path_factory.mktemp("forged") / "course")
    lab = load(course.root / "assignments" / LAB)
    hand_in(course, HONEST, answers=course.asked(HONEST).right(), ledger=True)
    when = forged.HANDED_IN.strftime("%Y-%m-%d %H:%M:%S.%f UTC")
    makers = {name: forged.FORGED[name].make for name in NAMES}
    makers |= {each.__name__: each for each in forged.HOSTILE}
    for name, make in makers.items():
        folder = hand_in(course, student(name), when=when)
        (folder / "ledger.jsonl").write_bytes(make(lab, student(name)))
    found = grade(course)
    return found, {row[0]: row for row in rows(course.root)["submission"]}


def points(one) -> float:
    return next((score.auto or 0.0 for score in one.scores if score.name == RECORD), 0.0)


def test_the_honest_one_is_graded_as_ever(graded):
    found, booked = graded
    assert points(found[HONEST]) == 20
    assert HONEST in booked
    assert not [flag for flag in found[HONEST].flags if flag.kind is FlagKind.LEDGER]


@pytest.mark.parametrize("name", NAMES)
def test_a_forgery_is_flagged_and_earns_no_more_than_a_person_can_take_away(graded, name):
    one, forgery = graded[0][student(name)], forged.FORGED[name]
    assert forgery.flagged in " ".join(one.sentences), (forgery.about, one.sentences)
    assert points(one) <= 20 * forgery.earns, forgery.about
    assert one.earned == points(one)  # nothing but the record


@pytest.mark.parametrize("make", forged.HOSTILE, ids=lambda make: make.__name__)
def test_what_is_meant_to_stop_a_grader_stops_nobody(graded, make):
    """What can be read of it counts, and a person is told that something is wrong."""
    one = graded[0][student(make.__name__)]
    assert one.earned == points(one) <= 10, make.__doc__
    assert one.flags, make.__doc__
