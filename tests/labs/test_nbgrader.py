"""Whole labs through stock nbgrader: who earns what, and what everybody reads."""

from __future__ import annotations

import html
import re

import pytest

from mlsys_widgets.files import LEDGER
from mlsys_widgets.labs import Choice, Code, Essay, Number, Record
from tests.labs.conftest import BELIEVER, CLASS, COPYIST, NOBODY, SOLVERS, VALID, solver_of
from tests.labs.rehearsal import (
    Workshop,
    answer_cell,
    asked,
    hidden_test,
    in_one_line,
    outputs,
    run_hidden,
    work_through,
)
from tests.sampling import sample

pytestmark = pytest.mark.timeout(1800)


def check_cell(book, name):
    (cell,) = (c for c in book.cells if c.id == f"check_{name}")
    return cell


def errors(book):
    return [
        f"{cell.id}: {output.ename}: {output.evalue}"
        for cell in book.cells
        for output in cell.get("outputs", ())
        if output.output_type == "error"
    ]


def believers(grades):
    return sorted(name for name in grades if name.startswith(BELIEVER.format("")))


def counts(item):
    """What an item is worth in a course that leaves the deeper parts to its students."""
    return 0 if item.deeper else item.points


def nothing_earned(item):
    return "deeper, not solved" if item.deeper else r"0 of [\d.]+ points"


def assert_all_points(rehearsal, student):
    asked, grades = rehearsal.made.asked(student), rehearsal.grades[student]
    # An essay that does not count has no cell for graders.
    essays = {name for name, item in asked.of(Essay).items() if not item.deeper}
    assert set(grades) == {*asked.graded, *asked.of(Code, Record), *essays}
    lost = {
        name: outputs(check_cell(rehearsal.made.graded_work(student), name))
        for name, grade in grades.items()
        if name not in essays and grade.score != grade.most
    }
    assert not lost
    assert {name for name, grade in grades.items() if grade.by_hand} == essays
    assert {name: grade.most for name, grade in grades.items()} == {
        name: counts(asked.items[name]) for name in grades
    }


def test_the_solution_earns_every_autograded_point(rehearsal, lab):
    assert_all_points(rehearsal, solver_of(lab))
    assert errors(rehearsal.made.graded_work(solver_of(lab))) == []


@pytest.mark.slow
def test_the_solution_earns_every_autograded_point_for_fifty_students(full_class):
    for student in CLASS:
        assert_all_points(full_class, student)
        assert errors(full_class.made.graded_work(student)) == []


def test_an_untouched_notebook_runs_to_the_end_and_earns_nothing(rehearsal, lab):
    grades, book = rehearsal.grades[NOBODY], rehearsal.made.graded_work(NOBODY)
    assert {name: g.score for name, g in grades.items() if g.score} == {}
    assert errors(book) == []
    asked = rehearsal.made.asked(solver_of(lab))
    for name, item in asked.graded.items():
        said = outputs(check_cell(book, name))
        assert re.match(rf"{name}: {nothing_earned(item)}\.", said)
        assert "is recorded" not in said
    for name, item in asked.of(Record).items():
        assert re.search(
            rf"{name}: {nothing_earned(item)}\. There is no ledger that can be read.* Missing: ",
            outputs(check_cell(book, name)),
        )
    assert all("Traceback" not in outputs(cell) for cell in book.cells)


def test_validation_of_an_untouched_notebook_says_what_is_missing(rehearsal, lab):
    failed = rehearsal.validated[NOBODY]["failed"]
    asked = rehearsal.made.asked(solver_of(lab))
    core = {n: i for n, i in asked.of(Number, Choice, Code, Record, Essay).items() if not i.deeper}
    assert len(failed) == len(core)
    for cell in failed:
        for line in cell["error"].splitlines():
            assert not re.search(r"Traceback|File |line \d|--->|Error", line), cell["error"]
    said = "\n".join(cell["raw_error"] for cell in failed if "raw_error" in cell)
    said += "\n".join(cell["error"] for cell in failed)
    for name in asked.graded.keys() & core.keys():
        assert f"{name}: nothing is recorded in the card of" in " ".join(said.split())


def test_validation_of_the_whole_solution_finds_nothing(rehearsal):
    assert rehearsal.validated[VALID] == {}


def assert_beliefs(rehearsal, students):
    assert students
    for k, student in enumerate(students):
        asked, grades = rehearsal.made.asked(student), rehearsal.grades[student]
        book = rehearsal.made.graded_work(student)
        assert errors(book) == []
        for name, item in asked.graded.items():
            beliefs = asked.keys[name].beliefs
            said = outputs(check_cell(book, name))
            if k < len(beliefs):
                belief = beliefs[k]
                assert grades[name].score == round(counts(item) * belief.credit, 2), (name, said)
                assert in_one_line(belief.says) in said
            else:
                assert grades[name].score == counts(item), (name, said)


