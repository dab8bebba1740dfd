"""The summary of a class: numbers that agree with the gradebook, at every edge."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from mlsys_widgets.classes import ClassSummary, class_summary, csv_tables
from mlsys_widgets.classes.class_charts import chart_groups
from mlsys_widgets.classes.report_page import page
from mlsys_widgets.classes.summary import QuestionSummary
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.judging.keys import Given
from mlsys_widgets.labs import load
from tests.classes.html_page import Page
from tests.grading.classroom import LAB, classroom
from tests.grading.simulated import (
    STUDENTS,
    copy_of_class,
    graded_class,
    made,
    of_kind,
    sql,
)

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def summary() -> ClassSummary:
    return class_summary(LAB, graded_class())


def question(summary: ClassSummary, name: str) -> QuestionSummary:
    return next(each for each in summary.questions if each.name == name)


def test_totals_are_those_of_nbgraders_gradebook(summary: ClassSummary) -> None:
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{graded_class() / 'gradebook.db'}") as book:
        expected = sorted((s.score for s in book.assignment_submissions(LAB)), reverse=True)
        most = book.find_assignment(LAB).max_score
    assert len(summary.rows) == STUDENTS
    assert list(summary.scores) == pytest.approx(expected)
    assert summary.most == most == 100


def test_questions_count_everybody_once(summary: ClassSummary) -> None:
    assert [each.name for each in summary.questions] == [
        "intensity_flop_per_byte", "limit", "advice", "commitments",
    ]  # fmt: skip
    for each in summary.questions:
        assert each.count == STUDENTS
        assert each.mean_earned is None or 0 <= each.mean_earned <= 1
    number = question(summary, "intensity_flop_per_byte")
    points = [row.points["intensity_flop_per_byte"] for row in summary.rows]
    assert 0 < number.blank < STUDENTS
    assert number.mean_earned == pytest.approx(sum(points) / 40 / number.answered)
    assert number.right == sum(score == 40 for score in points)


def test_whoever_leaves_everything_blank_changes_no_statistic(
    summary: ClassSummary, tmp_path: Path
) -> None:
    root = copy_of_class(tmp_path / "course")
    names = of_kind(root, "blank")
    for name in names:
        sql(root, "delete from submitted_assignment where student_id = ?", name)
    without = class_summary(LAB, root)
    assert len(without.rows) == STUDENTS - len(names) < STUDENTS
    for one, other in zip(summary.questions, without.questions, strict=True):
        assert (one.mean_earned, one.discrimination) == (other.mean_earned, other.discrimination)
    assert question(summary, "intensity_flop_per_byte").discrimination is not None


def test_an_essay_that_waits_says_nothing_yet(summary: ClassSummary) -> None:
    essay = question(summary, "advice")
    assert essay.waiting == summary.waiting > 0
    assert essay.mean_earned is None
    assert essay.discrimination is None


def test_beliefs_are_those_that_were_typed(summary: ClassSummary) -> None:
    root = graded_class()
    whole = {"right", "mostly-right", "misconceived", "late", "restarted", "partly-done"}
    typed = [
        answer["belief"]
        for each in made(root).values()
        if each["kind"] in whole
        for answer in each["answers"].values()
        if answer["belief"]
    ]
    held = {h.belief: h for each in summary.questions for h in each.beliefs}
    assert set(typed) <= set(held)
    for belief in set(typed):
        assert held[belief].count >= typed.count(belief)
        assert held[belief].explanation.endswith(".")


def test_beliefs_are_explained_with_nobodys_numbers(summary: ClassSummary) -> None:
    """A sentence with one student's numbers is true for nobody else in the room."""
    home = graded_class() / "assignments" / LAB
    lab, checks = load(home), load_checks(home)
    key = checks["intensity_flop_per_byte"](Given(lab.draw("", variants=False), home))
    usual = {belief.name: belief.says for belief in key.beliefs}
    held = question(summary, "intensity_flop_per_byte").beliefs
    assert held
    assert {each.belief: each.explanation for each in held}.items() <= usual.items()


def test_predictions_beside_what_is_true(summary: ClassSummary) -> None:
    (prediction,) = summary.predictions
    assert prediction.judged
    labels = {option.label: option for option in prediction.options}
    wrong, right = labels["its arithmetic units"], labels["its memory"]
    assert (wrong.right, right.right) == (0, right.count)
    assert prediction.count == summary.prediction_calibration.count
    assert prediction.right == sum(row.predicted_right for row in summary.rows)
    # What they believed who were off, and the lab's answer to it.
    assert [(each.belief, each.count) for each in prediction.beliefs] == [
        (wrong.label, wrong.count)
    ]
    # Those who were off come first, for whoever skims what they say about it.
    assert prediction.words
    assert [each.right for each in prediction.words] == sorted(e.right for e in prediction.words)


def test_everybody_is_a_member_and_blank_work_is_a_risk(summary: ClassSummary) -> None:
    root = graded_class()
    named = class_summary(LAB, root, names=True)
    assert len(summary.members) == len(named.members) == STUDENTS
    assert summary.missing == ()
    assert len(summary.at_risk) == len(named.at_risk)
    at_risk = {each.student: each.signs for each in named.at_risk}
    for student in of_kind(root, "blank"):
        assert at_risk[student] == ("left 100% of the points blank",)
    assert not set(of_kind(root, "right")) & set(at_risk)


