"""What is done to a notebook before it runs, held against nbgrader's own code."""

from __future__ import annotations

import contextlib
import copy
import json
import logging

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nbgrader import utils
from nbgrader.preprocessors import DeduplicateIds, LimitOutput, OverwriteCells, OverwriteKernelspec
from nbgrader.preprocessors.clearoutput import ClearOutput

from mlsys_widgets.grading.book import Book
from mlsys_widgets.grading.submissions import read_time
from mlsys_widgets.sandbox.blueprint import Blueprint, SourceCell
from mlsys_widgets.sandbox.sanitizing import Unreadable, checksum, is_locked, read, sanitize
from mlsys_widgets.sandbox.worker import HIDDEN, _limited, _output, _put_together
from tests.grading.classroom import LAB, classroom
from tests.labs.rehearsal import typed

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
names = st.text("abcdefgh_-", min_size=1, max_size=8)
FLAGS = st.fixed_dictionaries(
    {"grade_id": names, "grade": st.booleans(), "solution": st.booleans(), "locked": st.booleans(),
     "points": st.floats(0, 100) | st.integers(0, 100), "schema_version": st.just(3)},
    optional={"task": st.booleans(), "checksum": text},
)  # fmt: skip
OUTPUT = st.one_of(
    st.builds(
        lambda name, words: {"output_type": "stream", "name": name, "text": words},
        st.sampled_from(["stdout", "stderr"]), text | st.integers(0, 1300).map("line\n".__mul__),
    ),
    st.builds(
        lambda words: {"output_type": "execute_result", "data": {"text/plain": words},
                       "metadata": {}, "execution_count": 1},
        st.sampled_from(["0", "1.5", "40", "-1", "nan", "'x'", "1e3", " 2 "]),
    ),
    st.builds(
        lambda n: {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["f"] * n},
        st.integers(0, 200),
    ),
    st.just({"output_type": "display_data", "data": {"text/plain": "p"}, "metadata": {}}),
)  # fmt: skip


@st.composite
def cells(draw, flags=FLAGS):
    kind = draw(st.sampled_from(["code", "markdown"]))
    made = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
    cell = made(draw(text), metadata={"nbgrader": draw(flags)})
    if kind == "code":
        cell.outputs = [nbformat.from_dict(each) for each in draw(st.lists(OUTPUT, max_size=4))]
        cell.execution_count = 1
    return cell


@given(cells())
def test_checksums_and_locks_are_nbgraders(cell):
    assert checksum(cell) == utils.compute_checksum(cell)
    assert is_locked(cell) == bool(utils.is_locked(cell))


@given(st.lists(OUTPUT, max_size=5))
def test_long_outputs_are_cut_as_nbgrader_cuts_them(outputs):
    cell = nbformat.v4.new_code_cell("x")
    cell.outputs = [nbformat.from_dict(copy.deepcopy(each)) for each in outputs]
    LimitOutput().preprocess_cell(cell, {}, 0)
    assert [dict(each) for each in cell.outputs] == _limited(copy.deepcopy(outputs))


@given(st.datetimes().map(lambda t: t.strftime("%Y-%m-%d %H:%M:%S.%f")),
       st.sampled_from([" UTC", "", " CET", " America/New_York", " Nowhere/At_All"]))  # fmt: skip
def test_times_are_read_as_nbgrader_reads_them(moment, zone):
    try:
        theirs = utils.parse_utc(moment + zone)
    except (ValueError, OverflowError):
        theirs = None
    assert read_time(moment + zone) == theirs


@given(st.text(max_size=40) | st.binary(max_size=40).map(lambda b: b.decode("latin-1")))
def test_no_time_stops_us(words):
    read_time(words)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return classroom(tmp_path_factory.mktemp("sanitizing") / "course")


@pytest.fixture(scope="module")
def blueprint(course) -> Blueprint:
    book = Book(f"sqlite:///{course.root / 'gradebook.db'}", LAB)
    yield book.blueprint
    book.close()


def by_nbgrader(course, book):
    """The same notebook, through nbgrader's own preprocessors."""
    resources = {
        "nbgrader": {
            "notebook": LAB, "assignment": LAB, "student": "ann",
            "db_url": f"sqlite:///{course.root / 'gradebook.db'}",
        }
    }  # fmt: skip
    for step in (ClearOutput, DeduplicateIds, OverwriteKernelspec, OverwriteCells):
        made = step()
        made.log = logging.getLogger("nbgrader")
        book, resources = made.preprocess(book, resources)
    return book


def _edit_test(book):
    for cell in book.cells:
        if cell.id.startswith("check_"):
            cell.source += "\n# mine"


def _edit_points(book):
    for cell in book.cells:
        if cell.metadata.get("nbgrader", {}).get("grade"):
            cell.metadata.nbgrader.points = 1000


def _turn(book):
    cell = next(c for c in book.cells if c.id == "answer_limit")
    cell.cell_type = "markdown"
    cell.pop("outputs"), cell.pop("execution_count")


def _outputs(book):
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("stream", text="old")]
            cell.execution_count = 7
            cell.metadata["collapsed"] = cell.metadata["scrolled"] = True


