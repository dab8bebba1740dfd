"""Answers that were written where they do not count are named, and nobody is accused."""

from __future__ import annotations

from dataclasses import replace

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.notebooks import stray_answers
from mlsys_widgets.notebooks.blueprint import Blueprint, SourceCell
from mlsys_widgets.notebooks.cell_metadata import checksum
from mlsys_widgets.notebooks.lost_cells import flags_of
from mlsys_widgets.notebooks.remarks import RemarkKind
from mlsys_widgets.notebooks.stray_answers import stray_work
from tests.effort import lines_run

BLUEPRINT = Blueprint(
    "lab",
    None,
    {
        "setup": SourceCell("code", "lab = open_lab()", "a", True),
        "limit_answer": SourceCell("code", "# Compute here.", "b", False, solution=True),
        "limit": SourceCell("code", 'limit = lab.answered("limit")', "c", True, graded=True),
        "essay": SourceCell("markdown", "*Here.*", "e", False, graded=True, solution=True),
    },
)


def book(*, more: tuple[str, ...] = (), **texts: str) -> nbformat.NotebookNode:
    """The lab, with other texts in some cells, and with cells below it."""
    cells = []
    for name, source in BLUEPRINT.cells.items():
        code = source.kind == "code"
        made = nbformat.v4.new_code_cell if code else nbformat.v4.new_markdown_cell
        each = made(source.source, metadata={"nbgrader": flags_of(name, source)})
        if source.graded:
            each.metadata.nbgrader["points"] = 1
        each.metadata.nbgrader["checksum"] = checksum(each)
        each.source = texts.get(name, each.source)
        cells.append(each)
    cells += [nbformat.v4.new_code_cell(code) for code in more]
    return nbformat.v4.new_notebook(cells=cells)


def sentences(made: nbformat.NotebookNode, kind: RemarkKind = RemarkKind.STRAY_ANSWER) -> list[str]:
    return [remark.detail for remark in stray_work(made, BLUEPRINT) if remark.kind is kind]


READ = 'limit = lab.answered("limit")'


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (book(limit=f"{READ}\nlimit = 'memory'"), "“limit = 'memory'” in its test"),
        (book(limit="limit = 'memory'"), "“limit = 'memory'” in its test"),
        (book(limit_answer="limit = 2 * x"), "“limit = 2 * x” above its test"),
        (book(more=("limit = 3", "y = 1")), "“limit = 3” below its test"),
        (book(more=("y = 1", "limit = 3")), "“limit = 3” in the last cell"),
        (book(more=('lab.answer("limit", 3)',)), "“lab.answer('limit', 3)” in the last cell"),
        (
            book(more=('limit = 3\nlab.answer("limit", limit)', "")),
            "“limit = 3” below its test",
        ),
        (book(more=("!ls\n%time\nlimit = 3", "")), "“limit = 3” below its test"),
        (book(more=("if True:\n    limit = 3", "")), "“limit = 3” below its test"),
        (book(more=("limit = 1", "limit = 2", "")), "“limit = 2” below its test"),
    ],
)
def test_an_answer_elsewhere_is_named_with_its_words(made, words):
    assert sentences(made) == [words]


@pytest.mark.parametrize(
    "made",
    [
        book(),
        book(limit_answer='limit = 3\nlab.answer("limit", limit)'),
        book(limit_answer='lab.answer("limit", 3)', more=("limit = 4",)),
        book(limit_answer="limit = ..."),
        book(limit_answer="limits = 3"),
        book(more=("print(limit)",)),
        book(more=("limit = = 3",)),
        book(more=("limit = " + "[" * 3000,)),
        book(more=("#" * 60_000 + "\nlimit = 3",)),
    ],
)
def test_what_counts_or_is_no_answer_is_not_named(made):
    assert sentences(made) == []


@pytest.mark.parametrize(
    "text",
    [
        "295",
        "The answer is 295 FLOP per byte.",
        "limit: 295",
        "'memory'",
        "# limit is 295",
        "limit = 295 FLOP/byte",
    ],
)
def test_text_in_a_cell_of_ones_own_is_named(text):
    for made in (nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell):
        work = book()
        work.cells.append(made(text))
        assert sentences(work, RemarkKind.TYPED_TEXT) == [f"“{text}”"]


