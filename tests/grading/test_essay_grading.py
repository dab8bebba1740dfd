"""Essays graded by a rubric: for all who got an item, and over nobody's work."""

from __future__ import annotations

import json
import threading

import pytest

from mlsys_widgets.cli import main
from mlsys_widgets.course.course import Course
from mlsys_widgets.grading.essays.essay_grading import EssayAnswer, EssayGrading, NewMark
from mlsys_widgets.grading.feedback.blind import pseudonym
from mlsys_widgets.grading.gradebook.grade_history import who_runs
from mlsys_widgets.grading.gradebook.graded_log import GradedLog
from mlsys_widgets.notebooks.essay_cells import as_typed
from tests.grading.classroom import LAB
from tests.grading.regrading import ESSAY, by_hand, graded_course, history
from tests.grading.simulated import sql


@pytest.fixture
def course(tmp_path):
    """A class whose essays wait for a person."""
    made = graded_course(tmp_path)
    for student in ("ann", "bob", "cat"):
        write(made, student, f"It waits for memory, says a student.\n{len(student)} <b>bytes</b>.")
    waits = "update grade set auto_score = null, needs_manual_grade = 1 where cell_id in"
    sql(made.root, f"{waits} (select id from base_cell where name = '{ESSAY}')")
    return made


def write(course, student, text) -> None:
    """Let the notebook that graders read hold another text."""
    path = course.root / "autograded" / student / LAB / f"{LAB}.ipynb"
    book = json.loads(path.read_bytes())
    (cell,) = [
        c for c in book["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == ESSAY
    ]
    cell["source"] = as_typed(text).splitlines(keepends=True)
    path.chmod(0o644)
    path.write_text(json.dumps(book), "utf-8")


def grading(course) -> EssayGrading:
    return EssayGrading(Course.at(course.root), LAB)


def answers(course) -> dict[str, EssayAnswer]:
    return {each.student: each for each in grading(course).answers(ESSAY)}


def give(course, student, items, comment="", seen=None, **more) -> str:
    seen = answers(course)[student].seen if seen is None else seen
    refused = grading(course).give(ESSAY, {student: NewMark(items, comment, seen, **more)})
    return refused.get(student, "")


def change(course, number, points, text, **more) -> str:
    item = grading(course).question(ESSAY).rubric.item(number) if number else None
    more.setdefault("seen", item.seen if item else "")
    return grading(course).change_item(ESSAY, number, points, text, **more)


def late_by_a_day(course, percent: int) -> None:
    settings = course.root / "assignments" / "course.toml"
    dates = f"[labs.{LAB}]\ndue = 2026-10-01T12:00:00Z\n[labs.{LAB}.late]\nper_day = {percent}\n"
    settings.write_text(dates, "utf-8")
    sql(course.root, "update submitted_assignment set timestamp = '2026-10-02 11:00:00.000000'")


def test_the_rubric_begins_as_the_lab_declares_it(course):
    (question,) = grading(course).questions()
    assert [(i.points, i.text) for i in question.rubric.items] == [
        (10, "names the limit and its number"), (10, "says what would help and why"),
    ]  # fmt: skip
    assert (question.name, question.rubric.most, question.rubric.sum) == (ESSAY, 20, 20)


def test_answers_wait_under_names_that_tell_nothing(course):
    found = grading(course).answers(ESSAY)
    assert [each.alias for each in found] == sorted(
        pseudonym(n, LAB) for n in ("ann", "bob", "cat")
    )
    assert all(each.waiting and each.text and "~~~" not in each.text for each in found)


def test_points_words_and_history_are_in_the_gradebook(course):
    assert give(course, "ann", [1], "Nearly.") == ""
    ann = answers(course)["ann"]
    assert (ann.waiting, ann.points) == (False, 10)
    assert ann.comment == (
        "✓ names the limit and its number (10 of 10)\n○ says what would help and why (0 of 10)\n"
        "Nearly."
    )
    last = history(course).read()[0][-1]
    assert (last.student, last.what, last.who) == ("ann", "by hand", who_runs())
    assert (last.why, last.cells) == (f"essay {ESSAY}", {ESSAY: {"manual": (None, 10.0)}})
    assert answers(course)["bob"].waiting


def test_changing_an_item_changes_all_who_got_it(course):
    give(course, "ann", [1, 2])
    give(course, "bob", [1])
    assert (
        change(course, 1, 7.5, "names the limit")
        == "Saved: +7.5 names the limit. 2 answers changed."
    )
    found = answers(course)
    assert [found[name].points for name in ("ann", "bob", "cat")] == [17.5, 7.5, None]
    assert "✓ names the limit (7.5 of 7.5)" in found["bob"].comment
    assert not any(each.is_foreign for each in found.values())
    changes = [(each.student, each.why) for each in history(course).read()[0][-2:]]
    assert changes == [(n, f"rubric of {ESSAY}: +7.5 names the limit") for n in ("ann", "bob")]


def test_an_item_is_removed_and_put_back_with_those_who_had_it(course):
    give(course, "ann", [1, 2])
    change(course, 2, 10, "says why", removed=True)
    ann = answers(course)["ann"]
    assert (ann.points, "says why" in ann.comment) == (10, False)
    assert give(course, "bob", [2]) == "the rubric has no item 2 any more"
    assert answers(course)["ann"].given == ([1], "")
    give(course, "ann", [], "Hm.")  # read again in between
    change(course, 2, 10, "says why")
    assert answers(course)["ann"].points == 10


def test_a_comment_is_kept_once_and_changes_for_everybody(course):
    give(course, "ann", [1], "See chapter 2.", keep=True)
    give(course, "bob", [], "See chapter 2.", keep=True)
    (comment,) = [i for i in grading(course).question(ESSAY).rubric.items if i.is_comment]
    assert answers(course)["ann"].mark.items == (1, comment.number)
    change(course, comment.number, 0, "See chapter 3.")
    found = answers(course)
    assert all(found[name].comment.endswith("\nSee chapter 3.") for name in ("ann", "bob"))
    assert (found["ann"].points, found["bob"].points) == (10, 0)


def test_what_a_colleague_saved_since_is_not_overwritten(course):
    seen = answers(course)["ann"].seen
    give(course, "ann", [1, 2], "Good.", seen=seen)
    assert give(course, "ann", [1, 2], "Good.", seen=seen) == ""  # the same form, sent twice
    why = give(course, "ann", [], "Hm.", seen=seen)
    assert why.startswith(f"{who_runs()} has given it 20 points since (")
    assert answers(course)["ann"].points == 20
    assert give(course, "ann", [1], "Hm.") == ""  # having seen it
    assert answers(course)["ann"].points == 10


def test_points_from_formgrader_are_seen_and_stay_when_an_item_changes(course):
    seen = answers(course)["bob"].seen
    by_hand(course, "bob", ESSAY, manual_score=13)
    assert (
        give(course, "bob", [1], seen=seen) == "somebody has given it 13 points in formgrader since"
    )
    assert "13 points in formgrader" in give(course, "bob", [], seen=seen)
    give(course, "ann", [1])
    by_hand(course, "ann", ESSAY, manual_score=4)
    said = change(course, 1, 5, "names the limit")
    assert said.endswith("1 of formgrader's own points stay.")
    found = answers(course)
    assert [(found[n].points, found[n].is_foreign) for n in ("ann", "bob")] == [
        (4, True),
        (13, True),
    ]
    assert give(course, "ann", [1]) == ""
    assert (answers(course)["ann"].points, answers(course)["ann"].is_foreign) == (5, False)


def test_a_text_that_was_handed_in_since_is_read_first(course):
    seen = answers(course)["ann"].seen
    write(course, "ann", "Another\ntext")
    assert give(course, "ann", [1], seen=seen) == "the student has handed in another text since"
    assert answers(course)["ann"].text == "Another\ntext"


def test_two_who_change_an_item_at_once_hear_of_each_other(course):
    before = grading(course).question(ESSAY).rubric.item(1)
    change(course, 1, 8, "names it")
    with pytest.raises(
        ValueError, match=f"{who_runs()} has changed this item since; it is now: .8"
    ):
        change(course, 1, 9, "names it", seen=before.seen)
    assert grading(course).question(ESSAY).rubric.item(1).points == 8


def test_two_who_save_at_once_are_both_saved(course):
    seen = {name: each.seen for name, each in answers(course).items()}
    refused: list[str] = []

    def save(student: str) -> None:
        refused.append(give(course, student, [1], seen=seen[student]))

    threads = [threading.Thread(target=save, args=[name]) for name in seen]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert refused == ["", "", ""]
    assert {each.points for each in answers(course).values()} == {10}
    assert history(course).read()[1] == []  # its chain holds


def test_nothing_is_saved_while_the_lab_is_graded(course, monkeypatch):
    monkeypatch.setattr("mlsys_widgets.grading.essays.essay_grading._PATIENCE", 0.0)
    with (
        GradedLog(course.root, LAB).alone(),
        pytest.raises(ValueError, match="this lab is being graded"),
    ):
        give(course, "ann", [1])
    assert answers(course)["ann"].waiting


def test_being_late_costs_a_share_of_what_the_essay_gives_too(course):
    late_by_a_day(course, 20)
    give(course, "ann", [1, 2])
    ((earned, penalty),) = sql(
        course.root,
        "select sum(coalesce(g.manual_score, g.auto_score, 0)), n.late_submission_penalty"
        " from grade g join submitted_notebook n on n.id = g.notebook_id"
        " join submitted_assignment s on s.id = n.assignment_id where s.student_id = 'ann'",
    )
    assert penalty == pytest.approx(0.2 * earned)


@pytest.mark.parametrize(
    ("points", "text", "why"),
    [
        (float("nan"), "x", "at most"),
        (1e9, "x", "at most"),
        (1, " \n", "text"),
        (1, "x" * 501, "text"),
    ],
)
def test_an_item_that_cannot_be_is_refused(course, points, text, why):
    with pytest.raises(ValueError, match=why):
        change(course, None, points, text)
    assert len(grading(course).question(ESSAY).rubric.items) == 2


def test_the_commands_do_the_same(course, monkeypatch, capsys):
    monkeypatch.chdir(course.root)
    assert main(["essays", "list", LAB]) == 0
    said = capsys.readouterr().out
    assert "3 of 3 answers to read" in said
    assert pseudonym("ann", LAB) in said
    assert "ann\n" not in said
    one = ["essays", "give", LAB, ESSAY, pseudonym("ann", LAB), "--item", "1"]
    assert main(one) == 0
    assert main(one) == 1
    assert "--again gives it other points" in capsys.readouterr().err
    assert main(["essays", "item", LAB, ESSAY, "1", "--points", "4"]) == 0
    assert answers(course)["ann"].points == 4
    assert main(["essays", "item", LAB, ESSAY, "9", "--points", "4"]) == 1
    assert main(["essays", "give", LAB, ESSAY, "nobody"]) == 1
    assert main(["essays", "list", LAB, "nothing"]) == 1
    assert f"it has: {ESSAY}" in capsys.readouterr().err
