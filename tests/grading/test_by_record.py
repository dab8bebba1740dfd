"""Which submissions are judged by their records alone, and what their notebooks show then."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from mlsys_widgets.course.course import Course
from mlsys_widgets.files import LEDGER
from mlsys_widgets.grading import coordinator
from mlsys_widgets.grading.audit import draw_sample
from mlsys_widgets.grading.coordinator import CannotGrade, GradingRun, Plan
from mlsys_widgets.grading.gradebook.autograded import fresh_beside
from mlsys_widgets.grading.judging.by_record import grades_no_code, saved_cells
from mlsys_widgets.grading.judging.flags import FlagKind
from mlsys_widgets.grading.messages import JudgeByRecord
from mlsys_widgets.sandbox.engine import LocalEngine
from tests.grading.classroom import (
    LAB,
    Change,
    autograded,
    classroom,
    grade,
    record,
    running,
    shown,
)
from tests.labs.rehearsal import Workshop, answer_cell

pytestmark = pytest.mark.timeout(600)
NUMBER = "intensity_flop_per_byte"


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Workshop:
    return classroom(tmp_path_factory.mktemp("record") / "course")


def reply(course: Workshop, student: str):
    """What a reader says about a record, in this process."""
    run = GradingRun(Plan(Course(course.root), LAB, force=True))
    fresh = fresh_beside(course.root / "autograded" / student / LAB)
    return run._marking(JudgeByRecord(student, fresh, (), fresh))


def _cell(book: nbformat.NotebookNode, cell_id: str) -> nbformat.NotebookNode:
    return next(cell for cell in book.cells if cell.id == cell_id)


def _edited_test(book, _folder) -> None:
    _cell(book, "check_limit").source = "limit = 'memory'"


def _deleted_test(book, _folder) -> None:
    book.cells.remove(_cell(book, "check_limit"))


def _doubled_test(book, _folder) -> None:
    cell = _cell(book, "check_limit")
    book.cells.append(nbformat.from_dict({**cell, "id": "again"}))


def _other_points(book, _folder) -> None:
    _cell(book, "check_limit").metadata.nbgrader.grade = False


def _no_ids(book, _folder) -> None:
    for cell in book.cells:
        del cell["id"]


def _edited_ledger(_book, folder) -> None:
    path = folder / LEDGER
    path.write_bytes(path.read_bytes().replace(b'"confidence":3', b'"confidence":4', 1))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_edited_test, "graded cells were changed: limit"),
        (_deleted_test, "graded cells were changed: limit"),
        (_doubled_test, "graded cells were changed: limit"),
        (_other_points, "graded cells were changed: limit"),
        (_no_ids, "graded cells were changed: "),
        (_edited_ledger, "not intact"),
    ],
)
def test_what_was_touched_is_run(course, change, words):
    student = f"touched-{change.__name__.strip('_')}"
    record(course, student, change=change)
    assert words in reply(course, student).why
    assert not fresh_beside(course.root / "autograded" / student / LAB).exists()


def test_with_somebody_elses_ledger_it_is_run(course):
    friend = record(course, "friend")
    borrower = record(course, "borrower")
    (borrower / LEDGER).write_bytes((friend / LEDGER).read_bytes())
    assert "friend" in reply(course, "borrower").why


def test_what_code_may_still_compute_is_run(course):
    record(course, "computes", {}, running("lab.answer('limit', 'memory')"))
    assert reply(course, "computes").why.startswith("code may compute what is not recorded")
    record(course, "unreadable", {"limit": [1, 2], NUMBER: 3.0}, running("1"))
    assert reply(course, "unreadable").why.endswith("not recorded: limit")


def test_an_answer_that_nothing_could_compute_is_missing(course):
    record(course, "missing", {"limit": course.asked("missing").right()["limit"]})
    scores = {score.name: score for score in reply(course, "missing").graded.scores}
    assert (scores["limit"].auto, scores[NUMBER].auto) == (20, 0)
    assert scores[NUMBER].says == "Not answered."


def test_what_is_recorded_counts_whatever_code_stands_beside_it(course):
    right = course.asked("both").right()
    wrong: Change = running(f"lab.answer('{NUMBER}', -1)\n1 / 0")
    record(course, "both", right, wrong)
    graded = reply(course, "both").graded
    assert graded.way == "record"
    assert sum(score.auto or 0 for score in graded.scores) == 80


def test_a_lab_that_grades_code_is_never_judged_by_record(course):
    marking = GradingRun(Plan(Course(course.root), LAB, force=True))._marking
    assert marking.grades_no_code
    cells = dict(marking.blueprint.cells)
    items = marking.lab.items(marking.lab.draw("ann"))
    judged = marking.judge.judged
    for other in (
        replace(cells["limit"], source="limit = lab.answered('limit')\nassert limit"),
        replace(cells["limit"], source='lab.check("limit")'),
    ):
        changed = replace(marking.blueprint, cells={**cells, "limit": other})
        assert not grades_no_code(changed, judged, items)
    assert not grades_no_code(marking.blueprint, judged - {"limit"}, items)


# What is shown.

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
)
SAVED = [
    {"output_type": "stream", "name": "stdout", "text": ["saved ", "by me\n"]},
    {
        "output_type": "display_data",
        "metadata": {},
        "data": {"text/html": "<b>bold</b><script>go()</script>", "image/png": PIXEL},
    },
    {"output_type": "display_data", "data": {"application/javascript": "go()"}, "metadata": {}},
    [],
    {"output_type": "stream", "name": "stdout"},
    "nonsense",
]


def _with_outputs(book, _folder: Path) -> None:
    cell = nbformat.v4.new_code_cell("print('never run')", id="mine")
    cell.update(outputs=SAVED, execution_count=12)
    book.cells.append(cell)
    _cell(book, "setup").update(outputs="text", execution_count="seven")
    _cell(book, "check_limit").update(outputs=[{"output_type": "stream", "name": "stdout",
                                                "text": "limit: 1000 of 20 points."}])  # fmt: skip


def test_the_notebook_shows_what_was_saved_and_nothing_that_runs(course):
    record(course, "saver", change=_with_outputs)
    graded = grade(course, force=True, students="saver")["saver"]
    assert (graded.way, graded.earned, graded.flags, graded.seconds) == ("record", 80, (), 0)
    book = autograded(course, "saver")
    mine = _cell(book, "mine")
    assert mine.execution_count == 12
    assert "saved by me" in shown(book)
    assert "<b>bold</b>" in shown(book)
    assert PIXEL in shown(book)
    assert "script>" not in json.dumps(book)
    assert "go()" not in json.dumps(book)
    assert (_cell(book, "setup").outputs, _cell(book, "setup").execution_count) == ([], None)
    words = shown(book, "check_limit")
    assert "1000 of 20" not in words
    assert "limit: 20 of 20 points." in words
    test = _cell(book, "check_limit")
    assert "BEGIN HIDDEN TESTS" in test.source
    assert test.outputs[-1].execution_count == test.execution_count


def test_cells_without_names_of_their_own_are_not_told_apart():
    assert saved_cells(b"{") == saved_cells(b"[]") == saved_cells(b'{"cells": [{}]}') == {}
    cell = {"id": "a", "cell_type": "code", "source": ["x = ", "1"], "metadata": {}}
    (found,) = saved_cells(json.dumps({"cells": [cell]}).encode()).values()
    assert (found.kind, found.name, found.source) == ("code", None, "x = 1")
    assert saved_cells(json.dumps({"cells": [cell, cell]}).encode()) == {}


# Audits.


def test_an_audit_runs_what_was_judged_and_compares(course):
    record(course, "audit-honest")
    record(course, "audit-clever", change=running("lab.answered = lambda name: -1.0"))
    graded = grade(course, force=True, students="audit-*", audit=1.0)
    honest, clever = graded["audit-honest"], graded["audit-clever"]
    assert (honest.way, honest.flags, honest.earned) == ("audited", (), 80)
    assert (clever.way, clever.earned) == ("audited", 80)
    assert {flag.kind for flag in clever.flags} == {FlagKind.AUDIT}
    assert {flag.about for flag in clever.flags} == {NUMBER, "limit"}
    assert "20 points, and 0 points" in " ".join(flag.sentence for flag in clever.flags)
    # The notebook is the one that was judged.
    assert shown(autograded(course, "audit-honest"), "setup") == ""


def test_a_few_are_audited_without_being_asked_for(course):
    record(course, "usual-honest")
    record(course, "usual-clever", change=running("lab.answered = lambda name: -1.0"))
    graded = grade(course, force=True, students="usual-*", audit=None)
    assert {each.way for each in graded.values()} == {"audited"}  # of two, both
    flagged = {name: {flag.kind for flag in each.flags} for name, each in graded.items()}
    assert flagged == {"usual-honest": set(), "usual-clever": {FlagKind.AUDIT}}


@pytest.mark.parametrize(
    ("students", "audit", "isolate", "count"),
    [(1, None, True, 1), (40, None, True, 2), (1000, None, True, 20), (40, None, False, 0),
     (40, 0.0, True, 0), (40, 0.05, True, 2), (40, 1.0, False, 40)],
)  # fmt: skip
def test_how_many_are_audited(students, audit, isolate, count):
    names = [f"s{number}" for number in range(students)]
    assert len(draw_sample(names, audit, isolated=isolate)) == count


def test_a_machine_that_cannot_isolate_grades_by_record_and_says_what_it_left_out(
    course, monkeypatch
):
    record(course, "plain")
    monkeypatch.setattr(LocalEngine, "why_not_isolated", lambda _: "the reason")
    monkeypatch.setattr(coordinator, "open_engine", lambda *_, **__: LocalEngine(1))
    run = GradingRun(Plan(course.course, LAB, students="plain", force=True, audit=None))
    (graded,) = run.grade()
    assert (graded.way, graded.earned, graded.flags) == ("record", 80, ())
    assert run.not_audited == "the reason"
    asked = GradingRun(Plan(course.course, LAB, students="plain", force=True, audit=1.0))
    with pytest.raises(CannotGrade, match="cannot be isolated here: the reason"):
        list(asked.grade())


def test_with_run_everything_is_run(course):
    record(course, "runner")
    (graded,) = grade(course, force=True, students="runner", run=True).values()
    assert (graded.way, graded.earned) == ("run", 80)
    assert graded.seconds > 0
    assert answer_cell(autograded(course, "runner"), "limit").execution_count
