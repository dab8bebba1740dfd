"""Remarks become flags where a person should look, and nothing is said twice."""

from __future__ import annotations

import nbformat
import pytest

from mlsys_widgets.grading.judging.flags import Flag, FlagKind
from mlsys_widgets.grading.judging.raised_flags import raise_flags, show_notes
from mlsys_widgets.grading.judging.scoring import Score
from mlsys_widgets.notebooks.remarks import Remark, RemarkKind

STRAY = Remark(RemarkKind.STRAY_ANSWER, "limit", "“limit = 3” below its test")
ESSAY = Remark(RemarkKind.STRAY_ESSAY, "advice", "“Buy memory.” in a cell below it")
MISSING = Score("limit", 0.0, 20, "Not answered.", answer="", judged=True)
WRONG = Score("limit", 0.0, 20, "Too high.", answer="7", judged=True)
RIGHT = Score("limit", 20.0, 20, "Right.", answer="3", judged=True)


def test_a_misplaced_answer_is_flagged_where_none_is_recorded():
    flags, remarks = raise_flags((), (STRAY,), (MISSING,))
    assert remarks == ()
    assert [flag.sentence for flag in flags] == [
        "no answer is recorded for limit, but the notebook has “limit = 3” below its test, which"
        " was not counted"
    ]


@pytest.mark.parametrize("scores", [(RIGHT,), (WRONG,), ()])
def test_where_an_answer_counts_a_second_one_is_no_news(scores):
    assert raise_flags((), (STRAY,), scores) == ((), ())


@pytest.mark.parametrize(("auto", "raised"), [(0.0, True), (None, False), (2.0, False)])
def test_a_misplaced_text_is_flagged_where_nothing_waits_for_a_person(auto, raised):
    flags, remarks = raise_flags((), (ESSAY,), (Score("advice", auto, 20),))
    assert bool(flags) == raised
    assert remarks == ()


@pytest.mark.parametrize(
    ("remark", "kind"),
    [
        (Remark(RemarkKind.WORK_IN_COPY, "a", "“b”"), FlagKind.WORK_IN_COPY),
        (Remark(RemarkKind.WORK_BESIDE, "a", "“b” has work"), FlagKind.WORK_BESIDE),
    ],
)
def test_work_in_another_notebook_is_always_flagged(remark, kind):
    (flag,), remarks = raise_flags((), (remark,), ())
    assert (flag.kind, flag.sentence, remarks) == (kind, remark.sentence, ())


def test_what_was_left_out_is_one_flag_for_each_reason():
    """A link that was not followed, or a file that was too large, may be what the student did."""
    link = "it is a link or a special file"
    remarks = [Remark(RemarkKind.LEFT_OUT, name, link) for name in ("a", "b", "c", "d", "e")]
    remarks += [
        Remark(RemarkKind.LEFT_OUT, "film.mp4", "9 bytes are too large"),
        Remark(RemarkKind.MORE_LEFT_OUT, detail="7"),
    ]
    flags, kept = raise_flags((), remarks, ())
    assert kept == ()
    assert {flag.kind for flag in flags} == {FlagKind.LEFT_OUT}
    assert [flag.sentence for flag in flags] == [
        "7 more files were left out: too many, or too large",
        f"“a”, “b”, “c” and 2 more were left out: {link}",
        "“film.mp4” was left out: 9 bytes are too large",
    ]


@pytest.mark.parametrize("recorded", [True, False])
def test_a_notebook_that_is_none_is_one_flag_that_says_what_counted(recorded):
    remark = Remark(RemarkKind.UNREADABLE, detail="the notebook is an empty file")
    before = (Flag(FlagKind.NOT_FINISHED, detail="unreadable"),)
    (flag,), remarks = raise_flags(before, (remark,), (RIGHT,) if recorded else (MISSING,))
    assert flag.kind is FlagKind.NO_NOTEBOOK
    assert flag.sentence.startswith("the notebook is an empty file")
    assert flag.sentence.endswith("What its ledger records was graded") == recorded
    assert remarks == ()


def test_what_a_flag_says_no_remark_repeats():
    flags = (Flag(FlagKind.MISSING_CELL, "limit"), Flag(FlagKind.NOT_FINISHED, detail="time"))
    same = (Remark(RemarkKind.MISSING_CELL, "limit"), Remark(RemarkKind.NOT_FINISHED, detail="t"))
    other = Remark(RemarkKind.OTHER_KERNEL, detail="ir")
    assert raise_flags(flags, (*same, other, other), ()) == (flags, (other,))
    assert raise_flags((), same, ())[1] == same


def test_a_student_reads_what_to_do_next_time():
    book = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell("x", id="about-this-submission")]
    )
    notes = [
        Flag(FlagKind.STRAY_ANSWER, "limit", "“limit = 3” below its test"),
        Flag(FlagKind.DOUBTFUL_LEDGER, detail="for the grader alone"),
        Remark(RemarkKind.OTHER_NAME, "lab.ipynb", "“LAB.ipynb”"),
        Remark(RemarkKind.NOT_BELIEVED),
    ]
    show_notes(book, notes)
    first, _ = book["cells"]
    assert "- There is no lab.ipynb, so “LAB.ipynb” was graded in its place." in first.source
    assert "- No answer is recorded for limit" in first.source
    assert "grader alone" not in first.source
    assert first.source.count("\n- ") == 2
    nbformat.validate(book)


def test_a_sound_notebook_gets_no_cell():
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x", id="a")])
    show_notes(book, [Flag(FlagKind.DOUBTFUL_LEDGER, detail="odd")])
    assert len(book.cells) == 1
