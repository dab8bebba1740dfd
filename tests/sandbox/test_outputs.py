"""Whatever a child reports becomes valid in a notebook, or is left out."""

from __future__ import annotations

import copy
import json

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbgrader.preprocessors import LimitOutput

from mlsys_widgets.notebooks.remarks import Remark, RemarkKind
from mlsys_widgets.sandbox.outputs import read_output, shortened, take_reports
from tests.notebooks.test_sanitizing import JSON, OUTPUT


@given(st.lists(OUTPUT, max_size=5))
def test_long_outputs_are_cut_as_nbgrader_cuts_them(outputs):
    cell = nbformat.v4.new_code_cell("x")
    cell.outputs = [nbformat.from_dict(copy.deepcopy(each)) for each in outputs]
    LimitOutput().preprocess_cell(cell, {}, 0)
    assert [dict(each) for each in cell.outputs] == shortened(copy.deepcopy(outputs))


@given(st.lists(JSON | st.fixed_dictionaries({}, optional={
    "cell": st.integers(-2, 4) | JSON, "outputs": st.lists(OUTPUT | JSON) | JSON,
    "count": st.integers(-1, 5) | JSON, "answer": st.sampled_from(["t1", "zz"]) | JSON,
    "value": st.lists(st.text(max_size=3), max_size=3) | JSON, "failed": JSON, "done": JSON,
}), max_size=6))  # fmt: skip
def test_whatever_a_child_tells_gives_a_valid_notebook(lines):
    book = nbformat.v4.new_notebook()
    book.cells = [nbformat.v4.new_code_cell("1"), nbformat.v4.new_markdown_cell("2"),
                  nbformat.v4.new_code_cell("3")]  # fmt: skip
    remarks: list[Remark] = []
    answers = take_reports(book, {0, 2}, [json.dumps(line) for line in lines], remarks)
    nbformat.validate(json.loads(nbformat.writes(book).encode("utf-8")))
    json.dumps(json.loads(nbformat.writes(book)), allow_nan=False)
    for name, value in answers.items():
        assert isinstance(name, str)
        assert all(isinstance(word, str) for word in value)
        assert len(value) <= 2


@pytest.mark.parametrize(
    "line", ["", "[" * 100_000, "null", '{"cell": 0}', "\x00", '{"cell": 0, "o']
)
def test_a_broken_line_is_left_out(line):
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")])
    remarks: list[Remark] = []
    assert take_reports(book, {0}, [line, '{"answer": "a", "value": ["nothing"]}'], remarks) == {
        "a": ["nothing"]
    }
    assert [remark.kind for remark in remarks] == [RemarkKind.NOT_BELIEVED]


def test_an_output_keeps_nothing_that_a_notebook_has_not():
    told = {"output_type": "display_data", "data": {"text/plain": ["a", "b"], "image/png": 3,
            "application/json": {"n": float("inf")}},
            "metadata": {"x": "\ud800"}, "more": 1}  # fmt: skip
    assert read_output(told) == {
        "output_type": "display_data",
        "data": {"text/plain": "ab", "application/json": {"n": None}},
        "metadata": {"x": "?"},
    }


FAILED = '{"failed": "no space for a sandbox"}'
STARTED = '{"started": true}'


@pytest.mark.parametrize(
    ("lines", "started", "kinds"),
    [
        ([FAILED], False, [RemarkKind.NOT_STARTED]),
        ([STARTED], False, []),
        ([STARTED, FAILED], False, [RemarkKind.NOT_BELIEVED]),
        ([FAILED], True, [RemarkKind.NOT_BELIEVED]),
        ([STARTED], True, [RemarkKind.NOT_BELIEVED]),
        ([STARTED, STARTED], False, [RemarkKind.NOT_BELIEVED]),
        (['{"done": true}', FAILED], False, [RemarkKind.NOT_BELIEVED]),
    ],
)
def test_only_a_child_that_never_started_says_why(lines, started, kinds):
    """Afterward a student's code may write whatever it likes, our own words included."""
    book, remarks = nbformat.v4.new_notebook(), []
    take_reports(book, set(), lines, remarks, started=started)
    assert [remark.kind for remark in remarks] == kinds
