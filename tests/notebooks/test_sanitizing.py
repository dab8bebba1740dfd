"""What is done to a notebook before it runs, held against nbgrader's own code."""

from __future__ import annotations

import contextlib
import json
import logging

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nbgrader import utils
from nbgrader.preprocessors import DeduplicateIds, OverwriteCells, OverwriteKernelspec
from nbgrader.preprocessors.clearoutput import ClearOutput

from mlsys_widgets.grading.gradebook.gradebook_writer import LabGradebook
from mlsys_widgets.notebooks.blueprint import Blueprint, SourceCell
from mlsys_widgets.notebooks.cell_metadata import HIDDEN, checksum, is_locked
from mlsys_widgets.notebooks.notebook_text import UnreadableNotebook
from mlsys_widgets.notebooks.sanitizing import read, sanitize
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


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return classroom(tmp_path_factory.mktemp("sanitizing") / "course")


@pytest.fixture(scope="module")
def blueprint(course) -> Blueprint:
    book = LabGradebook(f"sqlite:///{course.root / 'gradebook.db'}", LAB)
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
    tests = [c for c in blueprint.cells.values() if c.graded and c.locked]
    assert len(tests) == 3
    for cell in tests:
        left = HIDDEN.sub("", cell.source)
        assert HIDDEN.search(cell.source)
        assert "award" not in left
        assert "lab." in left


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
        "t1": SourceCell("code", "1\n### BEGIN HIDDEN TESTS\n2", "x", True, graded=True,
                         metadata={"points": 3.0}),
        "a1": SourceCell("code", "a = ...", "y", False, solution=True),
        "e1": SourceCell("markdown", "Write.", "z", False, graded=True, solution=True,
                         metadata={"points": 5.0}),
    },
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(wrecks())
def test_whatever_is_handed_in_becomes_a_valid_notebook_or_is_refused(raw):
    try:
        book = read(json.dumps(raw).encode())
    except UnreadableNotebook:
        return
    sane = sanitize(book, PLAN)
    nbformat.validate(json.loads(nbformat.writes(sane.notebook).encode("utf-8")))
    for cell in sane.notebook.cells:
        if notes := cell.metadata.get("nbgrader"):
            source = PLAN.cells[notes.grade_id]
            assert (cell.cell_type, is_locked(cell)) == (source.kind, source.locked)
            assert {name: notes.get(name) for name in source.metadata} == source.metadata
            if source.locked:
                assert cell.source == source.source
    assert "\n" not in "".join(remark.sentence for remark in sane.remarks)


@pytest.mark.parametrize(("levels", "reads"), [(90, True), (100, False), (900, False)])
def test_what_is_nested_too_deeply_is_refused_on_every_python(levels, reads):
    # With the notebook around it, a hundred levels of metadata are one too many.
    metadata = '{"a":' * levels + "1" + "}" * levels
    content = (
        f'{{"nbformat": 4, "nbformat_minor": 5, "cells": [], "metadata": {metadata}}}'.encode()
    )
    if reads:
        assert read(content).cells == []
    else:
        with pytest.raises(UnreadableNotebook, match="nested too deeply"):
            read(content)


@given(st.binary(max_size=200))
def test_bytes_are_refused_or_read(content):
    with contextlib.suppress(UnreadableNotebook):
        read(content)
