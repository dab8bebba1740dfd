"""The widget of a class: every chart can be shown, by mouse and from Python."""

from __future__ import annotations

import csv
import io
import random
import re
from pathlib import Path

import pytest

from mlsys_widgets import ClassReport
from mlsys_widgets.classes import ClassSummary, class_summary, csv_tables
from mlsys_widgets.classes.class_charts import chart_groups
from mlsys_widgets.classes.report_page import page
from mlsys_widgets.classes.summary import BeliefCount, QuestionSummary
from mlsys_widgets.drawing import markup
from tests.classes.html_page import Page
from tests.classes.test_lecture_page import some_class
from tests.grading.classroom import LAB, classroom
from tests.grading.simulated import STUDENTS, copy_of_class, graded_class

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def summary() -> ClassSummary:
    return class_summary(LAB, graded_class())


def test_a_class_of_nobody(tmp_path: Path) -> None:
    course = classroom(tmp_path / "course")
    summary = class_summary(LAB, course.root)
    assert summary.rows == ()
    assert "Nobody has handed in" in Page(page(summary)).text
    assert chart_groups(summary) == ()
    assert len(list(csv.reader(io.StringIO(csv_tables.submissions(summary))))) == 1
    widget = ClassReport(summary)
    assert "Nobody has handed in" in widget.text()
    with pytest.raises(ValueError, match="no picture yet"):
        widget.figure()


def test_without_ledgers_and_without_a_journal(tmp_path: Path) -> None:
    root = copy_of_class(tmp_path / "course")
    for ledger in root.rglob("ledger.jsonl"):  # as handed in, and as graders copied it
        ledger.unlink()
    (root / ".mlsys" / f"grade-{LAB}.jsonl").unlink()
    summary = class_summary(LAB, root)
    assert summary.unjudged == STUDENTS
    assert summary.minutes == ()
    assert summary.prediction_calibration.count == 0
    shown = Page(page(summary)).text
    assert f"{STUDENTS} submissions were not graded by" in shown
    assert [group.key for group in chart_groups(summary)] == [
        "scores", "questions", "difficulty", "fifths", "question",
    ]  # fmt: skip
    for chart in ClassReport(summary).pictures:
        ClassReport(summary).look(chart)


def test_every_picture_can_be_looked_at(summary: ClassSummary) -> None:
    widget = ClassReport(summary)
    assert widget.pictures[0] == "scores"
    for key in widget.pictures:
        widget.look(key)
        assert widget.chart is not None
        assert widget.chart.key == key
        assert len(widget.children) == 2
        assert widget.figure().startswith("<svg")
        assert "NaN" not in widget.figure()
        assert markup.plain(widget.chart.finding) in widget.text()
    with pytest.raises(ValueError, match="picture"):
        widget.look("grades of Ann")


def test_a_picture_for_a_dark_slide(summary: ClassSummary) -> None:
    widget = ClassReport(summary)
    light, dark = widget.figure(), widget.figure(theme="dark")
    white = 'class="paper" width="760" height="[0-9]+" fill="#ffffff"'
    assert re.search(white, light)
    assert not re.search(white, dark)
    assert re.sub(r"#[0-9a-f]+", "", light) == re.sub(r"#[0-9a-f]+", "", dark)


@pytest.mark.parametrize("students", [5, 12, 31])
def test_in_the_lecture_no_group_of_fewer_than_five_is_drawn(students: int) -> None:
    chance = random.Random(students)
    for _ in range(100):
        widget = ClassReport(some_class(chance, students), for_lecture=True)
        assert set(widget.pictures) <= {"questions", "prediction:p"}
        for key in widget.pictures:
            widget.look(key)
            assert widget.chart is not None
            lengths = [length for bar in widget.chart.bars for length, _ in bar.parts]
            assert min(lengths) >= 5
        assert "For staff" not in widget.text()


def test_a_class_too_small_for_the_lecture_is_not_drawn() -> None:
    few = some_class(random.Random(1), 4)
    assert "too few to show" in ClassReport(few, for_lecture=True).text()
    assert "For staff, because groups of fewer than five" in ClassReport(few).text()


def test_the_widget_by_mouse(summary: ClassSummary) -> None:
    widget = ClassReport(summary)
    ask = widget._card._handle_custom_msg
    ask({"action": "choose", "values": {"group": "question"}, "stamp": 1}, [])
    assert widget.chart is not None
    assert widget.chart.key == "question:intensity_flop_per_byte"
    ask({"action": "look", "values": {"chart": "question:limit"}, "stamp": 2}, [])
    assert widget.chart.key == "question:limit"
    ask({"action": "choose", "values": {"group": "scores"}, "stamp": 3}, [])
    ask({"action": "choose", "values": {"group": "question"}, "stamp": 4}, [])
    assert widget.chart.key == "question:limit"
    ask({"action": "choose", "values": {"group": "nothing"}, "stamp": 5}, [])
    assert "picture" in widget._card.view["trouble"]["words"]


def test_pictures_of_many_questions_and_long_words() -> None:
    many = tuple(
        QuestionSummary(f"q{k}", "A title " * 20, "number", 5.0, mean_earned=0.5, right=3, wrong=2,
                 beliefs=(BeliefCount("a belief " * 20, "A sentence. " * 20, 2),))
        for k in range(40)
    )  # fmt: skip
    summary = ClassSummary("lab_00", "A lab", 200.0, questions=many)
    widget = ClassReport(summary)
    for key in widget.pictures:
        widget.look(key)
        assert widget.figure()