def test_beliefs_are_recognized_and_earn_their_credit(rehearsal):
    assert_beliefs(rehearsal, believers(rehearsal.grades))


@pytest.mark.slow
def test_every_belief_is_recognized_and_earns_its_credit(full_class):
    students = sorted(believers(full_class.grades), key=lambda name: int(name.split("-")[-1]))
    assert_beliefs(full_class, students)


def test_feedback_says_which_belief_led_there(rehearsal):
    student, lab = BELIEVER.format(0), rehearsal.made.lab
    page = rehearsal.made.root / "feedback" / student / lab / f"{lab}.html"
    told = in_one_line(html.unescape(page.read_text("utf-8")))
    for name in (asked := rehearsal.made.asked(student)).graded:
        assert in_one_line(asked.keys[name].beliefs[0].says) in told


@pytest.mark.usefixtures("read_once")
def test_every_hidden_test_knows_every_belief(made: Workshop, lab, tmp_path):
    """The hidden cells themselves, run with the key and with every belief."""
    source = made.notebook("source")
    for student in sample(["Jürgen", "student-07", "a", "student-123"], 2):
        folder = made.give(tmp_path / student / lab)
        found = asked(made.course, lab, student, work=folder)
        for name, item in found.graded.items():
            code, key = hidden_test(source, name), found.keys[name]
            namespace = {name: key.value}
            points, said = run_hidden(code, folder, namespace)
            assert points == counts(item), said
            assert namespace[name] == key.value, "the hidden test has overwritten the answer"
            for belief in key.beliefs:
                points, said = run_hidden(code, folder, {name: belief.value})
                assert points == round(counts(item) * belief.credit, 2), (belief, said)
                assert in_one_line(belief.says) in said
            for nothing in (..., None, "no idea", float("nan"), [1], 10**400):
                points, said = run_hidden(code, folder, {name: nothing})
                assert points == 0
                assert re.fullmatch(rf"{name}: {nothing_earned(item)}\. [^\n]+\.", said), said


def assert_a_copy_fails(asked, scores, said):
    numbers = asked.of(Number)
    wrong = [
        name
        for name, item in numbers.items()
        if (": deeper, solved." not in said[name] if item.deeper else scores[name] < item.points)
    ]
    same = sorted(set(numbers) - set(wrong))
    assert len(wrong) > len(numbers) / 2, f"right for somebody else too: {', '.join(same)}"
    for name in asked.of(Record):
        assert scores[name] == 0
        assert f"The ledger is of {SOLVERS[0]}, not of {COPYIST}." in said[name]


@pytest.mark.usefixtures("read_once")
def test_a_copied_notebook_fails(made: Workshop, lab, tmp_path):
    """What one student typed and recorded, judged by the hidden tests under another name."""
    owner, copy = (made.give(tmp_path / name / lab) for name in (SOLVERS[0], COPYIST))
    work_through(owner, SOLVERS[0], made.course)
    (copy / LEDGER).write_bytes((owner / LEDGER).read_bytes())
    answers = asked(made.course, lab, SOLVERS[0], work=owner).right()
    copied = asked(made.course, lab, COPYIST, work=copy)
    source = made.notebook("source")
    ran = {
        name: run_hidden(hidden_test(source, name), copy, dict(answers))
        for name in (*copied.graded, *copied.of(Record))
    }
    scores = {name: points for name, (points, _) in ran.items()}
    assert_a_copy_fails(copied, scores, {name: said for name, (_, said) in ran.items()})


@pytest.mark.slow
def test_a_copied_notebook_fails_in_nbgrader_too(full_class):
    asked, book = full_class.made.asked(COPYIST), full_class.made.graded_work(COPYIST)
    scores = {name: grade.score for name, grade in full_class.grades[COPYIST].items()}
    said = {name: outputs(check_cell(book, name)) for name in asked.of(Record)}
    assert_a_copy_fails(asked, scores, said)


def test_a_scratch_cell_says_how_code_answers_and_nothing_else(made: Workshop, lab, tmp_path):
    book = made.notebook("release")
    folder = made.give(tmp_path / SOLVERS[0] / lab)
    for name, item in asked(made.course, lab, SOLVERS[0], work=folder).graded.items():
        *_, how = answer_cell(book, name).source.rstrip().splitlines()
        result = "the_function" if isinstance(item, Code) else "result"
        assert how == f'# lab.answer("{name}", {result})'
        assert "raises-exception" in answer_cell(book, name).metadata.tags
        assert check_cell(book, name).source == f'{name} = lab.answered("{name}")'