@pytest.mark.parametrize(
    "edit", [lambda _: None, _edit_test, _edit_points, _turn, _outputs], ids=lambda f: f.__name__
)
def test_a_notebook_is_put_back_as_nbgrader_does_it(course, blueprint, edit):
    book = typed(course.notebook("release"), {"limit": "memory"})
    edit(book)
    ours = sanitize(read(nbformat.writes(book).encode()), blueprint)
    assert ours.notebook == by_nbgrader(course, book)
    assert ours.missing == ()


def test_a_sound_notebook_needs_no_remark(course, blueprint):
    release = nbformat.writes(course.notebook("release")).encode()
    assert sanitize(read(release), blueprint).remarks == ()


def test_hidden_tests_are_found_as_nbgrader_marks_them(blueprint):
    tests = [c for c in blueprint.cells.values() if c.points is not None and c.locked]
    assert len(tests) == 3
    for cell in tests:
        left = HIDDEN.sub("", cell.source)
        assert HIDDEN.search(cell.source)
        assert "award" not in left
        assert left.strip().startswith("lab.")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)  # fmt: skip


@st.composite
def wrecks(draw):
    """Notebooks in which anything may be anything."""
    keys = ["cell_type", "source", "metadata", "outputs", "id", "attachments", "execution_count"]
    flags = st.dictionaries(
        st.sampled_from(["grade_id", "grade", "solution", "locked", "task", "points",
                         "schema_version", "surplus"]),
        JSON | st.sampled_from(["t1", "a1", True, False, 3]),
    )  # fmt: skip
    cell = st.fixed_dictionaries(
        {},
        optional=dict.fromkeys(keys, JSON)
        | {
            "cell_type": st.sampled_from(["code", "markdown", "raw", "heading", 3]),
            "metadata": st.dictionaries(st.sampled_from(["tags", "name", "jupyter"]), JSON)
            | flags.map(lambda f: {"nbgrader": f}),
        },
    )
    return {
        "nbformat": draw(st.sampled_from([4, 4, 4, 3, 5, "4", True])),
        "metadata": draw(
            JSON | st.dictionaries(st.sampled_from(["kernelspec", "title", "authors"]), JSON)
        ),
        "cells": draw(st.lists(cell | JSON, max_size=6)),
    }


PLAN = Blueprint(
    "lab", {"name": "python3", "display_name": "Python 3"},
    {
        "t1": SourceCell("code", "1\n### BEGIN HIDDEN TESTS\n2", "x", True, 3.0),
        "a1": SourceCell("code", "a = ...", "y", False, None, solution=True),
        "e1": SourceCell("markdown", "Write.", "z", False, 5.0, solution=True),
    },
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(wrecks())
def test_whatever_is_handed_in_becomes_a_valid_notebook_or_is_refused(raw):
    try:
        book = read(json.dumps(raw).encode())
    except Unreadable:
        return
    sane = sanitize(book, PLAN)
    nbformat.validate(json.loads(nbformat.writes(sane.notebook).encode("utf-8")))
    for cell in sane.notebook.cells:
        if said := cell.metadata.get("nbgrader"):
            source = PLAN.cells[said.grade_id]
            assert (cell.cell_type, is_locked(cell)) == (source.kind, source.locked)
            assert said.get("points") == source.points or source.points is None
            if source.locked:
                assert cell.source == source.source
    assert "\n" not in "".join(sane.remarks)


@given(st.binary(max_size=200))
def test_bytes_are_refused_or_read(content):
    with contextlib.suppress(Unreadable):
        read(content)


@given(st.lists(JSON | st.fixed_dictionaries({}, optional={
    "cell": st.integers(-2, 4) | JSON, "outputs": st.lists(OUTPUT | JSON) | JSON,
    "count": st.integers(-1, 5) | JSON, "answer": st.sampled_from(["t1", "zz"]) | JSON,
    "value": st.lists(st.text(max_size=3), max_size=3) | JSON, "failed": JSON, "done": JSON,
}), max_size=6))  # fmt: skip
def test_whatever_a_child_tells_gives_a_valid_notebook(lines):
    book = nbformat.v4.new_notebook()
    book.cells = [nbformat.v4.new_code_cell("1"), nbformat.v4.new_markdown_cell("2"),
                  nbformat.v4.new_code_cell("3")]  # fmt: skip
    remarks: list[str] = []
    answers = _put_together(book, {0, 2}, [json.dumps(line) for line in lines], remarks)
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
    remarks: list[str] = []
    assert _put_together(book, {0}, [line, '{"answer": "a", "value": ["nothing"]}'], remarks) == {
        "a": ["nothing"]
    }
    assert remarks == ["something that it wrote about itself was left out"]


def test_an_output_keeps_nothing_that_a_notebook_has_not():
    told = {"output_type": "display_data", "data": {"text/plain": ["a", "b"], "image/png": 3,
            "application/json": {"n": float("inf")}},
            "metadata": {"x": "\ud800"}, "more": 1}  # fmt: skip
    assert _output(told) == {
        "output_type": "display_data",
        "data": {"text/plain": "ab", "application/json": {"n": None}},
        "metadata": {"x": "?"},
    }
