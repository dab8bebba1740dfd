"""What is read from a graded notebook about each question, whoever wrote the lab."""

from __future__ import annotations

import nbformat

from mlsys_widgets.grading.feedback.question_results import results_of
from tests.grading.test_feedback_page import graded


def test_code_that_is_graded_shows_what_was_written():
    """In a lab of plain nbgrader: a solution, and a test below it."""
    flags = {"grade": False, "solution": True, "locked": False}
    solution = graded("def add(a, b): return a", "add_answer", comment="Why a?", **flags)
    test = graded("assert add(1, 2) == 3", "add", score=0)
    (result,) = results_of(nbformat.v4.new_notebook(cells=[solution, test]))
    assert (result.title, result.answer) == ("Add", "def add(a, b): return a")
    assert (result.earned, result.comment) == (0, "Why a?")


def test_what_is_for_the_grader_is_not_for_the_student():
    printed = "kept: 6 of 6 points. All there.\nFor the grader: two entries have one time.\n"
    (result,) = results_of(
        nbformat.v4.new_notebook(cells=[graded('lab.record("kept")', "kept", printed)])
    )
    assert result.why == "All there."
