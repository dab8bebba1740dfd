"""Graded notebooks name nobody, and the way back is exact."""

from __future__ import annotations

import copy
import json

import pytest

from mlsys_widgets.grading.feedback.blind import make_blind, pseudonym, unmake_blind

LAB = "lab_07_kernel_fusion"


def notebook(student: str, locked: str = "Ask the model.") -> dict:
    """A lab as its student handed it in: a cover, an essay, an output of their own."""
    cover = f"This is the lab of **{student}**, known from your login."
    about = {"nbgrader": {"locked": True}}
    outputs = [
        {"output_type": "display_data", "metadata": {}, "data": {
            "text/plain": cover, "text/html": f"<p>This is the lab of <b>{student}</b>.</p>",
            "image/png": student}},
        {"output_type": "stream", "name": "stdout", "text": [f"/homes/{student}\n", "2\n"]},
        {"output_type": "error", "ename": "E", "evalue": f"no {student}", "traceback": [student]},
    ]  # fmt: skip
    return {
        "metadata": {},
        "cells": [
            {"cell_type": "markdown", "metadata": about, "source": locked},
            {"cell_type": "code", "metadata": about, "source": "lab = open_lab()",
             "outputs": outputs},
            {"cell_type": "markdown", "metadata": {},
             "source": f"I, {student.capitalize()}, think that {student}s differ."},
        ],
    }  # fmt: skip


@pytest.mark.parametrize("student", ["ann", "ab1234", "Zoë", "o.neil-2"])
def test_a_name_is_nowhere_in_what_is_shown_and_comes_back(student):
    book = notebook(student)
    before = copy.deepcopy(book)
    make_blind(book, student, LAB)
    hidden = pseudonym(student, LAB)
    cover, stream, error = book["cells"][1]["outputs"]
    assert f"lab of **{hidden}**" in cover["data"]["text/plain"]
    assert f"<b>{hidden}</b>" in cover["data"]["text/html"]
    assert stream["text"] == [f"/homes/{hidden}\n", "2\n"]
    assert (error["evalue"], error["traceback"]) == (f"no {hidden}", [hidden])
    essay = book["cells"][2]["source"]
    assert f"{student}," not in essay
    assert f"{student}s differ" in essay  # another word
    assert cover["data"]["image/png"] == student  # a picture is not text
    unmake_blind(book, student, LAB)
    assert book == before


def test_a_name_that_is_a_word_of_the_lab_is_replaced_only_where_it_is_a_name():
    book = notebook("model")
    make_blind(book, "model", LAB)
    text = json.dumps(book)
    assert f"lab of **{pseudonym('model', LAB)}**" in text
    assert "Model, think that models differ" in text
    assert "/homes/model" in text
    unmake_blind(book, "model", LAB)
    assert book == notebook("model")


def test_a_pseudonym_belongs_to_one_submission():
    assert len({pseudonym(who, lab) for who in ("ann", "ben") for lab in ("a", "b")}) == 4


def test_the_plugins_of_stock_nbgrader_do_the_same():
    import nbformat

    from mlsys_widgets.grading.plugins.autograde import WithoutActiveContent
    from mlsys_widgets.grading.plugins.feedback import FeedbackPage

    told = nbformat.v4.new_output("stream", name="stdout", text="limit: 1 of 1 points. So, ann.\n")
    check = nbformat.v4.new_code_cell('limit = lab.answered("limit")', outputs=[told])
    check.metadata.nbgrader = {"grade": True, "locked": True, "grade_id": "limit", "points": 1}
    who = {"nbgrader": {"student": "ann", "assignment": LAB}}
    graded, _ = WithoutActiveContent().preprocess(nbformat.v4.new_notebook(cells=[check]), who)
    assert (
        graded.cells[0].outputs[0].text == f"limit: 1 of 1 points. So, {pseudonym('ann', LAB)}.\n"
    )
    page, _ = FeedbackPage().from_notebook_node(graded, who)
    assert "So, ann." in page
