"""When a course tells, and the second chance: what the settings may say."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from mlsys_widgets.course.calendar import read_calendar
from mlsys_widgets.course.telling import SecondChance

DUE = datetime(2026, 11, 9, 12, tzinfo=UTC)


def read(**of):
    return read_calendar({"labs": {"lab_01": of}}, ["lab_01"]).dates("lab_01")


def test_a_course_says_nothing_and_gets_an_assignment_told_at_hand_in():
    plain = read()
    assert (plain.way, plain.feedback, plain.second_chance) == ("assignment", "at hand-in", None)


def test_each_lab_can_have_its_own():
    chance = {"share": 0.9, "until": "2 days after due"}
    found = read(way="practice", feedback="after due", second_chance=chance)
    assert (found.way, found.feedback) == ("practice", "after due")
    assert found.second_chance == SecondChance(0.9, timedelta(days=2))


@pytest.mark.parametrize(
    ("of", "words"),
    [
        ({"way": "exam"}, 'labs.lab_01.way is \'exam\'; it must be "assignment" or "practice"'),
        ({"feedback": "never"}, '"at hand-in" or "after due" or "by hand"'),
        ({"second_chance": {"share": 2, "until": "1 day after due"}}, "between 0 and 1"),
        ({"second_chance": {"share": 0.9, "until": "soon"}}, "2 days after due"),
        ({"second_chance": {"share": 0.9}}, "until"),
        ({"second_chance": True}, "must be a table"),
    ],
)
def test_what_cannot_be_is_named_with_what_can(of, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        read(**of)


def test_a_section_has_no_way_of_its_own():
    settings = {"sections": {"a": {"labs": {"lab_01": {"way": "practice"}}}}}
    with pytest.raises(ValueError, match=r"sets way; students of a section have the same notebook"):
        read_calendar(settings, ["lab_01"])


@pytest.mark.parametrize(("hours", "is_open"), [(-1, True), (48, True), (49, False)])
def test_a_second_chance_ends_after_each_students_own_due_time(hours, is_open):
    chance = SecondChance(0.9, timedelta(days=2))
    assert chance.is_open(DUE, DUE + timedelta(hours=hours)) is is_open
    assert chance.is_open(None, DUE)
