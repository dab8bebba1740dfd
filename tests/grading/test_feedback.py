"""Feedback is made whatever a student wrote, also where stock nbgrader has graded it."""

from __future__ import annotations

import time

import nbformat

from mlsys_widgets.grading.feedback import WithoutHiddenTests
from tests.browser.test_inert_pages import page_of


def test_thirty_thousand_environments_get_their_feedback():
    essay = nbformat.v4.new_markdown_cell(r"\begin{a}" * 30_000)
    essay.metadata.nbgrader = {
        "grade": True, "solution": True, "locked": False, "task": False, "schema_version": 3,
        "grade_id": "advice", "points": 20,
    }  # fmt: skip
    code = nbformat.v4.new_code_cell("lambda a." * 30_000, execution_count=1)
    book = nbformat.v4.new_notebook(cells=[essay, code])
    begin = time.process_time()
    made, _ = WithoutHiddenTests().preprocess(book, {})
    for cell in made.cells:  # what nbgrader's own preprocessor reads from the gradebook
        cell.metadata.setdefault("nbgrader", {}).update(score=0, comment=None)
    page = page_of("feedback", made)
    assert time.process_time() - begin < 10
    assert r"\begin{a}" in page
    assert "lambda a.lambda" in page
