"""What a submission earns, from plain data; and stock nbgrader's rule, held against nbgrader's."""

from __future__ import annotations

import math

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbgrader import utils

from mlsys_widgets.grading.judging.scoring import Judge, by_notebook
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.judging.keys import NumberKey
from mlsys_widgets.labs import UnusableAnswer, load
from mlsys_widgets.sandbox.answer_data import from_data, to_data
from tests.grading.classroom import LAB, classroom
from tests.notebooks.test_sanitizing import FLAGS, JSON, cells


@given(cells(FLAGS.map(lambda flags: {**flags, "grade": True})))
def test_points_by_a_notebook_are_nbgraders(cell):
    try:
        theirs, _ = utils.determine_grade(cell)
    except ValueError:  # more points than there are: nbgrader stops, we give none
        theirs = 0
    assert by_notebook(cell) == theirs


plain_values = (
    st.none() | st.booleans() | st.integers(-(10**300), 10**300) | st.floats() | st.text(max_size=9)
)  # fmt: skip


@given(plain_values)
def test_an_answer_travels_exactly(value):
    back = from_data(to_data(value))
    if value is None:
        assert back is ...
    elif isinstance(value, float) and math.isnan(value):
        assert math.isnan(back)
    else:
        assert back == value
        assert type(back) is type(value)


@given(JSON | st.lists(st.text(max_size=9) | st.integers(), max_size=4))
def test_whatever_comes_back_is_plain_or_refused(data):
    try:
        value = from_data(data)
    except (UnusableAnswer, ValueError, OverflowError):
        return
    assert value is ... or type(value) in (bool, int, float, str)


@pytest.mark.parametrize(
    "data", [["int", "0x" + "f" * 1000], ["str", "x" * 20_000], ["float", "0x1p99999"],
             ["float", "1" * 100], ["bool", "yes"], ["refused", "list"], ["code", "x"], [], None]
)  # fmt: skip
def test_what_no_child_would_send_is_refused(data):
    with pytest.raises((UnusableAnswer, ValueError, OverflowError)):
        from_data(data)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return classroom(tmp_path_factory.mktemp("scoring") / "course")


@pytest.fixture
def judge(course):
    home = course.root / "assignments" / LAB
    return Judge(load(home), load_checks(home))


POINTS = {"intensity_flop_per_byte": 40.0, "limit": 20.0, "advice": 20.0, "commitments": 20.0}


def cell_of(name: str, *, says: str | None = "0.0", ran: bool = True):
    """A test cell that ran and gave some points."""
    flags = {"grade": True, "grade_id": name, "locked": True, "solution": False,
             "points": POINTS[name], "schema_version": 3}  # fmt: skip
    cell = nbformat.v4.new_code_cell("test", metadata={"nbgrader": flags})
    cell.execution_count = 3 if ran else None
    if says is not None and ran:
        cell.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": says})]
    return cell


def test_nbgraders_verdict_is_kept_where_it_differs(course, judge, tmp_path):
    """A cell that fails before its test earns nothing in nbgrader, whatever the answer is."""
    key = course.asked("ann").keys["intensity_flop_per_byte"].value
    answers = {"intensity_flop_per_byte": ["float", float(key).hex()], "limit": ["str", "compute"]}
    failed = cell_of("intensity_flop_per_byte", says=None)
    failed.outputs = [nbformat.v4.new_output("error", ename="E", evalue="", traceback=[])]
    cells = {"intensity_flop_per_byte": failed, "limit": cell_of("limit", says=None)}
    found, _ = judge.score("ann", cells, POINTS, answers, tmp_path)
    scores = {score.name: score for score in found}
    assert (scores["intensity_flop_per_byte"].auto, scores["limit"].auto) == (40, 0)
    assert scores["intensity_flop_per_byte"].by_notebook == 0
    assert scores["limit"].by_notebook is None
    assert all(score.judged for score in found if score.name != "advice")
    assert judge.judged == {"intensity_flop_per_byte", "limit", "commitments"}


def test_a_cell_that_did_not_run_gives_no_points_and_no_second_verdict(judge, tmp_path):
    """Nbgrader takes a test without output for passed; one that never ran has none either."""
    cells = {name: cell_of(name, ran=False) for name in ("intensity_flop_per_byte", "limit")}
    found, _ = judge.score("ann", cells, POINTS, {}, tmp_path)
    assert [(s.auto, s.by_notebook) for s in found[:2]] == [(0, None), (0, None)]
    unknown = {"by hand": 5.0}
    cell = cell_of("limit", ran=False)
    cell.metadata.nbgrader.points = 5
    assert judge.score("ann", {"by hand": cell}, unknown, {}, tmp_path)[0][0].auto == 0
    cell.execution_count = 4
    assert judge.score("ann", {"by hand": cell}, unknown, {}, tmp_path)[0][0].auto == 5


def test_an_essay_waits_for_a_person_unless_there_is_no_notebook(judge, tmp_path):
    some = {"limit": cell_of("limit")}
    with_book, _ = judge.score("ann", some, POINTS, {}, tmp_path)
    without, _ = judge.score("ann", {}, POINTS, {}, tmp_path)
    assert [s.auto for s in with_book if s.name == "advice"] == [None]
    assert [s.auto for s in without] == [0, 0, 0, 0]


@pytest.mark.parametrize("problem", [KeyError("k"), RecursionError(), ValueError("a sentence")])
def test_a_check_that_fails_gives_no_points_and_a_sentence(course, tmp_path, problem):
    home = course.root / "assignments" / LAB

    def failing(_given) -> NumberKey:
        raise problem

    checks = {**load_checks(home), "limit": failing}
    found, _ = Judge(load(home), checks).score(
        "ann", {}, POINTS, {"limit": ["str", "memory"]}, tmp_path
    )
    (score,) = (s for s in found if s.name == "limit")
    assert score.auto == 0
    assert score.says


@pytest.mark.parametrize(
    "content", [b"[" * 100_000, b"\xff\xfe", b"{}\n{}", b'{"a":' * 9999, b"\x00"]
)
def test_a_broken_ledger_gives_no_points_and_a_doubt(judge, tmp_path, content):
    (tmp_path / "ledger.jsonl").write_bytes(content)
    found, doubts = judge.score("ann", {}, POINTS, {}, tmp_path)
    assert [s.auto for s in found if s.name == "commitments"] == [0]
    assert doubts
