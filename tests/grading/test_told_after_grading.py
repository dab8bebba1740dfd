"""What had to wait at the hand-in is told when the course is graded, and stands from then on."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest

from mlsys_widgets.files import OWN_FOLDER
from mlsys_widgets.grading.telling.told_file import told_file
from mlsys_widgets.grading.telling.told_report import TO_RUN
from mlsys_widgets.labs.told import read_told
from tests.grading.classroom import LAB, grade, rows
from tests.grading.telling import ToldClass, in_days
from tests.grading.test_code_answers import HEAD, NAME, RIGHT, WRITTEN, lab_of_the_page
from tests.labs.rehearsal import Workshop, nbgrader, run_tool

pytestmark = pytest.mark.timeout(900)
AT_ONCE = 'feedback = "at hand-in"'
CARELESS, EARNED = WRITTEN["careless"]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A course whose lab asks for a function."""
    root = tmp_path_factory.mktemp("function") / "course"
    root.mkdir()
    lab_of_the_page(root)
    made = run_tool(root, "mlsys_widgets", "build", LAB)
    assert made.returncode == 0, made.stderr
    nbgrader(root, ["generate_assignment", LAB, "--force"])
    return root


@pytest.fixture
def told_class(built, tmp_path):
    """It, on a hub, with a hand-in of Ann's whose function loses points."""
    shutil.copytree(built, tmp_path / "course")
    course = Workshop(tmp_path / "course", LAB)
    made = ToldClass(tmp_path, AT_ONCE, f"due = {in_days(1)}", course=course)
    made.hand_in("ann", {**course.asked("ann").right(), NAME: CARELESS})
    made.judge()
    return made


def report(told_class):
    return read_told(json.dumps(told_class.report("ann")).encode(), LAB, "ann")


def lines(told_class):
    return (told_class.root / OWN_FOLDER / f"told-{LAB}.jsonl").read_text().count("\n")


def points(told_class):
    return {name: auto for who, name, auto, *_ in rows(told_class.root)["grade"] if who == "ann"}


def test_a_function_is_told_when_the_course_is_graded_and_its_answer_stands(told_class):
    before = report(told_class)
    assert (before.to_run, NAME in before.questions) == (1, False)
    assert any("1 function that you wrote" in each for each in before.sentences)
    grade(told_class.collected("ann"))
    told = report(told_class)
    question = told.questions[NAME]
    assert (told.to_run, question.earned, question.answer) == (0, EARNED, "2 lines")
    assert "it must be None" in question.says
    assert {**told.questions, NAME: None} == {**before.questions, NAME: None}
    # What is mailed says the same.
    mailed = read_told(told_file(told_class.root, LAB, "ann", points(told_class)), LAB, "ann")
    assert (mailed.to_run, mailed.questions[NAME]) == (0, question)
    # Whoever was told can hand in again, and that changes nothing.
    told_class.hand_in("ann", {NAME: RIGHT})
    told_class.judge()
    assert report(told_class) == told
    known = lines(told_class)
    grade(told_class.collected("ann"))
    assert lines(told_class) == known
    assert (report(told_class), points(told_class)[NAME]) == (told, EARNED)


def test_who_wrote_no_function_is_promised_nothing_about_one(told_class):
    right = told_class.course.asked("ben").right()
    told_class.hand_in("ben", {name: each for name, each in right.items() if name != NAME})
    told_class.judge()
    told = read_told(json.dumps(told_class.report("ben")).encode(), LAB, "ben")
    assert (told.to_run, told.questions.keys()) == (0, right.keys() - {NAME})
    assert not any("function" in each for each in told.sentences)
    # Who writes it later is told that it waits.
    told_class.hand_in("ben", {NAME: RIGHT})
    told_class.judge()
    assert read_told(json.dumps(told_class.report("ben")).encode(), LAB, "ben").to_run == 1


def test_only_what_was_graded_is_told_and_only_where_the_course_tells_by_itself(told_class):
    course = told_class.collected("ann")
    told_class.hand_in("ann", {NAME: RIGHT})
    told_class.judge()
    grade(course)  # the hand-in before
    assert report(told_class).to_run == 1
    told_class.settings('feedback = "by hand"')
    grade(told_class.collected("ann"), settings=True)
    assert report(told_class).to_run == 1
    told_class.settings(AT_ONCE)
    grade(told_class.course, settings=True, force=True)
    assert (report(told_class).to_run, points(told_class)[NAME]) == (0, 10)


def test_other_cases_call_the_function_that_was_told_again_and_no_other(told_class):
    grade(told_class.collected("ann"))
    checks = told_class.root / "assignments" / LAB / "checks.py"
    text = checks.read_text("utf-8")
    # No rate below zero is asked for any more, so nothing of it is wrong.
    wrapped = text.replace(f"def {NAME}(", "def _before(")
    assert wrapped != text
    other = f"""

def {NAME}(given):
    from dataclasses import replace
    key = _before(given)
    return replace(key, cases=[case for case in key.cases if case[0] >= 0])
"""
    checks.write_text(wrapped + other, "utf-8")
    grade(told_class.course, force=True)
    assert points(told_class)[NAME] == 10
    told_class.hand_in("ann", {NAME: f"{HEAD}return 1"})
    told_class.judge()
    grade(told_class.collected("ann"))
    assert points(told_class)[NAME] == EARNED, "the verdict of then"


@pytest.mark.slow  # a second class is graded
def test_what_had_to_be_run_is_told_when_it_ran(tmp_path):
    told_class = ToldClass(tmp_path, AT_ONCE, f"due = {in_days(1)}")
    right = told_class.course.asked("ann").right()
    folder = told_class.answer("ann", right)
    path = folder / f"{LAB}.ipynb"
    book = json.loads(path.read_bytes())
    for cell in book["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade") and cell["cell_type"] == "code":
            cell["source"] = "1"
    path.write_text(json.dumps(book))
    told_class.submit("ann")
    told_class.judge()
    assert (report(told_class).later, report(told_class).questions) == (TO_RUN, {})
    grade(told_class.collected("ann"))
    told = report(told_class)
    assert told.later == ""
    assert {name: each.credit for name, each in told.questions.items()} == dict.fromkeys(right, 1.0)
    # The judge of the hub goes on from there.
    told_class.hand_in("ann", told_class.course.asked("ann").believing(0))
    told_class.judge()
    assert {n: replace(q, again=False) for n, q in report(told_class).questions.items()} == {
        n: replace(q, again=False) for n, q in told.questions.items()
    }
