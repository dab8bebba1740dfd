"""Hidden tests stay here: what travels has none, and what is shown looks as if they had run."""

from __future__ import annotations

import nbformat
import pytest

from mlsys_widgets.grading.judging.outside_tests import place_verdicts, show_verdict, without_tests
from mlsys_widgets.grading.judging.scoring import Score
from mlsys_widgets.notebooks.blueprint import Blueprint, SourceCell
from mlsys_widgets.sandbox.fork_client import child_content
from mlsys_widgets.sandbox.worker import make_runnable

TEST = "x = 1\n### BEGIN HIDDEN TESTS\nsecret_key = 42\n### END HIDDEN TESTS"
RIGHT = Score("limit", 20.0, 20.0, "Right.", judged=True)


def cell_of(*outputs, count=3, source="x = 1\n"):
    cell = nbformat.v4.new_code_cell(source, metadata={"nbgrader": {"grade_id": "limit"}})
    cell.outputs = [nbformat.from_dict(each) for each in outputs]
    cell.execution_count = count
    return cell


def printed(name, text):
    return {"output_type": "stream", "name": name, "text": text}


@pytest.fixture
def blueprint():
    locked = SourceCell("code", TEST, "sum", locked=True, graded=True)
    return Blueprint("lab", None, {"limit": locked, "by hand": locked})


def test_what_travels_has_no_test_of_what_is_judged_here(blueprint):
    sent = without_tests(blueprint, {"limit"})
    assert sent.cells["limit"].source == "x = 1\n"
    assert sent.cells["by hand"].source == TEST  # only its own test can decide about it
    alone = without_tests(Blueprint("lab", None, {"limit": blueprint.cells["limit"]}), {"limit"})
    # Whatever a student saved in that cell, what was released is put there, without its test.
    book = nbformat.v4.new_notebook(cells=[cell_of(source=TEST)])
    ready = make_runnable("lab", {"lab.ipynb": nbformat.writes(book).encode()}, alone)
    assert ready.cells == ["x = 1\n"]
    assert b"secret_key" not in child_content("ann/lab", {}, ready.cells, {}, ready.hidden)


def test_the_verdict_follows_what_the_visible_part_printed():
    cell = cell_of(printed("stdout", "limit: 3 is recorded.\n"))
    show_verdict(cell, TEST, RIGHT)
    words, points = cell.outputs
    assert words.text == "limit: 3 is recorded.\nlimit: 20 of 20 points. Right.\n"
    assert (points.data["text/plain"], points.execution_count) == ("20.0", 3)
    assert cell.source == TEST
    nbformat.validate(nbformat.v4.new_notebook(cells=[cell]))


def test_a_doubt_is_for_the_grader():
    cell = cell_of()
    show_verdict(cell, TEST, Score("limit", 1.0, 2.0, "All there.", judged=True, doubt="A gap."))
    assert cell.outputs[0].text.endswith("points. All there.\nFor the grader: A gap.\n")


@pytest.mark.parametrize(
    ("outputs", "count"),
    [
        ([{"output_type": "error", "ename": "E", "evalue": "", "traceback": []}], 3),
        ([printed("stderr", "!")], 3),
        ([], None),
    ],
)
def test_a_test_that_was_not_reached_says_nothing(outputs, count):
    cell = cell_of(*outputs, count=count)
    show_verdict(cell, TEST, RIGHT)
    assert [dict(each) for each in cell.outputs] == outputs
    assert cell.source == TEST


def test_what_a_person_decides_stays_as_it_is(blueprint):
    cell = cell_of(printed("stdout", "mine\n"))
    place_verdicts([cell], blueprint, [Score("limit", None, 20.0)])
    assert [each.text for each in cell.outputs] == ["mine\n"]
    place_verdicts([cell], blueprint, [RIGHT])
    assert cell.outputs[0].text == "mine\nlimit: 20 of 20 points. Right.\n"
