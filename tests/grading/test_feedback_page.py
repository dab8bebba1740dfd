"""Feedback is made whatever a student wrote, also where stock nbgrader has graded it."""

from __future__ import annotations

import nbformat

from mlsys_widgets.grading.plugins.feedback import WithoutHiddenTests
from tests.browser.test_inert_pages import page_of
from tests.effort import effort


def test_thirty_thousand_environments_get_their_feedback():
    essay = nbformat.v4.new_markdown_cell(r"\begin{a}" * 30_000)
    essay.metadata.nbgrader = {
        "grade": True, "solution": True, "locked": False, "task": False, "schema_version": 3,
        "grade_id": "advice", "points": 20,
    }  # fmt: skip
    code = nbformat.v4.new_code_cell("lambda a." * 30_000, execution_count=1)
    book = nbformat.v4.new_notebook(cells=[essay, code])
    pages = []

    def make_page() -> None:
        made, _ = WithoutHiddenTests().preprocess(book, {})
        for cell in made.cells:  # what nbgrader's own preprocessor reads from the gradebook
            cell.metadata.setdefault("nbgrader", {}).update(score=0, comment=None)
        pages.append(page_of("feedback", made))

    assert effort(make_page) < 100
    assert r"\begin{a}" in pages[0]
    assert "lambda a.lambda" in pages[0]


def test_an_unused_scratch_cell_is_no_missing_answer():
    """The card above it has the answer; where code itself is graded, the remark is true."""

    def cell(source: str, grade_id: str, *, grade: bool, comment: str | None = None):
        made = nbformat.v4.new_code_cell(source, execution_count=1)
        made.metadata.nbgrader = {
            "grade": grade, "solution": not grade, "locked": grade, "task": False,
            "schema_version": 3, "grade_id": grade_id, "comment": comment,
            **({"points": 5, "score": 5} if grade else {}),
        }  # fmt: skip
        return made

    none = "No response."
    book = nbformat.v4.new_notebook(cells=[
        cell("# If you compute, do it here.", "kernels_answer", grade=False, comment=none),
        cell('kernels = lab.answered("kernels")', "kernels", grade=True),
        cell("def add(a, b): ...", "add_answer", grade=False, comment=none),
        cell("assert add(1, 2) == 3", "add", grade=True),
        cell("# look at it", "other_answer", grade=False, comment="Well done."),
        cell('other = lab.answered("other")', "other", grade=True),
    ])  # fmt: skip
    made, _ = WithoutHiddenTests().preprocess(book, {})
    comments = [each.metadata.nbgrader.comment for each in made.cells]
    assert comments == [None, None, none, None, "Well done.", None]
    assert page_of("feedback", made).count(none) == 1
