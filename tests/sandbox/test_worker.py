"""A submission before and after it runs: data comes back, whatever was handed in."""

from __future__ import annotations

import nbformat
import pytest

from mlsys_widgets.notebooks.blueprint import Blueprint, SourceCell
from mlsys_widgets.notebooks.remarks import RemarkKind
from mlsys_widgets.sandbox.job import FINISHED, Job
from mlsys_widgets.sandbox.worker import NoUsableNotebook, apply_report, make_runnable
from tests.sandbox.children import LAB, LIMITS

TEST = "print('seen')\n### BEGIN HIDDEN TESTS\nprint('hidden', answer)\n5\n### END HIDDEN TESTS"
BLUEPRINT = Blueprint(
    LAB,
    {"name": "python3", "display_name": "Python 3"},
    {"answer": SourceCell("code", TEST, "x", True, graded=True, metadata={"points": 5.0})},
)


def notebook(*codes: str, test: bool = True) -> dict[str, bytes]:
    """A submission with some cells, and the graded one below them."""
    cells = [nbformat.v4.new_code_cell(code, id=f"c{n}") for n, code in enumerate(codes)]
    flags = {"grade": True, "grade_id": "answer", "locked": True, "solution": False,
             "task": False, "points": 5, "schema_version": 3}  # fmt: skip
    if test:
        cell = nbformat.v4.new_code_cell("tampered", id="test", metadata={"nbgrader": flags})
        cells.append(cell)
    return {f"{LAB}.ipynb": nbformat.writes(nbformat.v4.new_notebook(cells=cells)).encode()}


def result_of(server, files):
    """What comes of a submission, and its notebook."""
    runnable = make_runnable(LAB, files, BLUEPRINT)
    job = Job("ann", LAB, {}, limits=LIMITS)
    report = server.run(job, {}, runnable.cells, runnable.read_after, runnable.hidden)
    return apply_report("ann", runnable, report), runnable.book


def test_a_submission_comes_back_as_data(server):
    result, book = result_of(server, notebook("answer = 3"))
    assert (result.ended, result.missing) == (FINISHED, ())
    assert [remark.kind for remark in result.remarks] == [RemarkKind.EDITED_CELL]
    assert result.answers == {"answer": ["int", "0x3"]}
    assert book.cells[1].source == TEST
    printed, points = book.cells[1].outputs
    assert printed.text == "seen\nhidden 3\n"
    assert points.data["text/plain"] == "5"


def test_an_answer_counts_where_its_test_is_missing(server):
    result, _ = result_of(server, notebook("answer = 3", test=False))
    assert result.missing == ("answer",)
    assert result.answers == {"answer": ["int", "0x3"]}
    assert [remark.kind for remark in result.remarks] == [RemarkKind.MISSING_CELL]


def test_a_process_that_ends_itself_is_told_from_one_that_finished(server):
    result, _ = result_of(server, notebook("answer = 3", "import os\nos._exit(0)"))
    assert (result.ended, result.answers) == ("it ended itself", {})
    kinds = [remark.kind for remark in result.remarks]
    assert kinds == [RemarkKind.EDITED_CELL, RemarkKind.NOT_FINISHED]


@pytest.mark.parametrize(
    ("files", "ended", "kind", "shown"),
    [
        ({}, "no notebook", RemarkKind.NO_NOTEBOOK, f"there is no {LAB}.ipynb"),
        ({"b.ipynb": b""}, "no notebook", RemarkKind.NO_NOTEBOOK, ", only “b.ipynb”. Hand in one"),
        ({f"{LAB}.ipynb": b"{"}, "unreadable", RemarkKind.UNREADABLE, "breaks off"),
    ],
)
def test_what_is_no_notebook_is_not_run(files, ended, kind, shown):
    with pytest.raises(NoUsableNotebook) as refused:
        make_runnable(LAB, files, BLUEPRINT)
    assert refused.value.ended == ended
    assert refused.value.remark.kind is kind
    assert shown in refused.value.remark.sentence


FORGED = """
import json, os
line = json.dumps({"failed": "it was a good notebook"}).encode() + b"\\n"
for fd in range(3, 80):
    try: os.write(fd, line)
    except OSError: pass
os._exit(0)
"""


def test_a_line_that_a_submission_forges_is_not_ours(server):
    """Even if it is the first thing that the submission does, and the last."""
    result, _ = result_of(server, notebook(FORGED))
    kinds = {remark.kind for remark in result.remarks}
    assert RemarkKind.NOT_STARTED not in kinds
    assert kinds >= {RemarkKind.NOT_BELIEVED, RemarkKind.NOT_FINISHED}
    assert not any("good notebook" in remark.sentence for remark in result.remarks)
