"""How late a submission was, and what that cost by the course's own rule."""

from __future__ import annotations

import pytest

from mlsys_widgets.course.course import Course
from mlsys_widgets.course.due_words import in_words
from mlsys_widgets.grading.gradebook.late_penalty import Lateness, late_penalty


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (1, "less than a minute"),
        (60, "1 minute"),
        (3_599, "59 minutes"),
        (3_600, "1 hour"),
        (7_380, "2 hours 3 minutes"),
        (86_400 + 59 * 60, "1 day"),
        (2 * 86_400 + 3 * 3_600, "2 days 3 hours"),
    ],
)
def test_a_time_has_its_two_largest_units(seconds, words):
    assert in_words(seconds) == words


def test_points_before_and_after_are_said():
    late = Lateness(7_200, 58.0, 11.6)
    assert late.after == 46.4
    assert late.sentence == "2 hours late: 58 → 46.4 points"
    assert Lateness(7_200, 58.0).sentence == "2 hours late, no penalty"
    assert Lateness.from_data(late.as_data()) == late


@pytest.mark.parametrize(("rule", "cost"), [("none", None), ("zero", 58.0)])
def test_the_rule_is_the_courses(tmp_path, rule, cost):
    (tmp_path / "assignments").mkdir()
    (tmp_path / "nbgrader_config.py").write_text(
        f"c = get_config()\nc.LateSubmissionPlugin.penalty_method = {rule!r}\n"
    )
    assert late_penalty(Course(tmp_path), "lab")("ann", 58.0, 60.0) == cost
