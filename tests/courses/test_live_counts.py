"""How far a class is with a lab: counted from what a hub notes and from what was handed in."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from mlsys_widgets.cli import main
from mlsys_widgets.course.copy_notes import copies_beside
from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.live_counts import live_counts
from mlsys_widgets.grading.judging.told_answers import JudgedAnswer
from mlsys_widgets.grading.telling.judged_hand_ins import JudgedHandIn, JudgedHandIns
from mlsys_widgets.labs import Choice, Number, load
from tests.courses.conftest import LAB

#: The lab is open for ten days.
RELEASE = datetime(2026, 11, 1, tzinfo=UTC)
DUE = RELEASE + timedelta(days=10)


@pytest.fixture
def dated(course):
    settings = course / "assignments" / "course.toml"
    dates = f"[labs.{LAB}]\nrelease = {RELEASE.isoformat()}\ndue = {DUE.isoformat()}\n"
    settings.write_text(f"{settings.read_text()}\n{dates}")
    copies = copies_beside(course)
    copies.parent.mkdir()
    copies.write_text(json.dumps({LAB: {"ann": "0" * 12}}))
    return course


def questions(course):
    lab = load(course / "assignments" / LAB)
    items = lab.items(lab.draw("", variants=False))
    return [name for name, each in items.items() if isinstance(each, Number | Choice)]


def hands_in(course, student, **credits):
    answers = {name: JudgedAnswer((), "1", credit, "") for name, credit in credits.items()}
    told = JudgedHandIn(student, f"{student}+{LAB}+x", "", "", None, answers, {}, {})
    JudgedHandIns(course, LAB).add([told])
    (course / "submitted" / student / LAB).mkdir(parents=True)


def counts(course, day=1.0):
    return live_counts(Course.at(course), LAB, RELEASE + timedelta(days=day))


def test_each_question_is_counted_as_it_was_judged_first(dated):
    assert counts(dated).sentence == "Of 2 students, 1 fetched it and 0 handed in."
    first, *others = questions(dated)
    hands_in(dated, "ann", **dict.fromkeys(others, 1.0), **{first: 0.4})
    hands_in(dated, "bob", **{first: 1.0})
    found = counts(dated)
    # Bob's copy is not noted yet, and he has handed in.
    assert (found.students, found.started, found.handed_in) == (2, 2, 2)
    assert [(each.answered, each.right) for each in found.questions] == [
        (2, 1), *[(1, 1) for _ in others],
    ]  # fmt: skip


def test_behind_is_whoever_has_less_than_the_time_that_is_gone(dated):
    assert not counts(dated, 4.9).behind
    (bob,) = counts(dated, 5.1).behind
    assert (bob.student, bob.why) == ("bob", "has not fetched it")
    names = questions(dated)
    hands_in(dated, "bob", **{names[0]: 0.0})
    enough = 10 * (0.5 + 1 / len(names))
    assert not counts(dated, enough - 0.1).behind
    if enough < 10:
        (bob,) = counts(dated, enough + 0.1).behind
        assert bob.why == f"answered 1 of {len(names)} questions"
    assert not counts(dated, 10.1).behind


def test_without_a_hub_nobody_knows_who_has_it(dated):
    copies_beside(dated).unlink()
    found = counts(dated, 9)
    assert (found.started, found.behind) == (None, ())
    assert found.sentence == "Of 2 students, 0 handed in."


def test_a_hand_in_that_nobody_judged_counts_no_question(dated, capsys):
    """As before the due time in a course that tells after it: zeros would be read as wrong."""
    (dated / "submitted" / "ann" / LAB).mkdir(parents=True)
    found = counts(dated)
    assert (found.handed_in, found.unjudged[:22]) == (1, "No answer is judged ye")
    assert main(["course", "progress", LAB, "--folder", str(dated)]) == 0
    said = capsys.readouterr().out
    assert "No answer is judged yet" in said
    assert "right at first" not in said
    hands_in(dated, "bob", **{questions(dated)[0]: 0.0})
    assert not counts(dated).unjudged


def test_on_the_command_line(dated, capsys):
    hands_in(dated, "ann", **{questions(dated)[0]: 1.0})
    assert main(["course", "progress", LAB, "--folder", str(dated)]) == 0
    said = capsys.readouterr().out
    assert "Of 2 students, 1 fetched it and 1 handed in." in said
    assert "right at first" in said
    assert main(["course", "progress", "lab_99", "--folder", str(dated)]) == 1