def test_who_handed_in_late(summary: ClassSummary) -> None:
    assert summary.late == len(of_kind(graded_class(), "late")) > 0


def test_a_copied_ledger_is_nobodys_time(summary: ClassSummary) -> None:
    root = graded_class()
    without = len(of_kind(root, "copied")) + len(of_kind(root, "blank"))
    assert len(summary.minutes) == STUDENTS - without
    flags = dict(summary.flags)
    assert flags["the ledger is somebody else's"] == len(of_kind(root, "copied"))


def test_points_that_a_person_gave_count(tmp_path: Path) -> None:
    root = copy_of_class(tmp_path / "course")
    before = class_summary(LAB, root, names=True)
    (student, *_) = [row.student for row in before.rows if row.waiting]
    sql(
        root,
        "update grade set manual_score = 15, needs_manual_grade = 0 where cell_id in"
        " (select id from base_cell where name = 'advice') and notebook_id in"
        " (select n.id from submitted_notebook n join submitted_assignment a"
        " on n.assignment_id = a.id where a.student_id = ?)",
        student,
    )
    sql(
        root,
        "update submitted_notebook set late_submission_penalty = 5 where assignment_id in"
        " (select id from submitted_assignment where student_id = ?)",
        student,
    )
    old, new = (
        next(row for row in each.rows if row.student == student)
        for each in (before, class_summary(LAB, root, names=True))
    )
    assert new.total == pytest.approx(old.total + 15 - 5)
    assert not new.waiting


def test_no_name_anywhere_unless_asked_for(summary: ClassSummary) -> None:
    names = re.compile(r"student-\d")
    for shown in (
        repr([getattr(summary, each.name) for each in fields(summary)]),
        page(summary),
        csv_tables.submissions(summary),
        csv_tables.questions(summary),
        repr(chart_groups(summary)),
    ):
        assert not names.search(shown)
    named = class_summary(LAB, graded_class(), names=True)
    shown = Page(page(named)).text
    for student in made(graded_class()):
        assert student in shown
    assert not names.search(repr(chart_groups(named)))


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_a_class_of_very_few(tmp_path: Path, keep: int) -> None:
    root = copy_of_class(tmp_path / "course")
    sql(
        root,
        "delete from submitted_assignment where student_id not in"
        f" (select student_id from submitted_assignment order by student_id limit {keep})",
    )
    summary = class_summary(LAB, root)
    assert len(summary.rows) == keep
    assert all(each.discrimination is None for each in summary.questions)
    assert not re.search(r"\bnan\b", page(summary).lower())


def test_everybody_has_the_same(tmp_path: Path) -> None:
    root = copy_of_class(tmp_path / "course")
    sql(root, "update grade set auto_score = 0.1, manual_score = null, needs_manual_grade = 0")
    summary = class_summary(LAB, root)
    assert {each.discrimination for each in summary.questions} == {None}
    assert len(set(summary.scores)) == 1
    Page(page(summary))


def test_unexplained_answers_that_several_typed(tmp_path: Path) -> None:
    root = copy_of_class(tmp_path / "course")
    journal = root / ".mlsys" / f"grade-{LAB}.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    home = root / "assignments" / LAB
    lab, check = load(home), load_checks(home)["intensity_flop_per_byte"]
    for line in lines[:4]:
        key = check(Given(lab.draw(line["student"]), home)).value
        for score in line["scores"]:
            if score["name"] == "intensity_flop_per_byte":
                score.update(auto=0.0, belief=None, answer=repr(float(key) * 7))
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = question(class_summary(LAB, root), "intensity_flop_per_byte")
    assert found.unexplained == (("7 times", 4),)


def test_the_report_of_what_is_not_there(tmp_path: Path) -> None:
    course = classroom(tmp_path / "course")
    with pytest.raises(ValueError, match="there is no assignments/lab_99"):
        class_summary("lab_99", course.root)
    (course.root / "gradebook.db").unlink()
    with pytest.raises(ValueError, match="grade the class first: mlsys grade"):
        class_summary(LAB, course.root)
    assert not (course.root / "gradebook.db").exists()


def test_each_question_of_a_pool_has_a_row_of_its_own(tmp_path: Path) -> None:
    root = copy_of_class(tmp_path / "course")
    home = root / "assignments" / LAB
    for name, code in (
        ("asks.py", "\n\n@lab.asks(instead_of='limit')\ndef other(p):\n    return limit(p)\n"),
        ("checks.py", "\n\ndef other(given):\n    return limit(given)\n"),
    ):
        path = home / name
        path.write_text(path.read_text("utf-8") + code, "utf-8")
    summary = class_summary(LAB, root)
    pool = [each for each in summary.questions if each.item == "limit"]
    assert [each.name for each in pool] == ["limit", "other"]
    assert [each.title.partition(" (")[2] for each in pool] == [
        "question 1 of 2)",
        "question 2 of 2)",
    ]
    assert all(each.count for each in pool)
    assert sum(each.count for each in pool) == STUDENTS
    # A line of the other table is a submission, whatever it was asked.
    header = csv_tables.submissions(summary).splitlines()[0].split(",")
    assert header.count("limit") == 1
    assert "other" not in header
    Page(page(summary))
