"""The feedback page: what a student reads, whatever was written, and whoever graded it."""

from __future__ import annotations

import re
from typing import Any

import nbformat
import pytest

from mlsys_widgets.grading.feedback.feedback_page import feedback_page
from mlsys_widgets.grading.feedback.question_results import UNREAD
from mlsys_widgets.judging.verdicts import Verdict, result_in_words
from mlsys_widgets.notebooks.essay_cells import as_typed
from tests.effort import effort


def graded(source: str, name: str, printed: str = "", **about: Any) -> Any:
    """A check of a lab, after it has run."""
    made = nbformat.v4.new_code_cell(source, execution_count=1)
    if printed:
        made.outputs = [nbformat.v4.new_output("stream", name="stdout", text=printed)]
    made.metadata.nbgrader = {
        "grade": True, "solution": False, "locked": True, "task": False, "schema_version": 3,
        "grade_id": name, "points": 5, "score": 5, **about,
    }  # fmt: skip
    return made


def question(name: str, title: str, act: int = 1) -> Any:
    made = nbformat.v4.new_code_cell(f'lab.card("{name}")')
    made.metadata.mlsys = {"kind": "answer", "id": name, "title": title, "act": act}
    return made


def essay(text: str, **about: Any) -> Any:
    made = nbformat.v4.new_markdown_cell(text)
    made.metadata.nbgrader = {
        "grade": True, "solution": True, "locked": False, "task": False, "schema_version": 3,
        "grade_id": "advice", "points": 20, "score": 0, "comment": None, **about,
    }  # fmt: skip
    return made


def page_of(*cells: Any, **about: Any) -> str:
    book = nbformat.v4.new_notebook(cells=list(cells))
    book.metadata.mlsys = {"title": "Lab 07: Kernel fusion", "acts": ["The dispatch tax"]}
    return feedback_page(book, {"student": "ann", "assignment": "lab_07", **about})


def words_of(page: str) -> str:
    body = page[page.index("<body") :]
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def test_a_question_is_its_title_the_answer_its_points_and_why():
    told = result_in_words("kernels", Verdict(0.5, "You counted launches."), 2.5, 5)
    printed = f"kernels: 115.4 kernels is\nrecorded.\n{told}\n"
    check = graded('kernels = lab.answered("kernels")', "kernels", printed, score=2.5)
    page = page_of(question("kernels", "How many kernels?"), check, score=2.5, max_score=5)
    assert words_of(page) == (
        "Lab 07: Kernel fusion Feedback for ann 2.5 of 5 points Act 1: The dispatch tax"
        " How many kernels? 2.5 of 5 Your answer: 115.4 kernels You counted launches."
    )
    assert 'data-sign="◐"' in page


def test_no_code_and_no_hidden_test_is_on_it():
    check = graded("### BEGIN HIDDEN TESTS\nassert key == 42\n### END HIDDEN TESTS", "kernels")
    check.outputs = [
        nbformat.v4.new_output("error", ename="AssertionError", evalue="too low",
                               traceback=["----> assert key == 42", "AssertionError: too low"])
    ]  # fmt: skip
    page = page_of(nbformat.v4.new_code_cell("setup()"), check)
    assert "AssertionError: too low" in page
    assert "key == 42" not in page
    assert "setup()" not in page


def test_an_essay_that_nobody_has_read_is_with_the_ta():
    page = page_of(essay("Fuse it.", **{UNREAD: True}), score=0, max_score=20)
    words = words_of(page)
    assert "“Advice” is with your TA: 20 more points to earn." in words
    assert "0 of" not in words
    read = page_of(essay("Fuse it.", score=15, comment="Which one?"), score=15, max_score=20)
    assert "15 of 20 Fuse it. From your TA: Which one?" in words_of(read)


def test_an_essay_is_shown_as_it_was_typed_with_what_its_rubric_gave():
    given = "✓ names <b>it</b> (6 of 6)\n○ says why (0 of 4)"
    page = page_of(essay(as_typed("Fuse\nit."), score=6, comment=given), score=6, max_score=20)
    assert '<div class="text">Fuse\nit.</div>' in page
    listed = "<br>✓ names &lt;b&gt;it&lt;/b&gt; (6 of 6)<br>○ says why (0 of 4)"
    assert f"<b>From your TA:</b>{listed}" in page


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "![x](http://example.org/x.png)"])
def test_what_a_student_wrote_is_text(text: str):
    printed = f"kernels: “{text}” is recorded.\nkernels: 0 of 5 points. No.\n"
    check = graded('kernels = lab.answered("kernels")', "kernels", printed, score=0)
    title = question("kernels", text)
    note = nbformat.v4.new_markdown_cell(f"- {text}", id="about-this-submission")
    page = page_of(note, title, check, essay(text, comment=text))
    assert "<script" not in page
    assert "<img" not in page
    assert 'src="' not in page


@pytest.mark.parametrize("metadata", [7, [], {"acts": 3, "title": [1]}, {"acts": {"a": 1}}])
def test_a_notebook_that_says_nonsense_about_itself_gets_its_page(metadata: Any):
    asked = question("kernels", "How many kernels?", act=-1)
    asked.metadata.mlsys["id"] = ["kernels"]
    odd = nbformat.v4.new_code_cell("1")
    odd.metadata.mlsys, odd.metadata.nbgrader = "lab", ["grade"]
    check = graded('kernels = lab.answered("kernels")', "kernels", "kernels: 5 of 5 points. Yes.")
    book = nbformat.v4.new_notebook(cells=[asked, odd, check])
    book.metadata.mlsys = metadata
    assert "5 of 5" in feedback_page(book, {"student": "eve", "assignment": "lab_07"})


def test_deeper_questions_are_listed_only_where_they_were_answered():
    printed = "a: 7 ms is recorded.\na: deeper, partly solved. Nearly.\n"
    solved = graded('a = lab.answered("a")', "a", printed, points=0)
    blank = graded('b = lab.answered("b")', "b", "b: deeper, not solved. Nothing.\n", points=0)
    words = words_of(page_of(solved, blank))
    assert "Deeper: 1 question that you answered, without points A Your answer: 7 ms" in words
    assert "Partly solved. Nearly." in words
    assert "Nothing." not in words


def test_an_unused_scratch_cell_is_no_missing_answer():
    scratch = graded("# If you compute, do it here.", "kernels_answer", grade=False, solution=True,
                     locked=False, comment="No response.")  # fmt: skip
    printed = "kernels: 3 kernels is recorded.\nkernels: 5 of 5 points. Right.\n"
    check = graded('kernels = lab.answered("kernels")', "kernels", printed)
    assert "No response." not in page_of(scratch, check)


def test_what_nbgrader_says_by_itself_is_not_from_a_ta():
    scratch = graded("", "kernels_answer", grade=False, solution=True, locked=False,
                     comment="No response.")  # fmt: skip
    told = "kernels: 0 of 5 points. Not answered.\n"
    check = graded('kernels = lab.answered("kernels")', "kernels", told, score=0)
    page = page_of(scratch, check, essay("", comment="No response."))
    assert "Not answered." in page
    assert "Nothing was written." in page
    assert "From your TA" not in page


def test_thirty_thousand_environments_get_their_feedback():
    book = [essay(r"\begin{a}" * 30_000), graded("lambda a." * 30_000, "code")]
    pages: list[str] = []
    assert effort(lambda: pages.append(page_of(*book))) < 100
    assert r"\begin{a}" in pages[0]