@pytest.mark.parametrize("code", ["", " ", "x = 1", "print(295)", "%matplotlib inline", "f(3)"])
def test_code_is_no_text(code):
    assert sentences(book(more=(code,)), RemarkKind.TYPED_TEXT) == []


def test_a_variable_counts_where_the_test_reads_it_or_is_gone():
    made = book(limit_answer="limit = 3")
    del made.cells[2]
    assert sentences(made) == []
    first_edition = replace(BLUEPRINT.cells["limit"], source='lab.check("limit")')
    cells = {**BLUEPRINT.cells, "limit": first_edition}
    made = book(limit_answer="limit = 3")
    assert stray_work(made, replace(BLUEPRINT, cells=cells))[1:] == []


def test_code_in_cells_of_the_lab_is_pointed_out():
    made = book(setup="lab = open_lab()\n# a note\ndef twice(x):\n    return 2 * x")
    (remark,) = stray_work(made, BLUEPRINT)
    assert remark.kind is RemarkKind.EDITED_CELL
    assert remark.sentence.startswith("cells of the lab were edited (setup). They ran as they were")


@pytest.mark.parametrize("text", ["lab = open_lab()\n\n# a note", "lab=open_lab()", ""])
def test_a_note_or_a_space_in_them_is_nothing(text):
    assert stray_work(book(setup=text), BLUEPRINT) == []


def with_text(at: int, text: str, **metadata) -> nbformat.NotebookNode:
    made = book()
    made.cells.insert(at, nbformat.v4.new_markdown_cell(text, metadata=metadata))
    return made


@pytest.mark.parametrize(("at", "where"), [(3, "above it"), (4, "below it")])
def test_an_essay_beside_its_place_is_named(at, where):
    found = sentences(with_text(at, "Buy memory that is faster."), RemarkKind.STRAY_ESSAY)
    assert found == [f"“Buy memory that is faster.” in a cell {where}"]


def test_an_essay_at_the_end_is_named():
    made = book(more=("x = 1", "y = 2"))
    made.cells.append(nbformat.v4.new_markdown_cell("Buy memory that is faster."))
    (found,) = sentences(made, RemarkKind.STRAY_ESSAY)
    assert found.endswith("in a cell at the end")


@pytest.mark.parametrize(
    "made",
    [
        with_text(4, "# Notes"),
        with_text(4, "The lab's own words about it.", editable=False),
        with_text(1, "Far away from where it is graded."),
    ],
)
def test_a_heading_or_a_text_of_the_lab_is_no_essay(made):
    assert sentences(made, RemarkKind.STRAY_ESSAY) == []


def test_an_essay_in_its_place_needs_no_other():
    made = with_text(4, "And some more notes of mine.")
    made.cells[3].source = "Buy memory that is faster."
    assert sentences(made, RemarkKind.STRAY_ESSAY) == []


def test_where_everything_lost_its_metadata_no_text_is_taken_for_a_students():
    made = with_text(4, "Buy memory that is faster.")
    kinds = {remark.kind for remark in stray_work(made, BLUEPRINT, lost=True)}
    assert RemarkKind.STRAY_ESSAY not in kinds


def test_both_sides_of_a_conflict_in_a_cell_are_named():
    text = "<<<<<<< local\nx = 1\n=======\nx = 2\n>>>>>>> remote"
    (remark,) = stray_work(book(limit_answer=text), BLUEPRINT)
    assert remark.sentence.startswith("the cell limit_answer still has the markers of a Git merge")


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_looked_at(one, other):
    for remark in stray_work(book(limit_answer=f"limit {one}", more=(other,)), BLUEPRINT):
        assert remark.sentence.isprintable()


def test_the_work_grows_with_the_number_of_cells_alone():
    def work(cells: int) -> int:
        made = book(more=tuple(f"limit = {k}" for k in range(cells)))
        return lines_run(stray_answers, lambda: sentences(made))

    assert len(sentences(book(more=tuple(f"limit = {k}" for k in range(5_000))))) == 1
    assert work(1_000) < 2.5 * work(500)
