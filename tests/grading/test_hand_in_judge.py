"""What is handed in is judged once and told; and what a student can do about that: nothing."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from mlsys_widgets.files import LEDGER, TOLD
from mlsys_widgets.grading.feedback.question_results import results_of
from mlsys_widgets.grading.gradebook.grade_history import SECOND_CHANCE, GradeHistory
from mlsys_widgets.grading.gradebook.graded_log import GradedLog
from mlsys_widgets.grading.telling import hand_in_judge
from mlsys_widgets.grading.telling.hand_in_judge import HandInJudge
from mlsys_widgets.grading.telling.judged_hand_ins import JudgedHandIns
from mlsys_widgets.grading.telling.told_file import told_file
from mlsys_widgets.grading.telling.told_report import TO_RUN
from mlsys_widgets.labs.attempts import Attempts
from mlsys_widgets.labs.practice import NOT_GRADED
from mlsys_widgets.labs.told import ToldRefused, read_told
from mlsys_widgets.ledger import Ledger
from tests.grading.classroom import LAB, grade, rows
from tests.grading.telling import CHANCE, ToldClass, in_days
from tests.labs.rehearsal import run_tool
from tests.waiting import wait_for

AT_ONCE = 'feedback = "at hand-in"'


@pytest.fixture
def told_class(tmp_path):
    return ToldClass(tmp_path, AT_ONCE, CHANCE, f"due = {in_days(1)}")


def names(told_class):
    return list(told_class.right("ann"))


def test_it_is_judged_told_and_in_the_gradebook_once(told_class):
    first, second = names(told_class)[:2]
    right = told_class.right("ann")
    told_class.hand_in("ann", {first: right[first], second: told_class.wrong("ann")[second]})
    assert told_class.judge() == [1]
    told = told_class.told("ann")
    assert set(told) == {first, second}
    assert (told[first]["credit"], told[second]["credit"] < 1) == (1.0, True)
    assert told[second]["says"]
    assert told_class.points("ann")[first] == told[first]["points"]
    assert told_class.judge() == []
    graded = grade(told_class.collected("ann"))["ann"]
    assert {s.name: s.auto for s in graded.scores if s.answered} == {
        name: each["earned"] for name, each in told.items()
    }
    changes, problems = GradeHistory(told_class.root, LAB).read()
    assert (problems, {each.student for each in changes}) == ([], {"ann"})


def test_what_was_told_cannot_be_changed_and_what_was_open_can_be_answered(told_class):
    first, second = names(told_class)[:2]
    wrong, right = told_class.wrong("ann"), told_class.right("ann")
    told_class.hand_in("ann", {first: wrong[first]})
    told_class.judge()
    assert set(told_class.told("ann")) == {first}
    told_class.hand_in("ann", {first: right[first], second: right[second]})
    told_class.judge()
    told = told_class.told("ann")
    assert told[first]["credit"] < 1
    assert told[second]["credit"] == 1
    graded = grade(told_class.collected("ann"))["ann"]
    credits = {score.name: score.credit for score in graded.scores if score.answered}
    assert (credits[first] < 1, credits[second]) == (True, 1)


def test_nothing_is_told_by_hand_or_before_it_is_due(tmp_path):
    told_class = ToldClass(tmp_path, 'feedback = "by hand"')
    told_class.hand_in("ann", told_class.right("ann"))
    assert told_class.judge() == []
    told_class.settings('feedback = "after due"', f"due = {in_days(1)}")
    first = names(told_class)[0]
    assert told_class.judge() == []
    told_class.hand_in("ann", {first: told_class.wrong("ann")[first]})
    # Nobody was told, so the last one counts.
    later = datetime.now(UTC) + timedelta(days=2)
    assert told_class.judge(now=lambda: later) == [1]
    assert told_class.told("ann")[first]["credit"] < 1
    assert told_class.judge(now=lambda: later) == []


def test_while_nothing_changes_it_is_looked_at_rarely(tmp_path, monkeypatch):
    """By the end of a term a class has handed in thousands of times; looks are five a second."""
    told_class = ToldClass(tmp_path, 'feedback = "after due"', f"due = {in_days(1)}")
    first = names(told_class)[0]
    told_class.hand_in("ann", {first: told_class.right("ann")[first]})
    whole, present, due = [], [0.0], [datetime.now(UTC)]
    waiting = HandInJudge.waiting
    monkeypatch.setattr(hand_in_judge, "monotonic", lambda: present[0])
    monkeypatch.setattr(HandInJudge, "waiting", lambda self: whole.append(1) or waiting(self))
    judge = HandInJudge(told_class.root, now=lambda: due[0])
    try:
        assert [judge.look() for _ in range(20)] == [0] * 20
        assert len(whole) == 1
        told_class.hand_in("ben", {first: told_class.right("ben")[first]})
        assert judge.look() == 0  # not due yet, but the notes have changed
        assert len(whole) == 2
        due[0] += timedelta(days=2)  # no file says so
        assert judge.look() == 0
        present[0] += hand_in_judge._REST + 1
        assert judge.look() == 2
    finally:
        judge.close()
    assert told_class.told("ann")[first]["credit"] == 1


# The second chance.


def missed(told_class, student="ann"):
    """Hand in a wrong answer, and be told."""
    first = names(told_class)[0]
    told_class.hand_in(student, {first: told_class.wrong(student)[first]})
    told_class.judge()
    assert told_class.told(student)[first]["again"]
    return first


def test_a_missed_question_can_be_taken_again_on_new_numbers(told_class):
    first = missed(told_class)
    told_class.try_again("ann", first, told_class.again("ann", first))
    told_class.submit("ann")
    told_class.judge()
    told = told_class.told("ann")[first]
    assert (told["second"]["credit"], told["second"]["share"], told["again"]) == (1.0, 0.5, False)
    best = max(0.5, told["credit"])
    assert told["earned"] == round(best * told["points"], 2)
    assert told_class.points("ann")[first] == told["earned"]
    graded = grade(told_class.collected("ann"))["ann"]
    (score,) = (each for each in graded.scores if each.name == first)
    assert (score.second.credit, score.auto) == (1.0, told["earned"])
    assert score.first_credit == told["credit"]


@pytest.mark.parametrize("right", [True, False])
def test_both_answers_are_in_the_history_once_whichever_counts(told_class, right):
    first = missed(told_class)
    told_class.try_again("ann", first, told_class.again("ann", first, right=right))
    told_class.submit("ann")
    told_class.judge()
    told = told_class.told("ann")[first]
    grade(told_class.collected("ann"))
    changes, problems = GradeHistory(told_class.root, LAB).read()
    assert problems == []
    (chance,) = (each for each in changes if each.what == SECOND_CHANCE)
    assert chance.credits == {first: (told["credit"], told["second"]["credit"])}
    assert chance.student == "ann"
    assert chance.total[0] == chance.total[1] == changes[-1].total[1]
    assert "at 50%; the better one counts" in chance.why


def test_a_second_chance_that_was_judged_while_the_class_was_graded_is_in_the_history(told_class):
    first = missed(told_class)
    told_class.try_again("ann", first, told_class.again("ann", first, right=False))
    told_class.submit("ann")
    with GradedLog(told_class.root, LAB).alone():
        told_class.judge()
    assert told_class.told("ann")[first]["second"]
    grade(told_class.collected("ann"))
    changes, problems = GradeHistory(told_class.root, LAB).read()
    assert (problems, [each.what for each in changes].count(SECOND_CHANCE)) == ([], 1)


def test_the_feedback_page_has_both_answers_and_says_which_counts(told_class):
    first = missed(told_class)
    told_class.try_again("ann", first, told_class.again("ann", first))
    told_class.submit("ann")
    told_class.judge()
    course = told_class.collected("ann")
    grade(course)
    results = {each.name: each for each in results_of(course.notebook("autograded/ann"))}
    why, told = results[first].why, told_class.told("ann")[first]
    asked = course.asked("ann")
    again = Attempts(asked.lab, "ann").at(first, 1).item.in_words(told_class.again("ann", first))
    for each in (
        told["says"], f"Second chance, on other numbers: you answered {again}.",
        told["second"]["says"],
        "The first answer counts: it earned 20 points, and the second 20 (50% of 40).",
    ):  # fmt: skip
        assert " ".join(each.split()) in why
    others = [each.why for name, each in results.items() if name != first]
    assert not any("Second chance" in each for each in others)


def test_without_a_hub_the_feedback_brings_a_file_that_opens_in_the_cards(told_class):
    """What was mailed or uploaded is graded with the class; its file lies beside the page."""
    course, right, wrong = told_class.course, told_class.right("ann"), told_class.wrong("ann")
    first, second = list(right)[:2]
    told_class.answer("ann", {first: wrong[first], second: right[second]})
    shutil.copytree(told_class.home("ann"), course.work("ann"))
    grade(course)
    made = run_tool(course.root, "nbgrader", "generate_feedback", LAB)
    assert made.returncode == 0, made.stderr
    content = (course.root / "feedback" / "ann" / LAB / TOLD).read_bytes()
    told = read_told(content, LAB, "ann")
    told_class.submit("ann")
    told_class.judge()
    hub = read_told(json.dumps(told_class.report("ann")).encode(), LAB, "ann")
    assert set(told.questions) == {first, second}
    # The same as from a hub, but nobody could judge a second answer.
    assert told.questions == {n: replace(q, again=False) for n, q in hub.questions.items()}
    assert (told.share, told.earned) == (None, hub.earned)
    with pytest.raises(ToldRefused, match="for ann"):
        read_told(content, LAB, "ben")


def test_a_renamed_student_is_told_under_the_name_that_their_notebook_knows(tmp_path):
    """They keep the numbers, and with them the name, from before."""
    told_class = ToldClass(tmp_path, AT_ONCE, CHANCE, f"due = {in_days(1)}")
    right = told_class.right("ann")
    folder = told_class.answer("ann", dict(list(right.items())[:1]))
    with (told_class.root / "assignments" / "course.toml").open("a") as file:
        file.write('\n[names.ann-lee]\nnumbers = "ann"\n')
    told_class.submit("ann-lee", folder)
    told_class.judge()
    hub = read_told(json.dumps(told_class.report("ann-lee")).encode(), LAB, "ann")
    assert hub.questions[names(told_class)[0]].credit == 1
    grade(told_class.collected("ann-lee"))
    points = told_class.points("ann-lee")
    mailed = read_told(told_file(told_class.root, LAB, "ann-lee", points), LAB, "ann")
    assert set(mailed.questions) == set(hub.questions)


def test_no_second_answer_counts_before_the_first_was_told(told_class):
    first = names(told_class)[0]
    told_class.answer("ann", {first: told_class.wrong("ann")[first]})
    told_class.try_again("ann", first, told_class.again("ann", first))
    told_class.submit("ann")
    told_class.judge()
    assert told_class.told("ann")[first]["second"] is None


def test_no_second_answer_counts_that_came_too_late(told_class):
    first = missed(told_class)
    told_class.settings(AT_ONCE, CHANCE, f"due = {in_days(-3)}")
    told_class.try_again("ann", first, told_class.again("ann", first))
    told_class.submit("ann")
    told_class.judge()
    assert told_class.told("ann")[first]["second"] is None
    assert not told_class.told("ann")[first]["again"]


@pytest.mark.parametrize("way", ["third", "changed", "new ledger", "old ledger", "two machines"])
def test_attempts_cannot_be_multiplied(told_class, way):
    first = missed(told_class)
    before = told_class.aside / "before"
    shutil.copytree(told_class.home("ann"), before)
    told_class.try_again("ann", first, told_class.again("ann", first, right=False))
    told_class.submit("ann")
    told_class.judge()
    told = told_class.told("ann")[first]
    assert told["second"]["credit"] < 1
    match way:
        case "third":
            told_class.try_again("ann", first, told_class.again("ann", first), attempt=2)
        case "changed":
            told_class.answer("ann", {f"again.1.{first}": told_class.again("ann", first)})
        case "new ledger":
            (told_class.home("ann") / LEDGER).unlink()
            shutil.rmtree(told_class.home("ann"))
            told_class.answer("ann", {first: told_class.right("ann")[first]})
            told_class.try_again("ann", first, told_class.again("ann", first))
        case "old ledger":
            home = told_class.home("ann")
            shutil.rmtree(home)
            shutil.copytree(before, home)
            told_class.try_again("ann", first, told_class.again("ann", first))
        case "two machines":
            told_class.try_again("ann", first, told_class.again("ann", first))
            told_class.submit("ann", before)
    told_class.submit("ann")
    told_class.judge()
    assert told_class.told("ann")[first] == told
    graded = grade(told_class.collected("ann"))["ann"]
    (score,) = (each for each in graded.scores if each.name == first)
    assert score.auto == told["earned"]


def test_nothing_moves_to_another_student(told_class):
    first = names(told_class)[0]
    told_class.hand_in("ann", told_class.right("ann"))
    # Ben hands in Ann's work in his own name, and makes a folder that bears hers.
    told_class.submit("ben", told_class.home("ann"))
    told_class.submit("ann", told_class.answer("ben", told_class.wrong("ben")), owner="ben")
    told_class.judge()
    assert told_class.told("ann")[first]["credit"] == 1
    assert told_class.told("ben") == {}
    assert told_class.report("ben")["questions"] is not None


def test_being_late_counts_from_the_hand_in_that_was_told(tmp_path):
    late = "late = { per_day = 10, grace_minutes = 0 }"
    chance = CHANCE.replace("0.5", "0.9")
    told_class = ToldClass(tmp_path, AT_ONCE, chance, f"due = {in_days(1)}", late)
    first = missed(told_class)
    earned = told_class.told("ann")[first]["earned"]
    # The next full second, which comes after the first hand-in and has to pass before the second.
    due = in_days(1 / 86_400)
    told_class.settings(AT_ONCE, chance, f"due = {due}", late)
    wait_for(lambda: datetime.now(UTC) > datetime.fromisoformat(due))
    told_class.try_again("ann", first, told_class.again("ann", first))
    told_class.submit("ann")
    told_class.judge()
    assert told_class.told("ann")[first]["earned"] > earned
    others = sum(points or 0 for name, points in points_of(told_class).items() if name != first)
    ((_, penalty, _),) = rows(told_class.root)["notebook"]
    assert penalty == pytest.approx(0.1 * others, abs=0.02)


def points_of(told_class):
    return told_class.points("ann")


# Before the hand-in, and what is told.


def test_what_is_told_says_nothing_of_what_was_not_answered(told_class):
    first, second = names(told_class)[:2]
    told_class.hand_in("ann", {first: told_class.wrong("ann")[first]})
    told_class.judge()
    asked = told_class.course.asked("ann")
    text = json.dumps(told_class.report("ann"))
    assert second not in told_class.told("ann")
    for belief in asked.keys[second].beliefs:
        assert belief.says not in text
    assert "belief" not in text
    assert str(told_class.again("ann", first)) not in text


def test_a_hostile_hand_in_waits_and_the_others_are_told(told_class):
    first = names(told_class)[0]
    mad = told_class.home("eve")
    (mad / LEDGER).write_bytes(b"\n" * 3_000_000)
    (mad / f"{LAB}.ipynb").write_text("[" * 200_000)
    told_class.submit("eve")
    for name in ("ann", "ben"):
        told_class.hand_in(name, told_class.right(name))
    told_class.judge()
    assert {told_class.told(name)[first]["credit"] for name in ("ann", "ben")} == {1.0}
    assert told_class.told("eve") == {}
    assert told_class.judge() == []


def test_what_must_be_run_is_told_to_wait(told_class):
    folder = told_class.answer("ann", told_class.right("ann"))
    path = folder / f"{LAB}.ipynb"
    book = json.loads(path.read_bytes())
    for cell in book["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade") and cell["cell_type"] == "code":
            cell["source"] = "1"
    path.write_text(json.dumps(book))
    told_class.submit("ann")
    told_class.judge()
    assert told_class.report("ann")["later"] == TO_RUN
    assert told_class.told("ann") == {}


def test_practice_that_was_handed_in_all_the_same_is_told_to_be_practice(told_class):
    folder = told_class.answer("ann", told_class.right("ann"))
    path = folder / f"{LAB}.ipynb"
    book = json.loads(path.read_bytes())
    book["metadata"]["mlsys"]["way"] = "practice"
    path.write_text(json.dumps(book))
    told_class.submit("ann")
    told_class.judge()
    assert told_class.report("ann")["later"] == NOT_GRADED
    assert told_class.told("ann") == {}


def test_a_judge_that_ends_before_it_has_kept_what_it_judged_judges_again(told_class, monkeypatch):
    told_class.hand_in("ann", told_class.right("ann"))

    class Killed(BaseException):
        pass

    def killed(self, lines):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(JudgedHandIns, "add", killed)
        with pytest.raises(Killed):
            told_class.judge()
    assert told_class.points("ann")  # the gradebook comes first
    assert told_class.judge() == [1]
    assert told_class.told("ann")
    assert told_class.judge() == []


def test_a_ledger_that_was_answered_twice_is_judged_by_its_last_answer(told_class):
    first = names(told_class)[0]
    folder = told_class.answer("ann", {first: told_class.wrong("ann")[first]})
    Ledger.open(folder / LEDGER).record_answer(first, told_class.right("ann")[first])
    told_class.submit("ann")
    told_class.judge()
    assert told_class.told("ann")[first]["credit"] == 1
